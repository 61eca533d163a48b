// depth_in_one.comp: which triangles are over a tile.
struct TileBox {
  ivec2 first;  // pixel
  float near, far;
};

bool meets_tile(TileBox tile, vec3 lower, vec3 upper, bool front) {
  vec2 from = vec2(tile.first) + 0.5 - kPixelRoom;
  vec2 to = min(vec2(tile.first) + 15.5, vec2(kSize) - 0.5) + kPixelRoom;
  return all(lessThanEqual(lower.xy, to)) && all(greaterThanEqual(upper.xy, from)) &&
         lower.z <= tile.far + kDepthRoom && (front || upper.z >= tile.near - kDepthRoom);
}

const vec3 kHalfSize = 0.5 * vec3(WIDTH, HEIGHT, 1);

void list_leaf(TileBox tile, uint entry, uint part) {
  uint leaf = (entry & 0xffffu) * kClusterLeaves + part, number = entry >> 16;
  DrawnInstance instance = get_instance(number);
  MeshLeaf box = load_leaf(leaf);
  if (box.count == 0u) return;
  vec4 middle = vec4(0.5 * (box.lower + box.upper), 1);
  vec3 extent = 0.5 * (box.upper - box.lower), at, reach;
  for (int axis = 0; axis < 3; ++axis) {
    vec4 row = instance.clip_from_element[axis];
    at[axis] = dot(row, middle);
    reach[axis] = dot(abs(row.xyz), extent);
  }
  reach += 1e-5 * (1 + abs(at) + reach);
  if (meets_tile(tile, (at - reach + 1) * kHalfSize, (at + reach + 1) * kHalfSize,
                 (instance.flags & kPassClosed) != 0u))
    near_leaves[atomicAdd(leaf_count, 1u)] = uvec2(box.first, number << 8 | box.count);
}

uvec2 get_candidate(uint candidate) {
  uvec2 leaf = near_leaves[candidate >> 8 & 255u];
  return uvec2(leaf.x + 3u * (candidate & 255u), leaf.y >> 8);
}

void list_candidate(TileBox tile, uint which, uint number) {
  uvec2 leaf = near_leaves[which];
  if (number >= (leaf.y & 255u)) return;
  uint corner = leaf.x + 3u * number, at = leaf.y >> 8;
  DrawnInstance instance = get_instance(at);
  vec3 c0 = to_clip(instance, corner), c1 = to_clip(instance, corner + 1u),
       c2 = to_clip(instance, corner + 2u);
  vec3 lower = (min(c0, min(c1, c2)) + 1) * kHalfSize, upper = (max(c0, max(c1, c2)) + 1) * kHalfSize;
  if (meets_tile(tile, lower, upper, (instance.flags & kPassClosed) != 0u))
    pool[min(atomicAdd(candidate_count, 1u), kCandidates - 1u)] = which << 8 | number;
}

// ---- triangles, four lanes each -----------------------------------------------------------------

void place_corner(TileBox tile, uint spot, DrawnInstance instance, uint corner) {
  vec3 clip = to_clip(instance, corner);
  spots[spot] = ivec2(to_picture(clip) * kGrid - (dvec2(tile.first) + 0.5lf) * kGrid);
  spot_depths[spot] = 0.5 * clip.z + 0.5;
}

// Depths of corners, counter-clockwise.
vec3 get_depths(uint face, bool front) {
  vec3 z = vec3(spot_depths[3u * face], spot_depths[3u * face + 1u], spot_depths[3u * face + 2u]);
  return front ? z.xzy : z;
}

double find_cross(dvec2 a, dvec2 b) { return a.x * b.y - a.y * b.x; }

// As Flat, but in the tile, and exact: the CPU sends no larger triangles.
struct Placed {
  dvec2 at[3];
  dvec3 edges;  // opposite of the corners
  double area;
  bool front;
};
Placed get_placed(uint face) {
  Placed t;
  dvec2 a = dvec2(spots[3u * face]), b = dvec2(spots[3u * face + 1u]), c = dvec2(spots[3u * face + 2u]);
  t.edges = dvec3(find_cross(b, c), find_cross(c, a), find_cross(a, b));
  t.area = t.edges.x + t.edges.y + t.edges.z;
  t.front = t.area < 0;
  t.at[0] = a;
  t.at[1] = t.front ? c : b;
  t.at[2] = t.front ? b : c;
  if (t.front) {
    t.edges = -t.edges.xzy;
    t.area = -t.area;
  }
  return t;
}

// The edge that is opposite of corner k.
void compute_side(uint face, uint k) {
  Placed t = get_placed(face);
  dvec2 a = k == 0u ? t.at[1] : k == 1u ? t.at[2] : t.at[0];
  dvec2 b = k == 0u ? t.at[2] : k == 1u ? t.at[0] : t.at[1];
  double e = k == 0u ? t.edges.x : k == 1u ? t.edges.y : t.edges.z;
  double from = -e * (1.0lf / kGrid);
  from = is_left(0.0lf, a, b) ? ceil(from) : floor(from) + 1;
  int least = int(clamp(from, -2147483000.0lf, 2147483000.0lf));
  ivec2 side = ivec2(b - a);
  int along_x = -side.y, along_y = side.x;
  faces[4u * face + k].xyz = ivec3(along_x, along_y, least);
  face_edges[3u * face + k] = e;
  int most = 7 * max(along_x, 0) + 3 * max(along_y, 0);
  uint rows = 0u;
  for (int i = 0; i < 8; ++i)
    if (most + along_x * (8 * (i & 1)) + along_y * (4 * (i >> 1)) >= least) rows |= 1u << i;
  atomicAnd(face_rows[face], rows);
}

void compute_plane(TileBox tile, uint face, uvec2 candidate) {
  Placed t = get_placed(face);
  DrawnInstance instance = get_instance(candidate.y);
  bool closed = (instance.flags & kPassClosed) != 0u;
  vec3 z = get_depths(face, t.front);
  // To no more than single precision, with a bound of what that leaves out: each term is off by a
  // few of its last bits.
  float scale = float(kGrid) / float(t.area);
  vec3 weights = vec3(t.edges) / float(t.area);
  vec2 s0 = vec2(t.at[2] - t.at[1]), s1 = vec2(t.at[0] - t.at[2]), s2 = vec2(t.at[1] - t.at[0]);
  vec3 xs = -vec3(s0.y, s1.y, s2.y) * scale, ys = vec3(s0.x, s1.x, s2.x) * scale;
  float first = dot(weights, z);
  vec2 slope = vec2(dot(xs, z), dot(ys, z));
  float room = 2e-6 * (1 + dot(abs(weights) + 15 * (abs(xs) + abs(ys)), abs(z)));
  vec2 ends = first + 15 * vec2(min(slope.x, 0) + min(slope.y, 0), max(slope.x, 0) + max(slope.y, 0));
  ends += vec2(-room, room);
  if (t.area == 0 || ends.x > tile.far || (!closed && ends.y < tile.near))
    atomicAnd(face_rows[face], 0u);
  faces[4u * face].w = floatBitsToInt(first);
  faces[4u * face + 1u].w = floatBitsToInt(room);
  faces[4u * face + 2u].w = int((t.front ? kFaceFront : 0u) | (closed ? kFaceClosed : 0u));
  faces[4u * face + 3u] = ivec4(floatBitsToInt(slope), int(candidate.x), int(instance.number));
}
