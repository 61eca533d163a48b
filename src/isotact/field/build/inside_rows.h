// The nodes of a lattice that lie inside of a surface, in compact form: the positions along each
// grid line at which the side changes. It serves users with their own distances, such as a GPU: the
// sign is then the same as that of every build.
#pragma once

#include <cstdint>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/base/progress.h"
#include "isotact/export.h"
#include "isotact/field/lattice.h"
#include "isotact/field/surface/surface.h"

namespace ISOTACT_PUBLIC isotact {

struct InsideRows {
  // Lines run along x; that of nodes (., j, k) has number k * (cells[1] + 1) + j. Entry i is the
  // index of the first change of line i; the last entry is the end.
  std::vector<std::uint32_t> first;
  // Cells, ascending. Node i of a line is inside if the number of changes below i is odd.
  std::vector<float> changes;
};

// Needs a closed surface (its method is not kUnsigned) in the lattice's box, and a lattice of fewer
// than 2^32 changes. The error is up to 1/2000 cell: nearer to the surface a node may be on the
// wrong side. Throws Cancelled if the monitor's token was set. Cost on one thread: some 100 ns per
// triangle and 30 ns per line.
InsideRows find_inside_rows(const Surface& surface, const Lattice& lattice, Threads threads = {},
                            const Monitor& monitor = {});

// Returns whether node (i, j, k) is inside.
bool is_inside(const InsideRows& rows, const Lattice& lattice, std::int32_t i, std::int32_t j,
               std::int32_t k);

}  // namespace isotact
