// Input and output of the shaders of intersection queries, in addition to the records of
// queries/intersection/intersection_layout.h. C++ and GLSL read this file: see base/shader_types.h.
#pragma once

#include "isotact/base/shader_types.h"

#ifdef __cplusplus
namespace isotact::glsl {
#endif

ISOTACT_CONSTANT uint kShapePlane = 0u, kShapeSphere = 1u, kShapeBox = 2u, kShapeCapsule = 3u,
                      kShapeCylinder = 4u, kShapeTorus = 5u, kShapeFirstOrder = 6u,
                      kShapeZerothOrder = 7u, kShapeBrick = 8u;

// A shape. shapes.glsl describes its numbers for each kind.
struct ShapeRecord {
  vec4 p0, p1, p2;
  uint kind;
  uint first_word;  // For a brick field.
  uvec2 handle;     // For a texture.
};

// Head of a list of pairs of words: their number, and work-groups for them.
struct WorkListHead {
  uint count;
  uint groups[3];
};

// Head of the list of contacts in cut cells.
struct RefinedHead {
  uint hit_count;
  uint most_open;  // Cells that were open at once.
  uint unused[10];
};

// Storage buffers. Programs that have nothing in common use a number for different things.
ISOTACT_CONSTANT int kIdfShapesAt = 0, kIdfPairsAt = 1, kIdfSeedsAt = 2, kIdfBricksAt = 9;
ISOTACT_CONSTANT int kIdfTotalsAt = 3, kIdfBlocksAt = 3;
ISOTACT_CONSTANT int kIdfCountsAt = 4, kIdfBlockEndsAt = 4;
ISOTACT_CONSTANT int kIdfOffsetsAt = 5, kIdfFoundLevelsAt = 5;
ISOTACT_CONSTANT int kIdfHitsAt = 6;
ISOTACT_CONSTANT int kIdfSlotsAt = 7, kIdfOpenAt = 7, kIdfCompactedAt = 7;
ISOTACT_CONSTANT int kIdfNextAt = 8, kIdfStartsAt = 8;
// Textures.
ISOTACT_CONSTANT int kFirstOrderUnit = 0, kZerothOrderUnit = 1;

// Instead of a pair's number: the particle did not arrive again.
ISOTACT_CONSTANT uint kIdfStray = 0xffffffffu;
// Particles per work-group if cells are searched: those of a block, or as many seeds.
ISOTACT_CONSTANT uint kIdfBlockGroup = 64u;
// A part of a cell is the cell's number above these bits, with three bits per level.
ISOTACT_CONSTANT uint kIdfPartBits = 16u, kIdfPartMask = 0xffffu;
ISOTACT_CONSTANT int kIdfMostLevels = 5;
// Work-groups along x that every GPU supports.
ISOTACT_CONSTANT uint kMostGroups = 65535u;

// Words of a brick field's buffer: of its header, and of a brick.
ISOTACT_CONSTANT uint kWordCoarseCells = 12u, kWordStep = 16u, kWordCoarseOffset = 26u,
                      kWordBlockOffset = 28u, kWordBrickOffset = 34u;
ISOTACT_CONSTANT uint kBrickWords = 192u, kBlockWords = 4u, kWordFirstBrick = 2u;
ISOTACT_CONSTANT uint kFirstCorrection = 32u;  // Bytes.
ISOTACT_CONSTANT uint kNodesOfBrick = 9u;      // Per axis.

#ifdef __cplusplus
static_assert(sizeof(ShapeRecord) == 64 && sizeof(WorkListHead) == 16 && sizeof(RefinedHead) == 48);

}  // namespace isotact::glsl
#endif
