#include "isotact/scene/run/run.h"

#include <cmath>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/hash.h"

#include "scene/run/small_scenes.h"
#include "support/slow_build.h"

namespace isotact {
namespace {

constexpr std::uint64_t kSteps = unless_slow(200, 60);

Scene small_scene() { return parse_scene(kSmallScene, "small.json"); }

// The log without its times.
std::uint64_t hash_of_log(const Replay& replay, std::uint64_t seed) {
  for (const StepReport& r : replay.log) {
    const double numbers[] = {r.time, r.energies.total(), r.depth, static_cast<double>(r.points)};
    seed = hash_range(numbers, seed);
  }
  return seed;
}

TEST(SceneRun, SameBytesForAnyThreads) {
  std::uint64_t world = 0, files = 0;
  for (const int threads : {1, 2, 7}) {
    SceneRun run(small_scene(), {.threads = {threads}});
    ASSERT_TRUE(run.go(kSteps));
    const std::uint64_t of_files =
        hash_of_log(run.replay(), hash_bytes(write_replay_glb(run.replay())));
    if (threads == 1) {
      world = run.world().hash();
      files = of_files;
    }
    EXPECT_EQ(run.world().hash(), world) << threads;
    EXPECT_EQ(of_files, files) << threads;
  }
}

TEST(SceneRun, GoesOnWithTheSameBytes) {
  SceneRun whole(small_scene()), first(small_scene()), second(small_scene());
  ASSERT_TRUE(whole.go(kSteps));
  ASSERT_TRUE(first.go(kSteps / 2));
  const std::vector<std::byte> snapshot = first.save();
  second.restore(snapshot);
  EXPECT_EQ(second.world().report().number, kSteps / 2);
  ASSERT_TRUE(second.go(kSteps - kSteps / 2));
  EXPECT_EQ(second.world().hash(), whole.world().hash());
  EXPECT_EQ(second.replay().frames.back().poses, whole.replay().frames.back().poses);
  EXPECT_EQ(second.replay().log.size(), kSteps - kSteps / 2);
}

TEST(SceneRun, RefusesOtherSnapshots) {
  SceneRun run(small_scene());
  run.go(3);
  std::vector<std::byte> snapshot = run.save();
  Scene other = small_scene();
  other.world.step = 0.001;
  EXPECT_THROW(SceneRun(other).restore(snapshot), Error);
  other = small_scene();
  other.bodies[2].density = 1;
  EXPECT_THROW(SceneRun(other).restore(snapshot), Error);
  EXPECT_THROW(run.restore({}), Error);
  EXPECT_THROW(run.restore(std::span(snapshot).first(snapshot.size() - 1)), Error);
  snapshot[snapshot.size() / 2] ^= std::byte{1};
  EXPECT_THROW(run.restore(snapshot), Error);
}

TEST(SceneRun, RecordsFramesAtTheirRate) {
  Scene scene = small_scene();  // 50 frames a second, steps of 2 ms
  SceneRun run(scene);
  ASSERT_TRUE(run.go(45));
  const auto& frames = run.replay().frames;
  ASSERT_EQ(frames.size(), 6U);  // 0, 20, 40, 60, 80 and the end at 90 ms
  for (std::size_t k = 0; k < 5; ++k)
    EXPECT_NEAR(frames[k].time, 0.02 * static_cast<double>(k), 1e-12);
  EXPECT_NEAR(frames[5].time, 0.09, 1e-12);
  EXPECT_EQ(run.replay().log.size(), 45U);
  scene.frames_per_second = 1e5;  // more than steps: one each
  SceneRun fast(scene);
  ASSERT_TRUE(fast.go(10));
  EXPECT_EQ(fast.replay().frames.size(), 11U);
}

TEST(SceneRun, ScriptsMoveWhatTheyName) {
  SceneRun run(small_scene());
  ASSERT_TRUE(run.go(50));  // to 0.1 s
  EXPECT_NEAR(run.world().pose(5).translation.x, -0.4, 1e-12);
  ASSERT_TRUE(run.go(60));  // past the last key
  EXPECT_NEAR(run.world().pose(5).translation.x, -0.3, 1e-12);
  EXPECT_NEAR(angular_velocity(run.world().body(6)).y, 2, 0.01);  // the hinge's motor
}

TEST(SceneRun, BallsRestOnTerrain) {
  const Scene scene = parse_scene(R"({"isotact_scene": 1, "world": {"step": 0.002},
    "bodies": [
      {"name": "ground", "kind": "static", "shape": {"field": "terrain", "spacing": 0.5,
        "heights": [[0.5, 0.3, 0.5], [0.3, 0.1, 0.3], [0.5, 0.3, 0.5]]}},
      {"name": "ball", "position": [0.05, 0.25, 0],
       "shape": {"make": "sphere", "with": {"radius": 0.1}, "resolution": 24, "points": 300}}]})",
                                  "x");
  const auto& terrain = std::get<TerrainField>(std::get<SceneField>(scene.shapes[0].source));
  EXPECT_NEAR(terrain.height(0, 0), 0.1, 1e-6);
  EXPECT_NEAR(terrain.height(-0.5, 0.25), 0.4, 1e-6);
  SceneRun run(scene);
  ASSERT_TRUE(run.go(500));
  EXPECT_EQ(run.replay().meshes[0].triangles.size(), 8U);
  // It has rolled towards the hollow, and neither sunk in nor left it.
  const Vec3 at = run.world().body(1).state.center;
  EXPECT_LT(std::abs(at.x) + std::abs(at.z), 0.1);
  EXPECT_GT(terrain.value(at), 0.08);
  EXPECT_LT(terrain.value(at), 0.12);
}

// A plate with a hole, which a thin rod falls through and a ball does not; and a cone on the plate.
TEST(SceneRun, BodiesMeetCombinedFormulas) {
  const Scene scene = parse_scene(R"({"isotact_scene": 1, "world": {"step": 0.002},
    "bodies": [
      {"name": "plate", "kind": "static", "shape": {"field": "difference", "parts": [
        {"field": "box", "size": [1, 0.1, 1]},
        {"field": "cylinder", "radius": 0.1, "height": 1}]}},
      {"name": "rod", "position": [0, 0.2, 0],
       "shape": {"field": "capsule", "radius": 0.05, "length": 0.1}},
      {"name": "ball", "position": [0.3, 0.16, 0.3], "shape": {"field": "sphere", "radius": 0.1}},
      {"name": "cone", "position": [-0.3, 0.16, 0],
       "shape": {"field": "cone", "radius": 0.1, "height": 0.2}}]})",
                                  "x");
  SceneRun run(scene);
  ASSERT_TRUE(run.go(250));
  EXPECT_LT(run.world().body(1).state.center.y, -0.3);
  EXPECT_NEAR(run.world().body(2).state.center.y, 0.15, 5e-3);
  EXPECT_NEAR(run.world().body(3).state.center.y, 0.1, 5e-3);  // a quarter of its height up
  for (const std::size_t k : {0U, 3U}) EXPECT_GT(run.replay().meshes[k].triangles.size(), 40U);
}

TEST(SceneRun, ForcesPush) {
  const Scene scene = parse_scene(R"({"isotact_scene": 1,
    "world": {"step": 0.01, "gravity": [0, 0, 0]},
    "bodies": [{"name": "stone", "shape": {"make": "box", "size": 0.2, "resolution": 16, "points": 50}}],
    "scripts": [{"body": "stone", "force": [0, 0, 3], "torque": [0, 2, 0], "from": 0.1, "until": 0.3}]})",
                                  "x");
  SceneRun run(scene);
  run.go(50);
  EXPECT_NEAR(run.world().body(0).state.momentum.z, 0.6, 1e-9);
  EXPECT_NEAR(run.world().body(0).state.angular_momentum.y, 0.4, 1e-9);
}

TEST(SceneRun, SteadyBodiesTurn) {
  const Scene scene = parse_scene(R"({"isotact_scene": 1, "world": {"step": 0.01}, "bodies": [
    {"name": "wheel", "kind": "kinematic", "position": [1, 0, 0]}],
    "scripts": [{"body": "wheel", "velocity": [0, 2, 0],
                 "angular_velocity": [0, 0, 1.5707963267948966], "from": 0.5, "until": 1.5}]})",
                                  "x");
  SceneRun run(scene);
  run.go(100);
  EXPECT_NEAR(run.world().pose(0).translation.y, 1, 1e-9);
  EXPECT_NEAR(run.world().pose(0).rotation.z, std::sin(kPi / 8), 1e-9);
  run.go(100);
  EXPECT_NEAR(run.world().pose(0).translation.y, 2, 1e-9);
  EXPECT_NEAR(run.world().pose(0).rotation.z, std::sin(kPi / 4), 1e-9);
}

TEST(SceneRun, StopsInTrouble) {
  Scene scene = parse_scene(R"({"isotact_scene": 1, "world": {"step": 0.01, "impacts": "off",
    "solve": "explicit"}, "materials": {"hard": {"stiffness": 1e12, "damping_ratio": 0}},
    "bodies": [{"name": "ground", "kind": "static", "shape": {"field": "plane"}, "material": "hard"},
               {"name": "stone", "position": [0, 0.11, 0], "material": "hard",
                "shape": {"make": "box", "size": 0.2, "resolution": 16, "points": 100}}]})",
                            "x");
  SceneRun run(scene);
  EXPECT_FALSE(run.go(1000));
  ASSERT_TRUE(run.world().trouble());
  EXPECT_NE(run.world().trouble()->message.find("stone"), std::string::npos);
  EXPECT_FALSE(run.replay().frames.empty());  // what was there is kept
  EXPECT_EQ(run.replay().log.size(), run.world().report().number);
  for (const ReplayFrame& frame : run.replay().frames)
    for (const Pose& pose : frame.poses) EXPECT_TRUE(is_finite(pose.translation));
}

// Bodies that could never touch are told of, instead of falling through each other.
TEST(SceneRun, RefusesPairsWithoutPoints) {
  Scene scene = parse_scene(R"({"isotact_scene": 1, "bodies": [
    {"name": "post", "kind": "static"},
    {"name": "ground", "kind": "static", "shape": {"field": "plane"}},
    {"name": "stone", "shape": {"make": "box", "resolution": 16, "points": 0}}]})",
                            "x");
  try {
    SceneRun run(scene);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("'stone' and 'ground'"), std::string::npos)
        << error.what();
  }
  scene.shapes[1].points = 50;
  EXPECT_NO_THROW(SceneRun{scene});
  scene.shapes[1].points = 0;
  scene.world.contact = ContactRule::kOff;
  EXPECT_NO_THROW(SceneRun{scene});
}

TEST(SceneRun, NamesWhatCannotBeLoaded) {
  const auto message = [](const std::string& shape) -> std::string {
    try {
      SceneRun run(parse_scene(
          R"({"isotact_scene": 1, "bodies": [{"name": "part", "shape": )" + shape + "}]}",
          "nowhere/x.json"));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message(R"({"mesh": "none.obj"})").find("the shape of body 'part': nowhere/none.obj"),
            std::string::npos);
  EXPECT_NE(message(R"({"asset": "none.isotact"})").find("nowhere/none.isotact"),
            std::string::npos);
}

}  // namespace
}  // namespace isotact
