// A cut through a distance field as a picture: colours, isolines, the mesh's own cross-section, and
// a legend with numbers (XB14, Figure 4).
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <vector>

#include "isotact/base/aabb.h"
#include "isotact/base/parallel.h"
#include "isotact/geometry/mesh/mesh.h"

#include "picture/picture.h"

namespace isotact::tool {

// A line on top of the cut, projected to it.
struct SliceStroke {
  Vec3 from{}, to{};  // Metres.
  double width = 1;   // A thin line is 1.
  Rgb8 ink{};
};

struct SliceSettings {
  std::size_t axis = 2;                   // The cut is perpendicular to it.
  double at = 0;                          // Position along it, metres.
  Aabb box{};                             // Visible part, metres; not empty along the other axes.
  int width = 1200;                       // Pixels, including the legend.
  const TriangleMesh* outline = nullptr;  // Its exact cross-section is drawn on top.
  std::vector<SliceStroke> strokes{};     // Drawn over everything.
  Threads threads{};
};

struct SlicePicture {
  Picture picture;
  double isoline_spacing = 0;      // Metres.
  double lowest = 0, highest = 0;  // Values on the cut.
  std::size_t outline_segments = 0;
};

// Inside is orange, outside blue, both darker away from the surface. Colour-blind users can tell
// these two hues apart, and they differ in grey as well. The zero line is bold. y points up if it
// lies in the cut, otherwise -z does. The cut is seen from the positive side of its axis. value()
// is called from many threads. The picture is the same for any number of threads. Throws Error for
// a width outside 200 to 16384 and a box that would make the picture higher than that.
SlicePicture draw_slice(const std::function<double(const Vec3&)>& value,
                        const SliceSettings& settings);

// Returns the intersection of the triangles with the plane: one segment per crossed triangle. A
// corner on the plane counts as above it, so that closed meshes have closed cross-sections.
std::vector<std::array<Vec3, 2>> cut_mesh(const TriangleMesh& mesh, std::size_t axis, double at);

}  // namespace isotact::tool
