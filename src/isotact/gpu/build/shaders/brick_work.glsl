// What programs for the nodes of bricks share. After nearest.glsl.
layout(std430, binding = kSearchBricksAt) readonly buffer Bricks { BrickOnGpu bricks[]; };
layout(std430, binding = kSearchExactAt) buffer Exact { uint exact[]; };  // a bit a cube of nodes
// At place_of_node; or none.
layout(std430, binding = kSearchTrianglesAt) buffer Triangles { uint triangles[]; };
// Bricks that are left to walks through the tree, and work-groups to be dispatched for their groups
// of nodes and for their nodes.
layout(std430, binding = kSearchWalksAt) buffer Walks {
  DispatchGroups walk_groups[2];
  BrickWalk walks[];
};
uniform uint brick_count;
uniform float wanted_from, wanted_to;

const float kCubeRadius = 0.8660255 * 3.0, kGroupRadius = 0.8660255;

uvec3 place_in_cube(uint i) {
  return uvec3(i % kCubeSide, i / kCubeSide % kCubeSide, i / (kCubeSide * kCubeSide));
}
uint place_of_node(uint brick, uvec3 node) {
  return kSearchNodes * brick + (node.z * kSearchSide + node.y) * kSearchSide + node.x;
}

uvec3 split(uint bits) { return uvec3(bits & 1u, bits >> 1u & 1u, bits >> 2u & 1u); }

// Whether points that near to one with this distance may be wanted.
bool is_wanted(float distance_sq, float radius) {
  float d = sqrt(distance_sq);
  return d >= wanted_from - radius && d <= wanted_to + radius;
}

void leave_to_walks(uint brick, uint seed) {
  exact[brick] = 0u;
  walks[atomicAdd(walk_groups[0].x, 1u)] = BrickWalk(brick, seed);
  atomicAdd(walk_groups[1].x, 1u);
}
