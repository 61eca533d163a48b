// A segment's path through the lattice's box, as make_path and segment_path.h of the CPU's search
// compute it, to the bit: sums and products are rounded right by any GPU and `precise` keeps them
// apart. Quotients and roots are not; those of floats are computed in doubles, whose rounding to
// floats is right even where the double is off by some last digits, since no quotient or root of
// floats lies that close to the middle between two floats. Lengths are cells.

#include "segment_layout.h"
layout(std430, binding = kSegmentBlockAt) readonly restrict buffer Traced { SegmentBlock traced; };

struct Path {
  vec3 origin, direction, inverse;
};

const float kLargestInverse = 1e30;

float divide(float a, float b) { return float(double(a) / double(b)); }
float square_root(float a) { return float(sqrt(double(a))); }

// What becomes of a segment.
const int kInBox = 0;      // part of it is in the box: there is a path
const int kFree = 1;       // it is outside
const int kLeaveIt = 2;    // the CPU must look

// Numbers of an axis: names, since GPUs keep what is indexed in slow memory.

// Cuts times to those between the box's two sides. False: it is outside all the time.
bool clip_axis(double from, double by, double top, inout dvec2 span) {
  if (by == 0.0LF) return from >= 0.0LF && from <= top;
  precise double a = -from / by, b = (top - from) / by;
  span = dvec2(max(span.x, min(a, b)), min(span.y, max(a, b)));
  return true;
}

void prepare_axis(float top, inout float origin, inout float direction, out float inverse) {
  if (abs(direction) >= 1.0 / kLargestInverse) {
    inverse = divide(1.0, direction);
    return;
  }
  // Along the last plane it belongs to the last cell.
  direction = 0.0;
  inverse = kLargestInverse;
  if (origin == top) origin = uintBitsToFloat(floatBitsToUint(top) - 1u);
}

// `span`: times along the whole segment at which u is 0 and 1.
int make_path(vec3 from_metres, vec3 to_metres, out Path path, out dvec2 span) {
  path.origin = path.direction = path.inverse = vec3(0.0);
  span = dvec2(0.0LF, 1.0LF);
  dvec3 zero = dvec3(0.0LF);
  dvec3 top = dvec3(double(traced.top_x), double(traced.top_y), double(traced.top_z));
  dvec3 corner = dvec3(traced.origin_x, traced.origin_y, traced.origin_z);
  precise dvec3 from = (dvec3(from_metres) - corner) * traced.scale;
  precise dvec3 to = (dvec3(to_metres) - corner) * traced.scale;
  precise dvec3 by = to - from;
  bool inside = all(greaterThanEqual(from, zero)) && all(lessThanEqual(from, top)) &&
                all(greaterThanEqual(to, zero)) && all(lessThanEqual(to, top));
  if (!inside) {
    if (traced.is_free_beyond_box == 0u) return kLeaveIt;
    // Where it only begins or ends on the box, the value there tells.
    dvec3 margin = dvec3(1e-3LF);
    bool ends_off = any(lessThan(to, -margin)) || any(greaterThan(to, top + margin));
    int none = ends_off && from_metres != to_metres ? kFree : kLeaveIt;
    bool passes = clip_axis(from.x, by.x, top.x, span);
    passes = clip_axis(from.y, by.y, top.y, span) && passes;
    passes = clip_axis(from.z, by.z, top.z, span) && passes;
    if (!passes) return none;
    if (!(span.x < span.y)) return none;
  }
  precise dvec3 at_begin = from + span.x * by, at_end = from + span.y * by;
  vec3 first = vec3(clamp(at_begin, zero, top));
  vec3 second = inside ? vec3(to) : vec3(clamp(at_end, zero, top));
  precise vec3 direction = second - first;
  path.origin = first;
  path.direction = direction;
  prepare_axis(traced.top_x, path.origin.x, path.direction.x, path.inverse.x);
  prepare_axis(traced.top_y, path.origin.y, path.direction.y, path.inverse.y);
  prepare_axis(traced.top_z, path.origin.z, path.direction.z, path.inverse.z);
  // As good as none: lengths that small are left to the CPU.
  bool moves = any(greaterThan(abs(path.direction), vec3(1e-10)));
  return moves ? kInBox : kLeaveIt;
}

// Time of the whole segment.
float time_of(dvec2 span, float u) {
  precise double t = span.x + double(u) * (span.y - span.x);
  return float(t);
}

// The cell along each axis of a block of cells of a side in which the path is at a time
// (find_cell_in_block of segment_path.h).
vec3 find_cell_in_block(Path path, float u, vec3 lower, vec3 last, float side, float per_side) {
  precise vec3 at = ((path.origin + u * path.direction) - lower) * per_side;
  precise vec3 plane = trunc(max(at, vec3(0.0)) + vec3(0.5));
  precise vec3 time = ((lower + plane * side) - path.origin) * path.inverse;
  bvec3 up = greaterThanEqual(path.inverse, vec3(0.0));
  bvec3 crossed = lessThanEqual(time, vec3(u));
  return clamp(mix(plane, plane - vec3(1.0), notEqual(crossed, up)), vec3(0.0), last);
}

struct CellTimes {
  float enter, leave;        // the cell
  vec3 enter_axis, leave_axis;  // between its planes along each axis
};

CellTimes compute_cell_times(Path path, vec3 lower, float side) {
  precise vec3 a = (lower - path.origin) * path.inverse;
  precise vec3 b = ((lower + vec3(side)) - path.origin) * path.inverse;
  CellTimes t;
  t.enter_axis = min(a, b);
  t.leave_axis = max(a, b);
  t.enter = max(max(max(t.enter_axis.x, t.enter_axis.y), t.enter_axis.z), 0.0);
  t.leave = min(min(min(t.leave_axis.x, t.leave_axis.y), t.leave_axis.z), 1.0);
  return t;
}
