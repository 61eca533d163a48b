// Bodies on ground that is only drawn: contacts of image-space detection as forces.
#include <cmath>

#include <gtest/gtest.h>

#include "isotact/dynamics/rigid/contact_force.h"
#include "isotact/geometry/mesh/mass_properties.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/queries/depth/depth_map.h"

namespace isotact {
namespace {

// Drops a box onto a slab, turned, and lets it come to rest.
struct DrawnGround {
  DepthMesh slab = make_depth_mesh(make_box({.size_x = 4, .size_y = 0.5, .size_z = 4}));
  TriangleMesh mesh = make_box({.size_x = 0.4, .size_y = 0.2, .size_z = 0.3});
  DepthMesh box = make_depth_mesh(mesh);
  DepthSettings settings{.width = 32, .height = 32, .max_contacts = 64};
  DepthElement part = make_depth_element(box, {}, 0, true);
  DepthMap map =
      draw_depth_map({&part, 1}, make_depth_view(to_double(bounds(mesh)), {0, 1, 0}), settings);
  Pose world_from_slab{{}, {0, -0.25, 0}};
  RigidBody body;

  DrawnGround() {
    const double mass = 2;
    body.mass = make_body_mass(mass, {}, diagonal3(Vec3{0.13, 0.25, 0.2} * (mass / 12)));
  }
  DepthResult look() const {
    const DepthElement ground = make_depth_element(slab, world_from_slab, 3, true);
    return detect_by_depth(map, world_from_body(body), {&ground, 1}, settings);
  }
  void run(int steps, double step, const ContactLoadSettings& contact) {
    for (int i = 0; i < steps; ++i) {
      Load load = compute_contact_load(body, look().contacts, contact);
      load.force += Vec3{0, -9.81 * body.mass.mass, 0};
      kick(body, load, step);
      drift(body, step);
    }
  }
};

TEST(ContactLoad, ABoxComesToRestOnDrawnGround) {
  DrawnGround scene;
  set_pose(scene.body, {rotation_about({1, 0, 1}, 0.1), {0, 0.2, 0}});
  const ContactLoadSettings contact{.stiffness = 5000, .damping = 120};
  scene.run(1500, 1e-3, contact);
  const Pose pose = world_from_body(scene.body);
  // On its face, as deep as the spring says.
  EXPECT_NEAR(rotate(pose.rotation, {0, 1, 0}).y, 1, 1e-4);
  EXPECT_NEAR(pose.translation.y, 0.1 - 2 * 9.81 / 5000, 2e-4);
  EXPECT_LT(length(velocity(scene.body)), 5e-3);
  EXPECT_LT(length(angular_velocity(scene.body)), 1e-2);
  const DepthResult report = scene.look();
  EXPECT_EQ(report.ids, std::vector<std::uint32_t>{3});
  EXPECT_GE(report.contacts.size(), 36U);
}

TEST(ContactLoad, FrictionHoldsOnASlope) {
  for (const double friction : {0.6, 0.1}) {
    DrawnGround scene;
    const Quat tilt = rotation_about({0, 0, 1}, 0.3);  // tan 0.3 is 0.31
    scene.world_from_slab = {tilt, rotate(tilt, {0, -0.25, 0})};
    set_pose(scene.body, {tilt, rotate(tilt, {0, 0.1, 0})});
    scene.run(400, 1e-3, {.stiffness = 5000, .damping = 120, .friction = friction, .creep = 0.02});
    const double speed = length(velocity(scene.body));
    if (friction > 0.31)
      EXPECT_LT(speed, 0.02);
    else  // Coulomb: g (sin - mu cos) t
      EXPECT_NEAR(speed, 9.81 * (std::sin(0.3) - friction * std::cos(0.3)) * 0.4, 0.1);
  }
}

TEST(ContactLoad, NeverPulls) {
  RigidBody body;
  body.mass = make_body_mass(1, {}, identity3());
  set_velocity(body, {0, 5, 0}, {});
  const Contact contact{.normal = {0, 1, 0}, .depth = 0.001};
  EXPECT_EQ(compute_contact_load(body, {&contact, 1}, {}).force.y, 0);
  EXPECT_EQ(compute_contact_load(body, {}, {}).force, Vec3{});
  set_velocity(body, {}, {});
  // However many there are, the spring is the same.
  const Contact two[] = {contact, contact};
  EXPECT_NEAR(compute_contact_load(body, two, {}).force.y, 10, 1e-9);
  EXPECT_NEAR(compute_contact_load(body, {&contact, 1}, {}).force.y, 10, 1e-9);
}

}  // namespace
}  // namespace isotact
