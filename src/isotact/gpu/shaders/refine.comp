// Cells of pairs without any contact so far, that may hold one: see refine.glsl.
layout(local_size_x = GROUP_SIZE) in;
#include "index.glsl"
#include "refine.glsl"

layout(std430, binding = 4) readonly buffer Counts { uint arrived[]; };
layout(std430, binding = 5) buffer Refined { uint refined[]; };
#ifdef OUTPUT_STORE
layout(std430, binding = 6) writeonly buffer Hits { Hit hits[]; };
layout(std430, binding = 7) readonly buffer Offsets { uint first_hit[]; };
#else
layout(std430, binding = 7) buffer Slots { uint slots[]; };
#endif
layout(std430, binding = 8) readonly buffer Open { uint open_count; uint open_groups[3]; uvec2 open[]; };

void main() {
  uint i = invocation_index();
  if (i >= open_count) return;
  uint pair_number = open[i].x;
  if (arrived[pair_number] > 0u) return;
  Pair pair = pairs[pair_number];
  Bodies bodies = Bodies(shapes[pair.shape_a], shapes[pair.shape_b]);
  vec3 p;
  Both s;
  if (!search_cell(pair, bodies, open[i].y, p, s)) return;
  uint place = atomicAdd(refined[pair_number], 1u);
#ifdef OUTPUT_STORE
  hits[first_hit[pair_number] + place] = hit_of(pair, pair_number, open[i].y, p, s);
#else
  atomicMax(slots[slot_of(pair, p)], key_of(pair, -min(s.a.w, s.b.w), open[i].y));
#endif
}
