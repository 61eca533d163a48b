// Clusters and primitives of meshes against a query's box and its object's map.
#include "depth_frame.glsl"
#include "depth_instances.glsl"
#include "depth_tile_bounds.glsl"
layout(std430, binding = kDepthClustersAt) readonly buffer Clusters { MeshCluster clusters[]; };

// Whether the object may be within it, however far in front its surface is.
bool may_surround(uint flags) { return isotact_is(kFrameFindInside) && (flags & kPassClosed) != 0u; }

// Rounding, and what conservative rasterisation adds.
float compute_clip_reach() {
  return isotact_is(kFrameConservative)
             ? 4.0 / float(min(isotact_frame.size.x, isotact_frame.size.y))
             : 1e-5;
}

bool is_in_box(vec3 lower, vec3 upper, bool front) {
  return all(lessThanEqual(lower, vec3(1))) && all(greaterThanEqual(upper.xy, vec2(-1))) &&
         (front || upper.z >= -1);
}

// Rounding, and the hardware's snapping of corners.
const float kPixelRoom = 1.0 / 64;
// More tiles than this are not looked at one by one, by one lane.
#ifndef FEW_TILES
#define FEW_TILES 64
#endif

// Boxes in the picture (pixels; depths from 0 to 1) that cover the middle of a pixel, where the
// object has something at such depths. With two maps what lies in front of the object
// hides what is behind.
bool may_meet(uint slot, vec3 lower, vec3 upper, bool front, bool thin) {
#ifdef TWO_MAPS
  front = true;
#endif
  float room = thin || isotact_is(kFrameConservative) ? 1.5 : kPixelRoom;
  ivec2 first = max(ivec2(ceil(max(lower.xy - 0.5 - room, vec2(-1)))), ivec2(0));
  ivec2 last = min(ivec2(floor(min(upper.xy - 0.5 + room, vec2(isotact_frame.size)))),
                   isotact_frame.size - 1);
  if (any(greaterThan(first, last))) return false;
  first /= kDepthTile;
  last /= kDepthTile;
  if ((last.x - first.x + 1) * (last.y - first.y + 1) > FEW_TILES) return true;
  for (int y = first.y; y <= last.y; ++y)
    for (int x = first.x; x <= last.x; ++x) {
      vec2 solid = get_tile(slot, ivec2(x, y));
      if (solid.x <= solid.y && lower.z <= solid.y + kDepthRoom &&
          (front || upper.z >= solid.x - kDepthRoom))
        return true;
    }
  return false;
}

bool is_visible(DrawnInstance instance, MeshCluster cluster, uint primitive, uint corner_count, bool front) {
  uint corner = cluster.first + primitive * corner_count;
  vec3 a = to_clip(instance, corner), b = a, c = a;
  if (corner_count > 1u) b = to_clip(instance, corner + 1u);
  if (corner_count > 2u) c = to_clip(instance, corner + 2u);
  vec3 lower = min(a, min(b, c)), upper = max(a, max(b, c));
  float room = compute_clip_reach();
  if (!is_in_box(lower - room, upper + room, front)) return false;
#ifdef MAPS
  // FAB draws the environment with the usual culling; the view turns outlines round.
  vec2 u = b.xy - a.xy, v = c.xy - a.xy;
  if ((cluster.flags & kPassClosed) != 0u && u.x * v.y - u.y * v.x > 0) return false;
#endif
  vec3 half_size = 0.5 * vec3(vec2(isotact_frame.size), 1);
  return may_meet(isotact_slot(instance.query), (lower + 1) * half_size, (upper + 1) * half_size,
                  front, corner_count < 3u);
}

// Of a cluster as a whole. Its primitives may be asked only where it does.
bool may_show(MeshCluster cluster, DrawnInstance instance, bool front) {
  // Its box in the picture.
  vec4 middle = vec4(0.5 * (cluster.lower + cluster.upper), 1);
  vec3 extent = 0.5 * (cluster.upper - cluster.lower), at, reach;
  for (int axis = 0; axis < 3; ++axis) {
    at[axis] = dot(instance.clip_from_element[axis], middle);
    reach[axis] = dot(abs(instance.clip_from_element[axis].xyz), extent);
  }
  reach += 1e-4 + compute_clip_reach() + 1e-5 * (abs(at) + reach);
  return is_in_box(at - reach, at + reach, front);
}
