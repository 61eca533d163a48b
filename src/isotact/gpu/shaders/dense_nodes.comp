// Nearest triangles of the nodes of bricks that have too many triangles for lists, by walks through
// the tree in three steps (STEP), each beginning with what the one before has found nearby: 1, the
// centres of cubes of 4^3 nodes; 2, those of groups of 2^3; 3, the nodes. The first two also say
// which cubes are wanted.
#include "nearest.glsl"
#include "brick_work.glsl"

layout(local_size_x = 64) in;
layout(std430, binding = 6) buffer CubeSeeds { uint cube_seeds[]; };    // 8 a brick
layout(std430, binding = 7) buffer GroupSeeds { uint group_seeds[]; };  // 64 a brick

Nearest begin_with(uint seed, vec3 p) {
  return Nearest(square(offset_in_plane(seed, p)), seed);
}

#if STEP == 1
void main() {
  uint number = gl_GlobalInvocationID.x, walk = number >> 3u;
  bool alive = walk < walk_groups[1].x;
  uvec2 work = walks[alive ? walk : 0u];
  ivec4 request = bricks[work.x];
  vec3 p = vec3(8 * request.xyz) + 4.0 * vec3(split(number)) + 1.5;
  Nearest nearest = begin_with(work.y, p);
  find_nearest(p, alive, nearest);
  bool wanted = request.w != 0 || is_wanted(nearest.distance_sq, kCubeRadius);
  if (alive) cube_seeds[number] = wanted ? nearest.frame : kNoTriangle;
}
#elif STEP == 2
void main() {
  uint number = gl_GlobalInvocationID.x, brick = walks[number >> 6u].x;
  uint seed = cube_seeds[number >> 3u], cube = number >> 3u & 7u;
  bool alive = seed != kNoTriangle;
  ivec4 request = bricks[brick];
  vec3 p = vec3(8 * request.xyz) + 4.0 * vec3(split(cube)) + 2.0 * vec3(split(number)) + 0.5;
  Nearest nearest = begin_with(alive ? seed : 0u, p);
  find_nearest(p, alive, nearest);
  if (!alive) return;
  group_seeds[number] = nearest.frame;
  if (request.w != 0 || is_wanted(nearest.distance_sq, kGroupRadius))
    atomicOr(exact[brick], 1u << cube);
}
#else
void main() {
  // A work-group is a cube.
  uint walk = gl_WorkGroupID.x, cube = gl_WorkGroupID.y, i = gl_LocalInvocationID.x;
  uint brick = walks[walk].x;
  uvec3 in_cube = uvec3(i & 3u, i >> 2u & 3u, i >> 4u), group = in_cube >> 1u;
  bool alive = (exact[brick] >> cube & 1u) != 0u;
  uvec3 in_brick = 4u * split(cube) + in_cube;
  vec3 p = vec3(8 * bricks[brick].xyz) + vec3(in_brick);
  uint seed = group_seeds[64u * walk + 8u * cube + group.x + 2u * group.y + 4u * group.z];
  Nearest nearest = begin_with(alive ? seed : 0u, p);
  find_nearest(p, alive, nearest);
  triangles[512u * brick + 64u * in_brick.z + 8u * in_brick.y + in_brick.x] =
      alive ? nearest.frame : kNoTriangle;
}
#endif
