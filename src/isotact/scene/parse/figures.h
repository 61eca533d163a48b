// Bodies for MDL06's experiments (section 7): as many vertices as the paper's have, looks of our
// own. Closed, in one piece, about half a metre in size around the origin.
//
//   pawn    154 vertices    turned on a lathe
//   fish    216             flat, with a tail (the paper's is open, ours is not)
//   rabbit  453
//   human  1250
//   bike   9543             a tube along an eight: two wheels in one piece
#pragma once

#include <string_view>
#include <vector>

#include "isotact/geometry/mesh.h"

namespace isotact {

struct FigureInfo {
  std::string_view name{};
  std::size_t vertices = 0;
};
const std::vector<FigureInfo>& figure_catalogue();  // in the order above

// Throws Error for a name that is not there. The same bytes everywhere.
TriangleMesh make_figure(std::string_view name);

// `width` by `depth` metres about the origin, in the plane of x and z, its front towards +y.
// Diagonals alternate, so that no direction is stiffer than its mirror image.
TriangleMesh make_sheet(double width, double depth, int cells_x, int cells_z);

}  // namespace isotact
