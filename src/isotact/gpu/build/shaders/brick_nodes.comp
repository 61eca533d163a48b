// Nearest triangles of the 8^3 nodes of bricks. A work-group has a brick: it lists the blocks of
// triangles that may matter to it, from those the triangles that may matter to each of its cubes of
// 4^3 nodes, and then an invocation measures a node. Bricks with too many blocks (triangles much
// smaller than cells) are left to dense_nodes.comp. Cubes that are not wanted, by the rules of the
// processor's kernels (field/build/detail/distance_kernel.h), have no triangles.
#include "nearest.glsl"

layout(local_size_x = kSearchGroup) in;
#include "near_lists.glsl"
#include "brick_work.glsl"

// Triangles of some blocks: first all, each with the vector from its nearest point to a centre and
// that one's length; then those that may matter to the cube there, each with a bound: at s from the
// centre it is at least w + xyz.s away.
const uint kBlocksAtOnce = 64u;
shared vec4 item_bound[kTreeBlock * kBlocksAtOnce];
shared uint item_frame[kTreeBlock * kBlocksAtOnce];
shared uint item_count;
shared uint group_sq[8];  // a float's bits

const float kBrickHalf = 3.5, kCubeHalf = 1.5;

void measure_items(uint list, uint first, uint end, vec3 center, inout Nearest nearest) {
  uint count = kTreeBlock * (end - first);
  for (uint i = gl_LocalInvocationIndex; i < count; i += kSearchGroup) {
    uint frame = kTreeBlock * kept[list][first + i / kTreeBlock] + i % kTreeBlock;
    vec3 offset = offset_from(frame, center);
    float d = square(offset);
    if (d < nearest.distance_sq || (d == nearest.distance_sq && frame < nearest.frame))
      nearest = Nearest(d, frame);
    item_bound[i] = vec4(offset, sqrt(d));
    item_frame[i] = frame;
  }
}

// Leaves those that may matter, and returns their number. None is written where one still has to be
// read: they only move down, by no more than kSearchGroup at a time.
uint filter_items(uint count) {
  uint lane = gl_LocalInvocationIndex;
  barrier();
  if (lane == 0u) item_count = 0u;
  for (uint first = 0u; first < count; first += kSearchGroup) {
    uint i = first + lane, frame = 0u;
    vec4 item = vec4(0.0);
    bool stays = false;
    if (i < count) {
      item = item_bound[i];
      frame = item_frame[i];
      stays = may_matter(item.xyz, item.w, kCubeHalf);
    }
    barrier();
    if (stays) {
      uint at = atomicAdd(item_count, 1u);
      item_bound[at] = item.w < 1.0 ? vec4(0.0, 0.0, 0.0, item.w - kCubeRadius - list_slack())
                                    : vec4(item.xyz / item.w, item.w - list_slack());
      item_frame[at] = frame;
    }
  }
  barrier();
  return item_count;
}

Nearest find_nearest_in_blocks(uint list, uint n, vec3 p) {
  Nearest mine = Nearest(3e38, kNoTriangle);
  for (uint first = 0u; first < n; first += kBlocksAtOnce)
    measure_items(list, first, min(first + kBlocksAtOnce, n), p, mine);
  return join_nearest(mine);
}

// Whether a cube has a group that is wanted, by the distances of their centres.
bool has_wanted_group(uint list, uint n, vec3 center) {
  uint lane = gl_LocalInvocationIndex, group = lane >> 3u;
  barrier();
  if (lane < 8u) group_sq[lane] = 0x7f800000u;
  barrier();
  vec3 p = center - 1.0 + 2.0 * vec3(split(group));
  Nearest mine = Nearest(3e38, 0u);
  for (uint i = lane & 7u; i < kTreeBlock * n; i += 8u)
    try_frame(kTreeBlock * kept[list][i / kTreeBlock] + i % kTreeBlock, p, mine);
  atomicMin(group_sq[group], floatBitsToUint(mine.distance_sq));
  barrier();
  bool wanted = false;
  for (uint i = 0u; i < 8u; ++i)
    wanted = wanted || is_wanted(uintBitsToFloat(group_sq[i]), kGroupRadius);
  return wanted;
}

// The nearest triangle of the node at `side` from a cube's centre. After find_nearest_in_blocks,
// which leaves the items of one stretch of blocks.
uint measure_node(uint list, uint n, vec3 center, uint known, vec3 side) {
  vec3 p = center + side;
  Nearest nearest = Nearest(square(offset_in_plane(known, p)), known);
  float near = sqrt(nearest.distance_sq);
  for (uint first = 0u; first < n; first += kBlocksAtOnce) {
    uint end = min(first + kBlocksAtOnce, n);
    if (n > kBlocksAtOnce) {
      Nearest unused = nearest;
      barrier();
      measure_items(list, first, end, center, unused);
    }
    uint items = filter_items(kTreeBlock * (end - first));
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
  BrickOnGpu request = bricks[brick];
  vec3 origin = vec3(int(kSearchSide) * request.cell);
  uint list, seed;
  uint n = gather_blocks(origin + kBrickHalf, kBrickHalf, list, seed);
  if (n > kMostKept) {
    if (lane == 0u) leave_to_walks(brick, seed);
    return;
  }
  uvec3 in_cube = place_in_cube(lane);
  vec3 side = vec3(in_cube) - kCubeHalf;
  uint bits = 0u;
  // First the brick itself, then its cubes.
  for (uint part = 0u; part < 9u; ++part) {
    uint cube = part - 1u;
    float half_side = part == 0u ? kBrickHalf : kCubeHalf;
    vec3 center = origin + half_side + (part == 0u ? vec3(0.0) : float(kCubeSide) * vec3(split(cube)));
    vec3 corner = cube_corner(lane & 7u, half_side);
    set_reach(length(corner + offset_from(seed, center)));
    uint blocks = filter_blocks(list, n, center, half_side);
    Nearest nearest = find_nearest_in_blocks(1u - list, blocks, center);
    if (part == 0u) {
      list = 1u - list;
      n = blocks;
      seed = nearest.frame;
      continue;
    }
    bool wanted = request.whole != 0 || is_wanted(nearest.distance_sq, kCubeRadius);
    if (wanted && request.whole == 0) wanted = has_wanted_group(1u - list, blocks, center);
    uint found = kNoTriangle;
    if (wanted) {
      bits |= 1u << cube;
      set_reach(length(corner + offset_from(nearest.frame, center)));
      found = measure_node(1u - list, blocks, center, nearest.frame, side);
    }
    triangles[place_of_node(brick, kCubeSide * split(cube) + in_cube)] = found;
  }
  if (lane == 0u) exact[brick] = bits;
}
