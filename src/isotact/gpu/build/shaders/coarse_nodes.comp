// Distances of nodes that are a brick's side apart. A work-group has a cube of them.
#include "nearest.glsl"

layout(local_size_x = kSearchGroup) in;
layout(std430, binding = kCoarseDistancesAt) writeonly buffer Distances { float distances[]; };
uniform ivec3 nodes;

void main() {
  uint number = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
  uvec3 cubes = (uvec3(nodes) + (kCubeSide - 1u)) / kCubeSide;
  uint i = gl_LocalInvocationID.x;
  uvec3 cube = uvec3(number % cubes.x, number / cubes.x % cubes.y, number / cubes.x / cubes.y);
  ivec3 node = ivec3(kCubeSide * cube + uvec3(i % kCubeSide, i / kCubeSide % kCubeSide,
                                              i / (kCubeSide * kCubeSide)));
  bool alive = all(lessThan(node, nodes));
  vec3 p = float(kSearchSide) * vec3(min(node, nodes - 1));
  Nearest nearest = find_any(p);
  find_nearest(p, alive, nearest);
  if (!alive) return;
  distances[uint(nodes.x) * (uint(nodes.y) * uint(node.z) + uint(node.y)) + uint(node.x)] =
      sqrt(nearest.distance_sq);
}
