#include "exact_fcl.h"

#include <vector>

#include <fcl/config.h>
#include <fcl/geometry/bvh/BVH_model.h>
#include <fcl/narrowphase/collision.h>
#include <fcl/narrowphase/distance.h>

namespace isotact::bench {
namespace {

fcl::Transform3d transform_of(const Pose& pose) {
  const Mat3 m = to_matrix(pose.rotation);
  fcl::Transform3d result = fcl::Transform3d::Identity();
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k)
      result.linear()(i, k) = m.rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(k)];
  result.translation() = fcl::Vector3d(pose.translation.x, pose.translation.y, pose.translation.z);
  return result;
}

}  // namespace

std::string describe_fcl_meshes() {
  return "FCL " FCL_VERSION ", double, BVHModel<OBBRSS>, signed distance off, packaged";
}

struct FclMeshModel::Model {
  fcl::BVHModel<fcl::OBBRSSd> bvh;
};

FclMeshModel::FclMeshModel(const TriangleMesh& mesh) : model_(std::make_unique<Model>()) {
  std::vector<fcl::Vector3d> positions;
  std::vector<fcl::Triangle> triangles;
  for (const Vec3f& p : mesh.positions)
    positions.emplace_back(double{p.x}, double{p.y}, double{p.z});
  for (const Triangle& t : mesh.triangles) triangles.emplace_back(t[0], t[1], t[2]);
  model_->bvh.beginModel();
  model_->bvh.addSubModel(positions, triangles);
  model_->bvh.endModel();
  model_->bvh.computeLocalAABB();
}
FclMeshModel::~FclMeshModel() = default;
FclMeshModel::FclMeshModel(FclMeshModel&&) noexcept = default;

struct FclPair::Query {
  const FclMeshModel::Model& a;
  const FclMeshModel::Model& b;
  fcl::Transform3d of_a, of_b;
  fcl::DistanceRequestd request{true, false};
  fcl::DistanceResultd result{};
  fcl::CollisionRequestd collision_request{1, false};
  fcl::CollisionResultd collision{};
};

FclPair::FclPair(const FclMeshModel& a, const Pose& world_from_a, const FclMeshModel& b,
                 const Pose& world_from_b)
    : query_(std::make_unique<Query>(Query{.a = a.model(),
                                           .b = b.model(),
                                           .of_a = transform_of(world_from_a),
                                           .of_b = transform_of(world_from_b)})) {}
FclPair::~FclPair() = default;
FclPair::FclPair(FclPair&&) noexcept = default;

FclDistance FclPair::distance() {
  query_->result.clear();
  const double distance = fcl::distance<double>(&query_->a.bvh, query_->of_a, &query_->b.bvh,
                                                query_->of_b, query_->request, query_->result);
  return {distance < 0 ? 0 : distance, query_->result.b1, query_->result.b2};
}

bool FclPair::collide() {
  query_->collision.clear();
  return fcl::collide<double>(&query_->a.bvh, query_->of_a, &query_->b.bvh, query_->of_b,
                              query_->collision_request, query_->collision) > 0;
}

}  // namespace isotact::bench
