// From a shape to a rigid body. Bullet's frame has its origin at the centre of mass. Its axes must
// be the principal ones, since Bullet stores three moments of inertia and no products.
//
//   BodyInfo info = make_body_info(*cook_bullet_shape(mesh), {.density = 7800});
//   btDefaultMotionState state(to_bullet(world_from_mesh), info.center_of_mass_offset());
//   btRigidBody body(info.mass, &state, info.shape.get(), info.inertia);
#pragma once

#include <LinearMath/btTransform.h>

#include "isotact/adapters/bullet/shape.h"

namespace isotact {

struct BodyInfo {
  std::unique_ptr<IsotactShape> shape;  // Shares the cooked data; its frame is the principal one.
  btScalar mass = 0;                    // kg
  btVector3 inertia{0, 0, 0};           // kg m^2: for btRigidBody.
  Pose mesh_from_body{};                // Pose of Bullet's frame in the cooked frame.

  // Returns the second argument of btDefaultMotionState. Its first is then world_from_mesh, and so
  // is its m_graphicsWorldTrans. (btDefaultMotionState calls it the centre of mass's offset and
  // takes the inverse: body_from_mesh.)
  btTransform center_of_mass_offset() const;
  // Return the pose for btRigidBody::setWorldTransform of a mesh at world_from_mesh, and back.
  btTransform world_from_body(const Pose& world_from_mesh) const;
  Pose world_from_mesh(const btTransform& world_from_body) const;
};

// Takes the density in kg/m^3, or the mass in kg. Throws Error if the shape has no volume (a
// pointshell alone, without mass properties).
BodyInfo make_body_info(const IsotactShape& shape, const MassSettings& settings = {});

}  // namespace isotact
