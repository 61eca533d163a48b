// Voxelmaps as fields, for queries that need one.
#pragma once

#include "isotact/export.h"
#include "isotact/field/models/dense_grid.h"
#include "isotact/field/voxmap/voxmap.h"

namespace ISOTACT_PUBLIC isotact {

// Samples at the centres of the voxels. DenseGridParts::sample_error says how far they may be from
// the true distance; of a map by ClosestPointMethod::kLayerWalk nothing is known.
//   * Scaled and support maps: the stored distances.
//   * Layers: the distance to the centre of the nearest surface voxel, less half a voxel, so that
//     surface voxels are inside, as Voxmap::is_solid has it. Every surface point lies in a surface
//     voxel, and every surface voxel holds one, so that the distance to the surface differs from
//     that to the centre of the nearest surface voxel by half a diagonal at most. The grid has one
//     voxel more on each side of the map.
// Throws Error for a scaled or support map with one voxel along an axis. Cost: some fifty
// nanoseconds per voxel for layers, some ten for the others.
DenseGrid to_dense_grid(const Voxmap& voxmap, Threads threads = {});

}  // namespace isotact
