#include "isotact/field/build/edit_field.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/geometry/primitives/primitives.h"

#include "support/slow_build.h"

namespace isotact {
namespace {

struct Edit {
  std::vector<std::uint32_t> removed;
  TriangleMesh added;
};

Vec3 corner(const TriangleMesh& mesh, std::uint32_t triangle, std::size_t i) {
  return to_double(mesh.positions[mesh.triangles[triangle][i]]);
}

// Moves all vertices near a point on the surface along a direction, less towards the rim.
Edit make_dent(const TriangleMesh& mesh, Random& random, double radius, double depth) {
  const Vec3 at = corner(mesh, random.below(static_cast<std::uint32_t>(mesh.triangles.size())), 0);
  const Vec3 by = random.unit_vector() * depth;
  Edit edit;
  edit.added.positions = mesh.positions;
  std::vector<bool> moved(mesh.positions.size(), false);
  for (std::size_t v = 0; v < mesh.positions.size(); ++v) {
    const Vec3 p = to_double(mesh.positions[v]);
    const double fall = 1 - length(p - at) / radius;
    if (fall <= 0) continue;
    moved[v] = true;
    edit.added.positions[v] = to_float(p + by * fall);
  }
  for (std::uint32_t t = 0; t < mesh.triangles.size(); ++t) {
    const Triangle& c = mesh.triangles[t];
    if (!moved[c[0]] && !moved[c[1]] && !moved[c[2]]) continue;
    edit.removed.push_back(t);
    edit.added.triangles.push_back(c);
  }
  return edit;
}

// Replaces a triangle by three walls and a floor, `height` above it or, if negative, below.
Edit make_prism(const TriangleMesh& mesh, Random& random, double height) {
  const std::uint32_t t = random.below(static_cast<std::uint32_t>(mesh.triangles.size()));
  const Vec3 a = corner(mesh, t, 0), b = corner(mesh, t, 1), c = corner(mesh, t, 2);
  const Vec3 up = normalized(cross(b - a, c - a)) * height;
  Edit edit{.removed = {t}, .added = {}};
  edit.added.positions = {to_float(a),      to_float(b),      to_float(c),
                          to_float(a + up), to_float(b + up), to_float(c + up)};
  edit.added.triangles = {{0, 1, 4}, {0, 4, 3}, {1, 2, 5}, {1, 5, 4},
                          {2, 0, 3}, {2, 3, 5}, {3, 4, 5}};
  return edit;
}

// A hole through a box from one side to the other, through two triangles that face each other.
Edit drill(const TriangleMesh& box, Random& random) {
  for (;;) {
    const std::uint32_t top = random.below(static_cast<std::uint32_t>(box.triangles.size()));
    const std::uint32_t bottom = random.below(static_cast<std::uint32_t>(box.triangles.size()));
    const auto on = [&](std::uint32_t t, double y) {
      return corner(box, t, 0).y == y && corner(box, t, 1).y == y && corner(box, t, 2).y == y;
    };
    if (!on(top, 0.25) || !on(bottom, -0.25)) continue;
    // Walls that run from the edges of the one, turned as they are, to those of the other.
    Edit edit{.removed = {top, bottom}, .added = {}};
    for (std::size_t i = 0; i < 3; ++i)
      edit.added.positions.push_back(to_float(corner(box, top, i)));
    for (std::size_t i = 0; i < 3; ++i)
      edit.added.positions.push_back(to_float(corner(box, bottom, 2 - i)));
    edit.added.triangles = {{0, 1, 4}, {0, 4, 3}, {1, 2, 5}, {1, 5, 4}, {2, 0, 3}, {2, 3, 5}};
    return edit;
  }
}

// A closed body anywhere in the middle of a box.
Edit add_body(const Aabb& box, Random& random) {
  Edit edit;
  edit.added = make_sphere({.radius = 0.04 * length(extent(box)), .frequency = 3});
  const Vec3f by =
      to_float(center(box) + random.in_box(box.lower - center(box), box.upper - center(box)) * 0.9);
  for (Vec3f& p : edit.added.positions) p = p + by;
  return edit;
}

Edit remove_some(const TriangleMesh& mesh, Random& random) {
  return {.removed = {random.below(static_cast<std::uint32_t>(mesh.triangles.size()))},
          .added = {}};
}

BrickField rebuild(const EditableField& edited, const FieldSettings& settings) {
  const Lattice lattice = edited.field().lattice();
  const Surface surface = prepare_surface(edited.mesh(), {.sign = settings.sign,
                                                          .nested = settings.nested,
                                                          .voxel_size = lattice.spacing,
                                                          .shell_offset = settings.shell_offset});
  return build_field(surface, lattice, settings).field;
}

void expect_same(const BrickField& a, const BrickField& b) {
  ASSERT_EQ(a.header().brick_count, b.header().brick_count);
  ASSERT_TRUE(std::ranges::equal(a.coarse_values(), b.coarse_values()));
  for (std::size_t i = 0; i < a.blocks().size(); ++i)
    ASSERT_EQ(a.blocks()[i].occupied, b.blocks()[i].occupied);
  for (std::size_t i = 0; i < a.bricks().size(); ++i) {
    ASSERT_EQ(a.bricks()[i].exact, b.bricks()[i].exact) << "brick " << i;
    ASSERT_TRUE(std::ranges::equal(a.bricks()[i].correction, b.bricks()[i].correction))
        << "brick " << i;
  }
  ASSERT_TRUE(std::ranges::equal(a.buffer(), b.buffer()));
}

struct Trial {
  TriangleMesh mesh;
  FieldSettings settings;
};

FieldSettings small_field() { return {.resolution = 48, .padding = 11}; }

Edit make_edit(int kind, const TriangleMesh& mesh, const Aabb& box, Random& random) {
  const double size = length(extent(box));
  switch (kind) {
    case 0:
      return make_prism(mesh, random, 0.03 * size);
    case 1:
      return make_prism(mesh, random, -0.03 * size);
    case 2:
      return add_body(box, random);
    case 3:
      return remove_some(mesh, random);
    case 4:
      return make_dent(mesh, random, 0.1 * size, 0.02 * size);
    default:
      return make_dent(mesh, random, 0.15 * size, random.uniform(-0.05, 0.05) * size);
  }
}

// Edit after edit on each mesh. Edits build on each other: what one leaves wrong, a comparison
// after a later one sees, too.
void compare_with_rebuilds(const std::vector<Trial>& trials) {
  int edits = 0, local = 0, with_holes = 0;
  double untouched = 0;
  std::uint64_t seed = 1;
  for (const Trial& trial : trials) {
    Random random(seed++);
    EditableField edited(trial.mesh, trial.settings);
    for (int kind = 0; kind < 6; ++kind, ++edits) {
      const Edit edit = make_edit(kind, edited.mesh(), to_double(bounds(trial.mesh)), random);
      const EditReport report = edited.replace_triangles(edit.removed, edit.added);
      SCOPED_TRACE(testing::Message() << "trial " << seed - 2 << " edit " << kind);
      if (!kSlowBuild || kind % 3 == 2) {
        ASSERT_NO_FATAL_FAILURE(expect_same(edited.field(), rebuild(edited, trial.settings)));
      }
      if (report.sign.holes > 0) ++with_holes;
      if (report.full_rebuild) continue;
      ++local;
      EXPECT_LE(report.bricks_built, report.bricks_bound);
      untouched +=
          1 - static_cast<double>(report.bricks_bound) / static_cast<double>(report.bricks);
    }
  }
  EXPECT_GE(local, 0.9 * edits);
  EXPECT_GE(with_holes, 3);
  EXPECT_GE(untouched / local, 0.1) << "of bricks, on a lattice of 6^3 coarse cells at most";
}

TEST(EditField, IsTheSameAsAFullRebuildOnRoundShapes) {
  FieldSettings shell = small_field(), even_odd = small_field();
  shell.sign = SignMethod::kUnsigned;
  even_odd.nested = NestedRule::kEvenOdd;
  const TriangleMesh sphere = make_sphere({.frequency = 10}),
                     torus = make_torus({.segments = 32, .tube_segments = 12});
  compare_with_rebuilds(
      {{sphere, small_field()}, {sphere, shell}, {torus, small_field()}, {torus, even_odd}});
}

TEST(EditField, IsTheSameAsAFullRebuildOnShapesWithEdges) {
  FieldSettings shell = small_field(), smooth = small_field();
  shell.sign = SignMethod::kUnsigned;
  shell.shell_offset = 0.03;
  smooth.tolerance = 1;
  smooth.band = 5;
  const TriangleMesh box = make_box({.size_y = 0.5, .segments = 8}),
                     gear = make_gear({.teeth = 12, .bore_radius = 0.01});
  compare_with_rebuilds({{box, small_field()}, {box, smooth}, {box, shell}, {gear, small_field()}});
}

// With room enough for coarse nodes that are interpolated.
TEST(EditField, IsTheSameAsAFullRebuildFarAway) {
  const FieldSettings settings{.resolution = 288, .padding = 120};
  FieldSettings shell = settings;
  shell.sign = SignMethod::kUnsigned;
  const TriangleMesh sphere = make_sphere({.frequency = 6}),
                     gear = make_gear({.teeth = 12, .bore_radius = 0.01});
  if (kSlowBuild)
    compare_with_rebuilds({{sphere, settings}, {gear, shell}});
  else
    compare_with_rebuilds({{sphere, settings}, {gear, settings}, {gear, shell}});
}

TEST(EditField, DrillsHolesThroughABox) {
  const FieldSettings settings{.resolution = 64};
  const TriangleMesh box = make_box({.size_y = 0.5, .segments = 8});
  for (std::uint64_t seed = 0; seed < unless_slow(6U, 2U); ++seed) {
    Random random(seed);
    EditableField edited(box, settings);
    const Edit edit = drill(edited.mesh(), random);
    edited.replace_triangles(edit.removed, edit.added);
    ASSERT_NO_FATAL_FAILURE(expect_same(edited.field(), rebuild(edited, settings)));
  }
}

TEST(EditField, LeavesMostOfALargerFieldUntouched) {
  EditableField edited(make_sphere({.frequency = 30}), {.resolution = 160, .padding = 12});
  Random random(3);
  const BrickField before = edited.field();
  const std::vector<std::byte> bytes(before.buffer().begin(), before.buffer().end());
  const Edit edit = make_dent(edited.mesh(), random, 0.05, 0.02);
  const EditReport report = edited.replace_triangles(edit.removed, edit.added);
  EXPECT_FALSE(report.full_rebuild);
  EXPECT_EQ(report.removed_triangles, edit.removed.size());
  EXPECT_EQ(report.added_triangles, edit.removed.size());
  EXPECT_GT(report.bricks_built, 10U);
  EXPECT_LT(report.bricks_bound, 0.1 * static_cast<double>(report.bricks));
  EXPECT_TRUE(std::ranges::equal(before.buffer(), bytes)) << "a copy of the field before changed";
}

TEST(EditField, UndoesWhatItDid) {
  EditableField edited(make_torus({.segments = 48, .tube_segments = 16}), {.resolution = 64});
  const BrickField before = edited.field();
  const auto count = static_cast<std::uint32_t>(edited.mesh().triangles.size());
  TriangleMesh body = make_sphere({.radius = 0.03, .frequency = 4});
  edited.replace_triangles(std::vector<std::uint32_t>{}, body);
  EXPECT_LT(edited.field().value({0, 0, 0}), -0.02);
  std::vector<std::uint32_t> again(body.triangles.size());
  std::iota(again.begin(), again.end(), count);
  edited.replace_triangles(again, {});
  EXPECT_TRUE(std::ranges::equal(edited.field().buffer(), before.buffer()));
}

TEST(EditField, SurvivesManyEdits) {
  const FieldSettings settings{.resolution = 48, .padding = 10};
  EditableField edited(make_sphere({.frequency = 8}), settings);
  Random random(9);
  for (int i = 0; i < 15; ++i) {
    const Edit edit = make_dent(edited.mesh(), random, 0.2, 0.01);
    edited.replace_triangles(edit.removed, edit.added);
  }
  ASSERT_NO_FATAL_FAILURE(expect_same(edited.field(), rebuild(edited, settings)));
}

TEST(EditField, TakesTrianglesInABox) {
  EditableField edited(make_box({.segments = 4}), {.resolution = 48});
  const Aabb box{{-0.3, 0.4, -0.3}, {0.3, 0.6, 0.3}};
  const auto inside = find_triangles_inside(edited.mesh(), box);
  EXPECT_EQ(inside.size(), 8U);
  TriangleMesh same;
  same.positions = edited.mesh().positions;
  for (const std::uint32_t t : inside) same.triangles.push_back(edited.mesh().triangles[t]);
  const BrickField before = edited.field();
  const EditReport report = edited.replace_triangles(box, same);
  EXPECT_EQ(report.removed_triangles, 0U) << "the same triangles came back";
  EXPECT_EQ(report.bricks_built, 0U);
  EXPECT_TRUE(std::ranges::equal(edited.field().buffer(), before.buffer()));
}

// As a CAD program writes the next version: other vertices, other order, most triangles the same.
TEST(EditField, FollowsVersionsOfAMesh) {
  const FieldSettings settings{.resolution = 64, .padding = 10};
  EditableField edited(make_sphere({.frequency = 12}), settings);
  Random random(4);
  for (int version = 0; version < 3; ++version) {
    const Edit dent = make_dent(edited.mesh(), random, 0.1, 0.02);
    TriangleMesh next;
    const auto add = [&](const TriangleMesh& from, const Triangle& t) {
      const auto first = static_cast<std::uint32_t>(next.positions.size());
      for (const std::uint32_t v : t) next.positions.push_back(from.positions[v]);
      next.triangles.push_back({first, first + 1, first + 2});
    };
    for (const Triangle& t : dent.added.triangles) add(dent.added, t);
    for (std::size_t t = edited.mesh().triangles.size(); t-- > 0;)
      if (!std::ranges::binary_search(dent.removed, static_cast<std::uint32_t>(t)))
        add(edited.mesh(), edited.mesh().triangles[t]);
    const EditReport report = edited.replace_mesh(next);
    EXPECT_FALSE(report.full_rebuild);
    EXPECT_LE(report.removed_triangles, dent.removed.size());
    EXPECT_GT(report.removed_triangles, dent.removed.size() / 2);
    EXPECT_EQ(report.added_triangles, report.removed_triangles);
    EXPECT_LT(report.bricks_built, report.bricks / 2);
    EXPECT_EQ(edited.mesh(), next);
    ASSERT_NO_FATAL_FAILURE(expect_same(edited.field(), rebuild(edited, settings)));
  }
  EXPECT_EQ(edited.replace_mesh(edited.mesh()).bricks_built, 0U);
  TriangleMesh broken = edited.mesh();
  broken.triangles[0][0] = 1U << 30U;
  EXPECT_THROW(edited.replace_mesh(broken), Error);
  EXPECT_THROW(edited.replace_mesh(make_sphere({.radius = 2})), Error);
}

TEST(EditField, RefusesWhatItCannotDoAndStaysAsItWas) {
  EditableField edited(make_sphere({.frequency = 6}),
                       {.resolution = 48, .sign = SignMethod::kWinding});
  const BrickField before = edited.field();
  const TriangleMesh mesh = edited.mesh();
  EXPECT_THROW(edited.replace_triangles(std::vector<std::uint32_t>{1U << 20U}, {}), Error);
  EXPECT_THROW(edited.replace_triangles(std::vector<std::uint32_t>{}, make_sphere({.radius = 2})),
               Error);
  std::vector<std::uint32_t> all(mesh.triangles.size());
  std::iota(all.begin(), all.end(), 0U);
  EXPECT_THROW(edited.replace_triangles(all, {}), Error);
  EXPECT_EQ(edited.mesh(), mesh);
  EXPECT_TRUE(std::ranges::equal(edited.field().buffer(), before.buffer()));
}

TEST(EditField, StaysAsItWasWhereARebuildIsCancelled) {
  std::optional<CancelToken> cancel(std::in_place);
  int reports = 0, cancel_at = -1;
  FieldSettings settings = small_field();
  settings.monitor = {.on_progress =
                          [&](const ProgressReport&) {
                            if (reports++ == cancel_at) cancel->cancel();
                          },
                      .cancel = &*cancel};
  EditableField edited(make_sphere({.frequency = 8}), settings);
  const BrickField before = edited.field();
  const TriangleMesh mesh = edited.mesh();
  std::vector<std::uint32_t> all(mesh.triangles.size());
  std::iota(all.begin(), all.end(), 0U);
  const TriangleMesh other = make_torus({.segments = 32, .tube_segments = 12});
  int cancelled = 0;
  for (cancel_at = 0; cancel_at < 20; ++cancel_at) {
    reports = 0;
    try {
      edited.replace_triangles(all, other);
      break;
    } catch (const Cancelled&) {
      ++cancelled;
    }
    cancel.emplace();  // at the same address
    ASSERT_EQ(edited.mesh(), mesh);
    ASSERT_TRUE(std::ranges::equal(edited.field().buffer(), before.buffer()));
    // What edits need is as it was too: one and its undoing give what a build does.
    TriangleMesh body = make_sphere({.radius = 0.1, .frequency = 3});
    reports = 1000;
    const EditReport report = edited.replace_triangles(std::vector<std::uint32_t>{}, body);
    ASSERT_FALSE(report.full_rebuild);
    ASSERT_NO_FATAL_FAILURE(expect_same(edited.field(), rebuild(edited, small_field())));
    std::vector<std::uint32_t> again(body.triangles.size());
    std::iota(again.begin(), again.end(), static_cast<std::uint32_t>(mesh.triangles.size()));
    edited.replace_triangles(again, {});
    ASSERT_TRUE(std::ranges::equal(edited.field().buffer(), before.buffer()));
    ASSERT_EQ(edited.mesh().triangles, mesh.triangles);
    edited = EditableField(mesh, settings);
  }
  EXPECT_GE(cancelled, 3);
  EXPECT_LT(cancel_at, 20) << "no rebuild came to its end";
  ASSERT_NO_FATAL_FAILURE(expect_same(edited.field(), rebuild(edited, small_field())));
}

TEST(EditField, SaysWhyItBuiltAllAnew) {
  EditableField edited(make_box({.segments = 2}), {.resolution = 48});
  std::vector<std::uint32_t> half(edited.mesh().triangles.size() / 2);
  std::iota(half.begin(), half.end(), 0U);
  const EditReport report = edited.replace_triangles(half, make_sphere({.radius = 0.3}));
  EXPECT_TRUE(report.full_rebuild);
  EXPECT_FALSE(report.reason.empty());
}

}  // namespace
}  // namespace isotact
