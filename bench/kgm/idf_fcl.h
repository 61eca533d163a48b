// The peer of intersection fields: FCL on the exact triangles of many bodies. Its headers stay in
// idf_fcl.cpp.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "isotact/geometry/mesh/mesh.h"
#include "isotact/queries/intersection/intersection_field.h"

namespace isotact::bench {

std::string describe_fcl_crowd();

// Hierarchies of oriented boxes and swept spheres (OBBRSS), one a shape: what FCL recommends for
// meshes. Scales must be 1. Several threads may ask at once.
class FclCrowd {
 public:
  explicit FclCrowd(std::span<const TriangleMesh> meshes);
  ~FclCrowd();
  FclCrowd(const FclCrowd&) = delete;
  FclCrowd& operator=(const FclCrowd&) = delete;

  // fcl::collide: how many contacts it found. Without contacts it ends at the first triangles that
  // meet.
  std::size_t collide(const IdfBody& a, const IdfBody& b, std::size_t most_contacts,
                      bool with_contacts) const;
  // fcl::distance: metres, 0 where triangles meet.
  double distance(const IdfBody& a, const IdfBody& b) const;
  std::size_t bytes() const;  // of its models

 private:
  struct Models;
  std::unique_ptr<Models> models_;
};

}  // namespace isotact::bench
