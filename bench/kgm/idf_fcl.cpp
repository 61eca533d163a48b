#include "idf_fcl.h"

#include <vector>

#include <fcl/config.h>
#include <fcl/geometry/bvh/BVH_model.h>
#include <fcl/narrowphase/collision.h>
#include <fcl/narrowphase/distance.h>

namespace isotact::bench {
namespace {

using Model = fcl::BVHModel<fcl::OBBRSSd>;

fcl::Transform3d transform_of(const IdfBody& body) {
  const Quat& q = body.world_from_body.rotation;
  const Vec3& t = body.world_from_body.translation;
  fcl::Transform3d result = fcl::Transform3d::Identity();
  result.linear() = fcl::Quaterniond(q.w, q.x, q.y, q.z).toRotationMatrix();
  result.translation() = fcl::Vector3d(t.x, t.y, t.z);
  return result;
}

}  // namespace

std::string describe_fcl_crowd() {
  return "FCL " FCL_VERSION ", double, BVHModel<OBBRSS>, packaged";
}

struct FclCrowd::Models {
  std::vector<std::unique_ptr<Model>> of_shape;
};

FclCrowd::FclCrowd(std::span<const TriangleMesh> meshes) : models_(std::make_unique<Models>()) {
  for (const TriangleMesh& mesh : meshes) {
    std::vector<fcl::Vector3d> positions;
    std::vector<fcl::Triangle> triangles;
    for (const Vec3f& p : mesh.positions)
      positions.emplace_back(static_cast<double>(p.x), static_cast<double>(p.y),
                             static_cast<double>(p.z));
    for (const Triangle& t : mesh.triangles) triangles.emplace_back(t[0], t[1], t[2]);
    auto model = std::make_unique<Model>();
    model->beginModel();
    model->addSubModel(positions, triangles);
    model->endModel();
    models_->of_shape.push_back(std::move(model));
  }
}
FclCrowd::~FclCrowd() = default;

std::size_t FclCrowd::collide(const IdfBody& a, const IdfBody& b, std::size_t most_contacts,
                              bool with_contacts) const {
  const fcl::CollisionRequestd request(most_contacts, with_contacts);
  fcl::CollisionResultd result;
  return fcl::collide<double>(models_->of_shape[a.shape].get(), transform_of(a),
                              models_->of_shape[b.shape].get(), transform_of(b), request, result);
}

std::size_t FclCrowd::bytes() const {
  std::size_t sum = 0;
  for (const auto& model : models_->of_shape)
    sum += static_cast<std::size_t>(model->getNumBVs()) * sizeof(fcl::BVNode<fcl::OBBRSSd>) +
           static_cast<std::size_t>(model->num_vertices) * sizeof(fcl::Vector3d) +
           static_cast<std::size_t>(model->num_tris) * sizeof(fcl::Triangle);
  return sum;
}

double FclCrowd::distance(const IdfBody& a, const IdfBody& b) const {
  fcl::DistanceResultd result;
  return fcl::distance<double>(models_->of_shape[a.shape].get(), transform_of(a),
                               models_->of_shape[b.shape].get(), transform_of(b),
                               fcl::DistanceRequestd(), result);
}

}  // namespace isotact::bench
