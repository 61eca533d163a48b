// The wall of a screw thread between two flat ends.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "isotact/geometry/primitives/detail/surface_builder.h"

namespace isotact::detail {

// The radius of the ISO 68-1 basic profile below (or above) that of the crest, over pitch, at a
// distance from the middle of the crest of so many pitches: 0 on the crest, -0.5413 on the root.
double thread_depth(double pitches);

// All vertices but those of the end rings lie on a lattice: column k at the angle k / columns of a
// turn, heights whole multiples of pitch / columns. The lines along the thread climb by one unit a
// column, so that they meet the ends exactly on lattice points and leave no slivers.
struct ThreadWall {
  int columns = 96;    // a multiple of 16
  int flank_rows = 2;  // at most 5 * columns / 16
  double pitch = 0.002;
  std::int64_t first = 0, last = 0;  // heights of the end rings, in units
  // Radius of a vertex, from its distance to the middle of the crest in pitches (-0.5 to 0.5) and
  // its height.
  std::function<double(double pitches, double y)> radius{};
  bool outside = true;  // of a bolt; false: of a hole
};

void add_thread_wall(SurfaceBuilder& builder, const ThreadWall& wall, const Ring& first,
                     const Ring& last);

}  // namespace isotact::detail
