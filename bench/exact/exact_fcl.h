// FCL's hierarchy of a mesh, asked as its users would: oriented boxes with rectangles swept by
// spheres, transforms made beforehand, requests and results kept.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "isotact/base/pose.h"
#include "isotact/geometry/mesh/mesh.h"

namespace isotact::bench {

struct FclDistance {
  double distance = 0;  // metres; 0 if triangles meet
  std::int64_t triangle_a = -1, triangle_b = -1;
};

class FclMeshModel {
 public:
  explicit FclMeshModel(const TriangleMesh& mesh);
  ~FclMeshModel();
  FclMeshModel(FclMeshModel&&) noexcept;

  struct Model;
  const Model& model() const { return *model_; }

 private:
  std::unique_ptr<Model> model_;
};

// One pair at one pose.
class FclPair {
 public:
  FclPair(const FclMeshModel& a, const Pose& world_from_a, const FclMeshModel& b,
          const Pose& world_from_b);
  ~FclPair();
  FclPair(FclPair&&) noexcept;

  FclDistance distance();
  bool collide();  // stops at the first contact

 private:
  struct Query;
  std::unique_ptr<Query> query_;
};

std::string describe_fcl_meshes();

}  // namespace isotact::bench
