// Segments through the index of an isosurface: the walk of segment_fast.cpp, by work-groups.
//
// Most paths meet few cells, some meet many. A thread that walked one alone would wait for its
// neighbours at every turn; so a group takes its segments in stages, and what one stage finds is
// dealt out to all threads for the next:
//
//   macro cells      of a path              -> parts of paths between the slabs of macro cells
//   coarse cells     of such a part         -> parts between the slabs of coarse cells
//   fine cells       of such a part         -> cells in which the field along the path has two signs
//   roots            of such a cell
//   intervals        of a segment: its cells put in order
//
// The lists between stages lie in shared memory. Where one is too short the group begins again with
// half of the segments, and takes the others later; a segment that is too long alone is left to the
// CPU.
//
// A cell that is passed over, or in whose corners the field has one sign, changes no side: cells
// that meet compute the same values there. So the side on which a path begins and the cells with
// crossings tell all. MODE is that of SegmentMode.
layout(local_size_x = GROUP) in;

#include "index.glsl"
#include "segment_path.glsl"
#include "segment_cubic.glsl"
#include "segment_index.glsl"

layout(std430, binding = 4) readonly restrict buffer Segments { vec2 segments[]; };  // three each
layout(std430, binding = 5) writeonly restrict buffer Spans { uvec2 spans[]; };  // first, count
layout(std430, binding = 6) writeonly restrict buffer Intervals { vec2 intervals[]; };
layout(std430, binding = 7) restrict buffer Notes {
  uint interval_count;
  uint unsure_count;
  uvec2 notes_unused;
  uint noted[];  // segments that the CPU must look at
};

uniform uint segment_count;
uniform uint interval_room;

const uint kUnsureCount = 0xffffffffu;  // count of a segment that the CPU must look at

// Of macro cells and crossings, which are never there at once; a crossing takes two rows.
shared uvec4 rows[MACRO_PARTS];
// A part: from, to, where (place of a macro cell, node of a cell), segment.
// A crossing: enter, leave, segment; coefficients. Then: enter, the next one of the segment, side
// and number of times, first time; other times.
shared uvec4 cell_parts[CELL_PARTS];
shared float paths[9u * GROUP];
shared uint states[GROUP];          // of segments
shared uint last_crossing[GROUP];   // of segments: a list that leads back
shared uint macro_count, cell_count, crossing_count;
shared uint group_count, group_first;

const uint kStarted = 1u;  // the side at time 0 is known
const uint kInside = 2u;   // that it is inside
const uint kUnsure = 4u;
const uint kNone = 0xffffffffu;
const uint kMostCrossings = uint(MACRO_PARTS) / 2u;

void keep_path(uint segment, Path path) {
  for (uint axis = 0u; axis < 3u; ++axis) {
    paths[axis * GROUP + segment] = path.origin[axis];
    paths[(axis + 3u) * GROUP + segment] = path.direction[axis];
    paths[(axis + 6u) * GROUP + segment] = path.inverse[axis];
  }
}
vec3 load_path_row(uint row, uint segment) {
  uint at = 3u * row * GROUP + segment;
  return vec3(paths[at], paths[at + GROUP], paths[at + 2u * GROUP]);
}
Path load_path(uint segment) {
  return Path(load_path_row(0u, segment), load_path_row(1u, segment), load_path_row(2u, segment));
}

// Only what comes first on a path does this, and later stages see what earlier ones wrote.
void start(uint segment, bool inside) {
  if ((states[segment] & kStarted) == 0u) states[segment] |= kStarted | (inside ? kInside : 0u);
}

// ---- stages -------------------------------------------------------------------------------------

void walk_macros(Path path, uint segment) {
  uint macro_number = uint(macros_x * macros_y * macros_z);
  uvec3 down = mix(uvec3(0u), uvec3(1u), lessThan(path.inverse, vec3(0.0)));
  uint cubes = (down.x | down.y << 1u | down.z << 2u) * macro_number;
  vec3 last = vec3(float(macros_x - 1), float(macros_y - 1), float(macros_z - 1));
  float u = 0.0;
  while (u < 1.0) {
    vec3 macro = find_cell_in_block(path, u, vec3(0.0), last, 32.0, 0.03125);
    uint number =
        (uint(macro.z) * uint(macros_y) + uint(macro.y)) * uint(macros_x) + uint(macro.x);
    int cube = load_cube(cubes + number);
    float size = float(max(abs(cube), 1));
    vec3 plane = macro + mix(vec3(size), vec3(1.0 - size), lessThan(path.inverse, vec3(0.0)));
    precise vec3 times = (plane * 32.0 - path.origin) * path.inverse;
    float leave = min(min(times.x, times.y), times.z);
    // A plane that is next to be crossed has been: it is the box's side, where cells end. The walk
    // from cell to cell ends there, too.
    if (leave <= u) break;
    if (cube == 0) {
      uint place = tables[place_offset + number];
      vec4 slab = uintBitsToFloat(nodes[3u * place]);
      uvec4 row = nodes[3u * place + 1u];
      SlabPart part =
          clip_to_slab(path, slab.xyz, slab.w, uintBitsToFloat(row.x), u, min(leave, 1.0));
      if (u <= 0.0 && (part.is_below || part.is_above))
        start(segment, (row.z >> (part.is_above ? 1u : 0u) & 1u) != 0u);
      if (part.from <= part.to) {
        uint slot = atomicAdd(macro_count, 1u);
        if (slot >= MACRO_PARTS) break;
        rows[slot] = uvec4(floatBitsToUint(part.from), floatBitsToUint(part.to), place, segment);
      }
    } else if (u <= 0.0) {
      start(segment, cube < 0);
    }
    u = leave;
  }
}

// To the next cell of a block. False where the path's part or the block ends.
bool leave_cell(Path path, CellTimes t, float to, float last, inout vec3 cell) {
  if (t.leave > to || t.leave >= 1.0) return false;
  vec3 forth = mix(vec3(-1.0), vec3(1.0), greaterThanEqual(path.inverse, vec3(0.0)));
  cell += mix(vec3(0.0), forth, lessThanEqual(t.leave_axis, vec3(t.leave)));
  return all(greaterThanEqual(cell, vec3(0.0))) && all(lessThanEqual(cell, vec3(last)));
}

bool is_set(uvec2 mask, uint bit) {
  return ((bit < 32u ? mask.x : mask.y) >> (bit & 31u) & 1u) != 0u;
}
uint count_before(uvec2 mask, uint bit) {
  uint below = (1u << (bit & 31u)) - 1u;
  return bit < 32u ? uint(bitCount(mask.x & below))
                   : uint(bitCount(mask.x)) + uint(bitCount(mask.y & below));
}

// Lower corner of a macro cell.
vec3 find_macro(uint number) {
  uint row = number / uint(macros_x), x = number - row * uint(macros_x);
  uint z = row / uint(macros_y);
  return 32.0 * vec3(float(x), float(row - z * uint(macros_y)), float(z));
}

void walk_macro(uvec4 macro_part) {
  float from = uintBitsToFloat(macro_part.x), to = uintBitsToFloat(macro_part.y);
  uint place = macro_part.z, segment = macro_part.w;
  uvec4 macro_row = nodes[3u * place + 1u], masks = nodes[3u * place + 2u];
  vec3 lower = find_macro(macro_row.w);
  Path path = load_path(segment);
  vec3 cell = find_cell_in_block(path, from, lower, vec3(3.0), 8.0, 0.125);
  bool goes_on = true;
  while (goes_on) {
    CellTimes t = find_cell_times(path, lower + cell * 8.0, 8.0);
    if (t.leave > t.enter) {
      uint bit = (uint(cell.z) * 4u + uint(cell.y)) * 4u + uint(cell.x);
      if (is_set(masks.xy, bit)) {
        uint node = cell_offset + 4u * (macro_row.y + count_before(masks.xy, bit));
        vec4 slab = uintBitsToFloat(nodes[node]);
        uvec4 row = nodes[node + 1u];
        float begin = max(t.enter, from);
        SlabPart part = clip_to_slab(path, slab.xyz, slab.w, uintBitsToFloat(row.x), begin,
                                     min(t.leave, to));
        if (begin <= 0.0 && (part.is_below || part.is_above))
          start(segment, (row.z >> (part.is_above ? 17u : 16u) & 1u) != 0u);
        if (part.from <= part.to) {
          uint slot = atomicAdd(cell_count, 1u);
          if (slot >= CELL_PARTS) break;
          cell_parts[slot] =
              uvec4(floatBitsToUint(part.from), floatBitsToUint(part.to), node, segment);
        }
      } else if (t.enter <= 0.0) {
        start(segment, is_set(masks.zw, bit));
      }
    }
    goes_on = leave_cell(path, t, to, 3.0, cell);
  }
}

// Corners are given less iso. False: there is no room for its crossings.
bool look_at_cell(Path path, uint segment, Corners corner, vec3 lower, float per_side,
                  CellTimes t) {
  bvec4 even = lessThanEqual(corner.even, vec4(0.0)), odd = lessThanEqual(corner.odd, vec4(0.0));
  bool all_inside = all(even) && all(odd);
  if (all_inside || !(any(even) || any(odd))) {
    if (t.enter <= 0.0) start(segment, all_inside);
    return true;
  }
  vec4 b = find_cubic(path, corner, lower, per_side, t);
  bvec4 side = lessThanEqual(b, vec4(0.0));
  if (t.enter <= 0.0) start(segment, side.x);
  if (all(side) || !any(side)) return true;
  uint slot = atomicAdd(crossing_count, 1u);
  if (slot >= kMostCrossings) return false;
  rows[2u * slot] = uvec4(floatBitsToUint(t.enter), floatBitsToUint(t.leave), segment, 0u);
  rows[2u * slot + 1u] = floatBitsToUint(b);
  return true;
}

Corners load_corners(uint node) {
  vec4 low = uintBitsToFloat(nodes[node + 2u]), high = uintBitsToFloat(nodes[node + 3u]);
  return Corners(vec4(low.xz, high.xz), vec4(low.yw, high.yw));
}

// A coarse cell without brick. Where its ends are near zero a brick beside it may see another side
// (kDoubtful).
void look_at_coarse(Path path, uint segment, uint node, vec3 lower) {
  Corners c = load_corners(node);
  precise vec4 even = c.even - vec4(iso), odd = c.odd - vec4(iso);
  CellTimes t = find_cell_times(path, lower, 8.0);
  if (!(t.leave > t.enter)) return;
  vec4 m = max(abs(even), abs(odd));
  float limit = max(max(m.x, m.y), max(m.z, m.w)) * DOUBTFUL;
  vec4 b = find_cubic(path, Corners(even, odd), lower, 0.125, t);
  if (abs(b.x) < limit || abs(b.w) < limit) atomicOr(states[segment], kUnsure);
  look_at_cell(path, segment, Corners(even, odd), lower, 0.125, t);
}

void walk_cell(uvec4 cell_part) {
  float from = uintBitsToFloat(cell_part.x), to = uintBitsToFloat(cell_part.y);
  uint node = cell_part.z, segment = cell_part.w;
  Path path = load_path(segment);
  uvec4 row = nodes[node + 1u];
  uint in_macro = row.z >> 24u;
  vec3 lower = find_macro(row.w) +
               8.0 * vec3(float(in_macro & 3u), float(in_macro >> 2u & 3u), float(in_macro >> 4u));
  if (row.y == kNoBlocks) {
    look_at_coarse(path, segment, node, lower);
    return;
  }
  Corners coarse = load_corners(node);
  vec3 cell = find_cell_in_block(path, from, lower, vec3(7.0), 1.0, 1.0);
  bool goes_on = true;
  while (goes_on) {
    vec3 at = lower + cell;
    CellTimes t = find_cell_times(path, at, 1.0);
    if (t.leave > t.enter) {
      uvec3 c = uvec3(cell);
      uint bit = 1u << ((c.x >> 2u) | (c.y >> 2u) << 1u | (c.z >> 2u) << 2u);
      if ((row.z & bit) != 0u) {
        uint block = row.y + uint(bitCount(row.z & (bit - 1u)));
        if (!look_at_cell(path, segment, load_fine(coarse, block, c), at, 1.0, t)) break;
      } else if (t.enter <= 0.0) {
        start(segment, (row.z >> 8u & bit) != 0u);
      }
    }
    goes_on = leave_cell(path, t, to, 7.0, cell);
  }
}

void find_roots(uint i) {
  uvec4 cell = rows[2u * i];
  vec4 b = uintBitsToFloat(rows[2u * i + 1u]);
  float enter = uintBitsToFloat(cell.x), leave = uintBitsToFloat(cell.y);
  vec3 s;
  uint n = uint(find_crossings(b, s));
  precise vec3 u = vec3(enter) + s * (leave - enter);
  uint before = atomicExchange(last_crossing[cell.z], i);
  rows[2u * i] = uvec4(cell.x, before, n << 1u | (b.x <= 0.0 ? 1u : 0u), floatBitsToUint(u.x));
  rows[2u * i + 1u].xy = floatBitsToUint(u.yz);
}

// ---- intervals ----------------------------------------------------------------------------------

// By time of entry: no two cells of a path have the same. Returns the first.
uint sort_crossings(uint i) {
  uint first = kNone;
  while (i != kNone) {
    uint next = rows[2u * i].y;
    float enter = uintBitsToFloat(rows[2u * i].x);
    if (first == kNone || enter < uintBitsToFloat(rows[2u * first].x)) {
      rows[2u * i].y = first;
      first = i;
    } else {
      uint before = first, after = rows[2u * first].y;
      while (after != kNone && uintBitsToFloat(rows[2u * after].x) < enter) {
        before = after;
        after = rows[2u * after].y;
      }
      rows[2u * i].y = after;
      rows[2u * before].y = i;
    }
    i = next;
  }
  return first;
}

bool is_inside;
float entered;
uint found;

void set_side(float u, bool side, dvec2 span, uint first, bool writes) {
  if (side == is_inside) return;
  is_inside = side;
#if MODE == 0
  if (side) {
    entered = u;
    return;
  }
  if (writes) intervals[first + found] = vec2(time_of(span, entered), time_of(span, u));
#else
  if (found > 0u) return;
  if (writes) intervals[first] = vec2(time_of(span, u));
#endif
  ++found;
}

// Returns their number.
uint put_together(bool starts_inside, uint crossing, dvec2 span, uint first, bool writes) {
  is_inside = false;
  found = 0u;
  set_side(0.0, starts_inside, span, first, writes);
  for (uint i = crossing; i != kNone;) {
    uvec4 row = rows[2u * i];
    vec2 others = uintBitsToFloat(rows[2u * i + 1u].xy);
    bool side = (row.z & 1u) != 0u;
    set_side(uintBitsToFloat(row.x), side, span, first, writes);
    uint n = row.z >> 1u;
    for (uint k = 0u; k < n; ++k) {
      side = !side;
      set_side(k == 0u ? uintBitsToFloat(row.w) : k == 1u ? others.x : others.y, side, span, first,
               writes);
    }
    i = row.y;
  }
#if MODE == 0
  if (is_inside) {
    if (writes) intervals[first + found] = vec2(time_of(span, entered), float(span.y));
    ++found;
  }
#endif
  return found;
}

// Of the group's segments from `begin` on; false where the lists were too short. All threads.
bool trace(uint begin, uint taken) {
  uint lane = gl_LocalInvocationID.x;
  uint number = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * GROUP + begin + lane;
  bool is_owner = lane < taken && number < segment_count;
  if (lane == 0u) macro_count = cell_count = crossing_count = group_count = 0u;
  states[lane] = 0u;
  last_crossing[lane] = kNone;
  barrier();
  int what = kFree;
  dvec2 span = dvec2(0.0LF, 1.0LF);
  if (is_owner) {
    Path path;
    vec2 a = segments[3u * number], b = segments[3u * number + 1u], c = segments[3u * number + 2u];
    what = make_path(vec3(a, b.x), vec3(b.y, c), path, span);
    if (what == kInBox) {
      keep_path(lane, path);
      walk_macros(path, lane);
    }
  }
  barrier();
  for (uint i = lane; i < min(macro_count, MACRO_PARTS); i += GROUP) walk_macro(rows[i]);
  barrier();
  for (uint i = lane; i < min(cell_count, CELL_PARTS); i += GROUP) walk_cell(cell_parts[i]);
  barrier();
  bool has_room = macro_count <= MACRO_PARTS && cell_count <= CELL_PARTS &&
                  crossing_count <= kMostCrossings;
  if (!has_room && taken > 1u) {
    barrier();
    return false;
  }
  for (uint i = lane; i < min(crossing_count, kMostCrossings); i += GROUP) find_roots(i);
  barrier();

  uint state = states[lane], count = 0u, crossing = kNone, first = 0u;
  bool is_sure = what == kFree || (what == kInBox && has_room && (state & kStarted) != 0u &&
                                   (state & kUnsure) == 0u);
  bool has_path = what == kInBox && is_sure, starts_inside = (state & kInside) != 0u;
  if (has_path) {
    crossing = sort_crossings(last_crossing[lane]);
    count = put_together(starts_inside, crossing, span, 0u, false);
    if (count > 0u) first = atomicAdd(group_count, count);
  }
  barrier();
  if (lane == 0u) group_first = group_count > 0u ? atomicAdd(interval_count, group_count) : 0u;
  barrier();
  first += group_first;
  if (is_owner) {
    spans[number] = uvec2(first, is_sure ? count : kUnsureCount);
    if (!is_sure) noted[atomicAdd(unsure_count, 1u)] = number;
    if (count > 0u && first + count <= interval_room)
      put_together(starts_inside, crossing, span, first, true);
  }
  barrier();
  return true;
}

void main() {
  uint begin = 0u, taken = GROUP;
  while (begin < GROUP) {
    if (trace(begin, taken))
      begin += taken;
    else
      taken = max(taken / 2u, 1u);
  }
}
