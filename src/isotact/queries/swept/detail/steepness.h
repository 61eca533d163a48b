// The slope of a field around a position. The Lipschitz bound of a whole field is that of its worst
// cell, three to six where kinks and quantisation meet. Elsewhere most slopes are near one.
//
// In a cell the field is trilinear: the slope along x is a mean of the cell's four edges along x,
// and likewise for y and z. Its length is therefore at most the root of the sum of squares of the
// steepest edge along each axis. A block of 8^3 cells (free_space.h) has the steepest of its cells.
// Between two positions the field changes by no more than the slope of the steepest cell between
// them allows: it is continuous.
//
// Blocks are measured at their first use, some microseconds each, and kept: 4 bytes per block.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "isotact/field/models/brick_field.h"
#include "isotact/field/models/dense_grid.h"

namespace isotact::detail {

// Any number of threads may use it.
class Steepness {
 public:
  // Takes one of the fields, which must outlive it. `open`: some value on the sides of its box may
  // be negative, so that the extension is steeper (field.h).
  Steepness(const BrickField* bricks, const DenseGrid* grid, bool open);

  struct Slopes {
    float here;    // In the block.
    float around;  // Within a block's side of any position in it, also outside the box.
  };
  Slopes find(const Index3& block) const;

 private:
  // The upper half of a float, rounded up; 0: not yet measured.
  using Stored = std::atomic<std::uint16_t>;

  void make_room() const;
  float measure(const Index3& block) const;
  float find_here(const Index3& block) const;

  const BrickField* bricks_;
  const DenseGrid* grid_;
  bool open_;
  float steepest_;
  Index3 blocks_{};
  mutable std::once_flag made_;
  mutable std::unique_ptr<Stored[]> here_, around_;
};

}  // namespace isotact::detail
