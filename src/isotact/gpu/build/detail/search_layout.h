// Input and output, other than TriangleFrame, of the shaders that search for nearest triangles. C++
// and GLSL read this file: see base/shader_types.h.
#pragma once

#include "isotact/base/shader_types.h"

#ifdef __cplusplus
namespace isotact::glsl {
#endif

// The tree of detail/triangle_tree.h: triangles per block, children per node, largest number of
// levels. Shaders keep one number per level.
ISOTACT_CONSTANT uint kTreeBlock = 4u, kTreeWidth = 8u, kTreeMaxLevel = 8u;

// Cells. Its sides are `half` away from the centre along three unit vectors. Empty ones are
// infinitely far away from everything: their halves are negative.
struct TurnedBox {
  vec3 center;
  float half_u;
  vec3 u;
  float half_v;
  vec3 v;
  float half_w;
  vec3 w;
  float unused;
};

// Shaders read frames and boxes by parts of 16 bytes.
ISOTACT_CONSTANT uint kFrameParts = 5u, kBoxParts = 4u;

// Nodes of a brick along each side, and in all. A brick consists of 2^3 cubes of nodes.
ISOTACT_CONSTANT uint kSearchSide = 8u, kSearchNodes = 512u;
ISOTACT_CONSTANT uint kCubeSide = 4u, kCubeNodes = 64u;
// Invocations per work-group. Each takes one node of a cube.
ISOTACT_CONSTANT uint kSearchGroup = 64u;

struct BrickOnGpu {
  ivec3 cell;
  int whole;  // 1: all of its nodes are requested.
};

// Work-groups of an indirect dispatch.
struct DispatchGroups {
  uint x, y, z;
  uint unused;
};

// A brick that is left to walks through the tree, and the triangle that they begin with.
struct BrickWalk {
  uint brick, seed;
};

// Instead of a triangle's number.
ISOTACT_CONSTANT uint kNoTriangle = 0xffffffffu;
// Cells: nearer than this, the direction to the surface is its normal.
ISOTACT_CONSTANT float kOnSurface = 0.001F;
// Steps of a texel's signed normalised integers.
ISOTACT_CONSTANT float kTexelSteps = 32767.0F;

// Storage buffers. Programs that have nothing in common use a number for different things.
ISOTACT_CONSTANT int kSearchFramesAt = 0, kSearchBoxesAt = 1;
ISOTACT_CONSTANT int kSearchBricksAt = 2, kSearchExactAt = 3, kSearchTrianglesAt = 4,
                     kSearchWalksAt = 5, kSearchSeedsAt = 6, kSearchResultsAt = 6;
ISOTACT_CONSTANT int kCoarseDistancesAt = 2;
ISOTACT_CONSTANT int kTexelRowsAt = 2, kTexelChangesAt = 3, kTexelLargestAt = 4,
                     kTexelTrianglesAt = 7;
// Images.
ISOTACT_CONSTANT int kTexelsUnit = 0;

#ifdef __cplusplus
static_assert(sizeof(TurnedBox) == 16 * kBoxParts && sizeof(BrickOnGpu) == 16);

}  // namespace isotact::glsl
#endif
