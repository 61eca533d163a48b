// The field along a path through a cell and its roots, as segment_path.h and cubic.h of the CPU's
// search compute them, to the bit.

// Values at the corners of a cell: x even and x odd, from (y, z) = (0, 0), (1, 0), (0, 1), (1, 1).
struct Corners {
  vec4 even, odd;
};

vec4 blend(vec4 a, vec4 b, float t) {
  precise float rest = 1.0 - t;
  precise vec4 r = a * rest + b * t;
  return r;
}

// Of a trilinear function at the corners of a box inside its cell.
Corners compute_sub_box(Corners c, vec3 first, vec3 last) {
  vec4 x0 = blend(c.even, c.odd, first.x), x1 = blend(c.even, c.odd, last.x);
  vec4 p = vec4(x0.x, x1.x, x0.z, x1.z), q = vec4(x0.y, x1.y, x0.w, x1.w);
  vec4 y0 = blend(p, q, first.y), y1 = blend(p, q, last.y);
  vec4 r = vec4(y0.xy, y1.xy), s = vec4(y0.zw, y1.zw);
  vec4 z0 = blend(r, s, first.z), z1 = blend(r, s, last.z);
  return Corners(vec4(z0.x, z0.z, z1.x, z1.z), vec4(z0.y, z0.w, z1.y, z1.w));
}

// Bernstein coefficients over the path's time in the cell.
vec4 compute_cubic(Path path, Corners corner, vec3 lower, float per_side, CellTimes t) {
  bvec3 up = greaterThanEqual(path.inverse, vec3(0.0));
  vec3 near = mix(vec3(1.0), vec3(0.0), up), far = vec3(1.0) - near;
  precise vec3 at_in = ((path.origin + t.enter * path.direction) - lower) * per_side;
  precise vec3 at_out = ((path.origin + t.leave * path.direction) - lower) * per_side;
  vec3 first = mix(clamp(at_in, vec3(0.0), vec3(1.0)), near,
                   greaterThanEqual(t.enter_axis, vec3(t.enter)));
  vec3 last = mix(clamp(at_out, vec3(0.0), vec3(1.0)), far,
                  lessThanEqual(t.leave_axis, vec3(t.leave)));
  Corners g = compute_sub_box(corner, first, last);
  const float third = uintBitsToFloat(0x3eaaaaabu);  // 1 / 3 as a float
  precise float b1 = ((g.odd.x + g.even.y) + g.even.z) * third;
  precise float b2 = ((g.odd.y + g.odd.z) + g.even.w) * third;
  return vec4(g.even.x, b1, b2, g.odd.w);
}

// Value and slope.
vec2 evaluate_cubic(vec4 b, float s) {
  precise float p0 = b.x + (b.y - b.x) * s, p1 = b.y + (b.z - b.y) * s, p2 = b.z + (b.w - b.z) * s;
  precise float q0 = p0 + (p1 - p0) * s, q1 = p1 + (p2 - p1) * s;
  precise float value = q0 + (q1 - q0) * s, slope = (q1 - q0) * 3.0;
  return vec2(value, slope);
}

float find_cubic_root(vec4 b, float lo, float at_lo, float hi, float at_hi) {
  bool lo_inside = at_lo <= 0.0;
  precise float range = at_lo - at_hi;
  precise float line = lo + (hi - lo) * divide(at_lo, range);
  float s = min(max(line, lo), hi);
  for (int i = 0; i < 12; ++i) {
    vec2 at = evaluate_cubic(b, s);
    if ((at.x <= 0.0) == lo_inside)
      lo = s;
    else
      hi = s;
    precise float middle = (lo + hi) * 0.5;
    float next = middle;
    if (at.y != 0.0) {
      precise float newton = s - divide(at.x, at.y);
      if (newton >= lo && newton <= hi) next = newton;
    }
    if (next == s) break;
    s = next;
  }
  return s;
}

// All crossings from one side to the other, in order; returns their number.
int find_crossings(vec4 b, out vec3 s) {
  s = vec3(0.0);
  bvec4 side = lessThanEqual(b, vec4(0.0));
  int changes = int(side.x != side.y) + int(side.y != side.z) + int(side.z != side.w);
  if (changes == 0) return 0;
  // Between its extrema it is monotonic. They are roots of the slope, whose coefficients are:
  float e0 = 1.0, e1 = 1.0;
  if (changes > 1) {
    precise float q0 = b.y - b.x, q1 = b.z - b.y, q2 = b.w - b.z;
    precise float a = (q0 - q1) + (q2 - q1), half_b = q1 - q0;
    precise float discriminant = half_b * half_b - a * q0;
    if (discriminant > 0.0) {
      float root = square_root(discriminant);
      precise float sum = half_b < 0.0 ? root - half_b : -(half_b + root);
      float r0 = a != 0.0 ? divide(sum, a) : 2.0, r1 = divide(q0, sum);
      float low = min(r0, r1), high = max(r0, r1);
      bool has_low = low > 0.0 && low < 1.0, has_high = high > low && high > 0.0 && high < 1.0;
      e0 = has_low ? low : has_high ? high : 1.0;
      e1 = has_low && has_high ? high : 1.0;
    }
  }
  int found = 0;
  float before = b.x, knot = 0.0;
  for (int i = 0; i < 3; ++i) {
    float next = i == 0 ? e0 : i == 1 ? e1 : 1.0;
    if (next <= knot) break;
    float after = next == 1.0 ? b.w : evaluate_cubic(b, next).x;
    if ((before <= 0.0) != (after <= 0.0)) {
      float root = find_cubic_root(b, knot, before, next, after);
      if (found == 0)
        s.x = root;
      else if (found == 1)
        s.y = root;
      else
        s.z = root;
      ++found;
    }
    before = after;
    knot = next;
  }
  return found;
}
