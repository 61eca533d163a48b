// Segments through the index of an isosurface: the walk of segment_fast.cpp, by work-groups.
//
// Most paths meet few cells, some meet many. A thread that walked one alone would wait for its
// neighbours at every turn; so a group takes its segments in stages, and what one stage finds is
// dealt out to all threads for the next:
//
//   paths        of segments
//   macro cells  of a path        -> parts of paths between the slabs of macro cells
//   coarse cells of such a part   -> parts between the slabs of coarse cells
//   fine cells   of such a part   -> cells in which the field along the path has both signs
//   roots        of such a cell, which are where intervals begin and end
//   order        of the roots of a segment
//   intervals    get their places in the list, and are written
//
// The lists between stages lie in shared memory, and their size limits how many groups a GPU runs
// at once: they are as short as they may be. Where one is too short the group begins again with
// half of the segments, and takes the others later; a segment that is too long alone is left to the
// CPU.
//
// A cell that is passed over, or in whose corners the field has one sign, changes no side: cells
// that meet compute the same values there. So the side on which a path begins and the cells with
// crossings tell all. (Where they do not agree, the CPU looks.) MODE is that of Mode.
#include "segment_layout.h"
layout(local_size_x = kSegmentGroup) in;

#define PART_WORDS 3u
#define ROW_WORDS 7u

#include "index.glsl"
#include "segment_steps.glsl"
#include "segment_cubic.glsl"
#include "segment_tables.glsl"

layout(std430, binding = kSegmentsAt) readonly restrict buffer Segments { vec2 segments[]; };
layout(std430, binding = kSegmentSpansAt) writeonly restrict buffer Spans {
  GpuSegmentSpan spans[];
};
// Two each.
layout(std430, binding = kSegmentIntervalsAt) writeonly restrict buffer Intervals {
  float intervals[];
};
layout(std430, binding = kSegmentNotesAt) restrict buffer Notes {
  GpuSegmentNotes notes;
  uint noted[];  // segments that the CPU must look at
};

uniform uint segment_count;
uniform uint interval_room;

// Macro parts, and then crossings.
// A part: from, to, where (place of a macro cell, number of a cell) and segment.
// A crossing: enter, leave, segment, coefficients. Then: enter, next of the segment, segment and
// number of roots and side, three roots, how many roots of the segment come before.
shared uint rows[ROW_WORDS * kSegmentCrossings];
shared uint cell_parts[PART_WORDS * kSegmentCellParts];
shared uint paths[9u * kSegmentGroup];   // bits of floats
shared uint states[kSegmentGroup];       // bits below and, from kRoot on, the number of roots
shared uint crossings[kSegmentGroup];    // of segments: the head of a list; then the first interval's place
shared uint macro_count, cell_count, crossing_count;
shared uint group_count, group_first;

const uint kMacroParts = ROW_WORDS * kSegmentCrossings / PART_WORDS;
const uint kStarted = 1u;  // the side at time 0 is known
const uint kInside = 2u;   // that it is inside
const uint kUnsure = 4u;
const uint kClipped = 8u;  // it leaves the box
const uint kRoot = 16u;    // so much is added for each
const uint kNone = 0xffffffffu;

void keep_path_row(uint row, uint segment, uvec3 v) {
  uint at = 3u * row * kSegmentGroup + segment;
  paths[at] = v.x;
  paths[at + kSegmentGroup] = v.y;
  paths[at + 2u * kSegmentGroup] = v.z;
}
uvec3 load_path_row(uint row, uint segment) {
  uint at = 3u * row * kSegmentGroup + segment;
  return uvec3(paths[at], paths[at + kSegmentGroup], paths[at + 2u * kSegmentGroup]);
}
void keep_path(uint segment, Path path) {
  keep_path_row(0u, segment, floatBitsToUint(path.origin));
  keep_path_row(1u, segment, floatBitsToUint(path.direction));
  keep_path_row(2u, segment, floatBitsToUint(path.inverse));
}
Path load_path(uint segment) {
  return Path(uintBitsToFloat(load_path_row(0u, segment)),
              uintBitsToFloat(load_path_row(1u, segment)),
              uintBitsToFloat(load_path_row(2u, segment)));
}

// Only what comes first on a path does this, and later stages see what earlier ones wrote.
void start(uint segment, bool inside) {
  if ((states[segment] & kStarted) == 0u)
    atomicOr(states[segment], kStarted | (inside ? kInside : 0u));
}

// ---- stages -------------------------------------------------------------------------------------

int take_path(uint number, out Path path, out dvec2 span) {
  uint at = kSegmentPairs * number;
  vec2 a = segments[at], b = segments[at + 1u], c = segments[at + 2u];
  return make_path(vec3(a, b.x), vec3(b.y, c), path, span);
}

uint pack_place(uint place, uint segment) { return place * kSegmentGroup + segment; }

void walk_macros(Path path, uint segment) {
  uvec3 down = mix(uvec3(0u), uvec3(1u), lessThan(path.inverse, vec3(0.0)));
  uint octant = down.x | down.y << 1u | down.z << 2u;
  uint cubes = octant * uint(traced.macros_x * traced.macros_y * traced.macros_z);
  vec3 last = vec3(float(traced.macros_x - 1), float(traced.macros_y - 1),
                   float(traced.macros_z - 1));
  float u = 0.0, leave;
  for (; u < 1.0; u = leave) {
    vec3 macro = find_cell_in_block(path, u, vec3(0.0), last, 32.0, 0.03125);
    uint number = (uint(macro.z) * uint(traced.macros_y) + uint(macro.y)) * uint(traced.macros_x) +
                  uint(macro.x);
    int cube = load_cube(cubes + number);
    float size = float(max(abs(cube), 1));
    vec3 plane = macro + mix(vec3(size), vec3(1.0 - size), lessThan(path.inverse, vec3(0.0)));
    precise vec3 times = (plane * 32.0 - path.origin) * path.inverse;
    leave = min(min(times.x, times.y), times.z);
    // A plane that is next to be crossed has been: it is the box's side, where cells end. The walk
    // from cell to cell ends there, too.
    if (leave <= u) break;
    if (cube != 0) {
      if (u <= 0.0) start(segment, cube < 0);
      continue;
    }
    uint place = tables[traced.place_offset + number];
    SegmentMacroNode node = load_macro(place);
    SlabPart part = clip_to_slab(path, node.slab, node.most, u, min(leave, 1.0));
    if (u <= 0.0 && (part.is_below || part.is_above))
      start(segment, (node.inside >> (part.is_above ? 1u : 0u) & 1u) != 0u);
    if (!(part.from <= part.to)) continue;
    uint slot = atomicAdd(macro_count, 1u);
    if (slot >= kMacroParts) break;
    rows[PART_WORDS * slot] = floatBitsToUint(part.from);
    rows[PART_WORDS * slot + 1u] = floatBitsToUint(part.to);
    rows[PART_WORDS * slot + 2u] = pack_place(place, segment);
  }
}

void walk_segment(uint segment, uint number) {
  crossings[segment] = kNone;
  states[segment] = kStarted;  // outside
  if (number >= segment_count) return;
  Path path;
  dvec2 span;
  int what = take_path(number, path, span);
  if (what == kFree) return;
  states[segment] = what == kLeaveIt ? kUnsure : span == dvec2(0.0LF, 1.0LF) ? 0u : kClipped;
  if (what == kLeaveIt) return;
  keep_path(segment, path);
  walk_macros(path, segment);
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
uint count_bits_before(uvec2 mask, uint bit) {
  uint below = (1u << (bit & 31u)) - 1u;
  return bit < 32u ? uint(bitCount(mask.x & below))
                   : uint(bitCount(mask.x)) + uint(bitCount(mask.y & below));
}

// Lower corner of a macro cell.
vec3 compute_macro(uint number) {
  uint row = number / uint(traced.macros_x), x = number - row * uint(traced.macros_x);
  uint z = row / uint(traced.macros_y);
  return 32.0 * vec3(float(x), float(row - z * uint(traced.macros_y)), float(z));
}

void walk_macro(uint i) {
  float from = uintBitsToFloat(rows[PART_WORDS * i]);
  float to = uintBitsToFloat(rows[PART_WORDS * i + 1u]);
  uint where = rows[PART_WORDS * i + 2u], place = where / kSegmentGroup, segment = where % kSegmentGroup;
  SegmentMacroNode node = load_macro(place);
  vec3 lower = compute_macro(node.number);
  Path path = load_path(segment);
  vec3 cell = find_cell_in_block(path, from, lower, vec3(3.0), 8.0, 0.125);
  bool goes_on = true;
  while (goes_on) {
    CellTimes t = compute_cell_times(path, lower + cell * 8.0, 8.0);
    if (t.leave > t.enter) {
      uint bit = (uint(cell.z) * 4u + uint(cell.y)) * 4u + uint(cell.x);
      if (is_set(node.masks.xy, bit)) {
        uint number = node.first_cell + count_bits_before(node.masks.xy, bit);
        SegmentCellNode in_cell = load_cell(number);
        float begin = max(t.enter, from);
        SlabPart part = clip_to_slab(path, in_cell.slab, in_cell.most, begin, min(t.leave, to));
        if (begin <= 0.0 && (part.is_below || part.is_above))
          start(segment, (in_cell.bits >> (part.is_above ? 17u : 16u) & 1u) != 0u);
        if (part.from <= part.to) {
          uint slot = atomicAdd(cell_count, 1u);
          if (slot >= kSegmentCellParts) break;
          cell_parts[PART_WORDS * slot] = floatBitsToUint(part.from);
          cell_parts[PART_WORDS * slot + 1u] = floatBitsToUint(part.to);
          cell_parts[PART_WORDS * slot + 2u] = pack_place(number, segment);
        }
      } else if (t.enter <= 0.0) {
        start(segment, is_set(node.masks.zw, bit));
      }
    }
    goes_on = leave_cell(path, t, to, 3.0, cell);
  }
}

// Corners are given less margin. False: there is no room for its crossings.
bool look_at_cell(Path path, uint segment, Corners corner, vec3 lower, float per_side,
                  CellTimes t) {
  bvec4 even = lessThanEqual(corner.even, vec4(0.0)), odd = lessThanEqual(corner.odd, vec4(0.0));
  bool all_inside = all(even) && all(odd);
  if (all_inside || !(any(even) || any(odd))) {
    if (t.enter <= 0.0) start(segment, all_inside);
    return true;
  }
  vec4 b = compute_cubic(path, corner, lower, per_side, t);
  bvec4 side = lessThanEqual(b, vec4(0.0));
  if (t.enter <= 0.0) start(segment, side.x);
  if (all(side) || !any(side)) return true;
  uint slot = atomicAdd(crossing_count, 1u);
  if (slot >= kSegmentCrossings) return false;
  uint at = ROW_WORDS * slot;
  rows[at] = floatBitsToUint(t.enter);
  rows[at + 1u] = floatBitsToUint(t.leave);
  rows[at + 2u] = segment;
  rows[at + 3u] = floatBitsToUint(b.x);
  rows[at + 4u] = floatBitsToUint(b.y);
  rows[at + 5u] = floatBitsToUint(b.z);
  rows[at + 6u] = floatBitsToUint(b.w);
  return true;
}

Corners get_corners(SegmentCellNode node) {
  return Corners(vec4(node.low.xz, node.high.xz), vec4(node.low.yw, node.high.yw));
}

// A coarse cell without brick. Where its ends are near zero a brick beside it may see another side
// (kDoubtful).
void look_at_coarse(Path path, uint segment, Corners c, vec3 lower) {
  precise vec4 even = c.even - vec4(traced.margin), odd = c.odd - vec4(traced.margin);
  CellTimes t = compute_cell_times(path, lower, 8.0);
  if (!(t.leave > t.enter)) return;
  vec4 m = max(abs(even), abs(odd));
  float limit = max(max(m.x, m.y), max(m.z, m.w)) * DOUBTFUL;
  vec4 b = compute_cubic(path, Corners(even, odd), lower, 0.125, t);
  if (abs(b.x) < limit || abs(b.w) < limit) atomicOr(states[segment], kUnsure);
  look_at_cell(path, segment, Corners(even, odd), lower, 0.125, t);
}

void walk_cell(uint i) {
  float from = uintBitsToFloat(cell_parts[PART_WORDS * i]);
  float to = uintBitsToFloat(cell_parts[PART_WORDS * i + 1u]);
  uint where = cell_parts[PART_WORDS * i + 2u], segment = where % kSegmentGroup;
  SegmentCellNode node = load_cell(where / kSegmentGroup);
  Path path = load_path(segment);
  uint in_macro = node.bits >> 24u;
  vec3 lower = compute_macro(node.macro) +
               8.0 * vec3(float(in_macro & 3u), float(in_macro >> 2u & 3u), float(in_macro >> 4u));
  Corners coarse = get_corners(node);
  if (node.first_block == kSegmentNoBlocks) {
    look_at_coarse(path, segment, coarse, lower);
    return;
  }
  vec3 cell = find_cell_in_block(path, from, lower, vec3(7.0), 1.0, 1.0);
  bool goes_on = true;
  while (goes_on) {
    vec3 at = lower + cell;
    CellTimes t = compute_cell_times(path, at, 1.0);
    if (t.leave > t.enter) {
      uvec3 c = uvec3(cell);
      uint bit = 1u << ((c.x >> 2u) | (c.y >> 2u) << 1u | (c.z >> 2u) << 2u);
      if ((node.bits & bit) != 0u) {
        uint block = node.first_block + uint(bitCount(node.bits & (bit - 1u)));
        if (!look_at_cell(path, segment, load_fine(coarse, block, c), at, 1.0, t)) break;
      } else if (t.enter <= 0.0) {
        start(segment, (node.bits >> 8u & bit) != 0u);
      }
    }
    goes_on = leave_cell(path, t, to, 7.0, cell);
  }
}

void find_roots(uint i) {
  uint at = ROW_WORDS * i, segment = rows[at + 2u];
  float enter = uintBitsToFloat(rows[at]), leave = uintBitsToFloat(rows[at + 1u]);
  vec4 b = uintBitsToFloat(uvec4(rows[at + 3u], rows[at + 4u], rows[at + 5u], rows[at + 6u]));
  vec3 s;
  uint n = uint(find_crossings(b, s));
  precise vec3 u = vec3(enter) + s * (leave - enter);
  atomicAdd(states[segment], n * kRoot);
  rows[at + 1u] = atomicExchange(crossings[segment], i);
  rows[at + 2u] = segment << 3u | n << 1u | (b.x <= 0.0 ? 1u : 0u);
  rows[at + 3u] = floatBitsToUint(u.x);
  rows[at + 4u] = floatBitsToUint(u.y);
  rows[at + 5u] = floatBitsToUint(u.z);
}

// How many roots of its segment come before those of a crossing. No two cells of a path are entered
// at the same time.
void count_before(uint i) {
  uint at = ROW_WORDS * i, kind = rows[at + 2u], segment = kind >> 3u, before = 0u;
  float enter = uintBitsToFloat(rows[at]);
  for (uint k = crossings[segment]; k != kNone; k = rows[ROW_WORDS * k + 1u])
    if (uintBitsToFloat(rows[ROW_WORDS * k]) < enter)
      before += rows[ROW_WORDS * k + 2u] >> 1u & 3u;
  rows[at + 6u] = before;
  bool side = ((states[segment] & kInside) != 0u) != ((before & 1u) != 0u);
  if (side != ((kind & 1u) != 0u)) atomicOr(states[segment], kUnsure);
}

// ---- intervals ----------------------------------------------------------------------------------

bool is_sure(uint segment) { return (states[segment] & (kStarted | kUnsure)) == kStarted; }

// Of a segment: where intervals begin and end.
uint count_times(uint segment) {
  uint state = states[segment];
  return state / kRoot + ((state & kInside) != 0u ? 1u : 0u);
}
uint count_intervals(uint segment) {
#if MODE == 0
  return (count_times(segment) + 1u) / 2u;
#else
  return min(count_times(segment), 1u);
#endif
}

// Times along the whole segment at which the path begins and ends, in the place of the path, which
// is not needed any more.
void keep_span(uint segment, uint number) {
  Path path;
  dvec2 span;
  take_path(number, path, span);
  uvec2 begin = unpackDouble2x32(span.x), end = unpackDouble2x32(span.y);
  keep_path_row(0u, segment, uvec3(begin, end.x));
  paths[3u * kSegmentGroup + segment] = end.y;
}
dvec2 load_span(uint segment) {
  if ((states[segment] & kClipped) == 0u) return dvec2(0.0LF, 1.0LF);
  uvec3 row = load_path_row(0u, segment);
  return dvec2(packDouble2x32(row.xy),
               packDouble2x32(uvec2(row.z, paths[3u * kSegmentGroup + segment])));
}

// The k-th time of a segment whose intervals begin at `first`.
void write_time(uint first, uint k, float t) {
#if MODE == 0
  if (first + k / 2u < interval_room) intervals[2u * first + k] = t;
#else
  if (k > 0u || first >= interval_room) return;
  intervals[2u * first] = t;
  intervals[2u * first + 1u] = t;
#endif
}

void write_roots(uint i) {
  uint at = ROW_WORDS * i, segment = rows[at + 2u] >> 3u, n = rows[at + 2u] >> 1u & 3u;
  if (!is_sure(segment)) return;
  dvec2 span = load_span(segment);
  uint first = group_first + crossings[segment];
  uint before = rows[at + 6u] + ((states[segment] & kInside) != 0u ? 1u : 0u);
  for (uint k = 0u; k < n; ++k)
    write_time(first, before + k, time_of(span, uintBitsToFloat(rows[at + 3u + k])));
}

void write_segment(uint segment, uint number) {
  if (!is_sure(segment)) {
    spans[number] = GpuSegmentSpan(0u, kUnsureSegment);
    noted[atomicAdd(notes.undecided_count, 1u)] = number;
    return;
  }
  uint first = group_first + crossings[segment], times = count_times(segment);
  spans[number] = GpuSegmentSpan(first, count_intervals(segment));
  dvec2 span = load_span(segment);
  if ((states[segment] & kInside) != 0u) write_time(first, 0u, time_of(span, 0.0));
  if (MODE == 0 && (times & 1u) != 0u) write_time(first, times, float(span.y));
}

// ---- all of them --------------------------------------------------------------------------------

// Of `taken` segments from `first_number` on: their crossings. All threads.
void find_crossing_cells(uint first_number, uint taken) {
  uint lane = gl_LocalInvocationID.x;
  if (lane == 0u) macro_count = cell_count = crossing_count = group_count = 0u;
  barrier();
  if (lane < taken) walk_segment(lane, first_number + lane);
  barrier();
  for (uint i = lane; i < min(macro_count, kMacroParts); i += kSegmentGroup) walk_macro(i);
  barrier();
  for (uint i = lane; i < min(cell_count, kSegmentCellParts); i += kSegmentGroup) walk_cell(i);
  barrier();
}

// Takes room in the list for all of the group at once.
void write_results(uint first_number, uint taken) {
  uint lane = gl_LocalInvocationID.x;
  for (uint i = lane; i < crossing_count; i += kSegmentGroup) find_roots(i);
  barrier();
  for (uint i = lane; i < crossing_count; i += kSegmentGroup) count_before(i);
  barrier();
  if (lane < taken) {
    uint count = is_sure(lane) ? count_intervals(lane) : 0u;
    crossings[lane] = count > 0u ? atomicAdd(group_count, count) : 0u;
    if (count > 0u && (states[lane] & kClipped) != 0u) keep_span(lane, first_number + lane);
  }
  barrier();
  if (lane == 0u) group_first = group_count > 0u ? atomicAdd(notes.interval_count, group_count) : 0u;
  barrier();
  for (uint i = lane; i < crossing_count; i += kSegmentGroup) write_roots(i);
  if (lane < taken && first_number + lane < segment_count)
    write_segment(lane, first_number + lane);
  barrier();
}

void main() {
  uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
  uint begin = 0u, taken = kSegmentGroup;
  while (begin < kSegmentGroup) {
    uint first_number = group * kSegmentGroup + begin;
    find_crossing_cells(first_number, taken);
    bool has_room = macro_count <= kMacroParts && cell_count <= kSegmentCellParts &&
                    crossing_count <= kSegmentCrossings;
    barrier();
    if (has_room || taken == 1u) {
      if (!has_room && gl_LocalInvocationID.x == 0u) {
        crossing_count = 0u;
        states[0] = kUnsure;
      }
      barrier();
      write_results(first_number, taken);
      begin += taken;
    } else {
      taken /= 2u;
    }
  }
}
