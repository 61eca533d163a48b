// From the nearest triangle of each node to texels. PASS 0 finds the largest |b|, 1 writes texels.
#include "nearest.glsl"
#include "direction.glsl"
#include "texel.glsl"

layout(local_size_x = kSearchGroup) in;
#include "index.glsl"
// InsideRows of field/build/inside_rows.h.
layout(std430, binding = kTexelRowsAt) readonly buffer Rows { uint row_first[]; };
layout(std430, binding = kTexelChangesAt) readonly buffer Changes { float changes[]; };
// A float's bits; floats >= 0 sort as their bits do.
layout(std430, binding = kTexelLargestAt) buffer Largest { uint largest_b; };
layout(std430, binding = kTexelTrianglesAt) readonly buffer Triangles { uint triangles[]; };
layout(binding = kTexelsUnit, rgba16_snorm) writeonly uniform image3D texels;
uniform ivec3 nodes;
uniform ivec3 brick_cells;  // bricks an axis
uniform uint first_brick, brick_count;
uniform uint is_signed;
uniform float shell_offset;

#if PASS == 0
shared float largest[kSearchGroup];
#endif

bool is_inside(ivec3 node) {
  uint line = uint(node.z) * uint(nodes.y) + uint(node.y);
  uint inside = 0u;
  for (uint i = row_first[line]; i < row_first[line + 1u]; ++i)
    if (changes[i] < float(node.x)) inside ^= 1u;
  return inside != 0u;
}

void main() {
  uint number = invocation_index(), brick = number / kSearchNodes, i = number % kSearchNodes;
  uint in_all = min(brick, brick_count - 1u) + first_brick;
  ivec3 cell = ivec3(in_all % uint(brick_cells.x), in_all / uint(brick_cells.x) % uint(brick_cells.y),
                     in_all / uint(brick_cells.x) / uint(brick_cells.y));
  ivec3 node = int(kSearchSide) * cell + ivec3(i % kSearchSide, i / kSearchSide % kSearchSide,
                                               i / (kSearchSide * kSearchSide));
  bool alive = brick < brick_count && all(lessThan(node, nodes));
  float b = 0.0;
  vec3 kept = vec3(0.0);
  if (alive) {
    vec4 nearest = compute_direction(triangles[number], vec3(node));
    float value = nearest.w - shell_offset;
    vec3 gradient = nearest.xyz;
    if (is_signed != 0u && is_inside(node)) {
      value = -value;
      if (nearest.w >= kOnSurface) gradient = -gradient;
    }
    kept = keep_gradient(gradient);
    b = compute_b(value, kept, vec3(node) - 0.5 * vec3(nodes - 1));
  }
#if PASS == 0
  largest[gl_LocalInvocationID.x] = abs(b);
  barrier();
  if (gl_LocalInvocationID.x != 0u) return;
  float most = 0.0;
  for (uint k = 0u; k < kSearchGroup; ++k) most = max(most, largest[k]);
  if (floatBitsToUint(most) > largest_b) atomicMax(largest_b, floatBitsToUint(most));
#else
  // A step above, so that the largest is kept, too.
  float b_scale = uintBitsToFloat(floatBitsToUint(max(uintBitsToFloat(largest_b), 1e-6)) + 1u);
  if (alive) imageStore(texels, node, make_texel(kept, b, b_scale));
#endif
}
