// How two brick fields of one body on one lattice differ whose distances were found in different
// ways, such as on the processor and on a GPU. Both are right where each keeps what its header
// promises: that is more than "nearly all bytes are the same", and does not depend on which side of
// a bound a number happened to be rounded to.
#pragma once

#include <cstddef>
#include <limits>

#include "isotact/base/parallel.h"
#include "isotact/field/brick_field.h"

namespace isotact {

struct BrickDifference {
  std::size_t bricks = 0;  // in both
  std::size_t other_bricks = 0;
  std::size_t other_cubes = 0;    // whose samples are distances in one field only (Brick::exact)
  std::size_t other_samples = 0;  // distances in both, with other corrections
  double most_off = 0;            // metres, between samples that are distances in both
  // Metres: the least |distance| among samples of other cubes. Those within the band are exact in
  // any field, so this is beyond it; infinite without such cubes.
  double nearest_other = std::numeric_limits<double>::infinity();
};

// Needs the same lattice, else throws Error. Cost: some nanoseconds a sample.
BrickDifference compare_bricks(const BrickField& a, const BrickField& b, Threads threads = {});

// Whether both fields keep their promises: samples that are distances differ by no more than both
// errors (of samples, and half a step each), and all others are beyond both bands.
bool is_as_promised(const BrickDifference& difference, const BrickField& a, const BrickField& b);

}  // namespace isotact
