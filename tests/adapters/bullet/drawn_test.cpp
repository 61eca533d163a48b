// Bullet's bodies on what is only drawn: contacts of image-space detection.
#include <gtest/gtest.h>

#include "isotact/geometry/primitives/primitives.h"
#include "isotact/queries/depth/depth_map.h"

#include "bullet_world.h"

namespace isotact {
namespace {

TEST(BulletDrawn, ABoxRestsOnGroundThatBulletDoesNotKnow) {
  const DepthMesh slab = make_depth_mesh(make_box({.size_x = 4, .size_y = 0.5, .size_z = 4}));
  const TriangleMesh mesh = make_box({.size_x = 0.4, .size_y = 0.2, .size_z = 0.3});
  const DepthMesh box = make_depth_mesh(mesh);
  const DepthSettings settings{.width = 32, .height = 32, .max_contacts = 64};
  const DepthElement part = make_depth_element(box, {}, 0, true);
  const DepthElement ground = make_depth_element(slab, {{}, {0, -0.25, 0}}, 3, true);
  const DepthMap map =
      draw_depth_map({&part, 1}, make_depth_view(to_double(bounds(mesh)), {0, 1, 0}), settings);

  BulletWorld world;
  btBoxShape shape(btVector3(0.2F, 0.1F, 0.15F));
  btEmptyShape nothing;
  btRigidBody& body = world.add(shape, 2, {0, 0.25, 0}, rotation_about({1, 0, 1}, 0.2));
  btRigidBody& drawn = world.add(nothing, 0);
  {
    GivenContacts contacts(world.dispatcher, body, drawn);
    const double step = 1.0 / 240;
    for (int i = 0; i < 480; ++i) {
      const DepthResult report =
          detect_by_depth(map, from_bullet(body.getWorldTransform()), {&ground, 1}, settings);
      contacts.set(report.contacts, step);
      world.step(1, step);
    }
    EXPECT_GT(world.contact_count(), 2);
    EXPECT_NEAR(static_cast<double>(body.getWorldTransform().getOrigin().y()), 0.1, 0.004);
    EXPECT_NEAR(static_cast<double>(body.getWorldTransform().getBasis().getColumn(1).y()), 1, 1e-3);
    EXPECT_LT(static_cast<double>(body.getLinearVelocity().length()), 0.05);
  }
  EXPECT_EQ(world.contact_count(), 0);
  world.step(30);
  EXPECT_LT(static_cast<double>(body.getWorldTransform().getOrigin().y()), -0.5);
}

}  // namespace
}  // namespace isotact
