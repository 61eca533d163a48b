// Poses of one body near another, seeded.
#pragma once

#include <cstdint>
#include <vector>

#include "isotact/base/pose.h"

#include "xb14/swept_peer.h"

namespace isotact::bench {

struct NearPoses {
  std::uint64_t seed = 1;
  std::size_t count = 0;
  double size = 0;             // metres: further apart than this they do not meet
  double least = 0, most = 0;  // metres: how far they are moved on from where FCL sees them meet
};

// In any direction and turn, up to where FCL says that triangles meet, and on by something between
// least and most (negative: back). FCL's fcl::collide, halving some 24 times a pose.
std::vector<Pose> make_near_poses(const FclBodies& bodies, const NearPoses& settings);

}  // namespace isotact::bench
