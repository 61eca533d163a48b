// Exact unsigned distances at nodes of a lattice, wherever they are wanted.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "isotact/base/cpu.h"
#include "isotact/base/progress.h"
#include "isotact/field/build/detail/kernel_types.h"
#include "isotact/field/build/detail/marking.h"
#include "isotact/field/lattice.h"
#include "isotact/geometry/bvh.h"

namespace isotact::detail {

class DistancePass {
 public:
  // The hierarchy must be the mesh's and outlive this.
  DistancePass(const TriangleMesh& mesh, const Bvh& bvh, const Lattice& lattice, Threads threads,
               SimdLevel level = simd_level());

  // Of all nodes of the coarse lattice, metres.
  std::vector<float> find_coarse(const Monitor& monitor) const;

  // Calls visit(cell, distances) for each marked coarse cell: of its own 8^3 nodes, in fine cells,
  // node 64 z + 8 y + x. From several threads at once; the span may be written to.
  // Cubes of 4^3 nodes without a distance in the wanted interval are left out unless their cell is
  // marked as whole; bit x + 2 y + 4 z of `exact` says which are there.
  struct Wanted {
    double from, to;  // fine cells
  };
  using BrickVisitor =
      std::function<void(const Index3& cell, std::span<float> distance, unsigned exact)>;
  void for_each_brick(const CellBits& bits, const CellBits& whole, const Wanted& wanted,
                      const Monitor& monitor, const BrickVisitor& visit) const;

  // How far results can be off, in fine cells. Coordinates of corners and along a triangle's axes
  // are floats, at most as large as the lattice is wide and so off by at most 2^-24 of that; a
  // dozen operations of similar size follow.
  double error() const { return error_; }

 private:
  struct Scratch;
  void find_eighths(const Index3& first_cell, const Wanted& wanted, unsigned bricks, unsigned whole,
                    Scratch& scratch, const BrickVisitor& visit) const;

  const Bvh& bvh_;
  Lattice lattice_;
  Threads threads_;
  const DistanceKernels& kernels_;
  std::vector<TriangleFrame> frames_;
  double error_ = 0;
};

}  // namespace isotact::detail
