// depth_once.comp: what a tile tells, and what the last one makes of that.

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

// Elements that are around the object at one of the map's probes. `sum`: of the lane's own element.
void find_around(uint query, int sum) {
  uint elements = ask[0].x;
  for (uint e = gl_LocalInvocationIndex; e < elements; e += gl_WorkGroupSize.x) {
    if (e != gl_LocalInvocationIndex) sum = sums[query * elements + e];
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
void put_head(uint slot, uint pixels, uvec2 first, uvec2 last, uint inside, uvec4 of_map) {
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
  pool[11] = of_map.x;
  pool[12] = of_map.y;
  pool[13] = of_map.z;
  pool[14] = of_map.w;
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
  // What is read from afar is read early.
  int sum = 0;
  if (isotact_is(kFindInside) && me < ask[0].x) sum = sums[query * ask[0].x + me];
  uvec4 of_map = uvec4(0);
  if (me == 128u)
    of_map = uvec4(maps[slot].lost, maps[slot].covered, maps[slot].overfull, maps[slot].open);
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
  if (isotact_is(kFindInside)) find_around(query, sum);
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
  if (me == 128u) put_head(slot, pixels, first, last, inside, of_map);
  barrier();
  write_record(query, length);
  for (uint i = me; i < kNoteStride; i += gl_WorkGroupSize.x) notes[note + i] = 0u;
}
