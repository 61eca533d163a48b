// The peer of swept shells: FCL on the exact triangles. Its headers stay in swept_peer.cpp.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "isotact/geometry/mesh/mesh.h"
#include "isotact/queries/swept/motion.h"

namespace isotact::bench {

std::string describe_fcl();

// Two bodies, of one mesh or two, as hierarchies of oriented boxes and swept spheres (OBBRSS): what
// FCL recommends for meshes. The other body rests at the origin.
class FclBodies {
 public:
  explicit FclBodies(const TriangleMesh& mesh) : FclBodies(mesh, mesh) {}
  FclBodies(const TriangleMesh& moving, const TriangleMesh& resting);
  ~FclBodies();
  FclBodies(const FclBodies&) = delete;
  FclBodies& operator=(const FclBodies&) = delete;

  // fcl::collide. Without contacts it ends at the first pair of triangles that meet.
  std::size_t count_contacts(const Pose& pose, std::size_t most_contacts, bool with_contacts) const;

  // fcl::distance: between the triangles, metres; 0 where they meet.
  double distance(const Pose& pose) const;

  // fcl::continuousCollide, with its InterpMotion, which is our kConstantRates. The time, or
  // kNoTime.
  double advance(const BodyMotion& motion) const;  // conservative advancement
  // Static tests at equal times: what FCL does if not told otherwise, with ten of them.
  double sample_times(const BodyMotion& motion, std::size_t count) const;
  static constexpr double kNoTime = 2;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace isotact::bench
