// What a build will make, before it makes it.
#pragma once

#include "isotact/field/build/build_field.h"

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
double find_sparse_distance(const Lattice& lattice, const FieldSettings& settings,
                            double offset_cells);

// Of the buffer of a brick field.
std::uint64_t field_bytes(const Index3& coarse_cells, std::size_t bricks);

// Throws Error where `needed` bytes are more than the settings allow.
void check_memory(std::uint64_t needed, const FieldSettings& settings, const char* what);

}  // namespace isotact::detail
