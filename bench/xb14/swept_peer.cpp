#include "swept_peer.h"

#include <fcl/config.h>
#include <fcl/geometry/bvh/BVH_model.h>
#include <fcl/math/motion/interp_motion.h>
#include <fcl/narrowphase/collision.h>
#include <fcl/narrowphase/continuous_collision.h>
#include <fcl/narrowphase/distance.h>

namespace isotact::bench {
namespace {

using Model = fcl::BVHModel<fcl::OBBRSSd>;
using Motion = fcl::InterpMotion<double>;

fcl::Vector3d to_fcl(const Vec3& v) { return {v.x, v.y, v.z}; }
fcl::Matrix3d to_fcl(const Quat& q) {
  return fcl::Quaterniond(q.w, q.x, q.y, q.z).toRotationMatrix();
}
fcl::Transform3d to_fcl(const Pose& pose) {
  fcl::Transform3d result = fcl::Transform3d::Identity();
  result.linear() = to_fcl(pose.rotation);
  result.translation() = to_fcl(pose.translation);
  return result;
}

Motion to_fcl(const BodyMotion& m) {
  // The constructor from two transforms leaves the velocities of a motion about a point unset.
  return {to_fcl(m.from.rotation), to_fcl(m.from.translation), to_fcl(m.to.rotation),
          to_fcl(m.to.translation), to_fcl(m.pivot)};
}

void fill(const TriangleMesh& mesh, Model& model) {
  std::vector<fcl::Vector3d> positions;
  std::vector<fcl::Triangle> triangles;
  for (const Vec3f& p : mesh.positions) positions.push_back(to_fcl(to_double(p)));
  for (const Triangle& t : mesh.triangles) triangles.emplace_back(t[0], t[1], t[2]);
  model.beginModel();
  model.addSubModel(positions, triangles);
  model.endModel();
}

}  // namespace

std::string describe_fcl() { return "FCL " FCL_VERSION ", double, BVHModel<OBBRSS>, packaged"; }

struct FclBodies::Parts {
  Model moving, resting;

  double collide(const BodyMotion& motion, const fcl::ContinuousCollisionRequestd& request) const {
    const Motion moves = to_fcl(motion), rests = to_fcl(at_rest(Pose{}));
    fcl::ContinuousCollisionResultd result;
    fcl::continuousCollide<double>(&moving, &moves, &resting, &rests, request, result);
    return result.is_collide ? result.time_of_contact : kNoTime;
  }
};

FclBodies::FclBodies(const TriangleMesh& moving, const TriangleMesh& resting)
    : parts_(std::make_unique<Parts>()) {
  fill(moving, parts_->moving);
  fill(resting, parts_->resting);
}
FclBodies::~FclBodies() = default;

std::size_t FclBodies::count_contacts(const Pose& pose, std::size_t most_contacts,
                                      bool with_contacts) const {
  const fcl::CollisionRequestd request(most_contacts, with_contacts);
  fcl::CollisionResultd result;
  return fcl::collide<double>(&parts_->moving, to_fcl(pose), &parts_->resting,
                              fcl::Transform3d::Identity(), request, result);
}

double FclBodies::distance(const Pose& pose) const {
  fcl::DistanceResultd result;
  return fcl::distance<double>(&parts_->moving, to_fcl(pose), &parts_->resting,
                               fcl::Transform3d::Identity(), fcl::DistanceRequestd(), result);
}

double FclBodies::advance(const BodyMotion& motion) const {
  fcl::ContinuousCollisionRequestd request;
  request.ccd_motion_type = fcl::CCDM_LINEAR;
  request.ccd_solver_type = fcl::CCDC_CONSERVATIVE_ADVANCEMENT;
  return parts_->collide(motion, request);
}

double FclBodies::sample_times(const BodyMotion& motion, std::size_t count) const {
  fcl::ContinuousCollisionRequestd request(count);
  request.ccd_motion_type = fcl::CCDM_LINEAR;
  return parts_->collide(motion, request);
}

}  // namespace isotact::bench
