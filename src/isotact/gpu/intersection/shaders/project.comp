// Moves the particles of all pairs: KGM, Algorithm 3. OUTPUT says what becomes of those that
// arrive: OUTPUT_COUNT counts them, OUTPUT_STORE writes contacts, OUTPUT_SLOTS keeps the deepest in
// each part of the pair's box. CELLS: one group for each block of cells that blocks.comp left over,
// and only particles whose cell may hold a contact move.
#include "shape_layout.h"
#ifdef CELLS
layout(local_size_x = kIdfBlockGroup) in;
#else
layout(local_size_x = GROUP_SIZE) in;
#endif
#include "index.glsl"
#include "particle_search.glsl"

#if defined(CELLS)
layout(std430, binding = kIdfBlocksAt) readonly buffer Blocks {
  WorkListHead block_list;
  uvec2 blocks[];
};
#elif defined(PER_INVOCATION)
layout(std430, binding = kIdfTotalsAt) readonly buffer Totals { uint particle_end[]; };
#else
layout(std430, binding = kIdfTotalsAt) readonly buffer Totals { uint group_end[]; };
#endif
layout(std430, binding = kIdfCountsAt) buffer Counts { uint arrived[]; };
#ifdef OUTPUT_STORE
layout(std430, binding = kIdfOffsetsAt) readonly buffer Offsets { uint first_hit[]; };
layout(std430, binding = kIdfHitsAt) writeonly buffer Hits { IdfHit hits[]; };
#endif
#ifdef OUTPUT_SLOTS
layout(std430, binding = kIdfSlotsAt) buffer Slots { uint slots[]; };
#endif
#ifdef REFINED
// Cells that may hold a contact, but whose particle did not arrive.
layout(std430, binding = kIdfNextAt) buffer Open { WorkListHead open_list; uvec2 open[]; };
uniform uint open_room;
#endif

uniform uint pair_count;

// Which particle of which pair this invocation moves; false: none.
bool find_particle(out uint pair, out uint particle) {
#if defined(CELLS)
  uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
  if (group >= block_list.count) return false;
  pair = blocks[group].x;
  uint block = blocks[group].y, me = gl_LocalInvocationID.x;
  uvec3 n = uvec3(pairs[pair].cells), b = block_counts(n);
  if (block >= b.x * b.y * b.z) {  // seeds come behind the blocks of cells
    particle = grid_count(pair) + (block - b.x * b.y * b.z) * kIdfBlockGroup + me;
    return particle < particle_count(pair);
  }
  uvec3 cell = kBlockSide * uvec3(block % b.x, block / b.x % b.y, block / (b.x * b.y)) +
               uvec3(me % kBlockSide, me / kBlockSide % kBlockSide, me / (kBlockSide * kBlockSide));
  particle = (cell.z * n.y + cell.y) * n.x + cell.x;
  return all(lessThan(cell, n));
#elif defined(PER_INVOCATION)
  uint i = invocation_index();
  FIND_PAIR(particle_end, i, pair_count, pair)
  if (pair >= pair_count) return false;
  particle = i - (pair == 0u ? 0u : particle_end[pair - 1u]);
  return true;
#else
  // The pair is the same for a whole group: what is read of it is read once.
  uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
  FIND_PAIR(group_end, group, pair_count, pair)
  if (pair >= pair_count) return false;
  uint first_group = pair == 0u ? 0u : group_end[pair - 1u];
  particle = (group - first_group) * uint(GROUP_SIZE) + gl_LocalInvocationID.x;
  return particle < particle_count(pair);
#endif
}

void main() {
  uint pair, particle;
  if (!find_particle(pair, particle)) return;
  PairData w = pair_data_of(pair);
  vec3 p = a_from_pair(pair, start_of(pair, particle));
  float reach = reach_of(pair, w, particle);
#ifdef CELLS
  bool is_cell = particle < grid_count(pair);
  if (is_cell) {
    // The 2^3 cells that it is in, then the cell itself.
    uvec3 n = uvec3(pairs[pair].cells), two = start_cell(pair, particle) & ~1u;
    vec3 middle = pairs[pair].box_min +
                  0.5 * vec3(two + min(two + 2u, n)) * pairs[pair].cell_size;
    float half_two = 0.5 * length(vec3(min(n, uvec3(2u))) * pairs[pair].cell_size) * 1.000001;
    if (!may_hold(w, a_from_pair(pair, middle), change_within(pair, half_two) + w.margin)) return;
    if (!may_hold(w, p, pairs[pair].cell_cull + w.margin)) return;
  }
#endif
  Both s = sample_both(w, p);
  if (!project(w, reach, p, s)) {
#ifdef REFINED
    // A contact of another particle makes this needless: a look that may come too early is enough.
    if (arrived[pair] == 0u && is_cell) {
      uint room = atomicAdd(open_list.count, 1u);
      if (room < open_room) open[room] = uvec2(pair, particle << kIdfPartBits);
    }
#endif
    return;
  }
  uint place = atomicAdd(arrived[pair], 1u);
#ifdef OUTPUT_STORE
  hits[first_hit[pair] + place] = hit_of(w, pair, particle, p, s);
#endif
#ifdef OUTPUT_SLOTS
  float depth = depth_of(w, s);
  atomicMax(slots[slot_of(pair, pair_from_a(pair, p))], key_of(pair, depth, particle));
#endif
}
