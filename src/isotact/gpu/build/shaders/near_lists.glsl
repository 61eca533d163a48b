// Lists of blocks of triangles that may be nearest to some point of a cube, made by a work-group of
// kSearchGroup invocations together. Lengths are cells. After nearest.glsl.
//
// What may be left out: let c be the centre of a cube, b the point of a convex thing (a box or a
// triangle) that is nearest to c, and m the unit vector from b to c. The thing lies behind the plane
// through b across m, so a point c + s is at least |c - b| + m.s away from it. Some point f of the
// surface is known, so the nearest thing is at most |c + s - f| away. The first is linear in s and
// the second convex: where the first is larger at the eight corners of the cube, it is so everywhere
// in it. However far away, what is kept is hardly larger than the cube.
//
// Rounding: b and f are off by e at most (`slack` is twice that), so m is off by 2 e / |c - b|.
// Things nearer than a cell are always kept; then both sides together are off by less than
// e (4 + 2 |s|), where |s| is 6.1 at most.
const uint kMostKept = 384u;
shared uint kept[2][kMostKept];
shared uint kept_count;
shared float corner_reach[8];
shared uint least_sq;  // a float's bits: those >= 0 sort as numbers do
shared uint least_id;

float list_slack() { return 9.0 * slack; }

// From the nearest point of a box to p. Empty ones are as far as any.
vec3 offset_from_box(uint number, vec3 p) {
  TurnedBox box = load_box(number);
  vec3 at = to_box(box, p);
  vec3 out_of = max(abs(at) - box_halves(box), vec3(0.0));
  out_of = mix(out_of, -out_of, lessThan(at, vec3(0.0)));
  return box.u * out_of.x + box.v * out_of.y + box.w * out_of.z;
}

// To the farthest point of a box, squared.
float farthest_sq(uint number, vec3 p) {
  TurnedBox box = load_box(number);
  return square(abs(to_box(box, p)) + box_halves(box));
}

vec3 cube_corner(uint k, float half_side) {
  return half_side * (2.0 * vec3(k & 1u, k >> 1u & 1u, k >> 2u) - 1.0);
}

// For may_matter: how far the surface can be from a corner of the cube, told by invocation k.
void set_reach(float of_corner_k) {
  barrier();
  if (gl_LocalInvocationIndex < 8u)
    corner_reach[gl_LocalInvocationIndex] = of_corner_k + list_slack();
  barrier();
}

// Whether something may be nearest to a point of the cube: its nearest point to the centre is
// `offset` away from that, of length `away`.
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

void begin_list() {
  barrier();
  if (gl_LocalInvocationIndex == 0u) kept_count = 0u;
  barrier();
}

void keep_box(uint to, uint id, uint box, vec3 center, float half_side) {
  vec3 offset = offset_from_box(box, center);
  if (!may_matter(offset, length(offset), half_side)) return;
  uint at = atomicAdd(kept_count, 1u);
  if (at < kMostKept) kept[to][at] = id;
}

uint end_list() {
  barrier();
  return kept_count;
}

// The nearest of all that the invocations have found; of equals the first.
Nearest join_nearest(Nearest mine) {
  barrier();
  if (gl_LocalInvocationIndex == 0u) {
    least_sq = 0x7f800000u;
    least_id = kNoTriangle;
  }
  barrier();
  atomicMin(least_sq, floatBitsToUint(mine.distance_sq));
  barrier();
  if (floatBitsToUint(mine.distance_sq) == least_sq) atomicMin(least_id, mine.frame);
  barrier();
  return Nearest(uintBitsToFloat(least_sq), least_id);
}

// Of the n blocks in kept[from], puts those into the other list that may matter to a cube.
uint filter_blocks(uint from, uint n, vec3 center, float half_side) {
  begin_list();
  for (uint i = gl_LocalInvocationIndex; i < n; i += kSearchGroup)
    keep_box(1u - from, kept[from][i], level_begin[0] + kept[from][i], center, half_side);
  return end_list();
}

// The blocks that may matter to a cube, level by level. A triangle of the box that reaches least far
// tells how far the surface can be. Returns their number, more than kMostKept where that is too many
// (then there are none); they are in kept[list]. `seed` is the last of those triangles.
uint gather_blocks(vec3 center, float half_side, out uint list, out uint seed) {
  uint n = 1u, lane = gl_LocalInvocationIndex;
  list = 0u;
  if (lane == 0u) kept[0][0] = 0u;
  for (uint level = level_count; level-- > 0u && n <= kMostKept;) {
    barrier();
    Nearest mine = Nearest(3e38, 0u);
    for (uint i = lane; i < kTreeWidth * n; i += kSearchGroup) {
      uint child = kTreeWidth * kept[list][i / kTreeWidth] + i % kTreeWidth;
      float d = farthest_sq(level_begin[level] + child, center);
      if (d < mine.distance_sq) mine = Nearest(d, child);
    }
    seed = (join_nearest(mine).frame << (3u * level)) * kTreeBlock;
    set_reach(length(cube_corner(lane & 7u, half_side) + offset_from(seed, center)));
    begin_list();
    for (uint i = lane; i < kTreeWidth * n; i += kSearchGroup) {
      uint child = kTreeWidth * kept[list][i / kTreeWidth] + i % kTreeWidth;
      keep_box(1u - list, child, level_begin[level] + child, center, half_side);
    }
    n = end_list();
    list = 1u - list;
  }
  return n;
}
