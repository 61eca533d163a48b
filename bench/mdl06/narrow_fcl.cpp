#include "narrow_fcl.h"

#include <algorithm>

#include <fcl/geometry/bvh/BVH_model.h>
#include <fcl/math/bv/kIOS.h>
#include <fcl/narrowphase/collision.h>
#include <fcl/narrowphase/detail/traversal/collision/intersect.h>

namespace isotact::bench {
namespace {

std::vector<fcl::Vector3d> vectors_of(std::span<const Vec3> positions) {
  std::vector<fcl::Vector3d> result;
  result.reserve(positions.size());
  for (const Vec3& p : positions) result.emplace_back(p.x, p.y, p.z);
  return result;
}

template <typename Volume>
class Benders final : public FclBenders {
 public:
  Benders(const FclMesh& a, const FclMesh& b) {
    load(a, first_);
    load(b, second_);
  }
  void take(std::span<const Vec3> a, std::span<const Vec3> b) override {
    first_.positions = vectors_of(a);
    second_.positions = vectors_of(b);
  }
  void step() override {
    for (Body* body : {&first_, &second_}) {
      body->model.beginReplaceModel();
      body->model.replaceSubModel(body->positions);
      body->model.endReplaceModel(true, true);
    }
    const fcl::CollisionRequestd request(10'000'000, false);
    result_.clear();
    const fcl::Transform3d still = fcl::Transform3d::Identity();
    fcl::collide<double>(&first_.model, still, &second_.model, still, request, result_);
  }
  std::vector<TrianglePair> pairs() const override {
    std::vector<TrianglePair> found;
    for (std::size_t i = 0; i < result_.numContacts(); ++i) {
      const fcl::Contactd& contact = result_.getContact(i);
      found.push_back(
          {static_cast<std::uint32_t>(contact.b1), static_cast<std::uint32_t>(contact.b2)});
    }
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  struct Body {
    fcl::BVHModel<Volume> model;
    std::vector<fcl::Vector3d> positions;
  };

  static void load(const FclMesh& mesh, Body& body) {
    std::vector<fcl::Triangle> triangles;
    for (const Triangle& t : mesh.triangles) triangles.emplace_back(t[0], t[1], t[2]);
    body.positions = vectors_of(mesh.positions);
    body.model.beginModel();
    body.model.addSubModel(body.positions, triangles);
    body.model.endModel();
  }

  Body first_, second_;
  fcl::CollisionResultd result_;
};

}  // namespace

std::vector<FclKind> make_fcl_benders(const FclMesh& a, const FclMesh& b) {
  std::vector<FclKind> kinds;
  kinds.push_back({"AABB", std::make_unique<Benders<fcl::AABBd>>(a, b)});
  kinds.push_back({"OBB", std::make_unique<Benders<fcl::OBBd>>(a, b)});
  kinds.push_back({"OBBRSS", std::make_unique<Benders<fcl::OBBRSSd>>(a, b)});
  kinds.push_back({"kDOP-16", std::make_unique<Benders<fcl::KDOPd<16>>>(a, b)});
  kinds.push_back({"kDOP-18", std::make_unique<Benders<fcl::KDOPd<18>>>(a, b)});
  kinds.push_back({"kDOP-24", std::make_unique<Benders<fcl::KDOPd<24>>>(a, b)});
  return kinds;
}

bool fcl_says_they_meet(const Vec3 (&a)[3], const Vec3 (&b)[3]) {
  const auto vector = [](const Vec3& p) { return fcl::Vector3d(p.x, p.y, p.z); };
  return fcl::detail::Intersect<double>::intersect_Triangle(
      vector(a[0]), vector(a[1]), vector(a[2]), vector(b[0]), vector(b[1]), vector(b[2]));
}

}  // namespace isotact::bench
