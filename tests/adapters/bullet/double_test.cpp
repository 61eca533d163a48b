// The same plug-in with Bullet in double precision: a small part, in a program of its own.
#include <gtest/gtest.h>

#include "adapters/bullet/bullet_world.h"
#include "adapters/bullet/shapes.h"

namespace isotact {
namespace {

static_assert(sizeof(btScalar) == sizeof(double));

TEST(BulletDouble, RingsRestOnEachOtherFarFromTheOrigin) {
  BulletWorld bullet;
  btBoxShape box({2, 0.5, 2});
  const Vec3 far{1e5, 2e5, -1e5};
  bullet.add(box, 0, far - Vec3{0, 0.5, 0});
  IsotactShape torus = copy(torus_shape());
  btRigidBody& below = bullet.add(torus, 1, far + Vec3{0, 0.13, 0});
  btRigidBody& above = bullet.add(torus, 1, far + Vec3{0, 0.39, 0});
  bullet.step(240);
  EXPECT_NEAR(place(below).y - far.y, 0.125, 2e-3);
  EXPECT_NEAR(place(above).y - far.y, 0.375, 4e-3);
}

}  // namespace
}  // namespace isotact
