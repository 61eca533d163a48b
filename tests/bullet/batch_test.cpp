// Bodies in batches: what comes to rest, what is filtered, and what stays as it was.
#include "isotact/adapters/bullet/batch.h"

#include <cmath>

#include <gtest/gtest.h>

#include "isotact/base/error.h"

#include "bullet_world.h"
#include "shapes.h"
#include "support/slow_build.h"

namespace isotact {
namespace {

constexpr double kStep = 1.0 / 120;

TEST(Batch, ABallAndABoxComeToRestOnAPlane) {
  BatchWorld w;
  btStaticPlaneShape ground({0, 1, 0}, 0);
  w.add(ground, 0);
  IsotactShape ball = copy(ball_shape()), cube = copy(cube_shape());
  const btRigidBody& b = w.add(ball, 1, {0, 0.5, 0});
  const btRigidBody& c = w.add(cube, 1, {2, 0.6, 0});
  double lowest = 1;
  for (int i = 0; i < 240; ++i) {
    w.step(1, kStep);
    lowest = std::min(lowest, place(b).y);
  }
  EXPECT_GT(lowest, kBallRadius - 2e-3);
  EXPECT_NEAR(place(b).y, kBallRadius, 1e-3);
  EXPECT_NEAR(place(c).y, 0.25, 1e-3);
  EXPECT_NEAR(from_bullet(b.getLinearVelocity()).y, 0, 5e-3);
  EXPECT_NEAR(length(from_bullet(c.getLinearVelocity())), 0, 5e-3);
  EXPECT_NEAR(length(from_bullet(c.getAngularVelocity())), 0, 5e-3);
}

}  // namespace
}  // namespace isotact
