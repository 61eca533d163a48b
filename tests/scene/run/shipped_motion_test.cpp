// What the shipped scenes are there to show.
#include <cmath>
#include <filesystem>

#include <gtest/gtest.h>

#include "isotact/scene/run/run.h"

#include "support/slow_build.h"

namespace isotact {
namespace {

Scene shipped(const std::string& name) {
  return read_scene(std::filesystem::path(ISOTACT_SOURCE_FOLDER) / "scenes" / (name + ".json"));
}

// How far a body has turned about y since the start, whole turns counted.
class Turns {
 public:
  void follow(const Quat& rotation) {
    const Quat step = rotation * conjugate(last_);
    angle_ += 2 * std::atan2(step.y, step.w);
    if (step.w < 0) angle_ -= std::copysign(2 * kPi, step.y);
    last_ = rotation;
  }
  double angle() const { return angle_; }

 private:
  Quat last_{};
  double angle_ = 0;
};

// The nut sinks by the pitch a turn.
TEST(ShippedMotion, TheNutFollowsItsThread) {
  SceneRun run(shipped("nut"), {.keep_frames = false, .keep_log = false});
  Turns turns;
  const auto follow = [&](const StepReport&) {
    turns.follow(run.world().pose(1).rotation);
    return true;
  };
  ASSERT_TRUE(run.go(160, follow));  // its flanks touch by now
  const double height = run.world().pose(1).translation.y, angle = turns.angle();
  ASSERT_TRUE(run.go(200, follow));
  const double turned = turns.angle() - angle;
  const double sunk = height - run.world().pose(1).translation.y;
  EXPECT_LT(turned, -0.5);  // a right-handed thread
  EXPECT_NEAR(sunk, -0.002 * turned / (2 * kPi), 3e-5);
  EXPECT_LT(run.deepest(), 1e-4);
}

TEST(ShippedMotion, TheDryNutLocks) {
  SceneRun run(shipped("nut_locked"), {.keep_frames = false, .keep_log = false});
  ASSERT_TRUE(run.go(100));
  const Pose before = run.world().pose(1);
  ASSERT_TRUE(run.go(100));
  EXPECT_LT(length(run.world().pose(1).translation - before.translation), 2e-6);
  EXPECT_LT(std::abs((run.world().pose(1).rotation * conjugate(before.rotation)).y), 1e-3);
}

// Teeth hand the motion on: 12 to 24 to 12.
TEST(ShippedMotion, GearsKeepTheirRatio) {
  Scene scene = shipped("gears");
  for (SceneShape& shape : scene.shapes) {  // coarser: a tenth of the time
    shape.voxel_size = 0.0016;
    shape.spacing = 0.003;
  }
  SceneRun run(scene, {.keep_frames = false, .keep_log = false});
  Turns turns[3];
  ASSERT_TRUE(run.go(600, [&](const StepReport&) {
    for (BodyId k = 0; k < 3; ++k) turns[k].follow(run.world().pose(k + 1).rotation);
    return true;
  }));
  const double driver = turns[0].angle(), wheel = turns[1].angle(), driven = turns[2].angle();
  EXPECT_GT(driver, 1);  // ramped up to pi rad/s in 0.3 s, then 0.3 s
  // The wheel starts at 7.5 degrees; play of a few degrees, as it may run ahead.
  EXPECT_NEAR(wheel - 7.5 * kPi / 180, -driver / 2, 0.05);
  EXPECT_NEAR(driven, driver, 0.1);
}

TEST(ShippedMotion, TheBulletStaysInFront) {
  SceneRun run(shipped("bullet"), {.keep_frames = false, .keep_log = false});
  ASSERT_TRUE(run.go(100, [&](const StepReport&) {
    // In the plate's frame.
    const Vec3 at = transform_point(inverse(run.world().pose(2)), run.world().pose(3).translation);
    EXPECT_LT(at.x, 0.002);
    return at.y > -0.2 && at.x < 0.002;  // until it falls below
  }));
  EXPECT_GT(run.world().pose(2).translation.x, 0.02);  // the plate swings
}

// Every link hangs on the one before.
TEST(ShippedMotion, TheChainHolds) {
  SceneRun run(shipped("chain"), {.keep_frames = false, .keep_log = false});
  ASSERT_TRUE(run.go(unless_slow(75, 4)));
  for (BodyId k = 2; k < run.world().body_count(); ++k) {
    const double apart =
        length(run.world().pose(k).translation - run.world().pose(k - 1).translation);
    EXPECT_LT(apart, 0.0515) << k;
    EXPECT_GT(apart, 0.045) << k;
  }
  EXPECT_LT(run.deepest(), 1e-3);
}

TEST(ShippedMotion, TheSmallPileStaysInItsTray) {
  SceneRun run(shipped("pile_small"), {.keep_frames = false, .keep_log = false});
  ASSERT_TRUE(run.go(300));
  EXPECT_GT(run.most_contacts(), 3U);
  EXPECT_LT(run.deepest(), 0.005);
  for (BodyId k = 2; k < run.world().body_count(); ++k) {
    const Vec3 at = run.world().pose(k).translation;
    EXPECT_GT(at.y, 0) << k;
    EXPECT_LT(std::sqrt(at.x * at.x + at.z * at.z), 0.25) << k;
  }
}

}  // namespace
}  // namespace isotact
