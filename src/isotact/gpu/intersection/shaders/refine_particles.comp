// A look into cells of pairs without any contact so far, that may hold one: cut in eight, level by
// level, down to `resolution`. Parts whose middle is further outside than they can change are free
// of contact. Pairs with a contact on an earlier level are done; all of one level are looked at,
// whoever comes first, so that the same pair always gives the same contacts.
layout(local_size_x = GROUP_SIZE) in;
#include "index.glsl"
#include "particle_search.glsl"

layout(std430, binding = kIdfCountsAt) readonly buffer Counts { uint arrived[]; };
// Of pairs; 0: not yet.
layout(std430, binding = kIdfFoundLevelsAt) buffer Found { uint found_level[]; };
layout(std430, binding = kIdfHitsAt) buffer Hits { RefinedHead refined; IdfHit hits[]; };
layout(std430, binding = kIdfOpenAt) readonly buffer Open { WorkListHead open_list; uvec2 open[]; };
layout(std430, binding = kIdfNextAt) buffer Next { WorkListHead next_list; uvec2 next[]; };

uniform float resolution;  // metres
uniform int level;         // 1 is the first cut
uniform uint open_room, hit_room;

uint cell_of_part(uint part) { return part >> kIdfPartBits; }

vec3 part_middle(uint pair, uint part) {
  vec3 size = pairs[pair].cell_size, middle = start_of(pair, cell_of_part(part));
  for (int l = level - 1; l >= 0; --l) {
    uint child = part >> (3 * l) & 7u;
    size *= 0.5;
    middle += 0.5 * size * (vec3(child & 1u, child >> 1u & 1u, child >> 2u & 1u) * 2.0 - 1.0);
  }
  return middle;
}

void main() {
  uint i = invocation_index();
  if (i >= 8u * min(open_list.count, open_room)) return;
  uvec2 entry = open[i >> 3u];
  uint pair = entry.x, found = found_level[pair];
  if (arrived[pair] > 0u || (found > 0u && found < uint(level))) return;
  uint part = (entry.y & ~kIdfPartMask) | ((entry.y << 3u | (i & 7u)) & kIdfPartMask);
  PairData w = pair_data_of(pair);
  vec3 p = a_from_pair(pair, part_middle(pair, part));
  float half_diagonal = pairs[pair].half_diagonal * exp2(-float(level));
  if (!may_hold(w, p, change_within(pair, half_diagonal) + w.margin)) return;
  Both s = sample_both(w, p);
  if (project(w, half_diagonal * w.a_units, p, s)) {
    atomicMax(found_level[pair], uint(level));
    uint place = atomicAdd(refined.hit_count, 1u);
    if (place < hit_room) hits[place] = hit_of(w, pair, cell_of_part(part), p, s);
  } else if (pairs[pair].lipschitz * half_diagonal > resolution) {
    uint place = atomicAdd(next_list.count, 1u);
    if (place < open_room) next[place] = uvec2(pair, part);
  }
}
