// Input and output of segments.comp. C++ and GLSL read this file: see base/shader_types.h.
#pragma once

#include "isotact/base/shader_types.h"

#ifdef __cplusplus
#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {
namespace glsl {
#endif

// ---- results, also for callers that keep them on the GPU ----------------------------------------

// Position of the intervals of a segment.
struct GpuSegmentSpan {
  uint first ISOTACT_DEFAULT(0);
  uint count ISOTACT_DEFAULT(0);
};

// In a segment's count: the GPU was not certain.
ISOTACT_CONSTANT uint kUnsureSegment = 0xffffffffu;

// Head of the notes. The numbers of the undecided segments follow.
struct GpuSegmentNotes {
  uint interval_count;  // Intervals found, also those beyond the capacity.
  uint undecided_count;
  uint unused[2];
};

// ---- traced data --------------------------------------------------------------------------------

struct SegmentBlock {
  double origin_x, origin_y, origin_z;  // Origin of the box, metres.
  double scale;                         // Cells per metre.
  float top_x, top_y, top_z;            // Cells per axis.
  int macros_x, macros_y, macros_z;     // Macro cells per axis.
  uint place_offset;  // Offset of the indices of occupied macro cells in `tables`.
  uint cell_offset;   // Offset of the cells in `nodes`, rows.
  float correction_step, margin;
  uint is_free_beyond_box;
  uint unused;
};

// The index of queries/segments/segment_index.h, in rows of 16 bytes: macro cells, then cells.

struct SegmentMacroNode {
  vec4 slab;  // Normal, least.
  float most;
  uint first_cell;
  uint inside;  // Sides below and above the slab: bits 0 and 1.
  uint number;  // Number of the macro cell.
  uvec4 masks;  // 64 bits each: cells that are indexed, other cells that are inside.
};

struct SegmentCellNode {
  vec4 slab;  // Normal, least.
  float most;
  uint first_block;  // kSegmentNoBlocks: the coarse cell has no fine cells.
  // Bytes, from the lowest: IndexedCell's blocks, inside_blocks and inside, then the cell's number
  // in its macro cell.
  uint bits;
  uint macro;      // Number of the macro cell.
  vec4 low, high;  // Coarse values at the corners.
};

ISOTACT_CONSTANT uint kMacroNodeRows = 3u, kCellNodeRows = 4u;
ISOTACT_CONSTANT uint kSegmentNoBlocks = 0xffffffffu;
// SampleBlock: words of a block, samples along each side of it.
ISOTACT_CONSTANT uint kSampleBlockWords = 32u, kSampleBlockNodes = 5u;
// Segments are read as pairs of floats.
ISOTACT_CONSTANT uint kSegmentPairs = 3u;

// ---- work-groups --------------------------------------------------------------------------------

ISOTACT_CONSTANT uint kSegmentGroup = 64u;  // Segments.
// Capacity of the lists of a group: parts of paths in cells, and cells with crossings. Random
// segments through a body need 76 and 66, seldom more than 110 and 90.
ISOTACT_CONSTANT uint kSegmentCellParts = 120u, kSegmentCrossings = 96u;

// Storage buffers.
ISOTACT_CONSTANT int kSegmentBlockAt = 0, kSegmentTablesAt = 1, kSegmentNodesAt = 2,
                     kSegmentSamplesAt = 3, kSegmentsAt = 4, kSegmentSpansAt = 5,
                     kSegmentIntervalsAt = 6, kSegmentNotesAt = 7;

#ifdef __cplusplus
static_assert(sizeof(SegmentBlock) == 80 && sizeof(GpuSegmentNotes) == 16);
static_assert(sizeof(SegmentMacroNode) == 16 * kMacroNodeRows);
static_assert(sizeof(SegmentCellNode) == 16 * kCellNodeRows);

}  // namespace glsl
}  // namespace isotact

namespace ISOTACT_PUBLIC isotact {

using glsl::GpuSegmentNotes, glsl::GpuSegmentSpan, glsl::kUnsureSegment;

}  // namespace isotact
#endif
