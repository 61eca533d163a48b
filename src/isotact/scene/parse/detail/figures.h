// Bodies for MDL06's experiments (section 7). They have as many vertices as the paper's, and shapes
// of our own. Each is closed, in one piece, and about half a metre in size around the origin.
//
//   pawn    154 vertices    turned on a lathe
//   fish    216             flat, with a tail (the paper's is open, ours is not)
//   rabbit  453
//   human  1250
//   bike   9543             a tube along an eight: two wheels in one piece
//
// Scenes name them (FigureShape in scene.h).
#pragma once

#include <string_view>
#include <vector>

#include "isotact/geometry/mesh/mesh.h"

namespace isotact {

struct FigureInfo {
  std::string_view name{};
  std::size_t vertices = 0;
};
const std::vector<FigureInfo>& figure_catalogue();  // In the order above.

// Returns the same bytes on every machine. Throws Error for an unknown name.
TriangleMesh make_figure(std::string_view name);

// Returns a sheet of `width` by `depth` metres about the origin in the xz plane. Its front faces
// +y. Diagonals alternate, so that no direction is stiffer than its mirror image.
TriangleMesh make_sheet(double width, double depth, int cells_x, int cells_z);

}  // namespace isotact
