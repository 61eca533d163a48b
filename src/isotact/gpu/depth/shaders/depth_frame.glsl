// What is the same for all of one detection. Names carry a prefix since this is linked with callers'
// shaders.
#include "depth_layout.h"
layout(std140, binding = kDepthFrameAt) uniform IsotactFrame { DepthFrame isotact_frame; };

bool isotact_is(uint flag) { return (isotact_frame.flags & flag) != 0u; }

uint isotact_slot(uint query) { return isotact_frame.query_slots[query >> 2][query & 3u]; }
// Where a picture begins in an atlas.
ivec2 isotact_origin(uint tile) {
  int t = int(tile);
  return ivec2(t % isotact_frame.tiles, t / isotact_frame.tiles) * isotact_frame.size;
}

uint isotact_probe_of(ivec2 pixel, out uint region) {
  const int regions = int(kProbeRegions);
  ivec2 part = (isotact_frame.size + (regions - 1)) / regions;
  ivec2 r = pixel / part, local = pixel - r * part;
  region = uint(r.y * regions + r.x);
  return kProbeMask - uint(local.y * part.x + local.x);
}

// Depths are between 0 and 1.
const vec2 kNoInterval = vec2(2, -1);
