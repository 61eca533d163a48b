// Isotact's bodies as Bullet's collision shapes.
//
//   auto shape = isotact::cook_bullet_shape(mesh);     // btStridingMeshInterface or TriangleMesh
//   btRigidBody body(mass, &motion_state, shape.get(), inertia);
//
// Three kinds, as SSL14 (3.2) has them: with a pointshell only, with a field or voxelmap only, and
// with both. Two shapes collide where one has points and the other a field or voxelmap; shapes of
// Bullet's see points by themselves, and fields by their corners and edges.
//
// Lengths are metres. All of it may be shared: one shape by many bodies, on many threads.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <BulletCollision/CollisionShapes/btConcaveShape.h>
#include <BulletCollision/CollisionShapes/btStridingMeshInterface.h>

#include "isotact/field/voxmap.h"
#include "isotact/geometry/bvh.h"
#include "isotact/geometry/mass_properties.h"
#include "isotact/queries/shape.h"
#include "isotact/queries/shell_contact.h"
#include "isotact/queries/shell_target.h"

namespace isotact {

enum class PairRoles : std::uint8_t {
  kBoth,         // points of each in the field of the other
  kFewerPoints,  // SSL14: the body with fewer points is the pointshell, the other the field
};

// Of meshes and height fields of Bullet's that a body of ours meets.
struct MeshContactSettings {
  // Metres: how far behind its face a triangle is solid (queries/triangle_query.h). 0: a quarter of
  // our body's smallest side.
  double thickness = 0;
};

struct BulletShapeSettings {
  // Metres by which the surface is grown, all around. Unlike the margins of Bullet's own shapes it
  // is not needed: the field knows depths.
  double margin = 0;
  // Metres: contacts are kept up to this far apart, so that they persist; 0: 1/2000 of the radius.
  // More lets curved bodies roll less smoothly, and costs time.
  double contact_distance = 0;
  // Metres: bodies that come nearer are met this far apart, so that they do not sink in first, and
  // fields are prepared for it; 0: a hundredth of the radius, or a cell of the field if that is
  // more. What is fast is looked for along its way (algorithm in docs/bullet.md).
  double max_approach = 0;
  // SSL14 2.4: cut into about so many segments, each with a manifold of its own. 1: not cut.
  std::uint32_t segments = 1;
  // In place of `segments`: the nodes of this level of the tree. Negative: not used.
  int segment_level = -1;
  // Contacts of a manifold, 1 to 4; 0: four, or one a manifold where it is cut, as SSL14 has it. 1
  // for a body that is not cut: one new contact a step, and those of the steps before stay as long
  // as they are near, up to four (SSL14's L = 1, with Bullet's manifolds).
  std::uint32_t points_per_manifold = 0;
  PairRoles roles = PairRoles::kBoth;
  MeshContactSettings meshes{};
  // m/s: slower impacts do not bounce (as btContactSolverInfo::m_restitutionVelocityThreshold).
  double bounce_speed = 0.2;
  // Metres of relative motion in a step from which on the way is searched (docs/bullet.md); 0: half
  // of the body's smallest side. btCollisionObject::setCcdMotionThreshold, where set, goes first.
  double fast_motion = 0;
};

namespace bullet_detail {

// What shapes of different frames and scales share. Immutable but for what is made when first
// asked for.
struct BulletBody {
  std::optional<PointSphereTree> tree{};
  std::optional<BrickField> field{};
  std::optional<Voxmap> voxmap{};
  std::optional<ShellTarget> target{};
  std::optional<MassProperties> mass{};  // of density 1
  std::shared_ptr<const TriangleMesh> mesh{};
  Sphere ball{};  // holds the body
  Aabb box{};     // the same
  double smallest_side = 0;
  double cell = 0;  // metres; 0 without field and voxelmap
  ShellSegments segments{};
  BulletShapeSettings settings{};
  std::vector<std::string> warnings{};  // of building: holes that were closed, thin walls

  struct Surface {
    std::shared_ptr<const TriangleMesh> mesh;
    Bvh bvh;
  };
  // The mesh it was cooked from, or else the isosurface; empty for a pointshell alone.
  const Surface& surface() const;

 private:
  mutable std::once_flag once_;
  mutable Surface surface_{};
};

}  // namespace bullet_detail

class IsotactShape final : public btConcaveShape {
 public:
  BT_DECLARE_ALIGNED_ALLOCATOR();
  explicit IsotactShape(std::shared_ptr<const bullet_detail::BulletBody> body,
                        const Pose& bullet_from_shape = {});
  ~IsotactShape() override;

  // Where the cooked frame lies in that of Bullet's body, without scaling.
  const Pose& bullet_from_shape() const { return bullet_from_shape_; }
  const bullet_detail::BulletBody& body() const { return *body_; }
  std::shared_ptr<const bullet_detail::BulletBody> shared_body() const { return body_; }
  const BulletShapeSettings& settings() const { return body_->settings; }
  double scale() const { return scale_; }
  // Of cooking, in words: holes that were closed, walls too thin for the field.
  const std::vector<std::string>& warnings() const { return body_->warnings; }
  // bullet_from_shape as a pose of the scaled body: its translation is scaled, too.
  Pose scaled_frame() const {
    return {bullet_from_shape_.rotation, bullet_from_shape_.translation * scale_};
  }

  // btCollisionShape. Scaling is uniform: any other is refused with a message (report.h), and the
  // old one stays.
  void setLocalScaling(const btVector3& scaling) override;
  const btVector3& getLocalScaling() const override { return scaling_; }
  void getAabb(const btTransform& t, btVector3& lower, btVector3& upper) const override;
  void getBoundingSphere(btVector3& center, btScalar& radius) const override;
  // Exact for closed meshes, at uniform density, about the centre of mass and along the axes of
  // Bullet's frame; products of inertia are dropped, as Bullet has none: make_body_info (body.h)
  // turns the frame so that there are none. Of a pointshell alone: that of its box.
  void calculateLocalInertia(btScalar mass, btVector3& inertia) const override;
  const char* getName() const override { return "ISOTACT"; }
  // Triangles of the mesh that was cooked, or of the isosurface, that touch the box. Rays (a
  // callback that is a btTriangleRaycastCallback) get only those that they hit, in order.
  void processAllTriangles(btTriangleCallback* callback, const btVector3& lower,
                           const btVector3& upper) const override;

 private:
  void update_box();

  std::shared_ptr<const bullet_detail::BulletBody> body_;
  Pose bullet_from_shape_;
  double scale_ = 1;
  btVector3 scaling_{1, 1, 1};
  Aabb box_{};  // in Bullet's frame, without scaling and margin
};

// Cooking. Throws Error as the builders do, and for settings out of range.
struct CookSettings {
  ShapeSettings shape{};
  BulletShapeSettings bullet{};
};
std::unique_ptr<IsotactShape> cook_bullet_shape(const TriangleMesh& mesh,
                                                const CookSettings& settings = {});
// All parts of a btTriangleMesh, btTriangleIndexVertexArray and others, with their scaling. Equal
// corners are welded.
std::unique_ptr<IsotactShape> cook_bullet_shape(const btStridingMeshInterface& mesh,
                                                const CookSettings& settings = {});
TriangleMesh from_bullet(const btStridingMeshInterface& mesh);
// What was built before. An asset's voxelmap is used where it has no brick field.
std::unique_ptr<IsotactShape> cook_bullet_shape(const Asset& asset,
                                                const BulletShapeSettings& settings = {});
std::unique_ptr<IsotactShape> cook_bullet_shape(const Shape& shape,
                                                const BulletShapeSettings& settings = {});
// Any of them may be missing, but not all of the first three. `mesh`: for rays, drawing and
// inertia.
struct BulletShapeParts {
  std::optional<PointSphereTree> tree{};
  std::optional<BrickField> field{};
  std::optional<Voxmap> voxmap{};  // in place of a field
  std::optional<MassProperties> mass{};
  std::shared_ptr<const TriangleMesh> mesh{};
  std::vector<std::string> warnings{};  // of building
};
std::unique_ptr<IsotactShape> cook_bullet_shape(BulletShapeParts parts,
                                                const BulletShapeSettings& settings = {});

}  // namespace isotact
