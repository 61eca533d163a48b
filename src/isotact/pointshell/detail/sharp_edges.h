// Samples on sharp edges and corners.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "isotact/pointshell/detail/shell_surface.h"

namespace isotact::detail {

struct EdgeSamples {
  std::vector<Vec3f> points, normals;
  std::vector<std::uint32_t> triangles;  // one that each lies on
  std::size_t corner_count = 0;  // vertices where sharp edges end, meet or bend; they come first
};

// Chains of sharp edges between corners are cut into equal pieces no longer than the spacing; those
// that close without a corner into three at least.
EdgeSamples sample_sharp_edges(const ShellSurface& surface, double sharp_degrees, double spacing);

// The same for shells that have the vertices already: sharp edges longer than the spacing are cut
// into equal pieces, each on its own. No corners.
EdgeSamples sample_long_edges(const ShellSurface& surface, double sharp_degrees, double spacing);

// Normals on edges: the mean of the faces' there.
class EdgeNormals {
 public:
  explicit EdgeNormals(const ShellSurface& surface);
  // Of a triangle's edge, as TriangleFeature counts them; unit, or zero where faces cancel.
  Vec3f find(std::uint32_t triangle, std::size_t edge) const;

 private:
  const ShellSurface& surface_;
  std::vector<std::array<std::uint32_t, 3>> sides_;  // low vertex, high vertex, triangle; sorted
};

// Edge and corner samples for shells of this spacing, none nearer to each other than half of it,
// and at most `most`: thinned further where they are more.
EdgeSamples sample_edges_for_shell(const ShellSurface& surface, double sharp_degrees,
                                   double spacing, std::size_t most);

}  // namespace isotact::detail
