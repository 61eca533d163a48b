// Membranes over holes, along the surface on which the winding number is a half.
#pragma once

#include <span>

#include "isotact/base/parallel.h"
#include "isotact/base/progress.h"
#include "isotact/field/build/detail/rims.h"
#include "isotact/geometry/mesh.h"

namespace isotact::surface_detail {

struct MembraneSettings {
  double voxel_size = 0;
  Threads threads{};
  Monitor monitor{};
};

struct MembraneReport {
  std::size_t plain = 0;  // rims wider than two voxels that only a fan could close
};

// Adds triangles that close all rims: the mesh becomes balanced, its own triangles and vertices
// stay.
MembraneReport add_membranes(TriangleMesh& mesh, std::span<const Rim> rims,
                             const MembraneSettings& settings);

}  // namespace isotact::surface_detail
