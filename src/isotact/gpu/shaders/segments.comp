// One segment a thread through the index of an isosurface: the walk of segment_fast.cpp.
//
// MODE is that of SegmentMode. A segment's intervals wait in shared memory until their number is
// known; then the work-group takes room in the list for all of its own at once. Those with more
// than fit there are noted and walked again by segments with AGAIN defined, which writes straight
// to the room taken.
layout(local_size_x = GROUP) in;

#include "index.glsl"
#include "segment_path.glsl"
#include "segment_cubic.glsl"
#include "segment_index.glsl"

layout(std430, binding = 4) readonly restrict buffer Segments { vec2 segments[]; };  // three each
layout(std430, binding = 5) restrict buffer Spans { uvec2 spans[]; };  // first interval, count
layout(std430, binding = 6) writeonly restrict buffer Intervals { vec2 intervals[]; };
layout(std430, binding = 7) restrict buffer Notes {
  uint interval_count;
  uint unsure_count, again_count;
  uint notes_unused;
  // Segments that the CPU must look at, from the front; those to be walked again, from the back.
  uint noted[];
};

uniform uint segment_count;
uniform uint interval_room;

const uint kUnsure = 0xffffffffu;  // count of a segment that the CPU must look at
const uint kRoom = 4u;
const float kEnd = 2.0;  // in place of a time: where the path ends

#ifndef AGAIN
shared vec2 waiting[GROUP * kRoom];
shared uint group_count;
shared uint group_first;
#endif

// ---- changes of side, put together to intervals (IntervalSink) ------------------------------

bool is_started, is_inside;
float entered;
uint found, first_interval;

void add_interval(Path path, vec2 u) {
#ifdef AGAIN
  intervals[first_interval + found] =
      vec2(time_of(path, u.x), u.y == kEnd ? float(path.end) : time_of(path, u.y));
#else
  if (found < kRoom) waiting[found * GROUP + gl_LocalInvocationID.x] = u;
#endif
  ++found;
}

void set_side(Path path, float u, bool side) {
  if (side == is_inside) return;
  is_inside = side;
#if MODE == 0
  if (side)
    entered = u;
  else
    add_interval(path, vec2(entered, u));
#else
  if (side && found == 0u) add_interval(path, vec2(u, u));
#endif
}

void start(Path path, bool side) {
  if (!is_started) set_side(path, 0.0, side);
  is_started = true;
}

#if MODE == 0
bool is_done() { return false; }
#else
bool is_done() { return found > 0u; }
#endif

// ---- the walk -------------------------------------------------------------------------------

// Corners are given less iso. Gives the values at both ends where they were needed.
vec2 look_at_cell(Path path, Corners corner, vec3 lower, float per_side, CellTimes t) {
  is_started = true;
  bvec4 even = lessThanEqual(corner.even, vec4(0.0)), odd = lessThanEqual(corner.odd, vec4(0.0));
  bool all_inside = all(even) && all(odd);
  if (all_inside || !(any(even) || any(odd))) {
    set_side(path, t.enter, all_inside);
    return vec2(0.0);
  }
  vec4 b = find_cubic(path, corner, lower, per_side, t);
  bool side = b.x <= 0.0;
  set_side(path, t.enter, side);
  vec3 s;
  int n = find_crossings(b, s);
  for (int i = 0; i < n; ++i) {
    side = !side;
    precise float u = t.enter + s[i] * (t.leave - t.enter);
    set_side(path, u, side);
  }
  return vec2(b.x, b.w);
}

Corners load_corners(uint node) {
  vec4 low = uintBitsToFloat(nodes[node + 2u]), high = uintBitsToFloat(nodes[node + 3u]);
  return Corners(vec4(low.xz, high.xz), vec4(low.yw, high.yw));
}

// To the next cell of a block. False where the path's part or the block ends.
bool leave_cell(Path path, CellTimes t, float to, float last, inout vec3 cell) {
  if (t.leave > to || t.leave >= 1.0) return false;
  vec3 forth = mix(vec3(-1.0), vec3(1.0), greaterThanEqual(path.inverse, vec3(0.0)));
  cell += mix(vec3(0.0), forth, lessThanEqual(t.leave_axis, vec3(t.leave)));
  return all(greaterThanEqual(cell, vec3(0.0))) && all(lessThanEqual(cell, vec3(last)));
}

void walk_fine(Path path, uint node, uint first_block, uint masks, vec3 lower, float from,
               float to) {
  Corners coarse = load_corners(node);
  vec3 cell = find_cell_in_block(path, from, lower, vec3(7.0), 1.0, 1.0);
  bool goes_on = true;
  while (goes_on && !is_done()) {
    vec3 at = lower + cell;
    CellTimes t = find_cell_times(path, at, 1.0);
    if (t.leave > t.enter) {
      uvec3 c = uvec3(cell);
      uint bit = 1u << ((c.x >> 2u) | (c.y >> 2u) << 1u | (c.z >> 2u) << 2u);
      if ((masks & bit) != 0u) {
        uint block = first_block + uint(bitCount(masks & (bit - 1u)));
        look_at_cell(path, load_fine(coarse, block, c), at, 1.0, t);
      } else if (t.enter <= 0.0) {
        start(path, (masks >> 8u & bit) != 0u);
      }
    }
    goes_on = leave_cell(path, t, to, 7.0, cell);
  }
}

// A coarse cell without brick. False: its ends are so near to zero that a brick beside it may see
// another side (kDoubtful).
bool look_at_coarse(Path path, uint node, vec3 lower) {
  Corners c = load_corners(node);
  precise vec4 even = c.even - vec4(iso), odd = c.odd - vec4(iso);
  CellTimes t = find_cell_times(path, lower, 8.0);
  is_started = true;
  if (!(t.leave > t.enter)) return true;
  vec4 m = max(abs(even), abs(odd));
  float limit = max(max(m.x, m.y), max(m.z, m.w)) * DOUBTFUL;
  vec4 b = find_cubic(path, Corners(even, odd), lower, 0.125, t);
  look_at_cell(path, Corners(even, odd), lower, 0.125, t);
  return abs(b.x) >= limit && abs(b.w) >= limit;
}

bool is_set(uvec2 mask, uint bit) {
  return ((bit < 32u ? mask.x : mask.y) >> (bit & 31u) & 1u) != 0u;
}
uint count_before(uvec2 mask, uint bit) {
  uint below = (1u << (bit & 31u)) - 1u;
  return bit < 32u ? uint(bitCount(mask.x & below))
                   : uint(bitCount(mask.x)) + uint(bitCount(mask.y & below));
}

// Through the coarse cells of a macro cell. False: not sure.
bool walk_macro(Path path, uint place, uint first_cell, vec3 lower, float from, float to) {
  uvec4 masks = nodes[3u * place + 2u];
  vec3 cell = find_cell_in_block(path, from, lower, vec3(3.0), 8.0, 0.125);
  bool goes_on = true;
  while (goes_on && !is_done()) {
    // To the next that has an index and whose slab the path meets.
    uint node = 0u;
    uvec4 row = uvec4(0u);
    vec3 at = lower;
    SlabPart part = SlabPart(1.0, 0.0, false, false);
    while (goes_on && part.from > part.to && !is_done()) {
      at = lower + cell * 8.0;
      CellTimes t = find_cell_times(path, at, 8.0);
      if (t.leave > t.enter) {
        uint bit = (uint(cell.z) * 4u + uint(cell.y)) * 4u + uint(cell.x);
        if (is_set(masks.xy, bit)) {
          node = cell_offset + 4u * (first_cell + count_before(masks.xy, bit));
          vec4 slab = uintBitsToFloat(nodes[node]);
          row = nodes[node + 1u];
          float begin = max(t.enter, from);
          part = clip_to_slab(path, slab.xyz, slab.w, uintBitsToFloat(row.x), begin,
                              min(t.leave, to));
          if (begin <= 0.0 && (part.is_below || part.is_above))
            start(path, (row.z >> (part.is_above ? 17u : 16u) & 1u) != 0u);
        } else if (t.enter <= 0.0) {
          start(path, is_set(masks.zw, bit));
        }
      }
      goes_on = leave_cell(path, t, to, 3.0, cell);
    }
    if (part.from > part.to || is_done()) break;
    if (row.y != kNoBlocks)
      walk_fine(path, node, row.y, row.z, at, part.from, part.to);
    else if (!look_at_coarse(path, node, at))
      return false;
  }
  return true;
}

// False: not sure.
bool walk(Path path) {
  is_started = is_inside = false;
  found = 0u;
  uint macro_count = uint(macros_x * macros_y * macros_z);
  uvec3 down = mix(uvec3(0u), uvec3(1u), lessThan(path.inverse, vec3(0.0)));
  uint cubes = (down.x | down.y << 1u | down.z << 2u) * macro_count;
  vec3 last = vec3(float(macros_x - 1), float(macros_y - 1), float(macros_z - 1));
  float u = 0.0;
  while (u < 1.0) {
    // To the next macro cell whose slab the path meets.
    uint place = 0u;
    uvec4 row = uvec4(0u);
    vec3 macro = vec3(0.0);
    SlabPart part = SlabPart(1.0, 0.0, false, false);
    while (u < 1.0 && part.from > part.to && !is_done()) {
      macro = find_cell_in_block(path, u, vec3(0.0), last, 32.0, 0.03125);
      uint number = (uint(macro.z) * uint(macros_y) + uint(macro.y)) * uint(macros_x) +
                    uint(macro.x);
      int cube = load_cube(cubes + number);
      float size = float(max(abs(cube), 1));
      vec3 plane = macro + mix(vec3(size), vec3(1.0 - size), lessThan(path.inverse, vec3(0.0)));
      precise vec3 times = (plane * 32.0 - path.origin) * path.inverse;
      float leave = min(min(times.x, times.y), times.z);
      if (leave <= u) {
        // A plane that is next to be crossed has been: it is the box's side, where cells end. The
        // walk from cell to cell ends there, too.
        u = 1.0;
        break;
      }
      if (cube == 0) {
        place = tables[place_offset + number];
        vec4 slab = uintBitsToFloat(nodes[3u * place]);
        row = nodes[3u * place + 1u];
        part = clip_to_slab(path, slab.xyz, slab.w, uintBitsToFloat(row.x), u, min(leave, 1.0));
        if (u <= 0.0 && (part.is_below || part.is_above))
          start(path, (row.z >> (part.is_above ? 1u : 0u) & 1u) != 0u);
      } else if (u <= 0.0) {
        start(path, cube < 0);
      }
      if (!is_started && part.from > part.to) return false;
      u = leave;
    }
    if (part.from > part.to || is_done()) break;
    if (!walk_macro(path, place, row.y, macro * 32.0, part.from, part.to)) return false;
    if (is_done()) break;
    if (!is_started) return false;
  }
  if (is_inside) {
#if MODE == 0
    add_interval(path, vec2(entered, kEnd));
#endif
  }
  return is_started;
}

int take_path(uint number, out Path path) {
  vec2 a = segments[3u * number], b = segments[3u * number + 1u], c = segments[3u * number + 2u];
  return make_path(vec3(a, b.x), vec3(b.y, c), path);
}

#ifdef AGAIN

void main() {
  uint stride = gl_NumWorkGroups.x * GROUP;
  for (uint i = invocation_index(); i < again_count; i += stride) {
    uint number = noted[segment_count - 1u - i];
    uvec2 span = spans[number];
    if (span.x + span.y > interval_room) continue;
    first_interval = span.x;
    Path path;
    take_path(number, path);
    walk(path);
  }
}

#else

void main() {
  uint number = invocation_index();
  uint lane = gl_LocalInvocationID.x;
  if (lane == 0u) group_count = 0u;
  barrier();
  uint count = 0u;
  Path path;
  bool is_sure = true;
  if (number < segment_count) {
    int what = take_path(number, path);
    if (what == kInBox) {
      is_sure = walk(path);
      count = is_sure ? found : 0u;
    } else {
      is_sure = what == kFree;
    }
  }
  uint first = atomicAdd(group_count, count);
  barrier();
  if (lane == 0u) group_first = group_count > 0u ? atomicAdd(interval_count, group_count) : 0u;
  barrier();
  if (number >= segment_count) return;
  first += group_first;
  spans[number] = uvec2(first, is_sure ? count : kUnsure);
  if (!is_sure) noted[atomicAdd(unsure_count, 1u)] = number;
  if (count > kRoom) {
    noted[segment_count - 1u - atomicAdd(again_count, 1u)] = number;
    return;
  }
  if (first + count > interval_room) return;
  for (uint i = 0u; i < count; ++i) {
    vec2 u = waiting[i * GROUP + lane];
    intervals[first + i] =
        vec2(time_of(path, u.x), u.y == kEnd ? float(path.end) : time_of(path, u.y));
  }
}

#endif
