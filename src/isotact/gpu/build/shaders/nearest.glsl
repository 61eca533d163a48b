// The nearest triangle of a point, by a walk through the tree of gpu/build/detail/triangle_tree.h.
// Lengths are cells. To be included before anything else.
//
// Invocations that run together (a warp, where the GPU can vote) walk together: a box is opened
// where one of them needs it. Neighbours in space need nearly the same ones, and nothing diverges.
//
// Culling: computed distances are off by less than half of `slack`, those of boxes included, so
// what is left out could not have changed a minimum, and results do not depend on who walks with
// whom.
#extension GL_ARB_shader_group_vote : enable
#include "search_layout.h"
#include "triangle_frame.h"

layout(std430, binding = kSearchFramesAt) readonly buffer Frames { vec4 frame_parts[]; };
layout(std430, binding = kSearchBoxesAt) readonly buffer Boxes { vec4 box_parts[]; };
uniform uint level_count;
uniform uint level_begin[kTreeMaxLevel];
uniform float slack;

TriangleFrame load_frame(uint frame) {
  uint at = kFrameParts * frame;
  vec4 a = frame_parts[at], b = frame_parts[at + 1u], c = frame_parts[at + 2u],
       d = frame_parts[at + 3u], e = frame_parts[at + 4u];
  return TriangleFrame(float[3](a.x, a.y, a.z), float[3](a.w, b.x, b.y), float[3](b.z, b.w, c.x),
                       float[3](c.y, c.z, c.w), d.x, d.y, d.z, d.w, e.x, e.y, e.z, e.w);
}

TurnedBox load_box(uint box) {
  uint at = kBoxParts * box;
  vec4 a = box_parts[at], b = box_parts[at + 1u], c = box_parts[at + 2u], d = box_parts[at + 3u];
  return TurnedBox(a.xyz, a.w, b.xyz, b.w, c.xyz, c.w, d.xyz, d.w);
}

vec3 to_vec3(float v[3]) { return vec3(v[0], v[1], v[2]); }

bool any_together(bool b) {
#ifdef GL_ARB_shader_group_vote
  return anyInvocationARB(b);
#else
  return b;
#endif
}

float square(vec3 v) { return dot(v, v); }

vec3 box_halves(TurnedBox box) { return vec3(box.half_u, box.half_v, box.half_w); }

// A point along the axes of a box, from its centre.
vec3 to_box(TurnedBox box, vec3 p) {
  vec3 q = p - box.center;
  return vec3(dot(box.u, q), dot(box.v, q), dot(box.w, q));
}

float box_distance_sq(uint number, vec3 p) {
  TurnedBox box = load_box(number);
  vec3 out_of = abs(to_box(box, p)) - box_halves(box);
  return square(max(out_of, vec3(0.0)));
}

// From the nearest point of a triangle to p, along its own axes: see measure_in_plane of
// field/build/detail/distance_kernel.h for why two edges are enough.
vec3 offset_in_plane(TriangleFrame f, vec3 p) {
  vec3 q = p - to_vec3(f.anchor);
  float a = dot(to_vec3(f.along), q);
  float b = dot(to_vec3(f.across), q);
  float c = dot(to_vec3(f.normal), q);
  float base = f.length;
  bool left = a < f.apex;
  float from_end = left ? a : base - a;
  // Its length and direction.
  vec3 edge = left ? vec3(f.left_length, f.left_x, f.left_y)
                   : vec3(f.right_length, f.right_x, f.right_y);
  float foot = clamp(from_end * edge.y + b * edge.z, 0.0, edge.x);
  vec2 beside = vec2(from_end - foot * edge.y, b - foot * edge.z);
  if (!left) beside.x = -beside.x;
  vec2 over = from_end * edge.z <= b * edge.y ? beside : vec2(0.0);
  vec2 below = vec2(a - clamp(a, 0.0, base), b);
  return vec3(b < 0.0 ? below : over, c);
}

vec3 offset_in_plane(uint frame, vec3 p) { return offset_in_plane(load_frame(frame), p); }

vec3 normal_of(uint frame) { return to_vec3(load_frame(frame).normal); }

// The vector itself.
vec3 offset_from(uint frame, vec3 p) {
  TriangleFrame f = load_frame(frame);
  vec3 offset = offset_in_plane(f, p);
  return to_vec3(f.along) * offset.x + to_vec3(f.across) * offset.y + to_vec3(f.normal) * offset.z;
}

struct Nearest {
  float distance_sq;
  uint frame;
};

// Of equals, the first: then the order of tries does not matter.
void try_frame(uint frame, vec3 p, inout Nearest nearest) {
  float d = square(offset_in_plane(frame, p));
  if (d < nearest.distance_sq || (d == nearest.distance_sq && frame < nearest.frame))
    nearest = Nearest(d, frame);
}

float reach_sq(float distance_sq) {
  float reach = sqrt(distance_sq) * 1.00001 + slack;
  return reach * reach;
}

// A triangle to begin with, where nothing is known: down the tree, always into the nearest box.
Nearest find_any(vec3 p) {
  uint group = 0u;
  for (uint level = level_count; level-- > 0u;) {
    float least = 3e38;
    uint best = 0u;
    for (uint i = 0u; i < kTreeWidth; ++i) {
      float d = box_distance_sq(level_begin[level] + kTreeWidth * group + i, p);
      if (d < least) {
        least = d;
        best = i;
      }
    }
    group = kTreeWidth * group + best;
  }
  Nearest nearest = Nearest(3e38, 0u);
  for (uint i = 0u; i < kTreeBlock; ++i) try_frame(kTreeBlock * group + i, p, nearest);
  return nearest;
}

// Improves what is known. Who is not `alive` only goes with the others.
void find_nearest(vec3 p, bool alive, inout Nearest nearest) {
  float bound = alive ? reach_sq(nearest.distance_sq) : -1.0;
  // One number a level: the children it is about, and a bit for each that waits.
  uint waiting[kTreeMaxLevel];
  uint top = level_count - 1u;
  uint level = top, group = 0u;
  bool open = true;
  while (true) {
    if (open) {
      uint bits = 0u;
      uint first = level_begin[level] + kTreeWidth * group;
      for (uint i = 0u; i < kTreeWidth; ++i)
        if (any_together(box_distance_sq(first + i, p) <= bound)) bits |= 1u << i;
      waiting[level] = group << kTreeWidth | bits;
      open = false;
    }
    uint entry = waiting[level];
    if ((entry & ((1u << kTreeWidth) - 1u)) == 0u) {
      if (level == top) break;
      ++level;
      continue;
    }
    uint child = (entry >> kTreeWidth) * kTreeWidth + uint(findLSB(entry));
    waiting[level] = entry & (entry - 1u);
    if (level > 0u) {
      --level;
      group = child;
      open = true;
      continue;
    }
    float before = nearest.distance_sq;
    for (uint i = 0u; i < kTreeBlock; ++i) try_frame(kTreeBlock * child + i, p, nearest);
    if (alive && nearest.distance_sq < before) bound = reach_sq(nearest.distance_sq);
  }
}
