// Moves all particles of all pairs: KGM, Algorithm 3. OUTPUT says what becomes of those that
// arrive: OUTPUT_COUNT counts them, OUTPUT_STORE writes contacts, OUTPUT_SLOTS keeps the deepest in
// each part of the pair's box. CELLS: only particles whose cell may hold a contact move.
layout(local_size_x = GROUP_SIZE) in;
#include "index.glsl"
#include "particles.glsl"

#ifdef PER_INVOCATION
layout(std430, binding = 3) readonly buffer Totals { uint particle_end[]; };
#else
layout(std430, binding = 3) readonly buffer Totals { uint group_end[]; };
#endif
layout(std430, binding = 4) buffer Counts { uint arrived[]; };
#ifdef OUTPUT_STORE
layout(std430, binding = 5) readonly buffer Offsets { uint first_hit[]; };
layout(std430, binding = 6) writeonly buffer Hits { Hit hits[]; };
#endif
#ifdef OUTPUT_SLOTS
layout(std430, binding = 7) buffer Slots { uint slots[]; };
#endif
#ifdef REFINED
// Cells that may hold a contact, but whose particle did not arrive.
layout(std430, binding = 8) buffer Open { uint open_count; uint open_groups[3]; uvec2 open[]; };
#endif

uniform uint pair_count;
uniform uint open_room;

void main() {
  uint pair_number, particle;
#ifdef PER_INVOCATION
  uint i = invocation_index();
  FIND_PAIR(particle_end, i, pair_count, pair_number)
  if (pair_number >= pair_count) return;
  particle = i - (pair_number == 0u ? 0u : particle_end[pair_number - 1u]);
  Pair pair = pairs[pair_number];
#else
  // The pair is the same for a whole group: what is read of it is read once.
  uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
  FIND_PAIR(group_end, group, pair_count, pair_number)
  if (pair_number >= pair_count) return;
  uint first_group = pair_number == 0u ? 0u : group_end[pair_number - 1u];
  particle = (group - first_group) * uint(GROUP_SIZE) + gl_LocalInvocationID.x;
  Pair pair = pairs[pair_number];
  if (particle >= particle_count(pair)) return;
#endif
  Bodies bodies = Bodies(shapes[pair.shape_a], shapes[pair.shape_b]);
  vec3 p = a_from_pair(pair, start_of(pair, particle));
  Both s = sample_both(pair, bodies, p);
#ifdef CELLS
  if (max(s.a.w, s.b.w) > pair.cell_cull + pair.epsilon) return;
#endif
  if (!project(pair, bodies, p, s)) {
#ifdef REFINED
    // A contact of another particle makes this needless: a look that may come too early is enough.
    if (arrived[pair_number] == 0u &&
        particle < uint(pair.cells.x * pair.cells.y * pair.cells.z)) {
      uint room = atomicAdd(open_count, 1u);
      if (room < open_room) open[room] = uvec2(pair_number, particle << 16u);
    }
#endif
    return;
  }
  uint place = atomicAdd(arrived[pair_number], 1u);
#ifdef OUTPUT_STORE
  hits[first_hit[pair_number] + place] = hit_of(pair, pair_number, particle, p, s);
#endif
#ifdef OUTPUT_SLOTS
  atomicMax(slots[slot_of(pair, pair_from_a(pair, p))], key_of(pair, -min(s.a.w, s.b.w), particle));
#endif
}
