// What a build will make, before it makes it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isotact/field/build/build_field.h"
#include "isotact/field/build/detail/kernel_types.h"
#include "isotact/field/lattice.h"
#include "isotact/field/models/brick_field.h"
#include "isotact/field/surface/surface.h"

namespace isotact::detail {

// Every fine cell with a point in the band must have eight exact corners, which are this much
// further away at most. A corner is exact if all coarse cells that share it have bricks, and those
// have a point as near as the corner.
inline constexpr double kCellDiagonal = 1.7320508075688773;

// Throws Error for settings that no mesh could satisfy, and for a lattice that is too large.
// The box is padded by at least band + 2 cells whatever the settings say, so that cells with points
// in the band do not touch its sides, where bricks end.
Lattice make_lattice(const Aabb& box, const FieldSettings& settings);

// The same cells, more of them where the prepared surface needs it: membranes may leave the box of
// the mesh, and a shell is the surface itself, so that the box must hold it.
Lattice make_room(const Lattice& lattice, const Aabb& mesh_bounds, const Surface& surface,
                  const FieldSettings& settings);

// Throws Error unless the lattice is one for bricks and its box reaches band + 2 cells beyond the
// surface, and beyond the `offset` metres by which that is grown.
void check_room(const Lattice& l, const Surface& surface, double band, double offset);

// From which distance coarse nodes are sparse (sparse_nodes.h), cells; 0: nowhere. So far away no
// cell has a brick: the corners of 2^3 coarse cells are within 28 cells of any point in them, so
// none with a point marked as in the band is sparse (marks reach too far by a factor of sqrt(2) at
// most), nor one that passes for creased (marking.cpp), which is at most half a side over the
// tolerance and two sides away. What interpolation over sides of 16 cells loses to a crease is then
// within the tolerance, too.
double compute_sparse_distance(const Lattice& lattice, const FieldSettings& settings,
                               double offset_cells);

// Of the buffer of a brick field.
std::uint64_t field_bytes(const Index3& coarse_cells, std::size_t bricks);

// Throws Error where `needed` bytes are more than the settings allow.
void check_memory(std::uint64_t needed, const FieldSettings& settings, const char* what);

// Which coarse cells need bricks. One bit a cell, in the order of BrickBlocks.

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
