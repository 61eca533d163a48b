// A fragment of the environment against the object's intervals in its pixel.
#include "depth_pass.glsl"
#include "depth_hit.glsl"
layout(std430, binding = 8) readonly buffer IsotactIntervals { vec2 intervals[]; } isotact_map;
layout(std430, binding = 13) buffer IsotactSums { int sums[]; } isotact_sums;

void count_inside(IsotactDrawn d, uint slot, ivec2 pixel) {
  uint region;
  uint local = isotact_probe_of(pixel, region);
  uint probe = isotact_maps.maps[slot].probes[region];
  if (probe == 0u || (probe & 0xfffffu) != local) return;
  atomicAdd(isotact_sums.sums[d.query * isotact_frame.elements + d.element],
            gl_FrontFacing ? 1 : -1);
}

void main() {
  float z = gl_FragCoord.z;
  vec2 slope = vec2(dFdx(z), dFdy(z));
  IsotactDrawn d = isotact_find_drawn();
  uint slot = isotact_slot(d.query);
  ivec2 pixel = ivec2(gl_FragCoord.xy) - isotact_origin(d.query);
  uint at = slot * isotact_frame.pixels * uint(isotact_frame.layers) +
            uint(pixel.y * isotact_frame.size.x + pixel.x);
  float reach = 0;
#ifdef CONSERVATIVE
  reach = 0.5 * (abs(slope.x) + abs(slope.y));
#endif
  vec2 interval = isotact_map.intervals[at];
  if (interval.x > interval.y) return;
  // With conservative rasterisation surfaces cover pixels that they do not close.
#ifndef CONSERVATIVE
  if (z < interval.x) {
    if (d.closed && isotact_is(kFindInside)) count_inside(d, slot, pixel);
    return;
  }
#endif
  for (int layer = 0; z + reach >= interval.x && interval.x <= interval.y;) {
    if (z - reach <= interval.y) {
      isotact_record(d.query, slot, d.element, d.thin, gl_FrontFacing, pixel,
                     clamp(z, interval.x, interval.y), interval, slope);
      return;
    }
    if (++layer >= isotact_frame.layers) return;
    interval = isotact_map.intervals[at + uint(layer) * isotact_frame.pixels];
  }
}
