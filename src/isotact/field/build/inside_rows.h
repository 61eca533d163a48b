// Which nodes of a lattice lie inside of a surface, as compact as it can be said: along each grid
// line, where that changes. For those who have distances of their own, such as a GPU: the sign is
// then the same as that of every build.
#pragma once

#include <cstdint>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/base/progress.h"
#include "isotact/field/build/surface.h"
#include "isotact/field/lattice.h"

namespace isotact {

struct InsideRows {
  // Lines run along x; that of nodes (., j, k) has number k * (cells[1] + 1) + j. Place of each
  // line's first change, and the end.
  std::vector<std::uint32_t> first;
  // Cells, ascending. Node i of a line is inside where the number of changes below i is odd.
  std::vector<float> changes;
};

// Needs a closed surface (its method is not kUnsigned) in the lattice's box, and a lattice of fewer
// than 2^32 changes. Off by up to 1/2000 cell: nearer to the surface a node may be on the wrong
// side. Throws Cancelled when the monitor says so. Cost on one thread: some 100 ns a triangle and
// 30 ns a line.
InsideRows find_inside_rows(const Surface& surface, const Lattice& lattice, Threads threads = {},
                            const Monitor& monitor = {});

// Whether node (i, j, k) is inside.
bool is_inside(const InsideRows& rows, const Lattice& lattice, std::int32_t i, std::int32_t j,
               std::int32_t k);

}  // namespace isotact
