// Areas and the covering radius of a shell.
#pragma once

#include "isotact/pointshell/detail/shell_surface.h"

namespace isotact::detail {

// Sets areas, covering_radius and surface_area of a shell whose points and spacing are set.
//
// Triangles are halved at their longest edges until the samples nearest to a piece's corners agree
// or the piece is small.
//   * They agree: cells of nearest points are convex, so the sample is nearest to the whole piece.
//     The distance to it is a convex function and is largest at a corner. The piece is done.
//   * Otherwise, each corner's sample bounds the piece's distance to the samples by its own
//     distance to the furthest corner (convex again). The least of the three counts. A corner's
//     distance is a lower bound of the covering radius, and the two differ by at most the longest
//     edge.
// Pieces are halved further only while their bound exceeds the largest lower bound by more than the
// tolerance. The result is the largest bound of any piece: no part of the surface lies between
// pieces. Degenerate triangles, which were left out, are edges of others in meshes without cracks.
// `piece_size`, in spacings, is the size of small pieces for areas. The area of a piece whose
// corners disagree is divided by thirds.
void measure_shell(const ShellSurface& surface, PointShell& shell, const ShellSettings& settings,
                   double piece_size = 0.5);

}  // namespace isotact::detail
