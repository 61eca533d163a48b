// Nearest triangles of the 8^3 nodes of bricks. A work-group has a brick: it lists the blocks of
// triangles that may matter to it, from those the triangles that may matter to each of its cubes of
// 4^3 nodes, and then an invocation measures a node. Where lists are too long (triangles much
// smaller than cells), nodes walk through the tree, each beginning with what was nearest to the
// centre of its group of 2^3 nodes, and that with its cube's.
// Cubes that are not wanted, by the rules of the processor's kernels
// (field/build/detail/distance_kernel.h), are left out.
// RESULT: 0, distances; 1, directions and distances; 2, numbers of triangles.
#include "nearest.glsl"
#include "direction.glsl"

const uint kLanes = 64u;
layout(local_size_x = 64) in;
#include "near_lists.glsl"
layout(std430, binding = 2) readonly buffer Bricks { ivec4 bricks[]; };  // cell, whole
layout(std430, binding = 6) writeonly buffer Exact { uint exact[]; };    // a bit a cube
#if RESULT == 0
layout(std430, binding = 7) writeonly buffer Results { float results[]; };  // 64 z + 8 y + x
#elif RESULT == 1
layout(std430, binding = 7) writeonly buffer Results { vec4 results[]; };
#else
layout(std430, binding = 7) writeonly buffer Results { uint results[]; };
#endif
uniform uint brick_count;
uniform float wanted_from, wanted_to;

// Triangles that may matter to a cube. At s from its centre, one is at least w + xyz.s away.
const uint kMostItems = 256u;
shared vec4 item_bound[kMostItems];
shared uint item_frame[kMostItems];
shared uint item_count;
shared uint group_sq[8];    // a float's bits
shared uint cube_seed[8];   // of walks
shared uint group_seed[64];
shared uint exact_bits;

const float kBrickHalf = 3.5, kCubeHalf = 1.5;
const float kCubeRadius = 0.8660255 * 3.0, kGroupRadius = 0.8660255;

uvec3 split(uint bits) { return uvec3(bits & 1u, bits >> 1u & 1u, bits >> 2u & 1u); }

bool is_wanted(float distance_sq, float radius) {
  float d = sqrt(distance_sq);
  return d >= wanted_from - radius && d <= wanted_to + radius;
}

Nearest begin_with(uint seed, vec3 p) {
  return Nearest(square(offset_in_plane(seed, p)), seed);
}

vec3 offset_from_seed(uint seed, vec3 p) {
  vec3 normal;
  return offset_from(seed, p, normal);
}

// Of the brick's blocks in kept[from], those that may matter to a cube.
uint filter_blocks(uint from, uint n, vec3 center) {
  uint to = 1u - from;
  begin_list(to);
  for (uint i = gl_LocalInvocationIndex; i < n; i += kLanes) {
    uint block = kept[from][i];
    vec3 offset = offset_from_box(level_begin[0] + block, center);
    if (may_matter(offset, length(offset), kCubeHalf)) keep(to, block);
  }
  return end_list(to);
}

uint list_items(uint from, uint n, vec3 center) {
  barrier();
  if (gl_LocalInvocationIndex == 0u) item_count = 0u;
  barrier();
  for (uint i = gl_LocalInvocationIndex; i < kBlock * n; i += kLanes) {
    uint frame = kBlock * kept[from][i / kBlock] + i % kBlock;
    vec3 offset = offset_from_seed(frame, center);
    float away = length(offset);
    if (!may_matter(offset, away, kCubeHalf)) continue;
    uint at = atomicAdd(item_count, 1u);
    if (at >= kMostItems) continue;
    item_bound[at] = away < 1.0 ? vec4(0.0, 0.0, 0.0, away - kCubeRadius - list_slack())
                                : vec4(offset / away, away - list_slack());
    item_frame[at] = frame;
  }
  barrier();
  return item_count;
}

// Whether a cube has a group that is wanted, by the distances of their centres.
bool has_wanted_group(uint from, uint n, vec3 center) {
  uint lane = gl_LocalInvocationIndex, group = lane >> 3u;
  barrier();
  if (lane < 8u) group_sq[lane] = 0x7f800000u;
  barrier();
  vec3 p = center - 1.0 + 2.0 * vec3(split(group));
  Nearest mine = Nearest(3e38, 0u);
  for (uint i = lane & 7u; i < kBlock * n; i += 8u)
    try_frame(kBlock * kept[from][i / kBlock] + i % kBlock, p, mine);
  atomicMin(group_sq[group], floatBitsToUint(mine.distance_sq));
  barrier();
  bool wanted = false;
  for (uint i = 0u; i < 8u; ++i)
    wanted = wanted || is_wanted(uintBitsToFloat(group_sq[i]), kGroupRadius);
  return wanted;
}

// By walks: what is nearest to the centres of the brick's cubes, then of its groups.
void find_seeds(uint seed, vec3 origin, bool whole) {
  uint lane = gl_LocalInvocationIndex;
  barrier();
  if (lane < 8u) cube_seed[lane] = seed;
  if (lane == 0u) exact_bits = 0u;
  for (uint step = 0u; step < 2u; ++step) {
    barrier();
    uint cube = step == 0u ? lane & 7u : lane >> 3u;
    bool alive = cube_seed[cube] != kNoTriangle;
    vec3 p = origin + 4.0 * vec3(split(cube)) +
             (step == 0u ? vec3(1.5) : 0.5 + 2.0 * vec3(split(lane)));
    Nearest nearest = begin_with(alive ? cube_seed[cube] : 0u, p);
    find_nearest(p, alive, nearest);
    barrier();
    if (step == 0u) {
      bool wanted = whole || is_wanted(nearest.distance_sq, kCubeRadius);
      if (lane < 8u) cube_seed[lane] = wanted ? nearest.frame : kNoTriangle;
    } else if (alive) {
      group_seed[lane] = nearest.frame;
      if (whole || is_wanted(nearest.distance_sq, kGroupRadius)) atomicOr(exact_bits, 1u << cube);
    }
  }
  barrier();
}

void write_result(uint at, bool alive, Nearest nearest, vec3 p) {
#if RESULT == 0
  results[at] = alive ? sqrt(nearest.distance_sq) : 1.0;
#elif RESULT == 1
  results[at] = alive ? find_direction(nearest.frame, p) : vec4(0.0, 0.0, 0.0, 1.0);
#else
  results[at] = nearest.frame;
#endif
}

void main() {
  uint brick = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
  if (brick >= brick_count) return;
  uint lane = gl_LocalInvocationIndex;
  ivec4 request = bricks[brick];
  bool whole = request.w != 0;
  vec3 origin = vec3(8 * request.xyz), middle = origin + kBrickHalf;

  uint list;
  uint n = gather_around_point(middle, list);
  uint seed = n <= kMostKept ? find_nearest_in_blocks(list, n, middle).frame : find_any(middle).frame;
  set_reach(kBrickHalf, offset_from_seed(seed, middle));
  n = gather_around_cube(middle, kBrickHalf, list);
  bool by_lists = n <= kMostKept;
  if (!by_lists) find_seeds(seed, origin, whole);

  uvec3 in_cube = uvec3(lane & 3u, lane >> 2u & 3u, lane >> 4u), in_group = in_cube >> 1u;
  vec3 side = vec3(in_cube) - kCubeHalf;
  uint bits = by_lists ? 0u : exact_bits;
  for (uint cube = 0u; cube < 8u; ++cube) {
    vec3 center = origin + 4.0 * vec3(split(cube)) + kCubeHalf;
    uint items = kMostItems + 1u;
    uint from = 8u * cube + in_group.x + 2u * in_group.y + 4u * in_group.z;
    uint known = by_lists ? seed : group_seed[from];
    if (by_lists) {
      set_reach(kCubeHalf, offset_from_seed(seed, center));
      uint blocks = filter_blocks(list, n, center);
      Nearest nearest = find_nearest_in_blocks(1u - list, blocks, center);
      known = nearest.frame;
      bool wanted = whole || is_wanted(nearest.distance_sq, kCubeRadius);
      if (wanted && !whole) wanted = has_wanted_group(1u - list, blocks, center);
      if (wanted) {
        bits |= 1u << cube;
        set_reach(kCubeHalf, offset_from_seed(known, center));
        items = list_items(1u - list, blocks, center);
      }
    }
    bool alive = (bits >> cube & 1u) != 0u;
    vec3 p = center + side;
    Nearest nearest = Nearest(0.0, 0u);
    if (alive) {
      nearest = begin_with(known, p);
      if (items <= kMostItems) {
        float near = sqrt(nearest.distance_sq);
        for (uint i = 0u; i < items; ++i) {
          vec4 bound = item_bound[i];
          if (!any_together(dot(bound.xyz, side) + bound.w <= near)) continue;
          try_frame(item_frame[i], p, nearest);
          near = sqrt(nearest.distance_sq);
        }
      } else {
        find_nearest(p, true, nearest);
      }
    }
    uvec3 in_brick = 4u * split(cube) + in_cube;
    write_result(512u * brick + 64u * in_brick.z + 8u * in_brick.y + in_brick.x, alive, nearest, p);
  }
  if (lane == 0u) exact[brick] = bits;
}
