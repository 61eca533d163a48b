// Areas and the covering radius of a shell.
#pragma once

#include "isotact/pointshell/detail/shell_surface.h"

namespace isotact::detail {

// Sets areas, covering_radius and surface_area of a shell whose points and spacing are set.
//
// Triangles are halved at their longest edges until the samples nearest to a piece's corners agree
// or the piece is small.
//   * Agree: cells of nearest points are convex, so the sample is nearest to the whole piece, and
//     the distance to it, a convex function, is largest at a corner. The piece is done.
//   * Otherwise each corner's sample bounds the piece's distance to the samples by its own distance
//     to the furthest corner (convex again); the least of the three counts. A corner's distance is
//     a lower bound of the covering radius, and the two differ by the longest edge at most.
// Pieces are halved further only while their bound is above the largest lower bound by more than
// the tolerance. The result is the largest bound of any piece: nothing of the surface lies between
// pieces. Degenerate triangles, which were left out, are edges of others in meshes without cracks.
// `piece_size`, in spacings, is how small is for areas: a piece whose corners disagree is shared
// out by thirds.
void measure_shell(const ShellSurface& surface, PointShell& shell, const ShellSettings& settings,
                   double piece_size = 0.5);

}  // namespace isotact::detail
