// Triangles in blocks of tiles, as depth_triangles.comp has listed them: a work-group each.
#include "depth_frame.glsl"
layout(local_size_x = kDepthTile * kDepthTile) in;
#include "depth_flat.glsl"
#include "depth_test.glsl"
#include "depth_tile_bounds.glsl"
layout(std430, binding = kDepthVisibleAt) readonly buffer Items { uvec4 items[]; };  // corner, instance, block

#ifdef WINDINGS
const bool kFront = true;
#else
const bool kFront = false;
#endif
shared uint live_count;
shared ivec2 live[kBlockTiles * kBlockTiles];

// Whether the triangle passes the tile where the object is. `front`: or before that.
bool meets_tile(Flat t, vec2 slope, uint slot, ivec2 tile, bool front) {
  vec2 solid = get_tile(slot, tile);
  if (solid.x > solid.y) return false;
  dvec2 middle = dvec2(tile * kDepthTile + kDepthTile / 2);
  double z = 0;
  for (int k = 0; k < 3; ++k) {
    dvec2 a = t.at[(k + 1) % 3], b = t.at[(k + 2) % 3], side = abs(b - a);
    double e = compute_edge(a, b, middle);
    if (e + kDepthTile / 2 * (side.x + side.y) < 0) return false;
    z += e * double(t.z[k]);
  }
  float at = float(z / t.area), reach = kDepthTile / 2 * (abs(slope.x) + abs(slope.y)) + kDepthRoom;
  float lower = max(at - reach, min(t.z.x, min(t.z.y, t.z.z)) - kDepthRoom);
  float upper = min(at + reach, max(t.z.x, max(t.z.y, t.z.z)) + kDepthRoom);
  return lower <= solid.y && (front || upper >= solid.x);
}

void main() {
  uvec4 item = items[gl_WorkGroupID.x];
  DrawnInstance i = instances[item.y];
  Flat t = make_flat(i, item.x);
  vec2 slope = compute_slope(t);
  bool closed = (i.flags & kPassClosed) != 0u;
  int me = int(gl_LocalInvocationIndex);
  if (me == 0) live_count = 0u;
  barrier();
  if (me < kBlockTiles * kBlockTiles) {
    ivec2 tile = ivec2(item.zw) * kBlockTiles + ivec2(me % kBlockTiles, me / kBlockTiles);
    if (all(lessThan(tile * kDepthTile, isotact_frame.size)) &&
        meets_tile(t, slope, isotact_slot(i.query), tile, kFront))
      live[atomicAdd(live_count, 1u)] = tile;
  }
  barrier();
  for (uint k = 0u; k < live_count; ++k) {
    ivec2 pixel = live[k] * kDepthTile + ivec2(me % kDepthTile, me / kDepthTile);
    float z;
    if (all(lessThan(pixel, isotact_frame.size)) && compute_depth(t, pixel, z))
      isotact_test(i.query, i.number, closed, false, t.front, pixel, z, 0, slope);
  }
}
