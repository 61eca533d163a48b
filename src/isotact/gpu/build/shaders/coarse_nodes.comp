// Distances of nodes 8 cells apart. A work-group has 4^3 of them.
#include "nearest.glsl"

layout(local_size_x = 64) in;
layout(std430, binding = 2) writeonly buffer Distances { float distances[]; };
uniform ivec3 nodes;

void main() {
  uint number = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
  uvec3 cubes = (uvec3(nodes) + 3u) / 4u;
  uint i = gl_LocalInvocationID.x;
  uvec3 cube = uvec3(number % cubes.x, number / cubes.x % cubes.y, number / cubes.x / cubes.y);
  ivec3 node = ivec3(4u * cube + uvec3(i & 3u, i >> 2u & 3u, i >> 4u));
  bool alive = all(lessThan(node, nodes));
  vec3 p = 8.0 * vec3(min(node, nodes - 1));
  Nearest nearest = find_any(p);
  find_nearest(p, alive, nearest);
  if (!alive) return;
  distances[uint(nodes.x) * (uint(nodes.y) * uint(node.z) + uint(node.y)) + uint(node.x)] =
      sqrt(nearest.distance_sq);
}
