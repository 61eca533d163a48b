// Which coarse cells need bricks. One bit a cell, in the order of BrickBlocks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isotact/field/brick_field.h"
#include "isotact/field/build/detail/kernel_types.h"
#include "isotact/field/build/surface.h"
#include "isotact/field/lattice.h"

namespace isotact::detail {

class CellBits {
 public:
  CellBits() = default;
  explicit CellBits(const Index3& cells);

  const Index3& cells() const { return cells_; }
  std::span<const std::uint64_t> words() const { return words_; }
  std::span<std::uint64_t> words() { return words_; }
  bool at(const Index3& cell) const;  // from any thread
  void set(const Index3& cell);       // from any thread
  void clear(const Index3& cell);
  std::size_t count_set() const;

  std::size_t word_of(const Index3& cell) const;
  static unsigned bit_of(const Index3& cell);

 private:
  Index3 cells_{}, blocks_{};
  std::vector<std::uint64_t> words_;
};

// Marks every coarse cell with a point nearer to a triangle than `reach` (in fine cells), and
// others that look as if: a triangle's plane and box decide, and for large ones the distance from
// the cell's centre. Each of these is a lower bound of the distance between cell and triangle, so
// none that is near enough is missed.
void mark_near(const TriangleMesh& mesh, const Lattice& lattice, double reach, Threads threads,
               CellBits& bits);

// Marks cells in which the coarse interpolant is estimated to be off by more than `tolerance` times
// the distance. Where the surface is far, the field is a smooth function but for creases, at which
// it passes from one nearest part to another; on a crease between unit slopes g and g' the slope of
// the interpolant is about their mean, and it is off by about half a cell's side times
// |g - g'| / 2 = sqrt(1 - |mean|^2). Only an estimate: what is guaranteed is far_error.
void mark_creases(std::span<const float> coarse, const Lattice& coarse_lattice, double tolerance,
                  Threads threads, CellBits& bits);
// The same for one cell.
bool is_creased(std::span<const float> coarse, const Lattice& coarse_lattice, double tolerance,
                const Index3& cell);

}  // namespace isotact::detail
