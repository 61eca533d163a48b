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
layout(std430, binding = 2) readonly buffer Ask { uint asked[]; };  // frame, queries, entries
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

#ifdef TRACE
layout(std430, binding = 10) buffer Trace { uint traces[]; };
uint trace_start;
void trace(uint k) {
  if (gl_LocalInvocationIndex == 0u)
    traces[(gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * 8u + k] = clock2x32ARB().x - trace_start;
}
#else
#define trace(k)
#endif
const uint kBack = 0x80000000u, kNone = 0xffffffffu;
const uint kLeavesACluster = 4u, kMostWords = 32u;
const ivec2 kSize = ivec2(WIDTH, HEIGHT);  // as in isotact_frame; as constants, which divide faster
const float kPixelRoom = 1.0 / 64, kDepthRoom = 1e-6;
// Notes of a query. What is a least thing is kept turned over, so that all begins with zeros.
const uint kDone = 0u, kPixels = 1u, kFirstX = 2u, kFirstY = 3u, kLastX = 4u, kLastY = 5u,
           kWithin = 6u, kKeys = 8u, kMet = 136u, kAround = 168u, kNoteStride = 200u;

struct Query {
  uint slot, entries, entry_count, groups;
};
Query find_query(uint number) {
  uint at = 4u + 4u * number;
  return Query(asked[at], asked[at + 1u], asked[at + 2u], asked[at + 3u]);
}

// A triangle over the tile. With the pixel's place d in the tile, its middle is on the inner side of
// an edge where along_x d.x + along_y d.y >= least: whole numbers, as corners are snapped.
struct Face {
  dvec2 at[3];  // as in a Flat, not yet in order
  float depths[3];
  int along_x[3], along_y[3], least[3];
  float z, room;  // in the middle of the tile's first pixel; how far that and the slope may be off
  vec2 slope;     // of z, a pixel
  uint corner, element, flags;
};
// Wide: edges that do not fit into whole numbers.
const uint kFaceFront = 1u, kFaceClosed = 2u, kFaceWide = 4u;
const uint kFaces = 64u;  // at once, four lanes each

shared uint leaf_count, candidate_count, last_group;
shared uvec2 near_leaves[256];   // first corner; instance << 8 | count
shared uvec2 candidates[1024];   // of 32 leaves: corner, instance
shared Face faces[kFaces];
shared uint dropped[2];          // a bit a face: not over the tile
shared uint told, any_hit, within, met[kMostWords], keys[128], hit_rows[16];
shared uint record[16 + 8 * 64 + 32], check;
shared uint greatest, greatest_pixel, contacts, around_whom, values[128], places[64];

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
  uint leaf = (entry & 0xffffu) * kLeavesACluster + part, instance = entry >> 16;
  vec4 a = leaves[2u * leaf], b = leaves[2u * leaf + 1u];
  uint count = floatBitsToUint(b.w);
  if (count == 0u) return;
  vec4 middle = vec4(0.5 * (a.xyz + b.xyz), 1);
  vec3 extent = 0.5 * (b.xyz - a.xyz), at, reach;
  for (int axis = 0; axis < 3; ++axis) {
    vec4 row = instances[instance].rows[axis];
    at[axis] = dot(row, middle);
    reach[axis] = dot(abs(row.xyz), extent);
  }
  reach += 1e-5 * (1 + abs(at) + reach);
  if (meets_tile(tile, (at - reach + 1) * kHalfSize, (at + reach + 1) * kHalfSize,
                 (instances[instance].flags & kClosed) != 0u))
    near_leaves[atomicAdd(leaf_count, 1u)] = uvec2(floatBitsToUint(a.w), instance << 8 | count);
}

void list_candidate(TileBox tile, uvec2 leaf, uint number) {
  if (number >= (leaf.y & 255u)) return;
  uint corner = leaf.x + 3u * number, at = leaf.y >> 8;
  Instance instance = instances[at];
  vec3 c0 = to_clip(instance, corner), c1 = to_clip(instance, corner + 1u),
       c2 = to_clip(instance, corner + 2u);
  vec3 lower = (min(c0, min(c1, c2)) + 1) * kHalfSize, upper = (max(c0, max(c1, c2)) + 1) * kHalfSize;
  if (meets_tile(tile, lower, upper, (instance.flags & kClosed) != 0u))
    candidates[min(atomicAdd(candidate_count, 1u), 1023u)] = uvec2(corner, at);
}

// ---- triangles, four lanes each -----------------------------------------------------------------

void place_corner(uint face, uint k, uvec2 candidate) {
  vec3 clip = to_clip(instances[candidate.y], candidate.x + k);
  faces[face].at[k] = to_picture(clip);
  faces[face].depths[k] = 0.5 * clip.z + 0.5;
}

Flat get_flat(uint face) {
  Flat t;
  t.at[0] = faces[face].at[0];
  t.at[1] = faces[face].at[1];
  t.at[2] = faces[face].at[2];
  t.z = vec3(faces[face].depths[0], faces[face].depths[1], faces[face].depths[2]);
  turn_flat(t);
  return t;
}

void drop_face(uint face) { atomicOr(dropped[face >> 5], 1u << (face & 31u)); }

// Edges of 16384 pixels and more do not fit into whole numbers.
bool is_wide(Flat t) {
  dvec2 lower = min(t.at[0], min(t.at[1], t.at[2])), upper = max(t.at[0], max(t.at[1], t.at[2]));
  return max(upper.x - lower.x, upper.y - lower.y) > 16384.0lf;
}

// The edge that is opposite of corner k.
void find_side(TileBox tile, uint face, uint k) {
  Flat t = get_flat(face);
  dvec2 a = k == 0u ? t.at[1] : k == 1u ? t.at[2] : t.at[0];
  dvec2 b = k == 0u ? t.at[2] : k == 1u ? t.at[0] : t.at[1];
  if (is_wide(t)) return;
  double least = -find_edge(a, b, dvec2(tile.first) + 0.5lf) * kGrid;
  // Middles on an edge belong to one of its two triangles.
  least = is_left(0.0lf, a, b) ? ceil(least) : floor(least) + 1;
  ivec2 along = ivec2((b - a) * kGrid);
  int need = int(clamp(least, -2147483000.0lf, 2147483000.0lf));
  faces[face].along_x[k] = -along.y;
  faces[face].along_y[k] = along.x;
  faces[face].least[k] = need;
  if (15 * (max(-along.y, 0) + max(along.x, 0)) < need) drop_face(face);
}

void find_plane(TileBox tile, uint face, uvec2 candidate) {
  Flat t = get_flat(face);
  if (t.area == 0) {
    drop_face(face);
    return;
  }
  uint flags = instances[candidate.y].flags & kClosed;
  bool closed = flags != 0u, wide = is_wide(t);
  flags = (t.front ? kFaceFront : 0u) | (closed ? kFaceClosed : 0u) | (wide ? kFaceWide : 0u);
  dvec2 p = dvec2(tile.first) + 0.5lf;
  double sum = find_edge(t.at[1], t.at[2], p) * double(t.z.x) +
               find_edge(t.at[2], t.at[0], p) * double(t.z.y) +
               find_edge(t.at[0], t.at[1], p) * double(t.z.z);
  float z = float(sum / t.area);
  vec2 slope = find_slope(t);
  float reach = 15 * (abs(slope.x) + abs(slope.y));
  float highest = max(abs(t.z.x), max(abs(t.z.y), abs(t.z.z)));
  float room = 1e-6 * (1 + abs(z) + reach + highest);
  // Of slivers the slope is not known well.
  if (t.area < 1.0 / 256 || wide) room = 1e30;
  vec2 ends = z + 15 * vec2(min(slope.x, 0) + min(slope.y, 0), max(slope.x, 0) + max(slope.y, 0));
  ends += vec2(-room, room);
  if (ends.x > tile.far || (!closed && ends.y < tile.near)) drop_face(face);
  faces[face].z = z;
  faces[face].room = room;
  faces[face].slope = slope;
  faces[face].corner = candidate.x;
  faces[face].element = instances[candidate.y].number;
  faces[face].flags = flags;
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

void record_hit(inout Pixel p, uint slot, uint face, float z, vec2 interval) {
  uint element = faces[face].element;
  bool front = (faces[face].flags & kFaceFront) != 0u;
  uint word = min(element >> 5, kMostWords - 1u), bit = 1u << (element & 31u);
  if ((met[word] & bit) == 0u) atomicOr(met[word], bit);
  any_hit = 1u;
  told = 1u;
  float to_near = z - interval.x, to_far = interval.y - z;
  float value = max(min(to_near, to_far), 0.0);
  uint who = element << 1 | (front ? 0u : 1u), corner = faces[face].corner;
  if (is_better(p.deepest, value, who, corner)) {
    p.deepest.value = value;
    p.deepest.z = z;
    p.deepest.who = who;
    p.deepest.corner = corner;
  }
#ifdef CONTACTS
  // As in depth_hit.glsl.
  float way = max(front ? to_far : to_near, 0.0);
  vec2 slope = faces[face].slope * maps[slot].slope;
  precise float stretch = 1.0 + (slope.x * slope.x + slope.y * slope.y);
  precise float depth = way * inversesqrt(stretch);
  if (is_better(p.contact, depth, who, corner)) p.contact = Best(depth, z, who, corner, way, slope);
#endif
}

void test_face(inout Pixel p, uint query, uint slot, uint face) {
  uint flags = faces[face].flags;
  bool wide = (flags & kFaceWide) != 0u;
  ivec3 e = ivec3(faces[face].along_x[0], faces[face].along_x[1], faces[face].along_x[2]) * p.in_tile.x +
            ivec3(faces[face].along_y[0], faces[face].along_y[1], faces[face].along_y[2]) * p.in_tile.y;
  ivec3 least = ivec3(faces[face].least[0], faces[face].least[1], faces[face].least[2]);
  if (any(lessThan(e, least)) && !wide) return;
  float z = faces[face].z + dot(faces[face].slope, vec2(p.in_tile)), room = faces[face].room;
  if (z - room > p.furthest) return;
  if (z + room >= p.solid[0].x) {
    // It is, or may be, where the object is: the same depth as everybody else computes.
    if (!find_depth(get_flat(face), p.at, z)) return;
    // Of parts that touch, the one in which the way to its end is longer.
    bool front = (flags & kFaceFront) != 0u, found = false;
    vec2 interval = kNoInterval;
    for (int layer = 0; layer < LAYERS; ++layer)
      if (z >= p.solid[layer].x && z <= p.solid[layer].y && (front || !found)) {
        interval = p.solid[layer];
        found = true;
      }
    if (found && z > 0 && z < 1) record_hit(p, slot, face, z, interval);
  }
  if ((flags & kFaceClosed) == 0u) return;
  uint element = faces[face].element;
  int entered = (flags & kFaceFront) != 0u ? 1 : -1;
  int winding = entered * int(((element + 1u) << 8) | 1u);
  for (int layer = 0; layer < LAYERS; ++layer)
    if (z < p.solid[layer].x || z <= 0) p.windings[layer] += winding;
  if (p.is_probe && (z < p.solid[0].x || z <= 0)) {
    told = 1u;
    atomicAdd(sums[query * asked[0] + element], entered);
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
  uint me = gl_LocalInvocationIndex, count = min(candidate_count, 1024u);
  for (uint first = 0u; first < count; first += kFaces) {
    uint face = me >> 2, k = me & 3u;
    bool is_there = first + face < count;
    uvec2 candidate = candidates[min(first + face, 1023u)];
    if (me < 2u) dropped[min(me, 1u)] = 0u;
    if (is_there && k < 3u) place_corner(face, min(k, 2u), candidate);
    barrier();
    if (is_there && k < 3u) find_side(tile, face, min(k, 2u));
    if (is_there && k == 3u) find_plane(tile, face, candidate);
    barrier();
    for (uint word = 0u; word < 2u; ++word) {
      uint there = min(count - first, kFaces), start = 32u * word;
      if (there <= start) break;
      uint left = ~dropped[word] & (there - start >= 32u ? kNone : (1u << (there - start)) - 1u);
      for (; left != 0u; left &= left - 1u)
        test_face(pixel, query, slot, start + uint(findLSB(left)));
    }
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
    if (element >= asked[0]) continue;  // of several that do not close
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

void put_contact(uint part, Hit hit) {
  uint place = 0u;
  for (uint other = 0u; other < 64u; ++other)
    if (values[64u + other] != kNone &&
        (values[64u + other] > values[64u + part] ||
         (values[64u + other] == values[64u + part] && places[other] < hit.pixel)))
      ++place;
  if (place >= isotact_frame.max_contacts) return;
  atomicAdd(contacts, 1u);
  bool back = (hit.element & kBack) != 0u;
  vec3 normal = normalize(vec3(hit.slope, -1)) * (back ? -1.0 : 1.0);
  uint to = 16u + 8u * place;
  record[to] = hit.pixel;
  record[to + 1u] = hit.element & ~kBack;
  record[to + 2u] = floatBitsToUint(hit.z);
  record[to + 3u] = floatBitsToUint(back ? -hit.way : hit.way);
  for (uint i = 0u; i < 3u; ++i) record[to + 4u + i] = floatBitsToUint(normal[i]);
  record[to + 7u] = floatBitsToUint(hit.value);
}

// Elements that are around the object at one of the map's probes.
void find_around(uint query) {
  uint elements = asked[0];
  for (uint e = gl_LocalInvocationIndex; e < elements; e += gl_WorkGroupSize.x) {
    int sum = sums[query * elements + e];
    if (sum == 0) continue;
    sums[query * elements + e] = 0;
    if (sum > 0) atomicOr(met[min(e >> 5, kMostWords - 1u)], 1u << (e & 31u));
  }
}

void put_elements(uint note_word, uint pixels) {
  uint i = min(gl_LocalInvocationIndex, kMostWords - 1u);
  if (gl_LocalInvocationIndex >= asked[1]) return;
  uint word = pixels > 0u ? note_word : note_word | met[i];
  record[16u + 8u * isotact_frame.max_contacts + i] = word;
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
  record[0] = pixels;
  record[2] = contacts;
  record[3] = pixels > 0u ? ~first.x : uint(WIDTH);
  record[4] = pixels > 0u ? ~first.y : uint(HEIGHT);
  record[5] = pixels > 0u ? last.x : kNone;
  record[6] = pixels > 0u ? last.y : kNone;
  if (pixels == 0u && inside != 0u) {
    // A place of the object that lies within an element: in the middle of its first part.
    vec2 solid = intervals[slot * isotact_frame.pixels * uint(LAYERS) + ~inside];
    record[1] = 1u;
    record[7] = ~inside;
    record[8] = min(around_whom, asked[0] - 1u);
    record[9] = floatBitsToUint(0.5 * (solid.x + solid.y));
  }
  record[11] = maps[slot].lost;
  record[12] = maps[slot].covered;
  record[13] = maps[slot].overfull;
  record[14] = maps[slot].open;
  record[15] = slot;
}

// Words, then what proves them: whoever waits need not ask the driver.
void write_record(uint query, uint length) {
  uint me = gl_LocalInvocationIndex, serial = asked[3], to = query * asked[2], sum = 0u;
  for (uint i = me; i < length; i += gl_WorkGroupSize.x) {
    results[to + i] = record[i];
    sum += mix_word(record[i], i, serial);
  }
  if (sum != 0u) atomicAdd(check, sum);
  barrier();
  if (me != 0u) return;
  results[to + asked[2] - 2u] = serial;
  results[to + asked[2] - 1u] = check;
}

void finish(uint query, uint slot) {
  uint me = gl_LocalInvocationIndex, note = query * kNoteStride, part = min(me, 127u);
  uint key = me < 128u ? notes[note + kKeys + part] : 0u;
  uint pixels = notes[note + kPixels], inside = notes[note + kWithin];
  uvec2 first = uvec2(notes[note + kFirstX], notes[note + kFirstY]);
  uvec2 last = uvec2(notes[note + kLastX], notes[note + kLastY]);
  uint word = notes[note + (pixels > 0u ? kMet : kAround) + min(me, kMostWords - 1u)];
  uint length = 16u + 8u * isotact_frame.max_contacts + asked[1];
  for (uint i = me; i < length; i += gl_WorkGroupSize.x) record[i] = 0u;
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
  if (me < 128u) values[part] = key != 0u ? floatBitsToUint(hit.value) : kNone;
  if (me >= 64u && key != 0u) places[part & 63u] = hit.pixel;
  barrier();
  if (me < 64u && key != 0u) atomicMax(greatest, values[part]);
  if (me >= 64u && key != 0u) put_contact(part & 63u, hit);
  if (isotact_is(kFindInside)) find_around(query);
  barrier();
  bool mine = me < 64u && key != 0u && values[part] == greatest;
  if (mine) atomicMin(greatest_pixel, hit.pixel);
  put_elements(word, pixels);
  barrier();
  if (mine && hit.pixel == greatest_pixel) {
    record[7] = hit.pixel;
    record[8] = hit.element & ~kBack;
    record[9] = floatBitsToUint(hit.z);
    record[10] = floatBitsToUint(hit.value);
  }
  if (me == 128u) put_head(slot, pixels, first, last, inside);
  barrier();
  write_record(query, length);
  for (uint i = me; i < kNoteStride; i += gl_WorkGroupSize.x) notes[note + i] = 0u;
}

void main() {
  uint me = gl_LocalInvocationIndex, number = gl_WorkGroupID.y;
#ifdef TRACE
  trace_start = clock2x32ARB().x;
#endif
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
  if (me < 128u) keys[min(me, 127u)] = 0u;
  if (me < 16u) hit_rows[min(me, 15u)] = 0u;
  trace(0u);
  bool begun = false;
  uint leaf_total = kLeavesACluster * query.entry_count;
  for (uint first = 0u; first < leaf_total; first += 256u) {
    if (me == 0u) leaf_count = 0u;
    barrier();
    uint item = first + me;
    if (item < leaf_total)
      list_leaf(tile, asked[query.entries + item / kLeavesACluster], item % kLeavesACluster);
    barrier();
    if (first == 0u) trace(1u);
    for (uint some = 0u; some < leaf_count; some += 32u) {
      if (me == 0u) candidate_count = 0u;
      barrier();
      for (uint which = some + me / 32u; which < min(some + 32u, leaf_count); which += 8u)
        list_candidate(tile, near_leaves[min(which, 255u)], me % 32u);
      barrier();
      if (first == 0u && some == 0u) trace(2u);
      if (candidate_count == 0u) continue;
      if (!begun) begin_pixel(pixel, query.slot, of.has_probe != 0u);
      begun = true;
      test_candidates(tile, pixel, number, query.slot);
    }
  }
  trace(3u);
  if (begun) note_within(pixel, number * kNoteStride);
  barrier();
  if (told != 0u) {
    tell(pixel, number, tile.first);
    memoryBarrierBuffer();
    barrier();
  }
  trace(4u);
  if (me == 0u) last_group = atomicAdd(notes[number * kNoteStride + kDone], 1u);
  barrier();
  trace(5u);
  if (last_group + 1u != query.groups) return;
  memoryBarrierBuffer();
  finish(number, query.slot);
  trace(6u);
}
