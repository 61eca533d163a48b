// The nearest triangle of a point, by a walk through the tree of gpu/detail/triangle_tree.h.
// Lengths are cells. To be included before anything else.
//
// Invocations that run together (a warp, where the GPU can vote) walk together: a box is opened
// where one of them needs it. Neighbours in space need nearly the same ones, and nothing diverges.
//
// Culling: computed distances are off by less than half of `slack`, those of boxes included, so
// what is left out could not have changed a minimum, and results do not depend on who walks with
// whom.
#extension GL_ARB_shader_group_vote : enable

layout(std430, binding = 0) readonly buffer Frames { vec4 frame_parts[]; };  // 5 each
layout(std430, binding = 1) readonly buffer Boxes { vec4 box_parts[]; };     // 4 each
uniform uint level_count;
uniform uint level_begin[8];
uniform float slack;

const uint kBlock = 4u;
const uint kNoTriangle = 0xffffffffu;

bool any_together(bool b) {
#ifdef GL_ARB_shader_group_vote
  return anyInvocationARB(b);
#else
  return b;
#endif
}

float square(vec3 v) { return dot(v, v); }

float box_distance_sq(uint box, vec3 p) {
  vec4 c = box_parts[4u * box], u = box_parts[4u * box + 1u], v = box_parts[4u * box + 2u];
  vec3 w = box_parts[4u * box + 3u].xyz;
  vec3 q = p - c.xyz;
  vec3 out_of =
      abs(vec3(dot(u.xyz, q), dot(v.xyz, q), dot(w, q))) - vec3(c.w, u.w, v.w);
  return square(max(out_of, vec3(0.0)));
}

// From the nearest point of a triangle to p, along its own axes: see measure_in_plane of
// field/build/detail/distance_kernel.h for why two edges are enough.
vec3 offset_in_plane(uint frame, vec3 p) {
  vec4 f0 = frame_parts[5u * frame], f1 = frame_parts[5u * frame + 1u],
       f2 = frame_parts[5u * frame + 2u], f3 = frame_parts[5u * frame + 3u],
       f4 = frame_parts[5u * frame + 4u];
  vec3 q = p - f0.xyz;
  float a = dot(vec3(f0.w, f1.xy), q);
  float b = dot(vec3(f1.zw, f2.x), q);
  float c = dot(f2.yzw, q);
  float base = f3.x;
  bool left = a < f3.y;
  float from_end = left ? a : base - a;
  vec3 edge = left ? vec3(f3.zw, f4.x) : f4.yzw;  // its length and direction
  float foot = clamp(from_end * edge.y + b * edge.z, 0.0, edge.x);
  vec2 beside = vec2(from_end - foot * edge.y, b - foot * edge.z);
  if (!left) beside.x = -beside.x;
  vec2 over = from_end * edge.z <= b * edge.y ? beside : vec2(0.0);
  vec2 below = vec2(a - clamp(a, 0.0, base), b);
  return vec3(b < 0.0 ? below : over, c);
}

vec3 normal_of(uint frame) { return frame_parts[5u * frame + 2u].yzw; }

// The vector itself.
vec3 offset_from(uint frame, vec3 p) {
  vec4 f0 = frame_parts[5u * frame], f1 = frame_parts[5u * frame + 1u],
       f2 = frame_parts[5u * frame + 2u];
  vec3 offset = offset_in_plane(frame, p);
  return vec3(f0.w, f1.xy) * offset.x + vec3(f1.zw, f2.x) * offset.y + f2.yzw * offset.z;
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
    for (uint i = 0u; i < 8u; ++i) {
      float d = box_distance_sq(level_begin[level] + 8u * group + i, p);
      if (d < least) {
        least = d;
        best = i;
      }
    }
    group = 8u * group + best;
  }
  Nearest nearest = Nearest(3e38, 0u);
  for (uint i = 0u; i < kBlock; ++i) try_frame(kBlock * group + i, p, nearest);
  return nearest;
}

// Improves what is known. Who is not `alive` only goes with the others.
void find_nearest(vec3 p, bool alive, inout Nearest nearest) {
  float bound = alive ? reach_sq(nearest.distance_sq) : -1.0;
  // One number a level: the eight children it is about, and a bit for each that waits.
  uint waiting[8];
  uint top = level_count - 1u;
  uint level = top, group = 0u;
  bool open = true;
  while (true) {
    if (open) {
      uint bits = 0u;
      uint first = level_begin[level] + 8u * group;
      for (uint i = 0u; i < 8u; ++i)
        if (any_together(box_distance_sq(first + i, p) <= bound)) bits |= 1u << i;
      waiting[level] = group << 8u | bits;
      open = false;
    }
    uint entry = waiting[level];
    if ((entry & 255u) == 0u) {
      if (level == top) break;
      ++level;
      continue;
    }
    uint child = (entry >> 8u) * 8u + uint(findLSB(entry));
    waiting[level] = entry & (entry - 1u);
    if (level > 0u) {
      --level;
      group = child;
      open = true;
      continue;
    }
    float before = nearest.distance_sq;
    for (uint i = 0u; i < kBlock; ++i) try_frame(kBlock * child + i, p, nearest);
    if (alive && nearest.distance_sq < before) bound = reach_sq(nearest.distance_sq);
  }
}
