#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/hash.h"
#include "isotact/base/random.h"
#include "isotact/field/build/bake.h"
#include "isotact/field/build/build_field.h"
#include "isotact/field/build/edit_field.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/queries/segments/detail/batch_tracer.h"
#include "isotact/queries/segments/detail/segment_slab.h"

#include "queries/points/shape_field.h"
#include "support/slow_build.h"
#include "support/test_seed.h"

namespace isotact::detail {
namespace {

enum class Claim { kNone, kFree, kSlabOfMacro, kFreeCell, kSlabOfCell, kFreeBlock, kCount };

struct Told {
  Claim by;
  bool inside;
};

// Below or above a slab, by a good deal.
bool is_beside(const SegmentSlab& slab, const Vec3& at, unsigned sides, bool& inside) {
  double on = 0;
  for (std::size_t axis = 0; axis < 3; ++axis)
    on += static_cast<double>(slab.normal[axis]) * at[axis];
  if (on > static_cast<double>(slab.least) && on < static_cast<double>(slab.most)) return false;
  inside = (sides >> (on >= static_cast<double>(slab.most) ? 1U : 0U) & 1U) != 0;
  return true;
}

// What the index says of the side of a point, given in cells.
Told ask(const SegmentIndex& index, const Vec3& at, std::size_t octant) {
  Index3 macro{}, coarse{}, fine{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    fine[axis] = static_cast<std::int32_t>(at[axis]);
    coarse[axis] = fine[axis] / kBrickCells;
    macro[axis] = fine[axis] / kMacroCells;
  }
  const std::size_t n = flat_index(index.macros, macro[0], macro[1], macro[2]);
  const int cube = index.free_cubes[octant * count(index.macros) + n];
  if (cube != 0) return {Claim::kFree, cube < 0};
  const std::uint32_t place = index.place_of(n);
  const IndexedMacro& entry = index.occupied_macros[place];
  bool inside = false;
  if (is_beside(entry.slab, at, entry.inside, inside)) return {Claim::kSlabOfMacro, inside};
  const auto bit = static_cast<unsigned>(((coarse[2] & 3) * 4 + (coarse[1] & 3)) * 4) +
                   static_cast<unsigned>(coarse[0] & 3);
  const MacroMasks& masks = index.masks[place];
  if ((masks.indexed >> bit & 1U) == 0) return {Claim::kFreeCell, (masks.inside >> bit & 1U) != 0};
  const std::uint64_t before = masks.indexed & ((std::uint64_t{1} << bit) - 1);
  const IndexedCell& cell =
      index.cells[entry.first + static_cast<std::uint32_t>(__builtin_popcountll(before))];
  if (is_beside(cell.slab, at, cell.inside, inside)) return {Claim::kSlabOfCell, inside};
  if (cell.first_block == IndexedCell::kNoBlocks) return {Claim::kNone, false};
  const auto block =
      static_cast<unsigned>((fine[0] >> 2 & 1) | (fine[1] >> 2 & 1) << 1 | (fine[2] >> 2 & 1) << 2);
  if ((cell.blocks >> block & 1) != 0) return {Claim::kNone, false};
  return {Claim::kFreeBlock, (cell.inside_blocks >> block & 1) != 0};
}

// Every place that the index puts on one side is there, and every kind of claim is made.
TEST(SegmentIndex, TellsTheSideOfAPlace) {
  int claims[static_cast<int>(Claim::kCount)] = {};
  for (const char* shape : {"gear", "knot", "bowl"}) {
    const BrickField field = make_field(shape, 64);
    const Lattice& lattice = field.lattice();
    for (const double cells : {0.0, -1.3, 2.5, 12.0}) {
      const double margin = cells * field.voxel_size();
      const SegmentIndex index =
          build_segment_index(field, {.center = margin, .reach = 0, .threads = {1}});
      Random random(5);
      for (int i = 0; i < 10000; ++i) {
        Vec3 p = random.in_box(field.bounds().lower, field.bounds().upper);
        // Half of them near the isosurface.
        if (i % 2 == 0)
          for (int step = 0; step < 3; ++step) {
            const FieldSample s = field.sample(p);
            p -= s.gradient * ((s.distance - margin) / std::max(0.1, length_sq(s.gradient)));
            if (step == 2) p += random.in_unit_ball() * (2 * field.voxel_size());
            if (!contains(field.bounds(), p)) p = center(field.bounds());
          }
        Vec3 at = (p - lattice.origin) * (1 / lattice.spacing);
        for (std::size_t axis = 0; axis < 3; ++axis)
          at[axis] = std::clamp(at[axis], 0.0, lattice.cells[axis] - 1e-9);
        const Told told = ask(index, at, static_cast<std::size_t>(i) & 7U);
        ++claims[static_cast<int>(told.by)];
        if (told.by != Claim::kNone) {
          ASSERT_EQ(told.inside, field.value(p) <= margin)
              << shape << " margin " << cells << " claim " << static_cast<int>(told.by);
        }
      }
    }
  }
  for (const int n : claims) EXPECT_GT(n, 100);
}

// Cubes against all of their macro cells; none could be larger.
TEST(SegmentIndex, CubesAreFreeAndLargest) {
  const BrickField field = make_field("knot", 192);
  const SegmentIndex index = build_segment_index(field, {.reach = 0, .threads = {2}});
  const Index3 m = index.macros;
  const auto is_free = [&](std::size_t octant, const Index3& from, int size) {
    for (int k = 0; k < size * size * size; ++k) {
      const int by[3] = {k % size, k / size % size, k / size / size};
      Index3 c = from;
      bool in_box = true;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        c[axis] += (octant >> axis & 1U) != 0 ? -by[axis] : by[axis];
        in_box = in_box && c[axis] >= 0 && c[axis] < m[axis];
      }
      if (in_box && index.free_cubes[flat_index(m, c[0], c[1], c[2])] == 0) return false;
    }
    return true;
  };
  int large = 0;
  for (std::size_t octant = 0; octant < 8; ++octant)
    for (std::int32_t z = 0; z < m[2]; ++z)
      for (std::int32_t y = 0; y < m[1]; ++y)
        for (std::int32_t x = 0; x < m[0]; ++x) {
          const int cube =
              std::abs(int{index.free_cubes[octant * count(m) + flat_index(m, x, y, z)]});
          if (cube > 30) continue;  // reaches out of the box
          ASSERT_TRUE(is_free(octant, {x, y, z}, cube));
          ASSERT_FALSE(is_free(octant, {x, y, z}, cube + 1));
          large += cube > 1 ? 1 : 0;
        }
  EXPECT_GT(large, 10);
}

// Values of both signs at random, at every node.
BrickField make_noise_field() {
  Random random(6);
  DenseGridParts parts{.lattice = {{-1, -1, -1}, 2.0 / 144, {144, 144, 144}}};
  parts.samples.resize(count(node_counts(parts.lattice)));
  for (float& sample : parts.samples) sample = static_cast<float>(random.uniform(-0.02, 0.02));
  const DenseGrid grid(std::move(parts));
  return bake_field(AnyField(grid), {.lattice = grid.lattice()}).field;
}

// Kernels for wide processors give the bits of the others.
TEST(SegmentIndex, KernelsGiveTheSameBits) {
  if (simd_level_of_cpu() == SimdLevel::kBaseline) GTEST_SKIP() << "this processor has one kernel";
  std::size_t found = 0;
  for (const char* shape : {"gear", "terrain"}) {
    const BrickField field = make_field(shape, 80);
    for (const double cells : {0.0, 6.0}) {
      const auto margin = static_cast<float>(cells * field.voxel_size());
      const SegmentIndex index = build_segment_index(
          field, {.center = static_cast<double>(margin), .reach = 0, .threads = {1}});
      BatchTracer narrow(field, index, margin, SimdLevel::kBaseline),
          wide(field, index, margin, SimdLevel::kAvx2);
      Random random(8);
      for (std::size_t batch = 0; batch < 10; ++batch) {
        std::vector<Segment> segments(kBatchSegments - batch);
        for (Segment& s : segments) {
          s.from = to_float(random.in_box(field.bounds().lower, field.bounds().upper));
          s.to = to_float(random.in_box(field.bounds().lower, field.bounds().upper));
          if (random.below(4) == 0) s.to[random.below(3)] *= 3;
        }
        SegmentWork a, b;
        narrow.run(segments, Mode::kAll, a);
        wide.run(segments, Mode::kAll, b);
        ASSERT_EQ(a.nodes, b.nodes);
        ASSERT_EQ(a.cells, b.cells);
        ASSERT_EQ(a.cubics, b.cubics);
        std::vector<SegmentInterval> of_narrow, of_wide;
        for (std::size_t i = 0; i < segments.size(); ++i) {
          ASSERT_EQ(narrow.is_sure(i), wide.is_sure(i));
          if (!narrow.is_sure(i)) continue;
          narrow.append(i, Mode::kAll, of_narrow);
          wide.append(i, Mode::kAll, of_wide);
        }
        ASSERT_EQ(of_narrow, of_wide);
        found += of_wide.size();
      }
    }
  }
  EXPECT_GT(found, 2000U);
}

// One segment through the stages of batches, by every kernel, gives the bits of the walk cell by
// cell. It gives up only where it has too many cells, or is uncertain.
TEST(SegmentIndex, OneSegmentThroughTheStagesGivesTheSameBits) {
  std::vector<SimdLevel> levels{SimdLevel::kBaseline};
  if (simd_level_of_cpu() != SimdLevel::kBaseline) levels.push_back(SimdLevel::kAvx2);
  int traced = 0, hits = 0, several = 0, gave_up = 0, snapped_up = 0;
  for (const char* shape : {"gear", "knot", "terrain"}) {
    const BrickField field = make_field(shape, unless_slow(300, 100));
    for (const double cells : {0.0, -1.5, 5.0}) {
      const double margin = cells * field.voxel_size();
      const SegmentTracer slow(
          field, {.margin = margin, .traversal = Traversal::kUniform, .threads = {1}});
      const SegmentTracer fast(field, {.margin = margin, .threads = {1}});
      const BatchField prepared =
          make_batch_field(field, *fast.index(), static_cast<float>(margin));
      Random random(test_seed(21));
      for (int i = 0; i < test_cases(unless_slow(600, 300)); ++i) {
        const Aabb& box = field.bounds();
        Segment s{to_float(random.in_box(box.lower, box.upper)),
                  to_float(random.in_box(box.lower, box.upper))};
        const std::size_t axis = random.below(3);
        if (random.below(8) == 0) s.to[axis] = s.from[axis];                      // Within a plane.
        if (random.below(8) == 0) s.to[axis] += 2 * (s.to[axis] - s.from[axis]);  // Out of the box.
        if (random.below(4) == 0)  // Short, perhaps in one macro cell.
          s.to = s.from + (s.to - s.from) * 0.03F;
        // Through edges and corners of macro cells, where it enters one by several planes at once.
        const bool is_snapped = random.below(8) == 0;
        if (is_snapped) {
          const double side = kMacroCells * field.voxel_size();
          const Vec3 from = to_double(s.from) - box.lower;
          const std::size_t a = random.below(3), b = (a + 1) % 3;
          const auto snap = [&](double x) { return std::floor(x / side) * side; };
          Vec3 on = from, by{};
          on[a] = snap(on[a]);
          on[b] = snap(on[b]);
          by[a] = 0.9 * side;
          by[b] = random.below(2) == 0 ? by[a] : -by[a];
          by[3 - a - b] = random.uniform(-side, side);
          s.from = to_float(box.lower + on - by);
          s.to = to_float(box.lower + on + by);
        }
        const auto path = make_path(field.lattice(), s);
        if (!path || path->begin > 0 || path->end < 1) continue;
        SegmentInterval want[64], got[64];
        const std::size_t n = slow.trace(s, want);
        ASSERT_EQ(fast.trace(s, got), n);
        for (std::size_t k = 0; k < n; ++k) ASSERT_EQ(got[k], want[k]);
        for (const SimdLevel level : levels) {
          IntervalSink sink(Mode::kAll, got);
          SegmentWork work;
          ++traced;
          if (!trace_alone(prepared, *path, sink, work, level)) {
            gave_up += is_snapped ? 0 : 1;
            snapped_up += is_snapped ? 1 : 0;
            continue;
          }
          sink.finish();
          ASSERT_EQ(sink.count(), n) << shape << " margin " << cells << " segment " << i;
          for (std::size_t k = 0; k < n; ++k) ASSERT_EQ(got[k], want[k]) << i;
          hits += n > 0 ? 1 : 0;
          several += n > 1 ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GT(hits, traced / 3);
  EXPECT_GT(several, traced / 20);
  EXPECT_LT(gave_up, traced / 50);
  EXPECT_GT(snapped_up, 0) << traced;
}

// Noise has more crossings on a path than there is space for: the walk takes over.
TEST(SegmentIndex, OneSegmentWithTooManyCellsIsWalked) {
  const BrickField field = make_noise_field();
  const SegmentTracer slow(field, {.traversal = Traversal::kUniform, .threads = {1}});
  const SegmentTracer fast(field, {.threads = {1}});
  const BatchField prepared = make_batch_field(field, *fast.index(), 0);
  int gave_up = 0;
  Random random(test_seed(22));
  for (int i = 0; i < 200; ++i) {
    const Aabb& box = field.bounds();
    const Segment s{to_float(random.in_box(box.lower, box.upper)),
                    to_float(random.in_box(box.lower, box.upper))};
    SegmentInterval want[512], got[512];
    const std::size_t n = slow.trace(s, want);
    ASSERT_LE(n, std::size(want));
    ASSERT_EQ(fast.trace(s, got), n);
    for (std::size_t k = 0; k < n; ++k) ASSERT_EQ(got[k], want[k]);
    const auto path = make_path(field.lattice(), s);
    ASSERT_TRUE(path);
    IntervalSink sink(Mode::kAll, got);
    SegmentWork work;
    gave_up += trace_alone(prepared, *path, sink, work) ? 0 : 1;
  }
  EXPECT_GT(gave_up, 20);
}

std::vector<Segment> make_segments(const Aabb& box, int n, std::uint64_t seed) {
  Random random(seed);
  std::vector<Segment> segments;
  for (int i = 0; i < n; ++i)
    segments.push_back({to_float(random.in_box(box.lower, box.upper)),
                        to_float(random.in_box(box.lower, box.upper))});
  return segments;
}

// One index serves all modes and every margin that it claims to, with the bits of the walk cell by
// cell.
TEST(SegmentIndex, OneIndexServesManyMargins) {
  std::size_t hits = 0, all = 0;
  for (const char* shape : {"gear", "knot", "bowl"}) {
    const BrickField field = make_field(shape, 80);
    const double h = field.voxel_size();
    for (const double center : {0.0, 3.0}) {
      const auto index = std::make_shared<const SegmentIndex>(
          build_segment_index(field, {.center = center * h, .threads = {2}}));
      EXPECT_FALSE(index->serves((center + 2.01) * h));
      const std::vector<Segment> segments = make_segments(field.bounds(), 700, 31);
      for (const double off : {-2.0, -0.7, 0.0, 0.3, 1.99, 2.0})
        for (const Mode mode : {Mode::kAll, Mode::kFirst, Mode::kAny}) {
          const SegmentSettings settings{
              .margin = (center + off) * h, .mode = mode, .threads = {1}};
          ASSERT_TRUE(index->serves(settings.margin)) << off;
          SegmentSettings slow = settings;
          slow.traversal = Traversal::kUniform;
          const SegmentTracer fast(field, index, settings);
          EXPECT_EQ(fast.index(), index);
          SegmentResults got, want;
          fast.trace(segments, got);
          SegmentTracer(field, slow).trace(segments, want);
          ASSERT_EQ(got.first, want.first) << shape << " " << center << " " << off;
          ASSERT_EQ(got.intervals, want.intervals) << shape << " " << center << " " << off;
          for (std::size_t i = 0; i < segments.size(); ++i) {
            SegmentInterval one[32];
            const std::size_t n = fast.trace(segments[i], one);
            ASSERT_EQ(n, want.first[i + 1] - want.first[i]);
            for (std::size_t k = 0; k < n; ++k)
              ASSERT_EQ(one[k], want.intervals[want.first[i] + k]);
            hits += n > 0 ? 1 : 0;
            ++all;
          }
        }
    }
  }
  EXPECT_GT(hits, all / 4);
  EXPECT_LT(hits, all);
}

TEST(SegmentIndex, TracersShareItAndRefuseOthers) {
  const BrickField field = make_field("gear", 64), other = make_field("knot", 64);
  const double h = field.voxel_size();
  const SegmentTracer all(field);
  EXPECT_EQ(all.with({.margin = h, .mode = Mode::kAny}).index(), all.index());
  EXPECT_NE(all.with({.margin = 9 * h}).index(), all.index());
  EXPECT_EQ(all.with({.traversal = Traversal::kUniform}).index(), nullptr);
  EXPECT_THROW(SegmentTracer(other, all.index()), Error);
  EXPECT_THROW(SegmentTracer(field, all.index(), {.margin = 9 * h}), Error);
  EXPECT_THROW(SegmentTracer(field, all.index(), {.traversal = Traversal::kOctree}), Error);
  EXPECT_THROW(SegmentTracer(field, nullptr), Error);
  EXPECT_THROW(build_segment_index(field, {.reach = -1}), Error);
  EXPECT_THROW(build_segment_index(field, {.center = NAN}), Error);
}

// A block of cells of a dense grid that its end cuts short, and margins of all kinds.
TEST(SegmentIndex, FastOnDenseGridsGivesTheSameBits) {
  std::size_t hits = 0, all = 0, cells_fast = 0, cells_slow = 0;
  for (const char* shape : {"gear", "knot", "terrain"}) {
    const BrickField field = make_field(shape, 60);
    Lattice lattice = field.lattice();
    for (std::size_t axis = 0; axis < 3; ++axis) lattice.cells[axis] -= 3 + static_cast<int>(axis);
    const DenseGrid grid = sample_on_lattice(field, lattice);
    // Also some that begin beyond the box, on its sides, or run along an axis.
    std::vector<Segment> segments = make_segments(grid.bounds(), 900, 77);
    for (std::size_t i = 0; i < segments.size(); i += 3) segments[i].from.x += 2;
    for (std::size_t i = 1; i < segments.size(); i += 7) segments[i].to.y = segments[i].from.y;
    for (std::size_t i = 2; i < segments.size(); i += 11)
      segments[i].to.z = to_float(grid.bounds().upper).z;
    for (const double off : {0.0, -1.5, 2.0, 12.0})
      for (const Mode mode : {Mode::kAll, Mode::kFirst}) {
        SegmentSettings settings{.margin = off * lattice.spacing, .mode = mode, .threads = {2}};
        SegmentResults got, want;
        SegmentTracer(grid, settings).trace(segments, got);
        settings.traversal = Traversal::kUniform;
        SegmentTracer(grid, settings).trace(segments, want);
        ASSERT_EQ(got.first, want.first) << shape << " " << off;
        ASSERT_EQ(got.intervals, want.intervals) << shape << " " << off;
        cells_fast += got.work.cells;
        cells_slow += want.work.cells;
        for (std::size_t i = 0; i < segments.size(); ++i)
          hits += want.first[i] < want.first[i + 1] ? 1U : 0U;
        all += segments.size();
      }
  }
  EXPECT_GT(hits, all / 5);
  EXPECT_LT(cells_fast * 4, cells_slow);
}

TEST(SegmentIndex, SameBytesForAnyThreads) {
  const BrickField field = make_field("knot", 200);
  const SegmentIndex one = build_segment_index(field, {.threads = {1}});
  const SegmentIndex three = build_segment_index(field, {.threads = {3}});
  ASSERT_TRUE(std::ranges::equal(one.buffer.bytes, three.buffer.bytes));
  EXPECT_EQ(find_segment_index_flaw(one.buffer.bytes), std::nullopt);
}

// A ball at a vertex, a little inwards, that comes with an edit or goes with it.
struct BallEdit {
  TriangleMesh ball;
  std::vector<std::uint32_t> removed;
};
BallEdit make_ball_edit(const TriangleMesh& mesh, std::size_t body_triangles, Random& random) {
  BallEdit edit;
  constexpr std::size_t kBallTriangles = 320;
  const std::size_t balls = (mesh.triangles.size() - body_triangles) / kBallTriangles;
  if (balls > 0 && random.below(2) == 0) {
    const std::size_t ball = random.below(static_cast<std::uint32_t>(balls));
    for (std::size_t t = 0; t < kBallTriangles; ++t)
      edit.removed.push_back(
          static_cast<std::uint32_t>(body_triangles + ball * kBallTriangles + t));
    return edit;
  }
  const double size = length(extent(to_double(bounds(mesh))));
  const double radius = (random.below(3) == 0 ? 0.05 : 0.005) * size;
  const Triangle& t = mesh.triangles[random.below(static_cast<std::uint32_t>(body_triangles))];
  const Vec3f at = mesh.positions[t[0]] * static_cast<float>(random.uniform(0.6, 1.0));
  edit.ball = make_sphere({.radius = radius, .frequency = 4});
  EXPECT_EQ(edit.ball.triangles.size(), kBallTriangles);
  for (Vec3f& p : edit.ball.positions) p = p + at;
  return edit;
}

// After each of many edits, what is brought up to date equals what is made anew: the bytes of the
// index, and the intervals and the work of the octree of bricks.
TEST(SegmentIndex, FollowsEdits) {
  const TriangleMesh body = make_shape("gear");
  EditableField editable(body, {.resolution = 96, .padding = 16});
  const std::size_t body_triangles = body.triangles.size();
  BrickField before = editable.field();
  SegmentIndex index = build_segment_index(before);
  SegmentTracer octree(before, {.traversal = Traversal::kOctree, .threads = {1}});
  const std::vector<Segment> segments = make_segments(before.bounds(), 300, 9);
  Random random(test_seed(4));
  int changed = 0, same_places = 0;
  for (int edit = 0; edit < test_cases(unless_slow(16, 4)); ++edit) {
    const BallEdit ball = make_ball_edit(editable.mesh(), body_triangles, random);
    const EditReport report = editable.replace_triangles(ball.removed, ball.ball);
    ASSERT_FALSE(report.full_rebuild) << report.reason;
    const SegmentIndex compared = update_segment_index(editable.field(), before, index, {2});
    const SegmentIndex updated = update_segment_index(editable.field(), report, index, {2});
    const SegmentIndex anew = build_segment_index(editable.field());
    ASSERT_TRUE(std::ranges::equal(updated.buffer.bytes, anew.buffer.bytes)) << edit;
    ASSERT_TRUE(std::ranges::equal(compared.buffer.bytes, anew.buffer.bytes)) << edit;
    changed += std::ranges::equal(updated.buffer.bytes, index.buffer.bytes) ? 0 : 1;
    same_places += std::ranges::equal(updated.occupied, index.occupied) ? 1 : 0;
    // A ball wholly inside may leave every sample as it was.
    if (!std::ranges::equal(before.buffer(), editable.field().buffer())) {
      EXPECT_THROW(update_segment_index(before, editable.field(), index), Error);
    }

    octree = octree.after_edit(editable.field(), report);
    SegmentResults got, want;
    octree.trace(segments, got);
    SegmentTracer(editable.field(), {.traversal = Traversal::kOctree, .threads = {1}})
        .trace(segments, want);
    ASSERT_EQ(got.first, want.first);
    ASSERT_EQ(got.intervals, want.intervals);
    ASSERT_EQ(got.work.nodes, want.work.nodes);
    if (report.header_before !=
        hash_bytes(editable.field().buffer().first(sizeof(BrickFieldHeader)))) {
      EXPECT_THROW(update_segment_index(editable.field(), report, updated), Error);
      EXPECT_THROW(octree.after_edit(editable.field(), report), Error);
    }
    before = editable.field();
    index = updated;
  }
  EXPECT_GT(changed, unless_slow(8, 2));
  EXPECT_GT(same_places, 0);  // The cubes are copied then.
}

// Damage anywhere but in samples and slabs is found, and what is not found keeps to the buffer.
TEST(SegmentIndex, NamesFlawsAndStaysInItsBuffer) {
  const BrickField field = make_field("knot", 48);
  const SegmentIndex index = build_segment_index(field, {.threads = {1}});
  EXPECT_TRUE(find_segment_index_flaw(index.buffer.bytes.first(100)));
  EXPECT_TRUE(find_segment_index_flaw(index.buffer.bytes.first(index.buffer.bytes.size() - 64)));
  const std::vector<Segment> segments = make_segments(field.bounds(), 100, 3);
  Random random(12);
  int named = 0, passed = 0;
  for (int i = 0; i < unless_slow(3000, 600); ++i) {
    const FlatRoom room = make_flat_room(index.buffer.bytes.size());
    std::memcpy(room.bytes.data(), index.buffer.bytes.data(), room.bytes.size());
    const auto size = static_cast<std::uint32_t>(random.below(2) == 0 ? index.header().cell_offset
                                                                      : room.bytes.size());
    room.bytes[random.below(size)] ^= static_cast<std::byte>(1 + random.below(255));
    if (find_segment_index_flaw(room.bytes, Check::kHeader)) {
      ++named;
      continue;
    }
    ++passed;
    const auto damaged = std::make_shared<const SegmentIndex>(
        open_segment_index({room.bytes, room.owner}, Check::kHeader));
    if (!belongs_to(*damaged, field, Check::kHeader) || !damaged->serves(0)) continue;
    SegmentResults results;
    for (const Mode mode : {Mode::kAll, Mode::kFirst})
      SegmentTracer(field, damaged, {.mode = mode, .threads = {1}}).trace(segments, results);
  }
  EXPECT_GT(named, 100);
  EXPECT_GT(passed, 100);
}

TEST(SegmentIndex, IsASectionOfAssets) {
  const BrickField field = make_field("gear", 48), other = make_field("gear", 56);
  const SegmentIndex index = build_segment_index(field);
  Asset asset{.field = field};
  EXPECT_FALSE(find_segment_index(asset));
  set_segment_index(asset, index);
  const Asset read = decode_asset(encode_asset(asset), "asset");
  const auto found = find_segment_index(read);
  ASSERT_TRUE(found);
  EXPECT_TRUE(std::ranges::equal(found->buffer.bytes, index.buffer.bytes));
  Asset wrong{.field = other};
  set_segment_index(wrong, index);
  EXPECT_FALSE(find_segment_index(wrong));
}

}  // namespace
}  // namespace isotact::detail
