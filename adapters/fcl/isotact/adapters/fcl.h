// The calls of FCL 0.7, answered by Isotact, for programs that come from there. FCL itself is not
// needed; Eigen is. Header only.
//
//   namespace fcl = isotact::fcl;
//
//   const fcl::CollisionObject mug(isotact::load_shape("mug.obj"), world_from_mug);
//   const fcl::CollisionObject box(fcl::make_box(1, 1, 1), world_from_box);
//   fcl::CollisionResult result;
//   fcl::collide(&mug, &box, fcl::CollisionRequest{.num_max_contacts = 4, .enable_contact = true},
//                result);
//
// The conventions are FCL's. Poses are Eigen::Isometry3d. Normals point from the first object to
// the second one, opposite to those of Contact. Without contacts asked for, a query ends at the
// first sign of contact. Capsules, cylinders and cones lie along z. Two things differ: a body
// inside of a closed mesh collides with it, and there are at most four contacts, which name no
// triangles.
//
// Functions throw Error as the functions do that they call, for example for two half-spaces.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <numbers>
#include <utility>
#include <vector>

#include <Eigen/Geometry>

#include "isotact/base/convert_eigen.h"
#include "isotact/base/error.h"
#include "isotact/field/models/analytic.h"
#include "isotact/queries/collide.h"
#include "isotact/queries/continuous_collide.h"
#include "isotact/queries/distance.h"
#include "isotact/queries/shape.h"

namespace isotact::fcl {

// A shape in FCL's frame. Copies share everything.
struct CollisionGeometry {
  Shape shape;
  Pose frame{};  // fcl_from_shape
};

// From z, FCL's axis of round solids, to y, ours.
inline Pose pose_along_z() { return {rotation_about(Vec3{1, 0, 0}, std::numbers::pi / 2), {}}; }
inline CollisionGeometry make_box(double x, double y, double z) {
  return {Shape::from_analytic(BoxField{.half_size = {x / 2, y / 2, z / 2}})};
}
inline CollisionGeometry make_sphere(double radius) {
  return {Shape::from_analytic(SphereField{.radius = radius})};
}
inline CollisionGeometry make_capsule(double radius, double lz) {
  return {Shape::from_analytic(
              CapsuleField{.a = {0, -lz / 2, 0}, .b = {0, lz / 2, 0}, .radius = radius}),
          pose_along_z()};
}
inline CollisionGeometry make_cylinder(double radius, double lz) {
  return {Shape::from_analytic(CylinderField{.radius = radius, .height = lz}), pose_along_z()};
}
inline CollisionGeometry make_cone(double radius, double lz) {
  return {Shape::from_analytic(ConeField{.radius = radius, .height = lz}), pose_along_z()};
}
// The points x with n . x <= d.
inline CollisionGeometry make_halfspace(const Eigen::Vector3d& n, double d) {
  const double size = n.norm();
  if (!(size > 0)) throw Error("a half-space needs a normal that is not zero");
  return {Shape::from_analytic(
      PlaneField{.normal = from_eigen(Eigen::Vector3d(n / size)), .offset = d / size})};
}

class CollisionObject {
 public:
  CollisionObject(CollisionGeometry geometry,
                  const Eigen::Isometry3d& tf = Eigen::Isometry3d::Identity())
      : geometry_(std::move(geometry)) {
    setTransform(tf);
  }
  CollisionObject(Shape shape, const Eigen::Isometry3d& tf = Eigen::Isometry3d::Identity())
      : CollisionObject(CollisionGeometry{std::move(shape)}, tf) {}

  void setTransform(const Eigen::Isometry3d& tf) {
    tf_ = tf;
    pose_ = pose_at(tf);
  }
  void setTranslation(const Eigen::Vector3d& t) {
    Eigen::Isometry3d tf = tf_;
    tf.translation() = t;
    setTransform(tf);
  }
  const Eigen::Isometry3d& getTransform() const { return tf_; }

  const Shape& shape() const { return geometry_.shape; }
  const Pose& world_from_shape() const { return pose_; }
  Pose pose_at(const Eigen::Isometry3d& tf) const { return from_eigen(tf) * geometry_.frame; }

 private:
  CollisionGeometry geometry_;
  Eigen::Isometry3d tf_;
  Pose pose_;
};

struct Contact {
  const CollisionObject* o1 = nullptr;
  const CollisionObject* o2 = nullptr;
  Eigen::Vector3d normal{0, 0, 0};  // Unit, from o1 to o2.
  Eigen::Vector3d pos{0, 0, 0};
  double penetration_depth = 0;
};

struct CollisionRequest {
  std::size_t num_max_contacts = 1;  // At most four are found.
  bool enable_contact = false;
};

struct CollisionResult {
  std::vector<Contact> contacts;
  bool colliding = false;

  bool isCollision() const { return colliding; }
  std::size_t numContacts() const { return contacts.size(); }
  const Contact& getContact(std::size_t i) const { return contacts.at(i); }
  void clear() { *this = {}; }
};

// Returns the number of contacts, 0 or 1 if contacts are not asked for. Throws Error if the answer
// is not known.
inline std::size_t collide(const CollisionObject* o1, const CollisionObject* o2,
                           const CollisionRequest& request, CollisionResult& result) {
  CollideRequest asked;
  if (request.enable_contact)
    asked.max_contacts =
        static_cast<std::uint32_t>(std::clamp<std::size_t>(request.num_max_contacts, 1, 4));
  else
    asked.mode = Mode::kAny;
  const CollideResult found = isotact::collide(o1->shape(), o1->world_from_shape(), o2->shape(),
                                               o2->world_from_shape(), asked);
  if (found.status != CollideStatus::kFree && found.status != CollideStatus::kContact)
    throw Error("the objects may touch or not: their shapes keep no triangles that could decide");
  if (found.status == CollideStatus::kFree) return 0;
  result.colliding = true;
  if (!request.enable_contact) return 1;
  for (const isotact::Contact& c : found.contacts)
    result.contacts.push_back({o1, o2, to_eigen(-c.normal), to_eigen(c.position), c.depth});
  return found.contacts.size();
}

struct DistanceRequest {
  bool enable_nearest_points = false;
  bool enable_signed_distance = false;
};

struct DistanceResult {
  double min_distance = std::numeric_limits<double>::max();
  Eigen::Vector3d nearest_points[2]{Eigen::Vector3d::Zero(), Eigen::Vector3d::Zero()};
  const CollisionObject* o1 = nullptr;
  const CollisionObject* o2 = nullptr;
};

// Returns the distance in metres: 0 where objects overlap, or minus the depth of the deepest point
// if a signed distance is asked for.
inline double distance(const CollisionObject* o1, const CollisionObject* o2,
                       const DistanceRequest& request, DistanceResult& result) {
  const isotact::DistanceResult found =
      isotact::distance(o1->shape(), o1->world_from_shape(), o2->shape(), o2->world_from_shape(),
                        {.want_depth = request.enable_signed_distance});
  const double d = request.enable_signed_distance ? found.distance : std::max(found.distance, 0.0);
  if (d < result.min_distance) {
    result.min_distance = d;
    result.o1 = o1;
    result.o2 = o2;
    result.nearest_points[0] = to_eigen(found.contact.point_on_a);
    result.nearest_points[1] = to_eigen(found.contact.point_on_b);
  }
  return d;
}

struct ContinuousCollisionRequest {
  double toc_err = 1e-4;  // The time of contact may be early by this.
};

struct ContinuousCollisionResult {
  bool is_collide = false;
  double time_of_contact = 1;
};

// Returns the time of first contact, from 0 to 1; 1 if the objects do not touch. Each object moves
// from its transform to the given one at constant rates.
inline double continuousCollide(const CollisionObject* o1, const Eigen::Isometry3d& tf1_end,
                                const CollisionObject* o2, const Eigen::Isometry3d& tf2_end,
                                const ContinuousCollisionRequest& request,
                                ContinuousCollisionResult& result) {
  const BodyMotion of_1{o1->world_from_shape(), o1->pose_at(tf1_end), {}};
  const BodyMotion of_2{o2->world_from_shape(), o2->pose_at(tf2_end), {}};
  const ContinuousResult found =
      continuous_collide(o1->shape(), of_1, o2->shape(), of_2, {.time_tolerance = request.toc_err});
  result.is_collide = found.status == ContinuousStatus::kContact;
  result.time_of_contact = result.is_collide ? found.time_of_contact : 1;
  return result.time_of_contact;
}

}  // namespace isotact::fcl
