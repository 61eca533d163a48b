// A fragment of the environment against the object's intervals in its pixel.
#include "depth_hit.glsl"
#include "depth_winding.glsl"
layout(std430, binding = kDepthIntervalsAt) readonly buffer IsotactIntervals { vec2 intervals[]; } isotact_map;
layout(std430, binding = kDepthSumsAt) buffer IsotactSums { int sums[]; } isotact_sums;

void isotact_count_winding(uint query, uint element, bool front, uint slot, ivec2 pixel, int layer) {
  uint at = (query * uint(isotact_frame.layers) + uint(layer)) * isotact_frame.pixels +
            uint(pixel.y * isotact_frame.size.x + pixel.x);
  int entered = front ? 1 : -1;
  atomicAdd(isotact_windings.sums[at], entered * isotact_winding(element));
  // Each element by itself in a few pixels, for where there are several.
  uint region;
  uint local = isotact_probe_of(pixel, region);
  uint probe = isotact_maps.maps[slot].probes[region];
  if (layer == 0 && probe != 0u && (probe & kProbeMask) == local)
    atomicAdd(isotact_sums.sums[query * isotact_frame.elements + element], entered);
}

// reach: of its depth over the pixel's square.
void isotact_test(uint query, uint element, bool closed, bool thin, bool front, ivec2 pixel, float z,
                  float reach, vec2 slope) {
  uint slot = isotact_slot(query);
  uint at = slot * isotact_frame.pixels * uint(isotact_frame.layers) +
            uint(pixel.y * isotact_frame.size.x + pixel.x);
  int before = 0;  // parts that begin before this
  for (; before < isotact_frame.layers; ++before) {
    vec2 interval = isotact_map.intervals[at + uint(before) * isotact_frame.pixels];
    if (interval.x > interval.y) return;
#ifdef CONSERVATIVE
    if (z - reach > interval.y || z + reach < interval.x) {
      if (z < interval.x) break;
      continue;
    }
#ifdef WHOLE
    isotact_record(query, slot, element, thin, front, pixel,
                   clamp(z, interval.x, interval.y), interval, slope);
#endif
    if (z < interval.x) break;
#else
    // Depths are clamped to the box, so that what is in front of it is drawn: there it is beyond.
    if (z + reach < interval.x || z <= 0) break;
#ifndef WINDINGS
    if (z - reach <= interval.y && z < 1)
      isotact_record(query, slot, element, thin, front, pixel,
                     clamp(z, interval.x, interval.y), interval, slope);
#endif
#endif
  }
  // With conservative rasterisation surfaces cover pixels that they do not close: another drawing
  // does this. Compute shaders do it in a second pass, of queries that have no hit.
#if !defined(WHOLE) && !defined(SURFACES)
  if (closed && before < isotact_frame.layers && isotact_is(kFrameFindInside))
    isotact_count_winding(query, element, front, slot, pixel, before);
#endif
}
