// Nearest triangles of the 8^3 nodes of bricks. A work-group has a brick: it lists the blocks of
// triangles that may matter to it, from those the triangles that may matter to each of its cubes of
// 4^3 nodes, and then an invocation measures a node. Bricks with too many blocks (triangles much
// smaller than cells) are left to dense_nodes.comp. Cubes that are not wanted, by the rules of the
// processor's kernels (field/build/detail/distance_kernel.h), have no triangles.
#include "nearest.glsl"

const uint kLanes = 64u;
layout(local_size_x = 64) in;
#include "near_lists.glsl"
#include "brick_work.glsl"

// Triangles that may matter to a cube. At s from its centre, one is at least w + xyz.s away.
const uint kBlocksAtOnce = 64u;
shared vec4 item_bound[kBlock * kBlocksAtOnce];
shared uint item_frame[kBlock * kBlocksAtOnce];
shared uint item_count;
shared uint group_sq[8];  // a float's bits

const float kBrickHalf = 3.5, kCubeHalf = 1.5;

vec3 offset_from_seed(uint seed, vec3 p) {
  vec3 normal;
  return offset_from(seed, p, normal);
}

uint list_items(uint list, uint first, uint end, vec3 center) {
  barrier();
  if (gl_LocalInvocationIndex == 0u) item_count = 0u;
  barrier();
  for (uint i = kBlock * first + gl_LocalInvocationIndex; i < kBlock * end; i += kLanes) {
    uint frame = kBlock * kept[list][i / kBlock] + i % kBlock;
    vec3 offset = offset_from_seed(frame, center);
    float away = length(offset);
    if (!may_matter(offset, away, kCubeHalf)) continue;
    uint at = atomicAdd(item_count, 1u);
    item_bound[at] = away < 1.0 ? vec4(0.0, 0.0, 0.0, away - kCubeRadius - list_slack())
                                : vec4(offset / away, away - list_slack());
    item_frame[at] = frame;
  }
  barrier();
  return item_count;
}

// Whether a cube has a group that is wanted, by the distances of their centres.
bool has_wanted_group(uint list, uint n, vec3 center) {
  uint lane = gl_LocalInvocationIndex, group = lane >> 3u;
  barrier();
  if (lane < 8u) group_sq[lane] = 0x7f800000u;
  barrier();
  vec3 p = center - 1.0 + 2.0 * vec3(split(group));
  Nearest mine = Nearest(3e38, 0u);
  for (uint i = lane & 7u; i < kBlock * n; i += 8u)
    try_frame(kBlock * kept[list][i / kBlock] + i % kBlock, p, mine);
  atomicMin(group_sq[group], floatBitsToUint(mine.distance_sq));
  barrier();
  bool wanted = false;
  for (uint i = 0u; i < 8u; ++i)
    wanted = wanted || is_wanted(uintBitsToFloat(group_sq[i]), kGroupRadius);
  return wanted;
}

// The nearest triangle of the node at `side` from a cube's centre.
uint measure_node(uint list, uint n, vec3 center, uint known, vec3 side) {
  vec3 p = center + side;
  Nearest nearest = Nearest(square(offset_in_plane(known, p)), known);
  float near = sqrt(nearest.distance_sq);
  for (uint first = 0u; first < n; first += kBlocksAtOnce) {
    uint items = list_items(list, first, min(first + kBlocksAtOnce, n), center);
    for (uint i = 0u; i < items; ++i) {
      vec4 bound = item_bound[i];
      if (!any_together(dot(bound.xyz, side) + bound.w <= near)) continue;
      try_frame(item_frame[i], p, nearest);
      near = sqrt(nearest.distance_sq);
    }
  }
  return nearest.frame;
}

void main() {
  uint brick = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
  if (brick >= brick_count) return;
  uint lane = gl_LocalInvocationIndex;
  ivec4 request = bricks[brick];
  vec3 origin = vec3(8 * request.xyz);
  uint list, seed;
  uint n = gather_blocks(origin + kBrickHalf, kBrickHalf, list, seed);
  if (n > kMostKept) {
    if (lane == 0u) leave_to_walks(brick, seed);
    return;
  }
  uvec3 in_cube = uvec3(lane & 3u, lane >> 2u & 3u, lane >> 4u);
  vec3 side = vec3(in_cube) - kCubeHalf;
  uint bits = 0u;
  // First the brick itself, then its cubes.
  for (uint part = 0u; part < 9u; ++part) {
    uint cube = part - 1u;
    float half_side = part == 0u ? kBrickHalf : kCubeHalf;
    vec3 center = origin + half_side + (part == 0u ? vec3(0.0) : 4.0 * vec3(split(cube)));
    vec3 corner = cube_corner(lane & 7u, half_side);
    set_reach(length(corner + offset_from_seed(seed, center)));
    uint blocks = filter_blocks(list, n, center, half_side);
    Nearest nearest = find_nearest_in_blocks(1u - list, blocks, center);
    if (part == 0u) {
      list = 1u - list;
      n = blocks;
      seed = nearest.frame;
      continue;
    }
    bool wanted = request.w != 0 || is_wanted(nearest.distance_sq, kCubeRadius);
    if (wanted && request.w == 0) wanted = has_wanted_group(1u - list, blocks, center);
    uint found = kNoTriangle;
    if (wanted) {
      bits |= 1u << cube;
      set_reach(length(corner + offset_from_seed(nearest.frame, center)));
      found = measure_node(1u - list, blocks, center, nearest.frame, side);
    }
    uvec3 in_brick = 4u * split(cube) + in_cube;
    triangles[512u * brick + 64u * in_brick.z + 8u * in_brick.y + in_brick.x] = found;
  }
  if (lane == 0u) exact[brick] = bits;
}
