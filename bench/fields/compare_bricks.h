// The differences of two brick fields of one body on one lattice whose distances were found by
// different methods, such as on the processor and on a GPU. Both are right if each keeps the bounds
// of its header. That is stronger than "nearly all bytes are the same". It does not depend on the
// side of a bound to which a number happened to be rounded. It is an oracle: for users who build on
// a GPU, or who keep fields of an older build, as it is for the tests.
#pragma once

#include <cstddef>
#include <limits>

#include "isotact/base/parallel.h"
#include "isotact/field/models/brick_field.h"

namespace isotact {

struct BrickDifference {
  std::size_t bricks = 0;  // In both.
  std::size_t other_bricks = 0;
  // Cubes whose samples are distances in one field only (Brick::exact).
  std::size_t other_cubes = 0;
  std::size_t other_samples = 0;  // Distances in both, with other corrections.
  double most_off = 0;            // Metres, between samples that are distances in both.
  // Metres: the least |distance| among samples of other cubes. Those within the band are exact in
  // any field, so this is beyond it; infinite without such cubes.
  double nearest_other = std::numeric_limits<double>::infinity();
};

// Needs the same lattice; otherwise throws Error. Cost: some nanoseconds per sample.
BrickDifference compare_bricks(const BrickField& a, const BrickField& b, Threads threads = {});

// Returns whether both fields keep their bounds: samples that are distances differ by no more than
// both errors (of samples, and half a step each), and all others are beyond both bands.
bool is_as_promised(const BrickDifference& difference, const BrickField& a, const BrickField& b);

}  // namespace isotact
