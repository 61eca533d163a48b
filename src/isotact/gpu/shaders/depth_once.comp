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
  uint empty;
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
  ivec3 along_x, along_y, least;
  float z, room;  // in the middle of the tile's first pixel; how far that and the slope may be off
  vec2 slope;     // of z, a pixel
  uint corner, instance, flags;
};
const uint kFaceFront = 1u, kFaceClosed = 2u, kFaceWide = 4u;

shared uint leaf_count, face_count, last_group;
shared uvec2 near_leaves[256];
shared Face faces[256];
shared uint pixel_count, within, met[kMostWords], keys[128];
shared ivec2 first_pixel, last_pixel;
shared uint record[16 + 8 * 64 + 32], check;
shared uint greatest, greatest_pixel, contacts, around_whom, values[128], places[64];

// ---- what is over a tile ------------------------------------------------------------------------

struct TileBox {
  ivec2 first;  // pixel
  float near, far;
};

bool meets_tile(TileBox tile, vec3 lower, vec3 upper, bool front) {
  vec2 from = vec2(tile.first) + 0.5 - kPixelRoom;
  vec2 to = min(vec2(tile.first) + 15.5, vec2(isotact_frame.size) - 0.5) + kPixelRoom;
  return all(lessThanEqual(lower.xy, to)) && all(greaterThanEqual(upper.xy, from)) &&
         lower.z <= tile.far + kDepthRoom && (front || upper.z >= tile.near - kDepthRoom);
}

vec3 find_half_size() { return 0.5 * vec3(vec2(isotact_frame.size), 1); }

bool leaf_meets_tile(TileBox tile, uint leaf, uint instance) {
  vec4 a = leaves[2u * leaf], b = leaves[2u * leaf + 1u];
  if (floatBitsToUint(b.w) == 0u) return false;
  vec4 middle = vec4(0.5 * (a.xyz + b.xyz), 1);
  vec3 extent = 0.5 * (b.xyz - a.xyz), at, reach;
  for (int axis = 0; axis < 3; ++axis) {
    vec4 row = instances[instance].rows[axis];
    at[axis] = dot(row, middle);
    reach[axis] = dot(abs(row.xyz), extent);
  }
  reach += 1e-5 * (1 + abs(at) + reach);
  vec3 half_size = find_half_size();
  return meets_tile(tile, (at - reach + 1) * half_size, (at + reach + 1) * half_size,
                    (instances[instance].flags & kClosed) != 0u);
}

// Whether a middle of the tile may be within all edges.
bool find_face(TileBox tile, Instance instance, uint corner, out Face face) {
  Flat t = make_flat(instance, corner);
  if (t.area == 0) return false;
  face.flags = (t.front ? kFaceFront : 0u) | ((instance.flags & kClosed) != 0u ? kFaceClosed : 0u);
  dvec2 p = dvec2(tile.first) + 0.5lf;
  double z = 0;
  for (int k = 0; k < 3; ++k) {
    dvec2 a = t.at[(k + 1) % 3], b = t.at[(k + 2) % 3], side = b - a;
    double e = find_edge(a, b, p);
    z += e * double(t.z[k]);
    // Edges of 16384 pixels and more, and what is that far away, do not fit into whole numbers.
    dvec2 grid = side * kGrid;
    double least = -e * kGrid;
    least = is_left(0.0lf, a, b) ? ceil(least) : floor(least) + 1;
    if (max(abs(grid.x), abs(grid.y)) > 67108864.0lf) face.flags |= kFaceWide;
    grid = clamp(grid, dvec2(-67108864.0lf), dvec2(67108864.0lf));
    face.along_x[k] = int(-grid.y);
    face.along_y[k] = int(grid.x);
    face.least[k] = int(clamp(least, -2147483000.0lf, 2147483000.0lf));
  }
  if ((face.flags & kFaceWide) == 0u) {
    ivec3 most = 15 * (max(face.along_x, ivec3(0)) + max(face.along_y, ivec3(0)));
    if (any(lessThan(most, face.least))) return false;
  }
  face.z = float(z / t.area);
  face.slope = find_slope(t);
  float reach = 15 * (abs(face.slope.x) + abs(face.slope.y));
  float highest = max(abs(t.z.x), max(abs(t.z.y), abs(t.z.z)));
  face.room = 1e-6 * (1 + abs(face.z) + reach + highest);
  // Of slivers the slope is not known well.
  if (t.area < 1.0 / 256 || (face.flags & kFaceWide) != 0u) face.room = 1e30;
  vec2 ends = face.z + 15 * vec2(min(face.slope.x, 0) + min(face.slope.y, 0),
                                 max(face.slope.x, 0) + max(face.slope.y, 0));
  ends += vec2(-face.room, face.room);
  return ends.x <= tile.far && ((face.flags & kFaceClosed) != 0u || ends.y >= tile.near);
}

void list_face(TileBox tile, uint leaf, uint number, uint instance_number) {
  vec4 a = leaves[2u * leaf], b = leaves[2u * leaf + 1u];
  if (number >= floatBitsToUint(b.w)) return;
  uint corner = floatBitsToUint(a.w) + 3u * number;
  Instance instance = instances[instance_number];
  vec3 c0 = to_clip(instance, corner), c1 = to_clip(instance, corner + 1u),
       c2 = to_clip(instance, corner + 2u), half_size = find_half_size();
  vec3 lower = (min(c0, min(c1, c2)) + 1) * half_size, upper = (max(c0, max(c1, c2)) + 1) * half_size;
  if (!meets_tile(tile, lower, upper, (instance.flags & kClosed) != 0u)) return;
  Face face;
  if (!find_face(tile, instance, corner, face)) return;
  face.corner = corner;
  face.instance = instance_number;
  faces[atomicAdd(face_count, 1u)] = face;
}

// ---- pixels -------------------------------------------------------------------------------------

struct Best {
  float value, z, way;
  uint who, corner;  // element << 1 | back
  vec2 slope;
};
Best make_best() { return Best(-1, 0, 0, kNone, kNone, vec2(0)); }

void offer(inout Best best, Best other) {
  if (other.value < best.value) return;
  if (other.value == best.value &&
      (other.who > best.who || (other.who == best.who && other.corner > best.corner)))
    return;
  best = other;
}

struct Pixel {
  ivec2 at, in_tile;
  bool is_probe;
  vec2 solid[LAYERS];
  float furthest;
  int windings[LAYERS];  // before each part; shaders/depth_winding.glsl
  Best deepest, contact;
};

void record_hit(inout Pixel p, uint query, Flat t, Face face, float z, vec2 interval) {
  uint element = instances[face.instance].number;
  uint word = min(element >> 5, kMostWords - 1u), bit = 1u << (element & 31u);
  if ((met[word] & bit) == 0u) atomicOr(met[word], bit);
  float to_near = z - interval.x, to_far = interval.y - z;
  Best hit;
  hit.z = z;
  hit.way = max(t.front ? to_far : to_near, 0.0);
  hit.slope = find_slope(t) * maps[asked[4u + 4u * query]].slope;
  hit.value = max(min(to_near, to_far), 0.0);
  hit.who = element << 1 | (t.front ? 0u : 1u);
  hit.corner = face.corner;
  offer(p.deepest, hit);
#ifdef CONTACTS
  // As in depth_hit.glsl.
  precise float stretch = 1.0 + (hit.slope.x * hit.slope.x + hit.slope.y * hit.slope.y);
  precise float depth = hit.way * inversesqrt(stretch);
  hit.value = depth;
  offer(p.contact, hit);
#endif
}

void test_face(inout Pixel p, uint query, Face face) {
  if ((face.flags & kFaceWide) == 0u) {
    ivec3 e = face.along_x * p.in_tile.x + face.along_y * p.in_tile.y;
    if (any(lessThan(e, face.least))) return;
  }
  float z = face.z + dot(face.slope, vec2(p.in_tile));
  if (z - face.room > p.furthest) return;
  if (z + face.room >= p.solid[0].x) {
    // It is, or may be, where the object is: the same depth as everybody else computes.
    Flat t = make_flat(instances[face.instance], face.corner);
    if (!find_depth(t, p.at, z)) return;
    for (int layer = 0; layer < LAYERS; ++layer)
      if (z >= p.solid[layer].x && z <= p.solid[layer].y && z > 0 && z < 1)
        record_hit(p, query, t, face, z, p.solid[layer]);
  }
  if ((face.flags & kFaceClosed) == 0u) return;
  uint element = instances[face.instance].number;
  int entered = (face.flags & kFaceFront) != 0u ? 1 : -1;
  int winding = entered * int(((element + 1u) << 8) | 1u);
  for (int layer = 0; layer < LAYERS; ++layer)
    if (z < p.solid[layer].x || z <= 0) p.windings[layer] += winding;
  if (p.is_probe && (z < p.solid[0].x || z <= 0))
    atomicAdd(sums[query * asked[0] + element], entered);
}

Pixel make_pixel(uint slot, ivec2 first) {
  uint me = gl_LocalInvocationIndex;
  Pixel p;
  // Lanes that run together lie together: 8 x 4.
  p.in_tile = ivec2((me & 7u) | ((me >> 5) & 1u) << 3, ((me >> 3) & 3u) | (me >> 6) << 2);
  p.at = first + p.in_tile;
  p.deepest = p.contact = make_best();
  p.furthest = -1e30;
  for (int layer = 0; layer < LAYERS; ++layer) {
    p.windings[layer] = 0;
    p.solid[layer] = kNoInterval;
  }
  p.is_probe = false;
  if (any(greaterThanEqual(p.at, isotact_frame.size))) return p;
  uint at = slot * isotact_frame.pixels * uint(LAYERS) + uint(p.at.y * isotact_frame.size.x + p.at.x);
  for (int layer = 0; layer < LAYERS; ++layer) {
    vec2 solid = intervals[at + uint(layer) * isotact_frame.pixels];
    if (solid.x > solid.y) break;
    p.solid[layer] = solid;
    p.furthest = solid.y;
  }
  uint region;
  uint local = isotact_probe_of(p.at, region), probe = maps[slot].probes[region];
  p.is_probe = probe != 0u && (probe & 0xfffffu) == local;
  return p;
}

// ---- what a tile tells --------------------------------------------------------------------------

// As in depth_hit.glsl: the pixel is in the key, so no two are the same.
uint find_key(ivec2 pixel, float value, out uint part) {
  uvec2 size = uvec2(isotact_frame.size), in_picture = uvec2(pixel) * 8u / size;
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
  uvec2 size = uvec2(isotact_frame.size);
  uvec2 pixel = (uvec2(part % 8u, part / 8u) * size + 7u) / 8u +
                uvec2(local % isotact_frame.part_size.x, local / isotact_frame.part_size.x);
  return min(pixel.y, size.y - 1u) * size.x + min(pixel.x, size.x - 1u);
}

void note_within(Pixel p, uint note) {
  for (int layer = 0; layer < LAYERS; ++layer) {
    if (p.solid[layer].x > p.solid[layer].y) break;
    // Below zero: a room that is turned inwards, with the object outside of its solid.
    int sum = p.windings[layer], count = (sum << 24) >> 24;
    if (count <= 0) continue;
    atomicMax(within, ~uint(p.at.y * isotact_frame.size.x + p.at.x));
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
  hit.pixel = uint(pixel.y * isotact_frame.size.x + pixel.x);
  hit.z = best.z;
  hit.element = best.who >> 1 | (best.who & 1u) << 31;
  hit.way = best.way;
  hit.value = best.value;
  hit.slope = best.slope;
  hits[place + hit.pixel] = hit;
}

void tell(Pixel p, uint query) {
  uint me = gl_LocalInvocationIndex, note = query * kNoteStride;
  bool has_hit = p.deepest.who != kNone;
  uint part = 0u, key = 0u, contact_part = 0u, contact_key = 0u;
  if (has_hit) {
    atomicAdd(pixel_count, 1u);
    atomicMin(first_pixel.x, p.at.x);
    atomicMin(first_pixel.y, p.at.y);
    atomicMax(last_pixel.x, p.at.x);
    atomicMax(last_pixel.y, p.at.y);
    key = find_key(p.at, p.deepest.value, part);
    atomicMax(keys[part], key);
#ifdef CONTACTS
    contact_key = find_key(p.at, p.contact.value, contact_part);
    atomicMax(keys[64u + contact_part], contact_key);
#endif
  }
  note_within(p, note);
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
  if (me == 96u && pixel_count != 0u) {
    atomicAdd(notes[note + kPixels], pixel_count);
    atomicMax(notes[note + kFirstX], ~uint(first_pixel.x));
    atomicMax(notes[note + kFirstY], ~uint(first_pixel.y));
    atomicMax(notes[note + kLastX], uint(last_pixel.x));
    atomicMax(notes[note + kLastY], uint(last_pixel.y));
  }
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
  record[3] = pixels > 0u ? ~first.x : uint(isotact_frame.size.x);
  record[4] = pixels > 0u ? ~first.y : uint(isotact_frame.size.y);
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
  const int across = (isotact_frame.size.x + 15) / 16;
  TileBox tile = TileBox(ivec2(int(of.number) % across, int(of.number) / across) * 16, of.near, of.far);
  if (me == 0u) {
    pixel_count = within = 0u;
    first_pixel = isotact_frame.size;
    last_pixel = ivec2(-1);
  }
  if (me < kMostWords) met[min(me, kMostWords - 1u)] = 0u;
  if (me < 128u) keys[min(me, 127u)] = 0u;
  Pixel pixel = make_pixel(query.slot, tile.first);

  trace(0u);
  uint leaf_total = kLeavesACluster * query.entry_count;
  for (uint first = 0u; first < leaf_total; first += 256u) {
    barrier();
    if (me == 0u) leaf_count = 0u;
    barrier();
    uint item = first + me;
    if (item < leaf_total) {
      uint entry = asked[query.entries + item / kLeavesACluster];
      uint leaf = (entry & 0xffffu) * kLeavesACluster + item % kLeavesACluster;
      if (leaf_meets_tile(tile, leaf, entry >> 16))
        near_leaves[atomicAdd(leaf_count, 1u)] = uvec2(leaf, entry >> 16);
    }
    barrier();
    if (first == 0u) trace(1u);
    for (uint some = 0u; some < leaf_count; some += 8u) {
      if (me == 0u) face_count = 0u;
      barrier();
      uint which = some + me / 32u;
      uvec2 leaf = near_leaves[min(which, 255u)];
      if (which < leaf_count) list_face(tile, leaf.x, me % 32u, leaf.y);
      barrier();
      if (some == 0u) trace(2u);
      for (uint f = 0u; f < face_count; ++f) test_face(pixel, number, faces[f]);
      barrier();
    }
  }
  barrier();
  trace(3u);
  tell(pixel, number);
  memoryBarrierBuffer();
  barrier();
  trace(4u);
  if (me == 0u) last_group = atomicAdd(notes[number * kNoteStride + kDone], 1u);
  barrier();
  trace(5u);
  if (last_group + 1u != query.groups) return;
  memoryBarrierBuffer();
  finish(number, query.slot);
  trace(6u);
}
