// Nearest triangles of the nodes of bricks that have too many triangles for lists, by walks through
// the tree in two steps (STEP): 1, the centres of groups of 2^3 nodes, which also say which cubes are
// wanted; 2, the nodes, each beginning with what is nearest to its group's.
#include "nearest.glsl"
#include "brick_work.glsl"

layout(local_size_x = kSearchGroup) in;
// As many a brick as a cube has nodes.
layout(std430, binding = kSearchSeedsAt) buffer GroupSeeds { uint group_seeds[]; };

Nearest begin_with(uint seed, vec3 p) {
  return Nearest(square(offset_in_plane(seed, p)), seed);
}

#if STEP == 1
void main() {
  // A work-group is a brick.
  uint i = gl_LocalInvocationID.x, cube = i >> 3u;
  BrickWalk work = walks[gl_WorkGroupID.x];
  BrickOnGpu request = bricks[work.brick];
  vec3 p = vec3(int(kSearchSide) * request.cell) + float(kCubeSide) * vec3(split(cube)) +
           2.0 * vec3(split(i)) + 0.5;
  Nearest nearest = begin_with(work.seed, p);
  find_nearest(p, true, nearest);
  group_seeds[gl_GlobalInvocationID.x] = nearest.frame;
  // Then the cube is wanted, too: its centre is no further from the group's than their radii differ.
  if (request.whole != 0 || is_wanted(nearest.distance_sq, kGroupRadius))
    atomicOr(exact[work.brick], 1u << cube);
}
#else
void main() {
  // A work-group is a cube.
  uint walk = gl_WorkGroupID.x, cube = gl_WorkGroupID.y, i = gl_LocalInvocationID.x;
  uint brick = walks[walk].brick;
  uvec3 in_cube = place_in_cube(i), group = in_cube >> 1u;
  bool alive = (exact[brick] >> cube & 1u) != 0u;
  uvec3 in_brick = kCubeSide * split(cube) + in_cube;
  vec3 p = vec3(int(kSearchSide) * bricks[brick].cell) + vec3(in_brick);
  uint seed = group_seeds[kCubeNodes * walk + 8u * cube + group.x + 2u * group.y + 4u * group.z];
  Nearest nearest = begin_with(seed, p);
  find_nearest(p, alive, nearest);
  triangles[place_of_node(brick, in_brick)] =
      alive ? nearest.frame : kNoTriangle;
}
#endif
