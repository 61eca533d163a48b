// Lists of what may be nearest to some node of a cube, made by a work-group together. Lengths are
// cells. After nearest.glsl and the layout of the work-group, which has kLanes invocations.
//
// What may be left out: let c be the centre of a cube, b the point of a convex thing (a box or a
// triangle) that is nearest to c, and m the unit vector from b to c. The thing lies behind the plane
// through b across m, so a point c + s is at least |c - b| + m.s away from it. Some point f of the
// surface is known, so the nearest thing is at most |c + s - f| away. The first is linear in s and
// the second convex: where the first is larger at the eight corners of the cube, it is so everywhere
// in it. In the far field this keeps a place of the cube's own size, at any distance.
//
// Rounding: b and f are off by e at most (`slack` is twice that), so m is off by 2 e / |c - b|.
// Things nearer than a cell are always kept; then both sides together are off by less than
// e (3 + 2 |s|), where |s| is 6.1 at most.
const uint kMostKept = 512u;  // ids; beyond, nodes walk through the tree one by one
shared uint kept[2][kMostKept];
shared uint kept_count[2];
shared float corner_reach[8];
shared uint least_sq;  // a float's bits: those >= 0 sort as numbers do
shared uint least_frame;

float list_slack() { return 8.0 * slack; }

// From the nearest point of a box to p.
vec3 offset_from_box(uint box, vec3 p) {
  vec4 c = box_parts[4u * box], u = box_parts[4u * box + 1u], v = box_parts[4u * box + 2u];
  vec3 w = box_parts[4u * box + 3u].xyz;
  vec3 q = p - c.xyz, half_side = vec3(c.w, u.w, v.w);
  vec3 at = vec3(dot(u.xyz, q), dot(v.xyz, q), dot(w, q));
  vec3 out_of = at - clamp(at, -half_side, half_side);
  return u.xyz * out_of.x + v.xyz * out_of.y + w * out_of.z;
}

// To the farthest point of a box, squared. Empty ones are as far as any.
float farthest_sq(uint box, vec3 p) {
  vec4 c = box_parts[4u * box], u = box_parts[4u * box + 1u], v = box_parts[4u * box + 2u];
  vec3 w = box_parts[4u * box + 3u].xyz;
  vec3 q = p - c.xyz;
  return square(abs(vec3(dot(u.xyz, q), dot(v.xyz, q), dot(w, q))) + vec3(c.w, u.w, v.w));
}

vec3 cube_corner(uint k, float half_side) {
  return half_side * (2.0 * vec3(k & 1u, k >> 1u & 1u, k >> 2u) - 1.0);
}

// For may_matter: `offset` leads from a point of the surface to the cube's centre.
void set_reach(float half_side, vec3 offset) {
  uint k = gl_LocalInvocationIndex;
  barrier();
  if (k < 8u) corner_reach[k] = length(cube_corner(k, half_side) + offset) + list_slack();
  barrier();
}

// Whether something whose nearest point is `offset` away from the centre, `away` long, may be the
// nearest of some point in the cube.
bool may_matter(vec3 offset, float away, float half_side) {
  if (away < 1.0) return true;
  vec3 m = offset * (half_side / away);
  float a = m.x + m.y, b = m.x - m.y;
  float low = min(min(min(-a - m.z - corner_reach[0], b - m.z - corner_reach[1]),
                      min(-b - m.z - corner_reach[2], a - m.z - corner_reach[3])),
                  min(min(m.z - a - corner_reach[4], m.z + b - corner_reach[5]),
                      min(m.z - b - corner_reach[6], m.z + a - corner_reach[7])));
  return away + low <= 0.0;
}

void begin_list(uint to) {
  barrier();
  if (gl_LocalInvocationIndex == 0u) kept_count[to] = 0u;
  barrier();
}

void keep(uint to, uint id) {
  uint at = atomicAdd(kept_count[to], 1u);
  if (at < kMostKept) kept[to][at] = id;
}

uint end_list(uint to) {
  barrier();
  return kept_count[to];
}

// The nearest of all that the invocations have found; of equals the first in the tree.
Nearest join_nearest(Nearest mine) {
  barrier();
  if (gl_LocalInvocationIndex == 0u) {
    least_sq = 0x7f800000u;
    least_frame = kNoTriangle;
  }
  barrier();
  atomicMin(least_sq, floatBitsToUint(mine.distance_sq));
  barrier();
  if (floatBitsToUint(mine.distance_sq) == least_sq) atomicMin(least_frame, mine.frame);
  barrier();
  return Nearest(uintBitsToFloat(least_sq), least_frame);
}

Nearest find_nearest_in_blocks(uint list, uint n, vec3 p) {
  Nearest mine = Nearest(3e38, kNoTriangle);
  for (uint i = gl_LocalInvocationIndex; i < kBlock * n; i += kLanes)
    try_frame(kBlock * kept[list][i / kBlock] + i % kBlock, p, mine);
  return join_nearest(mine);
}

// The blocks that may be nearest to p, by way of levels of the tree: no further than the farthest
// point of the box where that is nearest. Returns their number and leaves them in kept[list].
uint gather_around_point(vec3 p, out uint list) {
  uint n = 1u, from = 0u;
  if (gl_LocalInvocationIndex == 0u) kept[0][0] = 0u;
  for (uint level = level_count; level-- > 0u && n <= kMostKept;) {
    uint to = 1u - from;
    begin_list(to);
    Nearest mine = Nearest(3e38, 0u);
    for (uint i = gl_LocalInvocationIndex; i < 8u * n; i += kLanes)
      mine.distance_sq = min(mine.distance_sq,
          farthest_sq(level_begin[level] + 8u * kept[from][i >> 3u] + (i & 7u), p));
    float bound = reach_sq(join_nearest(mine).distance_sq);
    for (uint i = gl_LocalInvocationIndex; i < 8u * n; i += kLanes) {
      uint child = 8u * kept[from][i >> 3u] + (i & 7u);
      if (box_distance_sq(level_begin[level] + child, p) <= bound) keep(to, child);
    }
    n = end_list(to);
    from = to;
  }
  list = from;
  return n;
}

// The blocks that may be nearest to a point of the cube around `center`. After set_reach.
uint gather_around_cube(vec3 center, float half_side, out uint list) {
  uint n = 1u, from = 0u;
  if (gl_LocalInvocationIndex == 0u) kept[0][0] = 0u;
  for (uint level = level_count; level-- > 0u && n <= kMostKept;) {
    uint to = 1u - from;
    begin_list(to);
    for (uint i = gl_LocalInvocationIndex; i < 8u * n; i += kLanes) {
      uint child = 8u * kept[from][i >> 3u] + (i & 7u);
      vec3 offset = offset_from_box(level_begin[level] + child, center);
      if (may_matter(offset, length(offset), half_side)) keep(to, child);
    }
    n = end_list(to);
    from = to;
  }
  list = from;
  return n;
}
