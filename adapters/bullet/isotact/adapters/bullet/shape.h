// Isotact's bodies as Bullet's collision shapes.
//
//   auto shape = isotact::cook_bullet_shape(mesh);     // btStridingMeshInterface or TriangleMesh.
//   btRigidBody body(mass, &motion_state, shape.get(), inertia);
//
// All are made of a Shape (queries/shape.h). Three kinds, as SSL14 (3.2) has them: with a
// pointshell only, with a field or voxelmap only, and with both. Two shapes collide if one has
// points and the other a field or voxelmap; shapes of Bullet's see points by themselves, and fields
// by their corners and edges. Analytic shapes and other fields get points and a brick field.
//
// Lengths are metres. Everything may be shared: one shape by many bodies, on many threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <BulletCollision/CollisionShapes/btConcaveShape.h>
#include <BulletCollision/CollisionShapes/btStridingMeshInterface.h>

#include "isotact/base/made_once.h"
#include "isotact/field/voxmap/voxmap.h"
#include "isotact/geometry/bvh/bvh.h"
#include "isotact/geometry/mesh/mass_properties.h"
#include "isotact/queries/points/shell_contact.h"
#include "isotact/queries/points/shell_target.h"
#include "isotact/queries/shape.h"

namespace isotact {

enum class PairRoles : std::uint8_t {
  kBoth,  // Points of each in the field of the other.
  // SSL14: the body with fewer points is the pointshell, the other the field.
  kFewerPoints,
};

// Settings for Bullet's meshes and height fields that meet a body of ours.
struct MeshContactSettings {
  // Metres: solid thickness of a triangle behind its face (queries/points/feature_query.h). 0: a
  // quarter of our body's smallest side.
  double thickness = 0;
};

// The action of the points that touch.
enum class PatchResponse : std::uint8_t {
  // Contacts at the deepest points of the body, or of each patch.
  kContacts,
  // One contact per patch, at the centre of its pressure, with torsional friction: friction times
  // the mean distance of the area from that centre. `patches` is 15 if it is not set.
  kPressure,
  // No contacts: force and torque of SSL14's equations 2 and 3 are added to the loads of both
  // bodies, with damping and friction. For pairs of two such shapes, and with Bullet's planes and
  // convex shapes. Bodies sink in by their load over the stiffness, and are not searched along
  // their path.
  kPenalty,
};
struct PenaltySettings {
  // With kMeanDepth in N/m, of the whole patch; with kPressure in N/m^3, summed over its area.
  // 0: a fifth of the reduced mass over the square of the step, which is stable.
  double stiffness = 0;
  ShellForceScale scale = ShellForceScale::kMeanDepth;
  double damping = 0.3;  // 1: critical.
};

struct BulletShapeSettings {
  // Metres by which the surface is grown, all around. Unlike the margins of Bullet's own shapes, it
  // is not needed: the field has depths.
  double margin = 0;
  // Metres: contacts are kept up to this far apart, so that they persist; 0: 1/2000 of the radius.
  // Larger values make curved bodies roll less smoothly, and cost time.
  double contact_margin = 0;
  // Metres: approaching bodies get contacts this far apart, so that they do not sink in first.
  // Fields are prepared for it. 0: a hundredth of the radius, or a cell of the field if that is
  // more. Fast bodies are searched along their path (algorithm in docs/bullet.md).
  double max_approach = 0;
  // SSL14 2.4: cut into about so many patches, each with a manifold of its own. 1: not cut.
  std::uint32_t patches = 1;
  // For shapes that are not cut: pairs whose normals differ much, as those of threads, gears and
  // pins in holes do, are cut into about so many. Four contacts would let them tilt. 1:
  // never.
  std::uint32_t wide_patches = 12;
  // Instead of `patches`: the nodes of this level of the tree. Negative: not used.
  int patch_level = -1;
  // Contacts per manifold, 1 to 4. 0: four, or one per manifold if the shape is cut, as in SSL14. 1
  // for a body that is not cut: one new contact per step; contacts of the steps before stay while
  // they are near, up to four (SSL14's L = 1, with Bullet's manifolds).
  std::uint32_t points_per_manifold = 0;
  PairRoles roles = PairRoles::kBoth;
  MeshContactSettings meshes{};
  // m/s: slower impacts do not bounce (as btContactSolverInfo::m_restitutionVelocityThreshold).
  double bounce_speed = 0.2;
  // Metres of relative motion per step from which the path is searched (docs/bullet.md). 0: half of
  // the body's smallest side. btCollisionObject::setCcdMotionThreshold, if set, has priority.
  double fast_motion = 0;
  // Radians. Edges of the mesh that bend by less are taken for those of a curved surface, and
  // contacts lie on that surface: wheels and balls roll smoothly. Sharper edges, and flat parts,
  // stay as they are. 0: contacts lie on the triangles everywhere.
  double crease_angle = 0.25;
  // Level of detail: contacts test the representatives of this level of the point-sphere tree, and
  // no further (queries/points/shell_query.h). Negative: all points. Guards test all points.
  int level = -1;
  PatchResponse response = PatchResponse::kContacts;
  PenaltySettings penalty{};
};

namespace bullet_detail {

class SmoothSurface;

// A view of a Shape that Bullet's shapes of different frames and scales share. Immutable but for
// the parts that are made on first use.
struct BulletBody {
  explicit BulletBody(const Shape& s) : shape(s) {}

  Shape shape;
  std::optional<PointSphereTree> tree{};  // that the shape was made with, or of its formula
  std::optional<BrickField> field{};
  std::optional<Voxmap> voxmap{};  // only if there is no field
  std::shared_ptr<const ShellTarget> target{};
  std::optional<MassProperties> mass{};  // of density 1
  std::shared_ptr<const TriangleMesh> mesh{};
  Sphere ball{};  // Contains the body.
  Aabb box{};     // Contains the body.
  double smallest_side = 0;
  double cell = 0;         // Metres; 0 without field and voxmap.
  ShellPatches patches{};  // of `tree`
  // The same for pairs whose normals differ much. Empty: these are not cut either.
  ShellPatches wide_patches{};
  BulletShapeSettings settings{};
  // As they were given, without defaults: for cooking it anew at another scale.
  ShapeSettings shape_settings{};
  BulletShapeSettings wished{};
  std::vector<std::string> warnings{};  // Warnings of building: closed holes, thin walls.

  struct Surface {
    const TriangleMesh* mesh = nullptr;  // of the shape
    Bvh bvh;
  };
  struct Points {
    const PointSphereTree* tree = nullptr;  // of the shape
    ShellPatches patches{}, wide_patches{};
  };
  // Returns points for a shape without `tree`. The tree is null if they cannot be made; the reason
  // is reported once (report.h).
  const Points& made_points() const;

  // Returns the mesh that it was cooked from, or the isosurface. Empty for a pointshell alone.
  const Surface& surface() const;

  // Metres: half of the thickness, of about 2,000 places; at least a cell, which is the least that
  // a field can hold. Without a mesh, a cell. Made on first use.
  struct HalfThickness {
    double least = 0;
    double usual = 0;  // A tenth of the places are thinner.
  };
  const HalfThickness& half_thickness() const;

  // The curved surface that the mesh stands for. Null without a mesh, or if settings.crease_angle
  // is 0. Made on first use, or by cooking a mesh.
  const SmoothSurface* smooth() const;

 private:
  MadeOnce<HalfThickness> half_thickness_{};
  MadeOnce<Surface> surface_{};
  MadeOnce<Points> points_{};
  MadeOnce<std::shared_ptr<const SmoothSurface>> smooth_{};
};

}  // namespace bullet_detail

class IsotactShape final : public btConcaveShape {
 public:
  BT_DECLARE_ALIGNED_ALLOCATOR();
  explicit IsotactShape(std::shared_ptr<const bullet_detail::BulletBody> body,
                        const Pose& bullet_from_shape = {});
  ~IsotactShape() override;

  // Pose of the cooked frame in that of Bullet's body, without scaling.
  const Pose& bullet_from_shape() const { return bullet_from_shape_; }
  const bullet_detail::BulletBody& body() const { return *body_; }
  std::shared_ptr<const bullet_detail::BulletBody> shared_body() const { return body_; }
  const BulletShapeSettings& settings() const { return body_->settings; }
  double scale() const { return scale_; }
  // Warnings of cooking, in words: closed holes, walls too thin for the field.
  const std::vector<std::string>& warnings() const { return body_->warnings; }
  // Returns bullet_from_shape as a pose of the scaled body: its translation is scaled as well.
  Pose scaled_frame() const {
    return {bullet_from_shape_.rotation, bullet_from_shape_.translation * scale_};
  }

  // The file of the asset that the shape was read from, and a hash of its bytes: serialization
  // writes both (serialize.h). Throws Error if the file cannot be read.
  void set_asset(const std::string& path);

  // btCollisionShape. Uniform scaling is free. For any other, also a mirrored one, the mesh or the
  // isosurface is scaled and cooked anew, with the same settings: this takes as long as cooking.
  // body() and bullet_from_shape() are then those of the new body. It is refused with a message
  // (report.h) for pointshells alone, and for scales of 0; then the old one stays.
  void setLocalScaling(const btVector3& scaling) override;
  const btVector3& getLocalScaling() const override { return scaling_; }
  void getAabb(const btTransform& t, btVector3& lower, btVector3& upper) const override;
  void getBoundingSphere(btVector3& center, btScalar& radius) const override;
  // Exact for closed meshes of uniform density, about the centre of mass and along the axes of
  // Bullet's frame. Products of inertia are dropped, as Bullet has none: make_body_info (body.h)
  // rotates the frame so that there are none. For a pointshell alone: the inertia of its box.
  void calculateLocalInertia(btScalar mass, btVector3& inertia) const override;
  const char* getName() const override { return "ISOTACT"; }
  // Writes the asset's path and hash, scaling, margin and frame as the shape's name. An error is
  // reported for a shape without asset: the file is then without it.
  const char* serialize(void* buffer, btSerializer* serializer) const override;
  // Visits triangles of the cooked mesh, or of the isosurface, that touch the box. Rays (a callback
  // that is a btTriangleRaycastCallback) get only the triangles that they hit, in order.
  void processAllTriangles(btTriangleCallback* callback, const btVector3& lower,
                           const btVector3& upper) const override;

 private:
  void update_box();

  std::shared_ptr<const bullet_detail::BulletBody> body_;
  Pose bullet_from_shape_;
  // The unscaled shape.
  std::shared_ptr<const bullet_detail::BulletBody> cooked_ = body_;
  Pose bullet_from_cooked_ = bullet_from_shape_;
  std::string asset_{};
  std::uint64_t asset_hash_ = 0;
  mutable std::string serialized_{};  // Bullet's serializer keeps a pointer to it.
  double scale_ = 1;
  btVector3 scaling_{1, 1, 1};
  Aabb box_{};  // In Bullet's frame, without scaling and margin.
};

// Cooking. Throws Error as the builders do, and for settings out of range.
struct CookSettings {
  // If neither resolution nor size of cells are given, the field has at least four cells across the
  // body's smallest side, 128 to 256 cells along the longest one. If neither number nor spacing of
  // points are given, points are two cells apart, or a 64th of the longest side if that is more:
  // the time of a step depends on the points.
  ShapeSettings shape{};
  BulletShapeSettings bullet{};
};
std::unique_ptr<IsotactShape> cook_bullet_shape(const TriangleMesh& mesh,
                                                const CookSettings& settings = {});
// A mesh of the isosurface or the cooked mesh, scaled in Bullet's frame.
std::unique_ptr<IsotactShape> cook_scaled(const bullet_detail::BulletBody& body,
                                          const Pose& bullet_from_shape, const Vec3& scaling);
// Takes all parts of a btTriangleMesh, btTriangleIndexVertexArray and others, with their scaling.
// Equal corners are welded.
std::unique_ptr<IsotactShape> cook_bullet_shape(const btStridingMeshInterface& mesh,
                                                const CookSettings& settings = {});
TriangleMesh from_bullet(const btStridingMeshInterface& mesh);
// Uses the parts that the shape was made of. Points of a shape that was made without are made when
// a pair first needs them. Throws Error for a shape without end: Bullet has btStaticPlaneShape.
std::unique_ptr<IsotactShape> cook_bullet_shape(const Shape& shape,
                                                const BulletShapeSettings& settings = {});
std::unique_ptr<IsotactShape> cook_bullet_shape(const Asset& asset,
                                                const BulletShapeSettings& settings = {});

}  // namespace isotact
