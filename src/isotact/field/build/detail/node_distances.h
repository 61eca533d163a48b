// Signed distances at all nodes of a lattice, by the passes that also fill bricks.
#pragma once

#include <functional>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/base/progress.h"
#include "isotact/field/build/distance_device.h"
#include "isotact/field/build/surface.h"
#include "isotact/field/lattice.h"
#include "isotact/geometry/bvh.h"

namespace isotact::detail {

struct NodeDistances {
  // Metres, x fastest; less the offset of a shell.
  std::vector<float> values;
  // |values| is off by this much at most (unsigned: the values themselves), metres, rounding to
  // float included.
  double error = 0;
  // The sign of values nearer to zero than this may be wrong, metres: grid lines see a surface that
  // is snapped (row_crossings.h). 0 for an unsigned surface.
  double doubtful = 0;
  // The largest |value| among those; 0 where there are none.
  double largest_doubtful = 0;
  // Unit gradients at the nodes, where a device was asked for them; else empty.
  std::vector<Vec3f> gradients;
};

// Throws Error unless the lattice's box holds the surface, and its shell; Cancelled when the
// monitor says so. The same bytes for any number of threads. Cost on one thread: 0.1 to 0.4
// microseconds a node.
struct NodeWork {
  const Surface& surface;
  const Lattice& lattice;
  std::function<const Bvh&()> find_bvh;  // that of the surface's mesh, where it is needed
  DistanceDevice* device = nullptr;
  bool gradients = false;  // only from a device
  Threads threads{};
  Monitor monitor{};
};
NodeDistances find_node_distances(const NodeWork& work);

}  // namespace isotact::detail
