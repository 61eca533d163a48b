// Records of KGM's method that the CPU and shaders share. C++ and GLSL read this file: see
// base/shader_types.h.
#pragma once

#include "isotact/base/shader_types.h"

#ifdef __cplusplus
#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {
namespace glsl {
#endif

// A pair. The pair's frame has its origin at the centre of the box and the axes of the world.
// Coordinates are therefore small floats for any position of the pair.
struct IdfPairRecord {
  // Transform a point of the pair's frame to metres of the unscaled shape. Shaders get other frames
  // instead: make_gpu_pair (gpu/intersection/detail/shape_table.h).
  Rows3x4 a_from_pair;
  Rows3x4 b_from_pair;
  vec3 box_min;
  uint shape_a;
  vec3 cell_size;  // Cell of the sampling grid; zero along a side of zero length.
  uint shape_b;
  ivec3 cells;
  float cull_slope;        // For compute_cell_cull.
  float scale_a, scale_b;  // Values of the shapes times these are metres.
  float margin;
  // If a floor at the centre of a cell is above this plus margin, no point of the cell is in
  // contact: compute_cell_cull(half_diagonal).
  float cell_cull;
  // For the order of contacts: kIdfDepthSteps / (the largest possible depth + margin).
  float depth_scale;
  uint first_seed, seed_count;
  int slots[3];  // Parts of the box for the deepest contacts, or voxels.
  uint first_slot;
  float half_diagonal;  // Metres, of a cell.
  float lipschitz;      // The larger one of both shapes.
  float error;          // Metres, scaled, for compute_cell_cull; may be infinite.
  float block_cull;     // As cell_cull, for a block of cells: compute_block_cull.
  // Metres: rounding of a difference of two values, computed in float or by a filter.
  float rounding;
};

// An arrived particle, in the pair's frame.
struct IdfHit {
  vec3 position;
  uint particle;
  vec3 normal;  // Unit vector from B to A.
  float depth;  // Metres.
  uint pair;
  uint on_a;  // 1: the position is on A's surface. 0: on B's.
  uint unused[2];
};

// Cells along each side of a block, or all if there are fewer; for block_cull.
ISOTACT_CONSTANT int kIdfBlockCells = 4;

// The order of contacts: depth in this many steps, then the particle's number in this many bits.
ISOTACT_CONSTANT int kIdfDepthSteps = 65534;
ISOTACT_CONSTANT uint kIdfParticleBits = 16u, kIdfParticleMask = 65535u;

// For the deepest contacts, distribute_samples makes `slots` of a pair from the first number. Their
// number is at most 1.5 times its cube.
ISOTACT_CONSTANT int kIdfSlotSamples = 4;
ISOTACT_CONSTANT uint kIdfMostSlots = 128u;

#ifdef __cplusplus
static_assert(sizeof(IdfPairRecord) == 208 && sizeof(IdfHit) == 48);

}  // namespace glsl
}  // namespace isotact

namespace ISOTACT_PUBLIC isotact {

using glsl::IdfHit, glsl::IdfPairRecord, glsl::kIdfBlockCells;

}  // namespace isotact
#endif
