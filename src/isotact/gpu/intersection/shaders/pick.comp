// The deepest contacts of each pair, one group a pair: keys are ranked, and the particles of the
// first few move again, which gives the same contact as before to the last bit.
layout(local_size_x = 64) in;
#include "particle_search.glsl"

layout(std430, binding = kIdfOffsetsAt) writeonly buffer Picked { uint picked[]; };
layout(std430, binding = kIdfHitsAt) writeonly buffer Hits { IdfHit hits[]; };
layout(std430, binding = kIdfSlotsAt) readonly buffer Slots { uint slots[]; };

uniform uint pair_count;
uniform uint max_contacts;

shared uint keys[kIdfMostSlots];

void main() {
  uint pair_number = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
  if (pair_number >= pair_count) return;
  ivec3 n = slot_counts(pair_number);
  uint count = uint(n.x * n.y * n.z);
  for (uint i = gl_LocalInvocationID.x; i < kIdfMostSlots; i += 64u)
    keys[i] = i < count ? slots[pairs[pair_number].first_slot + i] : 0u;
  barrier();
  if (gl_LocalInvocationID.x == 0u) {
    uint used = 0u;
    for (uint j = 0u; j < count; ++j) used += keys[j] > 0u ? 1u : 0u;
    picked[pair_number] = min(used, max_contacts);
  }
  PairData w = pair_data_of(pair_number);
  for (uint i = gl_LocalInvocationID.x; i < kIdfMostSlots; i += 64u) {
    uint key = keys[i], rank = 0u;
    if (key == 0u) continue;
    for (uint j = 0u; j < count; ++j) rank += keys[j] > key ? 1u : 0u;
    if (rank >= max_contacts) continue;
    uint particle = particle_of(key);
    vec3 p = a_from_pair(pair_number, start_of(pair_number, particle));
    Both s = sample_both(w, p);
    bool has_arrived = project(w, reach_of(pair_number, w, particle), p, s);
    IdfHit hit = hit_of(w, pair_number, particle, p, s);
    if (!has_arrived) hit.pair = kIdfStray;
    hits[pair_number * max_contacts + rank] = hit;
  }
}
