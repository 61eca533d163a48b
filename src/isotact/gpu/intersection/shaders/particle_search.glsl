// The particles of KGM's method: where they start, and how they move onto the surface of the
// intersection. The CPU's side does the same.
#include "intersection_layout.h"
#include "shapes.glsl"

// As make_gpu_pair writes them (detail/shape_table.h). Particles move in A's frame and units
// (shapes.glsl), so nothing is transformed for A: a_from_pair has its rows, and b_from_pair takes
// points of A's frame. scale_a and scale_b are metres a unit.
layout(std430, binding = kIdfPairsAt) readonly buffer Pairs { IdfPairRecord pairs[]; };

const uint kBlockSide = uint(kIdfBlockCells);

// Blocks along each axis of a grid of cells.
uvec3 block_counts(uvec3 cells) { return (cells + (kBlockSide - 1u)) / kBlockSide; }

uniform int last_step;
uniform float relaxation;

struct Both {
  vec4 a, b;  // direction in the shape's frame, distance in metres
};

// What a moving particle needs, by value: the rest of a pair is read where it is needed, so that
// few registers are taken while fetches are waited for.
struct PairData {
  vec4 b0, b1, b2;  // rows: B's frame from A's
  float unit_a, unit_b, a_units, margin;
  ShapeRecord a, b;
};

PairData pair_data_of(uint pair) {
  PairData w;
  w.b0 = pairs[pair].b_from_pair[0];
  w.b1 = pairs[pair].b_from_pair[1];
  w.b2 = pairs[pair].b_from_pair[2];
  w.unit_a = pairs[pair].scale_a;
  w.unit_b = pairs[pair].scale_b;
  w.a_units = 1.0 / w.unit_a;
  w.margin = pairs[pair].margin;
  w.a = shapes[pairs[pair].shape_a];
  w.b = shapes[pairs[pair].shape_b];
  return w;
}

vec3 a_from_pair(uint pair, vec3 p) {
  vec4 at = vec4(p, 1.0);
  return vec3(dot(pairs[pair].a_from_pair[0], at), dot(pairs[pair].a_from_pair[1], at),
              dot(pairs[pair].a_from_pair[2], at));
}
// Rows are a rotation over the unit: their inverse is their transpose times the unit's square.
vec3 turned_to_pair(uint pair, vec3 g) {
  return g.x * pairs[pair].a_from_pair[0].xyz + g.y * pairs[pair].a_from_pair[1].xyz +
         g.z * pairs[pair].a_from_pair[2].xyz;
}
vec3 pair_from_a(uint pair, vec3 p) {
  vec3 origin = vec3(pairs[pair].a_from_pair[0].w, pairs[pair].a_from_pair[1].w,
                     pairs[pair].a_from_pair[2].w);
  return pairs[pair].scale_a * pairs[pair].scale_a * turned_to_pair(pair, p - origin);
}
vec3 turned_to_a(PairData w, vec3 g) { return g.x * w.b0.xyz + g.y * w.b1.xyz + g.z * w.b2.xyz; }

Both sample_both(PairData w, vec3 p) {
  vec4 at = vec4(p, 1.0);
  Both r;
  r.a = sample_shape(w.a, p);
  r.b = sample_shape(w.b, vec3(dot(w.b0, at), dot(w.b1, at), dot(w.b2, at)));
  r.a.w *= w.unit_a;
  r.b.w *= w.unit_b;
  return r;
}

// Of the larger value, in A's frame.
vec3 out_direction(PairData w, Both s) {
  return unit(s.a.w >= s.b.w ? s.a.xyz : turned_to_a(w, s.b.xyz));
}

// Whether a region around p may hold a contact, by floors (compute_cell_cull, intersection_plan.h). p in
// A's frame.
bool may_hold(PairData w, vec3 p, float most) {
  if (floor_of_shape(w.a, p) * w.unit_a > most) return false;
  vec4 at = vec4(p, 1.0);
  vec3 in_b = vec3(dot(w.b0, at), dot(w.b1, at), dot(w.b2, at));
  return floor_of_shape(w.b, in_b) * w.unit_b <= most;
}

// KGM, Algorithm 2 (intersection_field.h says what is different). True where p has arrived; `s` is
// what both fields say there. Particles outside that are further from where they started than
// `reach`, in A's units, stop.
bool project(PairData w, float reach, inout vec3 p, inout Both s) {
  vec3 inside = p;
  bool was_inside = false;
#ifdef CELLS
  vec3 start = p;
#endif
#ifdef RELAXED
  bool is_relaxed = true;
  vec3 plain = p;
  float last_size = 1e30;
#endif
  for (int step = 0;; ++step) {
    float d = max(s.a.w, s.b.w);
    if (abs(d) < w.margin) return true;
    bool is_far = false;
    if (d < w.margin) {
      inside = p;
      was_inside = true;
#ifdef CELLS
    } else {
      vec3 gone = p - start;
      is_far = dot(gone, gone) > reach * reach;
#endif
    }
    if (step == last_step || is_far) break;
    vec3 go = d * w.a_units * out_direction(w, s);
#ifdef RELAXED
    // A step that went too far is replaced by the plain one from where it began.
    bool too_far = is_relaxed && abs(d) >= last_size;
    vec3 next = too_far ? plain : p - (is_relaxed ? relaxation : 1.0) * go;
    is_relaxed = is_relaxed && !too_far;
    plain = p - go;
    last_size = abs(d);
    p = next;
#else
    p -= go;
#endif
    s = sample_both(w, p);
  }
  if (!was_inside) return false;
  if (inside != p) {
    p = inside;
    s = sample_both(w, p);
  }
  return true;
}

// Where particle i of a pair starts: in the middle of its cell, at a point of the R3 sequence, or
// at a seed.
layout(std430, binding = kIdfSeedsAt) readonly buffer Seeds { float seeds[]; };

uint grid_count(uint pair) {
  ivec3 n = pairs[pair].cells;
  return uint(n.x * n.y * n.z);
}
uint particle_count(uint pair) { return grid_count(pair) + pairs[pair].seed_count; }

// In the pair's frame.
vec3 cell_middle(uint pair, ivec3 cell) {
  return pairs[pair].box_min + (vec3(cell) + 0.5) * pairs[pair].cell_size;
}

uvec3 start_cell(uint pair, uint i) {
  uvec3 n = uvec3(pairs[pair].cells);
  return uvec3(i % n.x, i / n.x % n.y, i / (n.x * n.y));
}

vec3 start_of(uint pair, uint i) {
  uint grid = grid_count(pair);
  if (i >= grid) {
    uint at = 3u * (pairs[pair].first_seed + i - grid);
    return vec3(seeds[at], seeds[at + 1u], seeds[at + 2u]);
  }
#ifdef LOW_DISCREPANCY
  uvec3 x = (i + 1u) * uvec3(3518319155u, 2882110345u, 2360945575u);
  vec3 fraction = vec3(x >> 8u) * (1.0 / 16777216.0) + 0.5 / 16777216.0;
  return pairs[pair].box_min + fraction * vec3(pairs[pair].cells) * pairs[pair].cell_size;
#else
  return cell_middle(pair, ivec3(start_cell(pair, i)));
#endif
}

// compute_cell_cull of intersection_plan.h.
float change_within(uint pair, float half_diagonal) {
  return min(pairs[pair].cull_slope * half_diagonal, half_diagonal + pairs[pair].error) +
         pairs[pair].rounding;
}

ivec3 slot_counts(uint pair) {
  return ivec3(pairs[pair].slots[0], pairs[pair].slots[1], pairs[pair].slots[2]);
}

// p in the pair's frame.
uint slot_of(uint pair, vec3 p) {
  ivec3 slots = slot_counts(pair);
  vec3 n = vec3(slots), size = vec3(pairs[pair].cells) * pairs[pair].cell_size;
  vec3 box_min = pairs[pair].box_min, at = vec3(0.0);
  for (int k = 0; k < 3; ++k) at[k] = size[k] > 0.0 ? (p[k] - box_min[k]) / size[k] * n[k] : 0.0;
  uvec3 slot = uvec3(clamp(at, vec3(0.0), n - 1.0));
  return pairs[pair].first_slot + (slot.z * uint(slots.y) + slot.y) * uint(slots.x) + slot.x;
}

// What atomicMax picks the deepest by: its depth, then the lowest particle. Never zero, which is an
// empty slot.
uint key_of(uint pair, float depth, uint particle) {
  uint deep = uint(clamp((depth + pairs[pair].margin) * pairs[pair].depth_scale, 0.0,
                         float(kIdfDepthSteps)));
  return (deep << kIdfParticleBits | (kIdfParticleMask - particle)) + 1u;
}
uint particle_of(uint key) { return kIdfParticleMask - ((key - 1u) & kIdfParticleMask); }

// How far a particle may go from where it starts, in A's units, where cells are searched.
float reach_of(uint pair, PairData w, uint particle) {
  return particle < grid_count(pair) ? pairs[pair].half_diagonal * w.a_units : 1e18;
}

// What is left of the way to the surface that the particle is on, and the depth: see write_hit of
// intersection_formulas.h.
float rest_of(PairData w, Both s) { return clamp(max(s.a.w, s.b.w), -w.margin, w.margin); }
float depth_of(PairData w, Both s) { return -(min(s.a.w, s.b.w) + rest_of(w, s)); }

// p in A's frame.
IdfHit hit_of(PairData w, uint pair, uint particle, vec3 p, Both s) {
  IdfHit h;
  bool on_a = s.a.w >= s.b.w;
#ifdef NORMAL_OF_B
  bool of_b = true;
#else
  bool of_b = on_a;
#endif
  h.normal = unit(turned_to_pair(pair, of_b ? turned_to_a(w, s.b.xyz) : -s.a.xyz));
  h.position = pair_from_a(pair, p) + (on_a ? 1.0 : -1.0) * rest_of(w, s) * h.normal;
  h.particle = particle;
  h.depth = depth_of(w, s);
  h.pair = pair;
  h.on_a = on_a ? 1u : 0u;
  h.unused[0] = 0u;
  h.unused[1] = 0u;
  return h;
}

// The pair that holds element i of an array of running totals: the first whose total is above i.
// KGM, section 4.3.
#define FIND_PAIR(totals, i, pair_count, result)      \
  {                                                   \
    uint low = 0u, high = pair_count;                 \
    while (low < high) {                              \
      uint middle = (low + high) / 2u;                \
      if (totals[middle] > i) high = middle;          \
      else low = middle + 1u;                         \
    }                                                 \
    result = low;                                     \
  }
