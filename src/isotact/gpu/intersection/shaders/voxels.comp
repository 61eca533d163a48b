// One contact of each voxel that has some (KGM, section 7): the particle that won it moves again.
layout(local_size_x = GROUP_SIZE) in;
#include "index.glsl"
#include "particle_search.glsl"

layout(std430, binding = kIdfTotalsAt) readonly buffer Totals { uint slot_end[]; };
layout(std430, binding = kIdfOffsetsAt) buffer Stored { uint stored; };
layout(std430, binding = kIdfHitsAt) writeonly buffer Hits { IdfHit hits[]; };
layout(std430, binding = kIdfSlotsAt) readonly buffer Slots { uint slots[]; };

uniform uint pair_count;
uniform uint slot_count;

void main() {
  uint i = invocation_index();
  if (i >= slot_count || slots[i] == 0u) return;
  uint pair_number;
  FIND_PAIR(slot_end, i, pair_count, pair_number)
  PairData w = pair_data_of(pair_number);
  uint particle = particle_of(slots[i]);
  vec3 p = a_from_pair(pair_number, start_of(pair_number, particle));
  Both s = sample_both(w, p);
  bool has_arrived = project(w, reach_of(pair_number, w, particle), p, s);
  IdfHit hit = hit_of(w, pair_number, particle, p, s);
  if (!has_arrived) hit.pair = kIdfStray;
  hits[atomicAdd(stored, 1u)] = hit;
}
