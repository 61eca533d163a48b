// Which blocks of cells may hold a contact.
layout(local_size_x = GROUP_SIZE) in;
#include "index.glsl"
#include "particle_search.glsl"

layout(std430, binding = kIdfBlocksAt) buffer Blocks { WorkListHead block_list; uvec2 blocks[]; };
layout(std430, binding = kIdfBlockEndsAt) readonly buffer Totals { uint block_end[]; };

uniform uint pair_count;

void main() {
  uint i = invocation_index(), pair;
  FIND_PAIR(block_end, i, pair_count, pair)
  if (pair >= pair_count) return;
  uint block = i - (pair == 0u ? 0u : block_end[pair - 1u]);
  uvec3 n = uvec3(pairs[pair].cells), b = block_counts(n);
  if (block < b.x * b.y * b.z) {
    uvec3 first = kBlockSide * uvec3(block % b.x, block / b.x % b.y, block / (b.x * b.y));
    vec3 middle = pairs[pair].box_min +
                  0.5 * vec3(first + min(first + kBlockSide, n)) * pairs[pair].cell_size;
    PairData w = pair_data_of(pair);
    if (!may_hold(w, a_from_pair(pair, middle), pairs[pair].block_cull + w.margin)) return;
  }
  blocks[atomicAdd(block_list.count, 1u)] = uvec2(pair, block);
}
