// Nearest triangles of the 8^3 nodes of bricks, in three steps (STEP), each beginning with what the
// one before has found nearby: 1, the centres of cubes of 4^3 nodes; 2, those of groups of 2^3; 3,
// the nodes. The first two also say which cubes are wanted, by the rules of the processor's kernels
// (field/build/detail/distance_kernel.h).
// RESULT of step 3: 0, distances; 1, directions and distances; 2, numbers of triangles.
#include "nearest.glsl"
#include "direction.glsl"

layout(local_size_x = 64) in;
#include "index.glsl"
layout(std430, binding = 2) readonly buffer Bricks { ivec4 bricks[]; };  // cell, whole
layout(std430, binding = 3) readonly buffer CoarseSeeds { uint coarse_seeds[]; };
layout(std430, binding = 4) buffer CubeSeeds { uint cube_seeds[]; };    // 8 a brick
layout(std430, binding = 5) buffer GroupSeeds { uint group_seeds[]; };  // 64 a brick
layout(std430, binding = 6) buffer Exact { uint exact[]; };             // a bit a cube
#if RESULT == 0
layout(std430, binding = 7) writeonly buffer Results { float results[]; };  // 64 z + 8 y + x
#elif RESULT == 1
layout(std430, binding = 7) writeonly buffer Results { vec4 results[]; };
#else
layout(std430, binding = 7) writeonly buffer Results { uint results[]; };
#endif
uniform uint brick_count;
uniform ivec3 coarse_nodes;
uniform float wanted_from, wanted_to;

uvec3 split(uint bits) { return uvec3(bits & 1u, bits >> 1u & 1u, bits >> 2u & 1u); }

bool is_wanted(float distance_sq, float radius) {
  float d = sqrt(distance_sq);
  return d >= wanted_from - radius && d <= wanted_to + radius;
}

Nearest begin_with(uint seed, vec3 p) {
  return Nearest(square(offset_in_plane(seed, p)), seed);
}

#if STEP == 1
void main() {
  uint number = invocation_index(), brick = number >> 3u;
  bool alive = brick < brick_count;
  if (!alive) brick = 0u;
  ivec4 request = bricks[brick];
  uvec3 cube = split(number);
  ivec3 corner = min(request.xyz + ivec3(cube), coarse_nodes - 1);
  vec3 p = vec3(8 * request.xyz) + 4.0 * vec3(cube) + 1.5;
  Nearest nearest = begin_with(
      coarse_seeds[(corner.z * coarse_nodes.y + corner.y) * coarse_nodes.x + corner.x], p);
  find_nearest(p, alive, nearest);
  bool wanted = request.w != 0 || is_wanted(nearest.distance_sq, 0.8660255 * 3.0);
  if (alive) cube_seeds[number] = wanted ? nearest.frame : kNoTriangle;
}
#elif STEP == 2
void main() {
  uint number = invocation_index(), brick = number >> 6u;
  uint seed = brick < brick_count ? cube_seeds[number >> 3u] : kNoTriangle;
  bool alive = seed != kNoTriangle;
  ivec4 request = bricks[alive ? brick : 0u];
  vec3 p = vec3(8 * request.xyz) + 4.0 * vec3(split(number >> 3u)) + 2.0 * vec3(split(number)) + 0.5;
  Nearest nearest = begin_with(alive ? seed : 0u, p);
  find_nearest(p, alive, nearest);
  if (!alive) return;
  group_seeds[number] = nearest.frame;
  if (request.w != 0 || is_wanted(nearest.distance_sq, 0.8660255))
    atomicOr(exact[brick], 1u << (number >> 3u & 7u));
}
#else
void main() {
  // A work-group is a cube.
  uint number = invocation_index(), brick = number >> 9u, cube = number >> 6u & 7u;
  uint i = number & 63u;
  uvec3 in_cube = uvec3(i & 3u, i >> 2u & 3u, i >> 4u);
  bool exists = brick < brick_count;
  bool alive = exists && (exact[brick] >> cube & 1u) != 0u;
  ivec4 request = bricks[alive ? brick : 0u];
  uvec3 in_brick = 4u * split(cube) + in_cube;
  uvec3 group = in_cube >> 1u;
  vec3 p = vec3(8 * request.xyz) + vec3(in_brick);
  uint seed = alive
      ? group_seeds[64u * brick + 8u * cube + group.x + 2u * group.y + 4u * group.z] : 0u;
  Nearest nearest = begin_with(seed, p);
  find_nearest(p, alive, nearest);
  if (!exists) return;
  uint at = 512u * brick + 64u * in_brick.z + 8u * in_brick.y + in_brick.x;
#if RESULT == 0
  results[at] = alive ? sqrt(nearest.distance_sq) : 1.0;
#elif RESULT == 1
  results[at] = alive ? find_direction(nearest.frame, p) : vec4(0.0, 0.0, 0.0, 1.0);
#else
  results[at] = nearest.frame;
#endif
}
#endif
