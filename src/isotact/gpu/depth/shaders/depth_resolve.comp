// Lists of surfaces become intervals of solid, by winding along each ray. A work-group: a tile of
// 16 x 16 pixels, whose bounds are for culling. MAPS: of height maps, only to count and to bound.
#include "depth_frame.glsl"
layout(local_size_x = kDepthTile, local_size_y = kDepthTile) in;
layout(std140, binding = kDepthPassAt) uniform IsotactPass { DepthPassBlock pass; };
layout(std430, binding = kDepthMapsAt) buffer Maps { DepthMapNote maps[]; };
layout(std430, binding = kDepthTileBoundsAt) writeonly buffer Tiles { vec2 tiles[]; };

shared uint tile_near, tile_far, covered, overfull, open_pixels, probes[kProbeCount];

struct Solid {
  int parts;
  bool is_open;
  float near, far, thickness;  // from the first to the last; of the first
};

#ifdef MAPS
layout(binding = kObjectFarUnit) uniform sampler2D object_far;
layout(binding = kObjectNearUnit) uniform sampler2D object_near;

Solid compute_solid(ivec2 pixel) {
  ivec2 at = isotact_origin(pass.slot) + pixel;
  float far = texelFetch(object_far, at, 0).r;
  float near = isotact_is(kFrameTwoSided) ? texelFetch(object_near, at, 0).r : 0;
  return Solid(far > 0 ? 1 : 0, false, near, far, far - near);
}
#else
layout(std430, binding = kDepthIntervalsAt) writeonly buffer Intervals { vec2 intervals[]; };
layout(std430, binding = kDepthHeadsAt) buffer Heads { uint heads[]; };

#ifdef CONSERVATIVE
layout(std430, binding = kDepthNodesAt) readonly buffer Nodes { DepthNodesHead list; uvec4 nodes[]; };

// All surfaces over the pixel's square lie within bands. Between those the object is solid everywhere
// or nowhere: the ray through the middle says which.
Solid compute_solid(ivec2 pixel) {
  uint index = uint(pixel.y * isotact_frame.size.x + pixel.x);
  uint at = pass.slot * isotact_frame.pixels * uint(isotact_frame.layers) + index;
  uint head = heads[index];
  heads[index] = 0u;
  if (head == 0u) {
    for (int layer = 0; layer < isotact_frame.layers; ++layer)
      intervals[at + uint(layer) * isotact_frame.pixels] = kNoInterval;
    return Solid(0, false, 0, 0, 0);
  }
  int winding = 0, parts = 0;
  uint last = 0u;
  vec2 whole = vec2(1, 0), current = kNoInterval;
  for (;;) {
    // The bands that begin next.
    uint low = 0xffffffffu, high = 0u;
    int crossings = 0;
    for (uint node = head; node != 0u;) {
      uvec4 n = nodes[node - 1u];
      if (n.x > last && n.x < low) low = n.x, high = 0u, crossings = 0;
      if (n.x == low) high = max(high, n.y), crossings += int(n.z);
      node = n.w;
    }
    if (high == 0u && low == 0xffffffffu) break;
    last = low;
    vec2 band = vec2(uintBitsToFloat(low - 1u), uintBitsToFloat(high));
    whole = vec2(min(whole.x, band.x), max(whole.y, band.y));
    if (parts > 0 && (winding != 0 || band.x <= current.y)) {
      current.y = max(current.y, band.y);
    } else {
      // What is between the last two of too many is solid.
      current = parts < isotact_frame.layers ? band : vec2(current.x, max(current.y, band.y));
      ++parts;
    }
    int layer = min(parts, isotact_frame.layers) - 1;
    intervals[at + uint(layer) * isotact_frame.pixels] = current;
    winding += crossings;
  }
  bool is_open = winding != 0;
  if (is_open) {
    intervals[at] = whole;
    parts = 1;
  }
  for (int layer = parts; layer < isotact_frame.layers; ++layer)
    intervals[at + uint(layer) * isotact_frame.pixels] = kNoInterval;
  return Solid(parts, is_open, whole.x, whole.y, whole.y - whole.x);
}
#else
layout(std430, binding = kDepthNodesAt) readonly buffer Nodes { DepthNodesHead list; uvec2 nodes[]; };

// Solid is where the sum of crossings is not zero: surfaces that are turned the wrong way bound the
// same. The next greater key in a pixel's list, and how often it is there. 0: none.
uint find_next(uint head, uint last, out int times) {
  uint best = 0xffffffffu;
  times = 0;
  for (uint node = head; node != 0u;) {
    uvec2 n = nodes[node - 1u];
    if (n.x > last && n.x <= best) {
      times = n.x == best ? times + 1 : 1;
      best = n.x;
    }
    node = n.y;
  }
  return times == 0 ? 0u : best;
}

float depth_of(uint key) { return uintBitsToFloat((key - 1u) >> 1); }

Solid compute_solid(ivec2 pixel) {
  uint index = uint(pixel.y * isotact_frame.size.x + pixel.x);
  uint at = pass.slot * isotact_frame.pixels * uint(isotact_frame.layers) + index;
  uint head = heads[index];
  heads[index] = 0u;

  int winding = 0, parts = 0;
  uint key = 0u, lowest = 0u, highest = 0u;
  float near = 0, thickness = 0, last_near = 0;
  for (;;) {
    int times;
    key = find_next(head, highest, times);
    if (key == 0u) break;
    if (lowest == 0u) lowest = key;
    highest = key;
    float z = depth_of(key);
    int before = winding;
    winding += ((key - 1u) & 1u) == 0u ? times : -times;
    if (before == 0) near = z;
    if (winding != 0 || z <= 0 || near >= 1) continue;
    // What is between the last two of too many is solid.
    int layer = min(parts, isotact_frame.layers - 1);
    if (parts < isotact_frame.layers) last_near = near;
    intervals[at + uint(layer) * isotact_frame.pixels] = vec2(last_near, z);
    if (parts == 0) thickness = z - near;
    ++parts;
  }
  bool is_open = winding != 0;
  if (is_open) {
    intervals[at] = vec2(depth_of(lowest), depth_of(highest));
    thickness = depth_of(highest) - depth_of(lowest);
    parts = 1;
  }
  for (int layer = parts; layer < isotact_frame.layers; ++layer)
    intervals[at + uint(layer) * isotact_frame.pixels] = kNoInterval;
  if (parts == 0) return Solid(0, false, 0, 0, 0);
  return Solid(parts, is_open, depth_of(lowest), depth_of(highest), thickness);
}
#endif
#endif

void main() {
  if (gl_LocalInvocationIndex == 0u) {
    tile_near = 0x7fffffffu;
    tile_far = covered = overfull = open_pixels = 0u;
  }
  if (gl_LocalInvocationIndex < kProbeCount) probes[gl_LocalInvocationIndex] = 0u;
  barrier();

  ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);
  if (all(lessThan(pixel, isotact_frame.size))) {
    Solid solid = compute_solid(pixel);
    if (solid.parts > 0) {
      atomicAdd(covered, 1u);
      if (solid.is_open) atomicAdd(open_pixels, 1u);
      if (solid.parts > isotact_frame.layers) atomicAdd(overfull, 1u);
      atomicMin(tile_near, floatBitsToUint(solid.near));
      atomicMax(tile_far, floatBitsToUint(solid.far));
      uint region;
      uint local = isotact_probe_of(pixel, region);
      atomicMax(probes[region], ((1u + uint(clamp(solid.thickness, 0.0, 1.0) * 4000.0)) << kProbeBits) | local);
    }
  }
  barrier();

  // Compilers may read before they ask: no lane has an index beyond what there is.
  uint region = min(gl_LocalInvocationIndex, kProbeCount - 1u);
  if (gl_LocalInvocationIndex < kProbeCount && probes[region] != 0u)
    atomicMax(maps[pass.slot].probes[region], probes[region]);
  if (gl_LocalInvocationIndex != 0u) return;
  uint tile = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
  tiles[pass.slot * gl_NumWorkGroups.x * gl_NumWorkGroups.y + tile] =
      covered == 0u ? kNoInterval : vec2(uintBitsToFloat(tile_near), uintBitsToFloat(tile_far));
  if (covered != 0u) {
    atomicAdd(maps[pass.slot].covered, covered);
    atomicAdd(maps[pass.slot].overfull, overfull);
    atomicAdd(maps[pass.slot].open, open_pixels);
  }
  if (tile == 0u) {
    maps[pass.slot].slope = pass.slope;
    maps[pass.slot].metres = pass.metres;
#ifdef MAPS
    maps[pass.slot].lost = 0u;
#else
    maps[pass.slot].lost = list.count > list.room ? list.count - list.room : 0u;
#endif
  }
}
