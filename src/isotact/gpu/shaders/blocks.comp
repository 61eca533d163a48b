// Which blocks of 4^3 cells have a cell that may hold a contact. The middle of such a cell has a value
// of at most cell_cull + epsilon; from there to the middle of the block values change by no more
// than `fall`. Neither end need be near a surface: slack counts twice.
layout(local_size_x = GROUP_SIZE) in;
#include "index.glsl"
#include "particles.glsl"

layout(std430, binding = 3) buffer Blocks { uint block_count; uint block_groups[3]; uvec2 blocks[]; };
layout(std430, binding = 4) readonly buffer Totals { uint block_end[]; };

uniform uint pair_count;

void main() {
  uint i = invocation_index(), pair;
  FIND_PAIR(block_end, i, pair_count, pair)
  if (pair >= pair_count) return;
  uint block = i - (pair == 0u ? 0u : block_end[pair - 1u]);
  uvec3 n = uvec3(pairs[pair].cells), b = (n + 3u) / 4u;
  if (block < b.x * b.y * b.z) {
    uvec3 first = 4u * uvec3(block % b.x, block / b.x % b.y, block / (b.x * b.y));
    uvec3 some = min(n - first, uvec3(4u));
    vec3 size = pairs[pair].cell_size;
    vec3 middle = pairs[pair].box_min + (vec3(first) + 0.5 * vec3(some)) * size;
    float far = 0.5 * length(vec3(some - 1u) * size) * 1.000001;
    float fall = min(pairs[pair].lipschitz * far, far + 2.0 * pairs[pair].slack) +
                 pairs[pair].rounding;
    Way w = way_of(pair);
    Both s = sample_both(w, a_from_pair(pair, middle));
    if (max(s.a.w, s.b.w) > pairs[pair].cell_cull + w.epsilon + fall) return;
  }
  blocks[atomicAdd(block_count, 1u)] = uvec2(pair, block);
}
