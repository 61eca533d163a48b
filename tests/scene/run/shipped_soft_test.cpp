// What the shipped scenes of bodies that bend are there to show. Shorter and coarser where whole
// runs take minutes; docs/deformable.md has what these come to.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include <gtest/gtest.h>

#include "isotact/queries/deformable/features.h"
#include "isotact/queries/deformable/object_tree.h"
#include "isotact/scene/run/run.h"

#include "support/slow_build.h"

namespace isotact {
namespace {

std::filesystem::path soft_folder() {
  return std::filesystem::path(ISOTACT_SOURCE_FOLDER) / "scenes" / "soft";
}
Scene shipped_soft(const std::string& name) { return read_scene(soft_folder() / (name + ".json")); }

// Of two bodies, or of one with itself: triangles that cross, exactly.
std::size_t count_crossings(const SoftWorld& world, SoftId a, SoftId b) {
  const auto topology = [&](SoftId id) {
    return make_topology(world.body_settings(id).mesh.triangles, world.positions(id).size());
  };
  const SurfaceTopology ta = topology(a), tb = topology(b);
  ObjectTree tree_a(world.positions(a), ta.triangles), tree_b(world.positions(b), tb.triangles);
  std::vector<TrianglePair> candidates, crossing;
  if (a == b) {
    find_self_pairs(tree_a, {}, candidates);
    find_self_intersections({&ta, world.positions(a)}, candidates, crossing);
  } else {
    find_triangle_pairs(tree_a, tree_b, {}, candidates);
    find_intersections({&ta, world.positions(a)}, {&tb, world.positions(b)}, candidates, crossing);
  }
  return crossing.size();
}

// The deepest vertex of all in the fields of all rigid bodies, asked of the fields themselves.
double find_deepest(const SceneRun& run) {
  double depth = 0;
  for (BodyId k = 0; k < run.world().body_count(); ++k) {
    const BodySettings& body = run.world().body_settings(k);
    const AnyField& field = body.shape->any_field();
    const Pose from_world = inverse(run.world().pose(k));
    for (SoftId id = 0; id < run.soft()->body_count(); ++id)
      for (const Vec3& x : run.soft()->positions(id))
        depth = std::max(depth, -field.value(transform_point(from_world, x)));
  }
  return depth;
}

Vec3 middle_of(const SoftWorld& world, SoftId id) {
  Vec3 sum{};
  for (const Vec3& x : world.positions(id)) sum += x;
  return sum / static_cast<double>(world.positions(id).size());
}

// Of the edges: how much longer or shorter one is than at rest.
double find_most_strain(const SoftWorld& world, SoftId id) {
  const TriangleMesh& rest = world.body_settings(id).mesh;
  double most = 0;
  for (const Triangle& t : rest.triangles)
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t a = t[k], b = t[(k + 1) % 3];
      const double was = length(to_double(rest.positions[b]) - to_double(rest.positions[a]));
      const double now = length(world.positions(id)[b] - world.positions(id)[a]);
      most = std::max(most, std::abs(now / was - 1));
    }
  return most;
}

TEST(ShippedSoft, AllAreReadAndRun) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(soft_folder())) {
    const std::string name = entry.path().stem().string();
    SCOPED_TRACE(name);
    names.insert(name);
    const Scene scene = read_scene(entry.path());
    EXPECT_GT(scene.about.size(), 100U);
    EXPECT_GE(step_count(scene), 500U);
    if (kSlowBuild) continue;
    SceneRun run(scene);
    ASSERT_TRUE(run.go(2));
    EXPECT_EQ(run.soft()->report().number, 2U);
    EXPECT_EQ(find_deepest(run), 0);
    for (const std::string& warning : run.warnings())
      EXPECT_NE(warning.find("stands in for"), std::string::npos) << warning;
  }
  for (const char* name :
       {"cloth_rabbit", "jelly_bowl", "knot_hole", "wander_nine", "wander_thousand"})
    EXPECT_EQ(names.count(name), 1U) << name;
}

// Half as fine as shipped, for a third of its time.
TEST(ShippedSoft, TheClothDrapesAndIsNeverBelowASurface) {
  Scene scene = shipped_soft("cloth_rabbit");
  auto& sheet = std::get<SheetShape>(scene.soft_bodies[0].source);
  sheet.cells_x = sheet.cells_z = 24;
  scene.soft_bodies[0].margin = 0.008;
  SceneRun run(scene, {.keep_frames = false, .keep_log = false});
  int step = 0;
  std::uint32_t contacts = 0;
  ASSERT_TRUE(run.go(unless_slow(450, 40), [&](const StepReport&) {
    ++step;
    EXPECT_EQ(find_deepest(run), 0) << step;
    if (step % 50 == 0) {
      EXPECT_EQ(count_crossings(*run.soft(), 0, 0), 0U) << step;
    }
    contacts = std::max(contacts, run.soft()->report().contacts);
    return true;
  }));
  EXPECT_EQ(run.deepest(), 0);
  if (kSlowBuild) return;
  EXPECT_GT(contacts, 50U);
  const Aabb box = run.soft()->bounds(0);
  EXPECT_LT(box.lower.y, 0.03);  // corners are on the ground
  EXPECT_GT(box.upper.y, 0.12);  // the middle is on the rabbit
  EXPECT_LT(middle_of(*run.soft(), 0).y, 0.2);
}

TEST(ShippedSoft, TheKnotGoesThroughTheHole) {
  if (kSlowBuild) return;
  const Scene scene = shipped_soft("knot_hole");
  SceneRun run(scene, {.keep_frames = false, .keep_log = false});
  const SoftWorld& soft = *run.soft();
  const double hole = 0.19 - 0.08;  // the radius, where the ring is narrowest
  const Vec3 before = extent(soft.bounds(0));
  EXPECT_GT(soft.bounds(0).lower.y, 0);
  EXPECT_GT(std::max(before.x, before.z), 1.3 * 2 * hole);
  int step = 0, inside = 0;
  ASSERT_TRUE(run.go(step_count(scene), [&](const StepReport&) {
    if (++step % 25 != 0) return true;
    EXPECT_LE(find_deepest(run), 1e-3) << step;  // the ram moves
    EXPECT_EQ(count_crossings(soft, 0, 0), 0U) << step;
    for (const Vec3& x : soft.positions(0)) {
      if (std::abs(x.y) > 0.01) continue;
      EXPECT_LT(std::hypot(x.x, x.z), hole + 1e-3);
      ++inside;
    }
    return true;
  }));
  EXPECT_GT(inside, 20);
  EXPECT_LT(soft.bounds(0).upper.y, -0.1);  // all of it is below the ring
  const Vec3 after = extent(soft.bounds(0));
  EXPECT_GT(std::max(after.x, after.z), 0.85 * std::max(before.x, before.z));  // it opens again
}

// Four of its twelve bodies.
TEST(ShippedSoft, JellyComesToRestInTheBowl) {
  Scene scene = shipped_soft("jelly_bowl");
  ASSERT_EQ(scene.soft_bodies.size(), 12U);
  std::vector<SceneSoftBody> few;
  for (const std::size_t k : {0U, 3U, 8U, 11U}) few.push_back(scene.soft_bodies[k]);
  scene.soft_bodies = few;
  SceneRun run(scene, {.keep_frames = false, .keep_log = false});
  const SoftWorld& soft = *run.soft();
  std::vector<double> height, least;
  for (SoftId id = 0; id < soft.body_count(); ++id) height.push_back(extent(soft.bounds(id)).y);
  least = height;
  int step = 0;
  ASSERT_TRUE(run.go(unless_slow(700, 30), [&](const StepReport&) {
    if (++step % 10 != 0) return true;
    EXPECT_EQ(find_deepest(run), 0) << step;
    for (SoftId id = 0; id < soft.body_count(); ++id)
      least[id] = std::min(least[id], extent(soft.bounds(id)).y);
    return true;
  }));
  if (kSlowBuild) return;
  for (SoftId a = 0; a < soft.body_count(); ++a) {
    const Vec3 at = middle_of(soft, a);
    EXPECT_LT(std::hypot(at.x, at.z), 0.25) << a;
    EXPECT_GT(at.y, 0.03) << a;
    EXPECT_LT(at.y, 0.25) << a;
    for (SoftId b = a + 1; b < soft.body_count(); ++b) EXPECT_EQ(count_crossings(soft, a, b), 0U);
  }
  // It wobbles: where it lands it is flatter for a moment.
  EXPECT_LT(least[2], 0.96 * height[2]);
  EXPECT_LT(soft.report().kinetic, 0.01);  // of 4 J on their way down
}

TEST(ShippedSoft, NineWanderBendAndGetApart) {
  Scene scene = shipped_soft("wander_nine");
  ASSERT_EQ(scene.soft_bodies.size(), 9U);
  SceneRun run(scene, {.keep_frames = false, .keep_log = false});
  const SoftWorld& soft = *run.soft();
  std::vector<double> bent(9);
  std::vector<Vec3> start;
  for (SoftId id = 0; id < 9; ++id) start.push_back(middle_of(soft, id));
  int step = 0;
  ASSERT_TRUE(run.go(unless_slow(1000, 50), [&](const StepReport&) {
    if (++step % 25 != 0) return true;
    for (SoftId a = 0; a < 9; ++a) {
      EXPECT_TRUE(contains(*scene.soft.cube, soft.bounds(a).lower));
      EXPECT_TRUE(contains(*scene.soft.cube, soft.bounds(a).upper));
      bent[a] = std::max(bent[a], find_most_strain(soft, a));
      for (SoftId b = a + 1; b < 9; ++b)
        if (overlaps(soft.bounds(a), soft.bounds(b))) {
          EXPECT_EQ(count_crossings(soft, a, b), 0U) << step << ' ' << a << ' ' << b;
        }
    }
    return true;
  }));
  if (kSlowBuild) return;
  for (SoftId id = 0; id < 9; ++id) {
    EXPECT_GT(bent[id], 0.1) << id;
    EXPECT_GT(length(middle_of(soft, id) - start[id]), 0.05) << id;
  }
}

}  // namespace
}  // namespace isotact
