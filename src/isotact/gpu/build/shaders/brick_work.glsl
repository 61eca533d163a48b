// What programs for the nodes of bricks share. After nearest.glsl.
layout(std430, binding = 2) readonly buffer Bricks { ivec4 bricks[]; };  // cell, whole
layout(std430, binding = 3) buffer Exact { uint exact[]; };              // a bit a cube of 4^3 nodes
layout(std430, binding = 4) buffer Triangles { uint triangles[]; };      // 64 z + 8 y + x; or none
// Bricks that are left to walks through the tree, and work-groups to be dispatched for their groups
// of nodes and for their nodes.
layout(std430, binding = 5) buffer Walks { uvec4 walk_groups[2]; uvec2 walks[]; };  // brick, seed
uniform uint brick_count;
uniform float wanted_from, wanted_to;

const float kCubeRadius = 0.8660255 * 3.0, kGroupRadius = 0.8660255;

uvec3 split(uint bits) { return uvec3(bits & 1u, bits >> 1u & 1u, bits >> 2u & 1u); }

// Whether points that near to one with this distance may be wanted.
bool is_wanted(float distance_sq, float radius) {
  float d = sqrt(distance_sq);
  return d >= wanted_from - radius && d <= wanted_to + radius;
}

void leave_to_walks(uint brick, uint seed) {
  exact[brick] = 0u;
  walks[atomicAdd(walk_groups[0].x, 1u)] = uvec2(brick, seed);
  atomicAdd(walk_groups[1].x, 1u);
}
