// A whole detection in one dispatch, for an answer that somebody waits for: what is started twice, or
// has to wait for all others, costs more than work done twice. A work-group takes a tile of 16 x 16
// pixels of the object's map, a lane a pixel: all that is found in a pixel stays in registers. Each
// tile finds the triangles over it by itself, from the clusters that the CPU's tree has left: by
// boxes of leaves, then by triangles. The last tile that is done writes the report.
//
// Same answers as depth_raster.comp, depth_tiles.comp, depth_within.comp and depth_finish.comp.
layout(local_size_x = 256) in;
#include "depth_frame.glsl"
#include "depth_flat.glsl"

// detail/depth_once.h has the same.
// Head, queries, instances, entries.
layout(std140, binding = 31) uniform Ask { uvec4 ask[1024]; };
layout(std430, binding = 3) readonly buffer Leaves { vec4 leaves[]; };
struct CoveredTile {
  uint number;
  float near, far;
  uint has_probe;
};
layout(std430, binding = 4) readonly buffer Covered { CoveredTile covered[]; };
layout(std430, binding = 5) coherent buffer Notes { uint notes[]; };
layout(std430, binding = 8) readonly buffer Intervals { vec2 intervals[]; };
layout(std430, binding = 9) readonly buffer Maps { IsotactMap maps[]; };
struct Hit {
  uint key, pixel;
  float z;
  uint element;  // kBack
  float way, value;
  vec2 slope;
};
layout(std430, binding = 12) coherent buffer Hits { Hit hits[]; };
layout(std430, binding = 13) coherent buffer Sums { int sums[]; };
layout(std430, binding = 15) coherent writeonly buffer Results { uint results[]; };

const uint kBack = 0x80000000u, kNone = 0xffffffffu;
const uint kLeavesACluster = 4u, kMostWords = 32u;
const ivec2 kSize = ivec2(WIDTH, HEIGHT);  // as in isotact_frame; as constants, which divide faster
const float kPixelRoom = 1.0 / 64, kDepthRoom = 1e-6;
// Notes of a query. What is a least thing is kept turned over, so that all begins with zeros.
const uint kDone = 0u, kPixels = 1u, kFirstX = 2u, kFirstY = 3u, kLastX = 4u, kLastY = 5u,
           kWithin = 6u, kKeys = 8u, kMet = 136u, kAround = 168u, kNoteStride = 200u;

uint find_asked(uint word) { return ask[word >> 2][word & 3u]; }

Instance get_instance(uint number) {
  uint at = 1u + gl_NumWorkGroups.y + 4u * number;
  Instance i;
  for (uint row = 0u; row < 3u; ++row) i.rows[row] = uintBitsToFloat(ask[at + row]);
  uvec4 rest = ask[at + 3u];
  i.number = rest.x;
  i.flags = rest.y;
  i.query = rest.z;
  i.empty = rest.w;
  return i;
}

struct Query {
  uint slot, entries, entry_count, groups;
};
Query find_query(uint number) {
  uvec4 q = ask[1u + number];
  return Query(q.x, q.y, q.z, q.w);
}

// Triangles over the tile, some at a time. Places are steps of the grid, from the middle of the tile's
// first pixel: whole numbers, as corners are snapped. Corners are counter-clockwise. With a pixel's
// place d in the tile, its middle is on the inner side of an edge where
// along_x d.x + along_y d.y >= least.
const uint kFaces = 32u;  // four lanes each
shared ivec2 spots[3u * kFaces];        // corners, not yet in order
shared float spot_depths[3u * kFaces];
// Three edges: along_x, along_y, least; in the fourth place z in the middle of the tile's first
// pixel, how far that and the slope may be off, flags. Then slope of z a pixel, corner, element.
shared ivec4 faces[4u * kFaces];
shared double face_edges[3u * kFaces];  // at the first pixel's middle
shared uint face_rows[kFaces];          // a bit for each 8 x 4 pixels that it may cover
shared uint warp_faces[8];              // of each 8 x 4 pixels: a bit a face
const uint kFaceFront = 1u, kFaceClosed = 2u;

shared uint leaf_count, candidate_count, last_group;
shared uvec2 near_leaves[256];   // first corner; instance << 8 | count
const uint kCandidates = 256u;
// Candidates: place in near_leaves << 8 | triangle there. In the end, the report.
const uint kRecordRoom = 16u + 8u * CONTACT_COUNT + kMostWords;
shared uint pool[kRecordRoom > kCandidates ? kRecordRoom : kCandidates];
// Little of it, so that all tiles run at once.
#ifdef CONTACTS
const uint kParts = 128u;
#else
const uint kParts = 64u;
#endif
shared uint told, any_hit, within, met[kMostWords], keys[kParts], hit_rows[16];
shared uint check, greatest, greatest_pixel, contacts, around_whom, places[kParts / 2u];

// ---- what is over a tile ------------------------------------------------------------------------

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
  uint leaf = (entry & 0xffffu) * kLeavesACluster + part, number = entry >> 16;
  Instance instance = get_instance(number);
  vec4 a = leaves[2u * leaf], b = leaves[2u * leaf + 1u];
  uint count = floatBitsToUint(b.w);
  if (count == 0u) return;
  vec4 middle = vec4(0.5 * (a.xyz + b.xyz), 1);
  vec3 extent = 0.5 * (b.xyz - a.xyz), at, reach;
  for (int axis = 0; axis < 3; ++axis) {
    vec4 row = instance.rows[axis];
    at[axis] = dot(row, middle);
    reach[axis] = dot(abs(row.xyz), extent);
  }
  reach += 1e-5 * (1 + abs(at) + reach);
  if (meets_tile(tile, (at - reach + 1) * kHalfSize, (at + reach + 1) * kHalfSize,
                 (instance.flags & kClosed) != 0u))
    near_leaves[atomicAdd(leaf_count, 1u)] = uvec2(floatBitsToUint(a.w), number << 8 | count);
}

uvec2 get_candidate(uint candidate) {
  uvec2 leaf = near_leaves[candidate >> 8 & 255u];
  return uvec2(leaf.x + 3u * (candidate & 255u), leaf.y >> 8);
}

void list_candidate(TileBox tile, uint which, uint number) {
  uvec2 leaf = near_leaves[which];
  if (number >= (leaf.y & 255u)) return;
  uint corner = leaf.x + 3u * number, at = leaf.y >> 8;
  Instance instance = get_instance(at);
  vec3 c0 = to_clip(instance, corner), c1 = to_clip(instance, corner + 1u),
       c2 = to_clip(instance, corner + 2u);
  vec3 lower = (min(c0, min(c1, c2)) + 1) * kHalfSize, upper = (max(c0, max(c1, c2)) + 1) * kHalfSize;
  if (meets_tile(tile, lower, upper, (instance.flags & kClosed) != 0u))
    pool[min(atomicAdd(candidate_count, 1u), kCandidates - 1u)] = which << 8 | number;
}

// ---- triangles, four lanes each -----------------------------------------------------------------

void place_corner(TileBox tile, uint spot, Instance instance, uint corner) {
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
void find_side(uint face, uint k) {
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

void find_plane(TileBox tile, uint face, uvec2 candidate) {
  Placed t = get_placed(face);
  Instance instance = get_instance(candidate.y);
  bool closed = (instance.flags & kClosed) != 0u;
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

// ---- pixels -------------------------------------------------------------------------------------

struct Best {
  float value, z;
  uint who, corner;  // element << 1 | back
#ifdef CONTACTS
  float way;
  vec2 slope;
#endif
};

bool is_better(Best best, float value, uint who, uint corner) {
  return value > best.value ||
         (value == best.value && (who < best.who || (who == best.who && corner <= best.corner)));
}

struct Pixel {
  ivec2 at, in_tile;
  bool is_probe;
  vec2 solid[LAYERS];
  float furthest;
  int windings[LAYERS];  // before each part; shaders/depth_winding.glsl
  Best deepest;
#ifdef CONTACTS
  Best contact;
#endif
};

void record_hit(inout Pixel p, uint slot, uint face, bool front, float z, vec2 interval) {
  uint element = uint(faces[4u * face + 3u].w), corner = uint(faces[4u * face + 3u].z);
  uint word = min(element >> 5, kMostWords - 1u), bit = 1u << (element & 31u);
  if ((met[word] & bit) == 0u) atomicOr(met[word], bit);
  any_hit = 1u;
  told = 1u;
  float to_near = z - interval.x, to_far = interval.y - z;
  float value = max(min(to_near, to_far), 0.0);
  uint who = element << 1 | (front ? 0u : 1u);
  if (is_better(p.deepest, value, who, corner)) {
    p.deepest.value = value;
    p.deepest.z = z;
    p.deepest.who = who;
    p.deepest.corner = corner;
  }
#ifdef CONTACTS
  // As in depth_flat.glsl and depth_hit.glsl.
  precise dvec2 sum = dvec2(0);
  double area = face_edges[3u * face] + face_edges[3u * face + 1u] + face_edges[3u * face + 2u];
  vec3 depths = get_depths(face, front);
  for (uint k = 0u; k < 3u; ++k) sum += dvec2(faces[4u * face + k].xy) * double(depths[k]);
  vec2 slope = vec2(sum * kGrid / area) * maps[slot].slope;
  float way = max(front ? to_far : to_near, 0.0);
  precise float stretch = 1.0 + (slope.x * slope.x + slope.y * slope.y);
  precise float depth = way * inversesqrt(stretch);
  if (is_better(p.contact, depth, who, corner)) p.contact = Best(depth, z, who, corner, way, slope);
#endif
}

// The same depth as everybody else computes: there in pixels, here in steps of the grid, which are
// powers of two of those. `along`: from the tile's first pixel.
float find_exact_z(uint face, bool front, ivec3 along) {
  dvec3 start = dvec3(face_edges[3u * face], face_edges[3u * face + 1u], face_edges[3u * face + 2u]);
  return find_z(start + dvec3(along) * kGrid, get_depths(face, front), start.x + start.y + start.z);
}

void test_face(inout Pixel p, uint query, uint slot, uint face) {
  ivec4 e0 = faces[4u * face], e1 = faces[4u * face + 1u], e2 = faces[4u * face + 2u];
  ivec3 along = ivec3(e0.x, e1.x, e2.x) * p.in_tile.x + ivec3(e0.y, e1.y, e2.y) * p.in_tile.y;
  if (any(lessThan(along, ivec3(e0.z, e1.z, e2.z)))) return;
  ivec4 plane = faces[4u * face + 3u];
  float z = intBitsToFloat(e0.w) + dot(intBitsToFloat(plane.xy), vec2(p.in_tile));
  float room = intBitsToFloat(e1.w);
  if (z - room > p.furthest) return;
  bool front = (uint(e2.w) & kFaceFront) != 0u;
  if (!(z + room < p.solid[0].x)) {
    // It is, or may be, where the object is.
    z = find_exact_z(face, front, along);
    // Of parts that touch, the one in which the way to its end is longer.
    bool found = false;
    vec2 interval = kNoInterval;
    for (int layer = 0; layer < LAYERS; ++layer)
      if (z >= p.solid[layer].x && z <= p.solid[layer].y && (front || !found)) {
        interval = p.solid[layer];
        found = true;
      }
    if (found && z > 0 && z < 1) record_hit(p, slot, face, front, z, interval);
  }
  if ((uint(e2.w) & kFaceClosed) == 0u) return;
  int entered = front ? 1 : -1, winding = entered * (((plane.w + 1) << 8) | 1);
  for (int layer = 0; layer < LAYERS; ++layer)
    if (z < p.solid[layer].x || z <= 0) p.windings[layer] += winding;
  if (p.is_probe && (z < p.solid[0].x || z <= 0)) {
    told = 1u;
    atomicAdd(sums[query * ask[0].x + uint(plane.w)], entered);
  }
}

// What the map has in a lane's pixel, whatever that is.
void read_solids(inout Pixel p, uint slot, ivec2 first) {
  uint me = gl_LocalInvocationIndex;
  // Lanes that run together lie together: 8 x 4.
  p.in_tile = ivec2((me & 7u) | ((me >> 5) & 1u) << 3, ((me >> 3) & 3u) | (me >> 6) << 2);
  p.at = first + p.in_tile;
  ivec2 near = min(p.at, kSize - 1);
  uint at = slot * uint(WIDTH * HEIGHT * LAYERS) + uint(near.y * WIDTH + near.x);
  for (int layer = 0; layer < LAYERS; ++layer)
    p.solid[layer] = intervals[at + uint(layer * WIDTH * HEIGHT)];
}

void begin_pixel(inout Pixel p, uint slot, bool any_probe) {
  p.deepest.value = -1;
  p.deepest.who = p.deepest.corner = kNone;
#ifdef CONTACTS
  p.contact.value = -1;
  p.contact.who = p.contact.corner = kNone;
#endif
  p.furthest = -1e30;
  bool in_object = all(lessThan(p.at, kSize));
  for (int layer = 0; layer < LAYERS; ++layer) {
    p.windings[layer] = 0;
    in_object = in_object && p.solid[layer].x <= p.solid[layer].y;
    if (!in_object) p.solid[layer] = kNoInterval;
    if (in_object) p.furthest = p.solid[layer].y;
  }
  p.is_probe = false;
  if (!any_probe || p.furthest < 0) return;
  uint region;
  uint local = isotact_probe_of(p.at, region), probe = maps[slot].probes[region];
  p.is_probe = probe != 0u && (probe & 0xfffffu) == local;
}

// All candidates, some at a time.
void test_candidates(TileBox tile, inout Pixel pixel, uint query, uint slot) {
  uint me = gl_LocalInvocationIndex, count = candidate_count;
  for (uint first = 0u; first < count; first += kFaces) {
    uint face = me >> 2 & (kFaces - 1u), k = me & 3u;
    bool is_mine = me < 4u * kFaces, is_there = is_mine && first + face < count;
    uvec2 candidate = uvec2(0);
    if (is_there) candidate = get_candidate(pool[min(first + face, kCandidates - 1u)]);
    if (me < 8u) warp_faces[min(me, 7u)] = 0u;
    if (is_there && k < 3u)
      place_corner(tile, 3u * face + min(k, 2u), get_instance(candidate.y), candidate.x + k);
    if (is_mine && k == 3u) face_rows[face] = is_there ? 255u : 0u;
    barrier();
    if (is_there && k < 3u) find_side(face, min(k, 2u));
    if (is_there && k == 3u) find_plane(tile, face, candidate);
    barrier();
    uint warp = me >> 5, lane = me & 31u;
    if ((face_rows[lane] >> warp & 1u) != 0u) atomicOr(warp_faces[warp], 1u << lane);
    barrier();
    for (uint left = warp_faces[warp]; left != 0u; left &= left - 1u)
      test_face(pixel, query, slot, uint(findLSB(left)));
    barrier();
  }
}

// ---- what a tile tells --------------------------------------------------------------------------

// As in depth_hit.glsl: the pixel is in the key, so no two are the same.
uint find_key(ivec2 pixel, float value, out uint part) {
  uvec2 size = uvec2(kSize), in_picture = uvec2(pixel) * 8u / size;
  uvec2 local = uvec2(pixel) - (in_picture * size + 7u) / 8u;
  uint bits = isotact_frame.pixel_bits;
  float levels = float((1u << min(32u - bits, 24u)) - 2u);
  part = in_picture.y * 8u + in_picture.x;
  return ((1u + uint(clamp(value, 0.0, 1.0) * levels)) << bits) |
         ((1u << bits) - 1u - (local.y * isotact_frame.part_size.x + local.x));
}

// The pixel of a key.
uint find_pixel(uint part, uint key) {
  uint bits = isotact_frame.pixel_bits;
  uint local = (1u << bits) - 1u - (key & ((1u << bits) - 1u));
  uvec2 size = uvec2(kSize);
  uvec2 pixel = (uvec2(part % 8u, part / 8u) * size + 7u) / 8u +
                uvec2(local % isotact_frame.part_size.x, local / isotact_frame.part_size.x);
  return min(pixel.y, size.y - 1u) * size.x + min(pixel.x, size.x - 1u);
}

void note_within(Pixel p, uint note) {
  for (int layer = 0; layer < LAYERS; ++layer) {
    // Below zero: a room that is turned inwards, with the object outside of its solid.
    int sum = p.windings[layer], count = (sum << 24) >> 24;
    if (count <= 0 || p.solid[layer].x > p.solid[layer].y) continue;
    told = 1u;
    atomicMax(within, ~uint(p.at.y * WIDTH + p.at.x));
    if (count != 1) continue;
    uint element = uint((sum - 1) >> 8) - 1u;
    if (element >= ask[0].x) continue;  // of several that do not close
    uint word = note + kAround + (element >> 5), bit = 1u << (element & 31u);
    if ((notes[word] & bit) == 0u) atomicOr(notes[word], bit);
  }
}

void keep_hit(ivec2 pixel, Best best, uint part, uint key, uint first_key, uint note, uint place) {
  if (keys[first_key + part] != key) return;
  atomicMax(notes[note + kKeys + first_key + part], key);
  Hit hit;
  hit.key = key;
  hit.pixel = uint(pixel.y * WIDTH + pixel.x);
  hit.z = best.z;
  hit.element = best.who >> 1 | (best.who & 1u) << 31;
#ifdef CONTACTS
  hit.way = best.way;
  hit.slope = best.slope;
#endif
  hit.value = best.value;
  hits[place + hit.pixel] = hit;
}

// How many pixels of the tile are hit, and from where to where.
void note_pixels(ivec2 first, uint note) {
  uint count = 0u, columns = 0u, rows = 0u;
  for (uint y = 0u; y < 16u; ++y) {
    uint row = hit_rows[y];
    count += uint(bitCount(row));
    columns |= row;
    rows |= row != 0u ? 1u << y : 0u;
  }
  atomicAdd(notes[note + kPixels], count);
  atomicMax(notes[note + kFirstX], ~uint(first.x + findLSB(columns)));
  atomicMax(notes[note + kFirstY], ~uint(first.y + findLSB(rows)));
  atomicMax(notes[note + kLastX], uint(first.x + findMSB(columns)));
  atomicMax(notes[note + kLastY], uint(first.y + findMSB(rows)));
}

void tell(Pixel p, uint query, ivec2 first) {
  uint me = gl_LocalInvocationIndex, note = query * kNoteStride;
  bool has_hit = p.deepest.who != kNone;
  uint part = 0u, key = 0u, contact_part = 0u, contact_key = 0u;
  if (has_hit) {
    atomicOr(hit_rows[p.in_tile.y & 15], 1u << p.in_tile.x);
    key = find_key(p.at, p.deepest.value, part);
    atomicMax(keys[part], key);
#ifdef CONTACTS
    contact_key = find_key(p.at, p.contact.value, contact_part);
    atomicMax(keys[64u + contact_part], contact_key);
#endif
  }
  barrier();
  if (has_hit) {
    uint place = query * isotact_frame.hit_room;
    keep_hit(p.at, p.deepest, part, key, 0u, note, place);
#ifdef CONTACTS
    keep_hit(p.at, p.contact, contact_part, contact_key, 64u, note, place + isotact_frame.pixels);
#endif
  }
  uint word = min(me, kMostWords - 1u);
  if (me < kMostWords && met[word] != 0u) atomicOr(notes[note + kMet + word], met[word]);
  if (me == 64u && within != 0u) atomicMax(notes[note + kWithin], within);
  if (me == 96u && any_hit != 0u) note_pixels(first, note);
}

// ---- the report ---------------------------------------------------------------------------------

#ifdef CONTACTS
void put_contact(uint part, Hit hit) {
  uint place = 0u;
  for (uint other = 0u; other < 64u; ++other)
    if (keys[64u + other] != kNone &&
        (keys[64u + other] > keys[64u + part] ||
         (keys[64u + other] == keys[64u + part] && places[other] < hit.pixel)))
      ++place;
  if (place >= isotact_frame.max_contacts) return;
  atomicAdd(contacts, 1u);
  bool back = (hit.element & kBack) != 0u;
  vec3 normal = normalize(vec3(hit.slope, -1)) * (back ? -1.0 : 1.0);
  uint to = 16u + 8u * place;
  pool[to] = hit.pixel;
  pool[to + 1u] = hit.element & ~kBack;
  pool[to + 2u] = floatBitsToUint(hit.z);
  pool[to + 3u] = floatBitsToUint(back ? -hit.way : hit.way);
  for (uint i = 0u; i < 3u; ++i) pool[to + 4u + i] = floatBitsToUint(normal[i]);
  pool[to + 7u] = floatBitsToUint(hit.value);
}
#endif

// Elements that are around the object at one of the map's probes.
void find_around(uint query) {
  uint elements = ask[0].x;
  for (uint e = gl_LocalInvocationIndex; e < elements; e += gl_WorkGroupSize.x) {
    int sum = sums[query * elements + e];
    if (sum == 0) continue;
    sums[query * elements + e] = 0;
    if (sum > 0) atomicOr(met[min(e >> 5, kMostWords - 1u)], 1u << (e & 31u));
  }
}

void put_elements(uint note_word, uint pixels) {
  uint i = min(gl_LocalInvocationIndex, kMostWords - 1u);
  if (gl_LocalInvocationIndex >= ask[0].y) return;
  uint word = pixels > 0u ? note_word : note_word | met[i];
  pool[16u + 8u * isotact_frame.max_contacts + i] = word;
  if (pixels == 0u && word != 0u) atomicMin(around_whom, 32u * i + uint(findLSB(word)));
}

// So that whoever waits sees by the words alone whether all of them have come.
uint mix_word(uint word, uint number, uint serial) {
  uint x = word ^ (serial * 0x9e3779b9u + number * 0x85ebca6bu);
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

// Pixels, where they begin and end, and what the map itself has to say.
void put_head(uint slot, uint pixels, uvec2 first, uvec2 last, uint inside) {
  pool[0] = pixels;
  pool[2] = contacts;
  pool[3] = pixels > 0u ? ~first.x : uint(WIDTH);
  pool[4] = pixels > 0u ? ~first.y : uint(HEIGHT);
  pool[5] = pixels > 0u ? last.x : kNone;
  pool[6] = pixels > 0u ? last.y : kNone;
  if (pixels == 0u && inside != 0u) {
    // A place of the object that lies within an element: in the middle of its first part.
    vec2 solid = intervals[slot * isotact_frame.pixels * uint(LAYERS) + ~inside];
    pool[1] = 1u;
    pool[7] = ~inside;
    pool[8] = min(around_whom, ask[0].x - 1u);
    pool[9] = floatBitsToUint(0.5 * (solid.x + solid.y));
  }
  pool[11] = maps[slot].lost;
  pool[12] = maps[slot].covered;
  pool[13] = maps[slot].overfull;
  pool[14] = maps[slot].open;
  pool[15] = slot;
}

// Words, then what proves them: whoever waits need not ask the driver.
void write_record(uint query, uint length) {
  uint me = gl_LocalInvocationIndex, serial = ask[0].w, to = query * ask[0].z, sum = 0u;
  for (uint i = me; i < length; i += gl_WorkGroupSize.x) {
    results[to + i] = pool[i];
    sum += mix_word(pool[i], i, serial);
  }
  if (sum != 0u) atomicAdd(check, sum);
  barrier();
  if (me != 0u) return;
  results[to + ask[0].z - 2u] = serial;
  results[to + ask[0].z - 1u] = check;
}

void finish(uint query, uint slot) {
  uint me = gl_LocalInvocationIndex, note = query * kNoteStride, part = min(me, kParts - 1u);
  uint key = me < kParts ? notes[note + kKeys + part] : 0u;
  uint pixels = notes[note + kPixels], inside = notes[note + kWithin];
  uvec2 first = uvec2(notes[note + kFirstX], notes[note + kFirstY]);
  uvec2 last = uvec2(notes[note + kLastX], notes[note + kLastY]);
  uint word = notes[note + (pixels > 0u ? kMet : kAround) + min(me, kMostWords - 1u)];
  uint length = 16u + 8u * isotact_frame.max_contacts + ask[0].y;
  for (uint i = me; i < length; i += gl_WorkGroupSize.x) pool[i] = 0u;
  if (me < kMostWords) met[min(me, kMostWords - 1u)] = 0u;
  if (me == 0u) {
    greatest = contacts = check = 0u;
    greatest_pixel = around_whom = kNone;
  }
  Hit hit;
  if (key != 0u) {
    uint place = query * isotact_frame.hit_room + (part < 64u ? 0u : isotact_frame.pixels);
    hit = hits[place + find_pixel(part & 63u, key)];
  }
  if (me < kParts) keys[part] = key != 0u ? floatBitsToUint(hit.value) : kNone;
#ifdef CONTACTS
  if (me >= 64u && key != 0u) places[part & 63u] = hit.pixel;
#endif
  barrier();
  if (me < 64u && key != 0u) atomicMax(greatest, keys[part]);
#ifdef CONTACTS
  if (me >= 64u && key != 0u) put_contact(part & 63u, hit);
#endif
  if (isotact_is(kFindInside)) find_around(query);
  barrier();
  bool mine = me < 64u && key != 0u && keys[part] == greatest;
  if (mine) atomicMin(greatest_pixel, hit.pixel);
  put_elements(word, pixels);
  barrier();
  if (mine && hit.pixel == greatest_pixel) {
    pool[7] = hit.pixel;
    pool[8] = hit.element & ~kBack;
    pool[9] = floatBitsToUint(hit.z);
    pool[10] = floatBitsToUint(hit.value);
  }
  if (me == 128u) put_head(slot, pixels, first, last, inside);
  barrier();
  write_record(query, length);
  for (uint i = me; i < kNoteStride; i += gl_WorkGroupSize.x) notes[note + i] = 0u;
}

void main() {
  uint me = gl_LocalInvocationIndex, number = gl_WorkGroupID.y;
  Query query = find_query(number);
  if (gl_WorkGroupID.x >= query.groups) return;
  CoveredTile of = covered[query.slot * TILES + gl_WorkGroupID.x];
  const int across = (WIDTH + 15) / 16;
  TileBox tile = TileBox(ivec2(int(of.number) % across, int(of.number) / across) * 16, of.near, of.far);
  Pixel pixel;
  // What is read is not needed for a while.
  read_solids(pixel, query.slot, tile.first);
  if (me == 0u) told = any_hit = within = 0u;
  if (me < kMostWords) met[min(me, kMostWords - 1u)] = 0u;
  if (me < kParts) keys[min(me, kParts - 1u)] = 0u;
  if (me < 16u) hit_rows[min(me, 15u)] = 0u;
  bool begun = false;
  uint leaf_total = kLeavesACluster * query.entry_count;
  for (uint first = 0u; first < leaf_total; first += 256u) {
    if (me == 0u) leaf_count = 0u;
    barrier();
    uint item = first + me;
    if (item < leaf_total)
      list_leaf(tile, find_asked(query.entries + item / kLeavesACluster), item % kLeavesACluster);
    barrier();
    uint some = 0u, step = 256u, leaf_end = leaf_count;
    while (some < leaf_end) {
      if (me == 0u) candidate_count = 0u;
      barrier();
      uint end = min(some + step, leaf_end);
      for (uint which = some + me / 32u; which < end; which += 8u)
        list_candidate(tile, min(which, 255u), me % 32u);
      barrier();
      if (candidate_count > kCandidates) {
        // Again, of so few leaves that there is room for all. (Nobody begins before all know.)
        step = kCandidates / 32u;
        barrier();
        continue;
      }
      some = end;
      if (candidate_count == 0u) continue;
      if (!begun) begin_pixel(pixel, query.slot, of.has_probe != 0u);
      begun = true;
      test_candidates(tile, pixel, number, query.slot);
    }
  }
  if (begun) note_within(pixel, number * kNoteStride);
  barrier();
  if (told != 0u) {
    tell(pixel, number, tile.first);
    memoryBarrierBuffer();
    barrier();
  }
  if (me == 0u) last_group = atomicAdd(notes[number * kNoteStride + kDone], 1u);
  barrier();
  if (last_group + 1u != query.groups) return;
  memoryBarrierBuffer();
  finish(number, query.slot);
}
