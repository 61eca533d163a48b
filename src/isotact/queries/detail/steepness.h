// How steep a field is around a place. The Lipschitz bound of a whole field is that of its worst
// cell, three to six where kinks and quantisation meet; in most places slopes are near one.
//
// In a cell the field is trilinear: the slope along x is a mean of the cell's four edges along x,
// and so on, so that its length is no more than the root of the sum of squares of the steepest edge
// along each axis. A block of 8^3 cells (free_space.h) has the steepest of its cells. Between two
// places the field changes by no more than the steepest cell on the way: it is continuous.
//
// Blocks are measured when they are first asked for, some microseconds each, and kept: 4 bytes a
// block.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "isotact/field/brick_field.h"
#include "isotact/field/dense_grid.h"

namespace isotact::detail {

// Any number of threads may ask.
class Steepness {
 public:
  // One of the fields, which must outlive it; `open`: some value on the sides of its box may be
  // negative, so that the extension is steeper (field.h).
  Steepness(const BrickField* bricks, const DenseGrid* grid, bool open);

  struct Slopes {
    float here;    // in the block
    float around;  // as far as a block's side from any place of it, also out of the box
  };
  Slopes find(const Index3& block) const;

 private:
  using Stored = std::atomic<std::uint16_t>;  // the upper half of a float, rounded up; 0: not yet

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
