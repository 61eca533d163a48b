// A cut through a distance field as a picture: colours, isolines, the mesh's own cross-section, and
// a legend with numbers (XB14, Figure 4).
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <vector>

#include "isotact/base/aabb.h"
#include "isotact/base/parallel.h"
#include "isotact/geometry/mesh.h"

#include "picture/picture.h"

namespace isotact::tool {

// A line on top of the cut, projected onto it.
struct SliceStroke {
  Vec3 from{}, to{};  // metres
  double width = 1;   // a thin line is 1
  Rgb8 ink{};
};

struct SliceSettings {
  std::size_t axis = 2;                   // the cut is square to it
  double at = 0;                          // where along it, metres
  Aabb box{};                             // what is shown, metres; not empty along the other axes
  int width = 1200;                       // pixels, legend included
  const TriangleMesh* outline = nullptr;  // its exact cross-section is drawn on top
  std::vector<SliceStroke> strokes{};     // over all that
  Threads threads{};
};

struct SlicePicture {
  Picture picture;
  double isoline_spacing = 0;      // metres
  double lowest = 0, highest = 0;  // values on the cut
  std::size_t outline_segments = 0;
};

// Inside is orange, outside blue, both darker away from the surface: two hues that the colour-blind
// tell apart, and that differ in grey too. The zero line is bold. y points up where it lies in the
// cut, else -z does; the cut is seen from the positive side of its axis.
// value() is called from many threads. The same picture for any number of threads. Throws Error for
// a width outside of 200 to 16384 and a box that would make the picture higher than that.
SlicePicture draw_slice(const std::function<double(const Vec3&)>& value,
                        const SliceSettings& settings);

// Where the triangles meet the plane: one segment a triangle that it crosses. A corner on the plane
// counts as above it, so that closed meshes have closed cross-sections.
std::vector<std::array<Vec3, 2>> cut_mesh(const TriangleMesh& mesh, std::size_t axis, double at);

}  // namespace isotact::tool
