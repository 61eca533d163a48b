#include "isotact/adapters/bullet/scene_engine.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/scene/run/run.h"

#include "support/slow_build.h"

namespace isotact {
namespace {

RunSettings with_bullet() { return {.engines = {{"bullet", make_bullet_engine}}}; }

Scene scene_of(const std::string& engine, const std::string& rest) {
  return parse_scene(
      R"({"isotact_scene": 1, "world": {"step": 0.002, "engine": ")" + engine + "\"}," + rest + "}",
      "test.json");
}

constexpr const char* kBox = R"({"make": "box", "size": 0.1, "resolution": 24})";

// Where a body is after some time, on either engine.
Pose run_for(const Scene& scene, double seconds, BodyId body) {
  SceneRun run(scene, with_bullet());
  EXPECT_TRUE(run.go(static_cast<std::uint64_t>(seconds / scene.world.step)));
  return run.world().pose(body);
}

TEST(SceneEngine, IsRefusedWhereThereIsNone) {
  const Scene scene = scene_of("bullet", R"("bodies": [{"name": "a", "kind": "static"}])");
  EXPECT_THROW(SceneRun run(scene), Error);
  EXPECT_NO_THROW(SceneRun(scene, with_bullet()));
  EXPECT_THROW(scene_of("havok", R"("bodies": [{"name": "a", "kind": "static"}])"), Error);
}

TEST(SceneEngine, BodiesComeToRestWhereTheyDoInOurWorld) {
  const std::string rest = std::string(R"("bodies": [
    {"name": "ground", "kind": "static", "shape": {"field": "plane"}},
    {"name": "box", "shape": )") +
                           kBox + R"(, "position": [0, 0.12, 0]}])";
  const Pose ours = run_for(scene_of("isotact", rest), 1, 1);
  const Pose bullet = run_for(scene_of("bullet", rest), 1, 1);
  EXPECT_NEAR(bullet.translation.y, 0.05, 1e-3);
  EXPECT_NEAR(ours.translation.y, bullet.translation.y, 1e-3);
}

TEST(SceneEngine, TellsWhoTouches) {
  const std::string rest = std::string(R"("bodies": [
    {"name": "ground", "kind": "static", "shape": {"field": "box", "size": [1, 0.2, 1]}},
    {"name": "box", "shape": )") +
                           kBox + R"(, "position": [0, 0.151, 0]}])";
  SceneRun run(scene_of("bullet", rest), with_bullet());
  EXPECT_TRUE(run.contacts().empty());
  EXPECT_TRUE(run.go(200));
  ASSERT_EQ(run.contacts().size(), 1U);
  const PairContact& c = run.contacts()[0];
  EXPECT_EQ(c.pair, (BodyPair{0, 1}));
  EXPECT_EQ(c.phase, ContactPhase::kPersist);
  EXPECT_NEAR(c.contact.normal.y, -1, 1e-3);  // from the box down to the ground, which is A
  const double weight = run.world().body_settings(1).mass.mass * 9.81 * 0.002;
  EXPECT_NEAR(-c.impulse.y, weight, 0.05 * weight);
  EXPECT_EQ(run.report().number, 200U);
  EXPECT_NEAR(run.report().energies.kinetic, 0, 1e-4);
  EXPECT_THROW(run.save(), Error);
}

// The same scripts, motors and limits mean the same on both engines.
TEST(SceneEngine, JointsAndMotorsTurnTheSameWay) {
  const auto rest = [](const std::string& joint) {
    return std::string(R"("bodies": [{"name": "wall", "kind": "static"},
      {"name": "box", "shape": )") +
           kBox + R"(, "position": [0.2, 0, 0]}],
      "joints": [)" +
           joint + "]";
  };
  const auto compare = [&](const std::string& joint, double place, double turn) {
    SCOPED_TRACE(joint);
    const Pose ours = run_for(scene_of("isotact", rest(joint)), 0.3, 1);
    const Pose bullet = run_for(scene_of("bullet", rest(joint)), 0.3, 1);
    EXPECT_NEAR(length(ours.translation - bullet.translation), 0, place);
    const Quat between = ours.rotation * conjugate(bullet.rotation);
    EXPECT_NEAR(std::abs(between.w), 1, turn);
  };
  compare(R"({"kind": "hinge", "a": "wall", "b": "box", "place": [0.2, 0, 0], "axis": [0, 0, 1],
             "motor": {"velocity": 2, "max_force": 100}})",
          2e-3, 1e-3);
  compare(R"({"kind": "hinge", "a": "wall", "b": "box", "place": [0, 0, 0], "axis": [0, 0, 1],
             "limits": {"lower": -0.3, "upper": 0.5}})",
          1e-2, 1e-2);
  compare(R"({"kind": "slider", "a": "wall", "b": "box", "place": [0, 0, 0], "axis": [1, 0, 0],
             "motor": {"velocity": 0.5, "max_force": 100}})",
          3e-3, 1e-3);
  compare(R"({"kind": "slider", "a": "wall", "b": "box", "place": [0, 0, 0], "axis": [0, 1, 0],
             "limits": {"lower": -0.1, "upper": 0.2}})",
          1e-2, 1e-3);
  compare(R"({"kind": "ball", "a": "wall", "b": "box", "place": [0, 0, 0]})", 5e-3, 1e-2);
  compare(R"({"kind": "fixed", "a": "wall", "b": "box", "place": [0, 0, 0]})", 2e-3, 1e-3);
}

TEST(SceneEngine, ScriptsMoveAndPush) {
  const std::string rest = std::string(R"("bodies": [
    {"name": "ram", "kind": "kinematic", "shape": {"field": "box", "size": [0.1, 0.1, 0.1]}},
    {"name": "box", "shape": )") +
                           kBox + R"(, "position": [0.12, 0, 0]},
    {"name": "far", "shape": )" +
                           kBox + R"(, "position": [9, 0, 0]}],
    "scripts": [{"body": "ram", "velocity": [0.5, 0, 0], "from": 0, "until": 1},
                {"body": "far", "force": [1, 9.81, 0], "from": 0, "until": 1}])";
  Scene scene = scene_of("bullet", rest);
  scene.world.gravity = {};
  SceneRun run(scene, with_bullet());
  EXPECT_TRUE(run.go(250));
  EXPECT_NEAR(run.world().pose(0).translation.x, 0.25, 2e-3);
  EXPECT_GT(run.world().pose(1).translation.x, 0.25 + 0.099);
  const double mass = run.world().body_settings(2).mass.mass;
  EXPECT_NEAR(run.world().pose(2).translation.x, 9 + 0.125 / mass, 0.01 * 0.125 / mass + 1e-3);
}

Scene read_shipped(const char* name) {
  return read_scene(std::filesystem::path(ISOTACT_SOURCE_FOLDER) / "scenes" / "bullet" / name);
}

// The nut goes down by its pitch of 2 mm a turn.
TEST(SceneEngine, TheNutTurnsDownItsBolt) {
  Scene scene = read_shipped("nut.json");
  if (kSlowBuild)
    for (SceneShape& shape : scene.shapes) {
      shape.voxel_size = 0.0016;
      if (!shape.points) shape.spacing = 0.004;
    }
  SceneRun run(scene, with_bullet());
  double angle = 0;
  Quat last = run.world().pose(1).rotation;
  const double from = run.world().pose(1).translation.y;
  for (int step = 0; step < unless_slow(1200, 50); ++step) {
    ASSERT_TRUE(run.step());
    const Quat now = run.world().pose(1).rotation, turn = now * conjugate(last);
    angle += 2 * turn.y * (turn.w < 0 ? -1 : 1);
    last = now;
  }
  const double sunk = from - run.world().pose(1).translation.y;
  if (kSlowBuild) return;
  EXPECT_GT(sunk, 0.002);
  EXPECT_NEAR(sunk, 0.002 * std::abs(angle) / (2 * kPi), 0.3 * sunk);
}

// Two knots in each other stay so.
TEST(SceneEngine, KnotsHoldEachOther) {
  Scene scene = read_shipped("knots.json");
  for (SceneShape& shape : scene.shapes) {
    shape.resolution = unless_slow(96, 32);
    shape.spacing = unless_slow(0.015, 0.04);
  }
  SceneRun run(scene, with_bullet());
  ASSERT_TRUE(run.go(unless_slow(750, 60)));
  EXPECT_GT(run.world().pose(1).translation.y, -0.75);
  EXPECT_TRUE(run.warnings().empty());  // they do not overlap at the start
  EXPECT_TRUE(kSlowBuild || !run.contacts().empty());
}

constexpr const char* kBoxOnGround = R"("bodies": [
    {"name": "ground", "kind": "static", "shape": {"field": "plane"}},
    {"name": "box", "shape": {"make": "box", "size": 0.1, "resolution": 24, "points": 0},
     "position": [0, 0.08, 0]}])";

Scene with_phase(const std::string& phase) {
  return parse_scene(R"({"isotact_scene": 1, "world": {"step": 0.004, "engine": "bullet",
                         "narrow_phase": ")" +
                         phase + "\"}," + kBoxOnGround + "}",
                     "test.json");
}

// Fields alone are enough for batches.
TEST(NarrowPhase, IsChosenByTheScene) {
  for (const char* phase : {"idf", "gpu"}) {
    SCOPED_TRACE(phase);
    const Scene scene = with_phase(phase);
    EXPECT_EQ(name(scene.narrow_phase), phase);
    if (kSlowBuild && scene.narrow_phase == NarrowPhase::kGpu) continue;
    const Pose pose = run_for(scene, unless_slow(0.3, 0.1), 1);
    EXPECT_NEAR(pose.translation.y, 0.05, unless_slow(1e-3, 0.03));
  }
  EXPECT_THROW(SceneRun(with_phase("points"), with_bullet()), Error);  // neither has any
  EXPECT_THROW(with_phase("cuda"), Error);
  Scene ours = with_phase("idf");
  ours.engine = "isotact";
  EXPECT_THROW(SceneRun{ours}, Error);
  EXPECT_THROW(parse_scene(R"({"isotact_scene": 1, "world": {"narrow_phase": "idf"},
                               "bodies": [{"name": "a", "kind": "static"}]})",
                           "test.json"),
               Error);
}

TEST(NarrowPhase, FallsBackToTheCpuAndSaysSo) {
  ASSERT_EQ(setenv("ISOTACT_GPU", "none", 1), 0);
  SceneRun run(with_phase("gpu"), with_bullet());
  unsetenv("ISOTACT_GPU");
  ASSERT_EQ(run.warnings().size(), 1U);
  EXPECT_NE(run.warnings()[0].find("no GPU"), std::string::npos) << run.warnings()[0];
  EXPECT_TRUE(run.go(unless_slow(60, 5)));
}

Scene read_kgm(const char* name) {
  Scene scene = read_scene(std::filesystem::path(ISOTACT_SOURCE_FOLDER) / "scenes" / "kgm" / name);
  scene.narrow_phase = NarrowPhase::kIdf;
  for (SceneShape& shape : scene.shapes) {
    shape.points = 0;
    shape.resolution = std::min(shape.resolution.value_or(64), unless_slow(32, 16));
    if (auto* data = std::get_if<DataFile>(&shape.source))
      data->path = "none", data->stand_in = {.name = "box", .size = data->size};
    auto* made = std::get_if<MadeShape>(&shape.source);
    if (made != nullptr && made->parameters.contains("triangles"))
      made->parameters["triangles"] = 4000;
  }
  return scene;
}

TEST(KgmScenes, StepsCanBeWatched) {
  Scene scene = read_kgm("pipe_small.json");
  scene.world.step = 0.01;
  std::size_t steps = 0, most = 0;
  const BatchObserver watch = [&](const BatchStep& step, const IdfResult&) {
    ++steps;
    most = std::max(most, step.pairs.size());
  };
  SceneRun run(scene, {.keep_frames = false,
                       .keep_log = false,
                       .engines = {{"bullet", bullet_engine_with({.observer = watch})}}});
  ASSERT_TRUE(run.go(unless_slow(40, 3)));
  EXPECT_EQ(steps, unless_slow(40U, 3U));
  EXPECT_GE(most, unless_slow(30U, 0U));
  for (BodyId id = 0; id < run.world().body_count(); ++id)
    EXPECT_GT(run.world().pose(id).translation.y, -0.01);
}

TEST(KgmScenes, AllAreRead) {
  for (const char* name :
       {"many.json", "many_small.json", "pipe.json", "pipe_small.json", "statues.json"}) {
    SCOPED_TRACE(name);
    const Scene scene = read_kgm(name);
    EXPECT_EQ(scene.engine, "bullet");
    EXPECT_GT(scene.about.size(), 100U);
    EXPECT_GE(step_count(scene), 300U);
  }
  EXPECT_GE(read_kgm("many.json").bodies.size(), 1000U);
}

TEST(KgmScenes, StandInsTakeThePlaceOfData) {
  Scene scene = read_kgm("statues.json");
  SceneRun run(scene, with_bullet());
  EXPECT_EQ(std::count_if(run.warnings().begin(), run.warnings().end(),
                          [](const std::string& w) {
                            return w.find("stands in for none") != std::string::npos;
                          }),
            2);
  ASSERT_TRUE(run.go(10));
}

}  // namespace
}  // namespace isotact
