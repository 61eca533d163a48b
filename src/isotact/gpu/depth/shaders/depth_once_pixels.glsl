// depth_in_one.comp: triangles in the pixels of a tile.
struct Best {
  float value, z;
  uint who, corner;  // element << 1 | back
#ifdef CONTACTS
  float reach;
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
  float reach = max(front ? to_far : to_near, 0.0);
  precise float stretch = 1.0 + (slope.x * slope.x + slope.y * slope.y);
  precise float depth = reach * inversesqrt(stretch);
  if (is_better(p.contact, depth, who, corner)) p.contact = Best(depth, z, who, corner, reach, slope);
#endif
}

// The same depth as everybody else computes: there in pixels, here in steps of the grid, which are
// powers of two of those. `along`: from the tile's first pixel.
float compute_exact_z(uint face, bool front, ivec3 along) {
  dvec3 start = dvec3(face_edges[3u * face], face_edges[3u * face + 1u], face_edges[3u * face + 2u]);
  return compute_z(start + dvec3(along) * kGrid, get_depths(face, front), start.x + start.y + start.z);
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
    z = compute_exact_z(face, front, along);
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
    atomicAdd(sums[query * get_head().elements + uint(plane.w)], entered);
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
  p.is_probe = probe != 0u && (probe & kProbeMask) == local;
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
    if (is_there && k < 3u) compute_side(face, min(k, 2u));
    if (is_there && k == 3u) compute_plane(tile, face, candidate);
    barrier();
    uint warp = me >> 5, lane = me & 31u;
    if ((face_rows[lane] >> warp & 1u) != 0u) atomicOr(warp_faces[warp], 1u << lane);
    barrier();
    for (uint left = warp_faces[warp]; left != 0u; left &= left - 1u)
      test_face(pixel, query, slot, uint(findLSB(left)));
    barrier();
  }
}
