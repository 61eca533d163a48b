// Signed distances at all nodes of a lattice, by the passes that also fill bricks.
#pragma once

#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/base/progress.h"
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
};

// Throws Error unless the lattice's box holds the surface, and its shell; Cancelled when the
// monitor says so. The hierarchy must be that of the surface's mesh. The same bytes for any number
// of threads. Cost on one thread: 0.1 to 0.4 microseconds a node.
NodeDistances find_node_distances(const Surface& surface, const Bvh& bvh, const Lattice& lattice,
                                  Threads threads, const Monitor& monitor);

}  // namespace isotact::detail
