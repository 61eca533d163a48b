// Samples on sharp edges and corners.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "isotact/pointshell/detail/shell_surface.h"

namespace isotact::detail {

struct EdgeSamples {
  std::vector<Vec3f> points, normals;
  std::vector<std::uint32_t> triangles;  // A triangle that contains each sample.
  // Vertices at which sharp edges end, meet or bend. They are the first samples.
  std::size_t corner_count = 0;
};

// Cuts chains of sharp edges between corners into equal pieces no longer than the spacing. Closed
// chains without a corner are cut into at least three pieces.
EdgeSamples sample_sharp_edges(const ShellSurface& surface, double sharp_degrees, double spacing,
                               Threads threads);

// The same for shells that already have the vertices. Sharp edges longer than the spacing are cut
// into equal pieces, each on its own. There are no corners.
EdgeSamples sample_long_edges(const ShellSurface& surface, double sharp_degrees, double spacing,
                              Threads threads);

// Returns edge and corner samples for shells of this spacing. None are nearer to each other than
// half of it. There are at most `most`: larger sets are thinned further.
EdgeSamples sample_edges_for_shell(const ShellSurface& surface, double sharp_degrees,
                                   double spacing, std::size_t most, Threads threads);

}  // namespace isotact::detail
