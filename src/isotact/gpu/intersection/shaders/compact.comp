// Closes the gaps between the contacts of pairs, so that only contacts are read back. One group a
// pair.
layout(local_size_x = 64) in;
#include "intersection_layout.h"
#include "shape_layout.h"
layout(std430, binding = kIdfCountsAt) readonly buffer Counts { uint arrived[]; };
layout(std430, binding = kIdfOffsetsAt) readonly buffer Offsets { uint totals[]; };
layout(std430, binding = kIdfHitsAt) readonly buffer From { IdfHit from[]; };
layout(std430, binding = kIdfCompactedAt) writeonly buffer To { IdfHit to[]; };
layout(std430, binding = kIdfStartsAt) readonly buffer Starts { uint first_hit[]; };
uniform uint pair_count;

void main() {
  uint pair = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
  if (pair >= pair_count) return;
  for (uint i = gl_LocalInvocationID.x; i < arrived[pair]; i += 64u)
    to[totals[pair] + i] = from[first_hit[pair] + i];
}
