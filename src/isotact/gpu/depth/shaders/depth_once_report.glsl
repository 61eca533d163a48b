// depth_in_one.comp: what a tile tells, and what the last one makes of that.

// ---- what a tile tells --------------------------------------------------------------------------

// As in depth_hit.glsl: the pixel is in the key, so no two are the same.
uint compute_key(ivec2 pixel, float value, out uint part) {
  uvec2 size = uvec2(kSize), in_picture = uvec2(pixel) * kPartSide / size;
  uvec2 local = uvec2(pixel) - (in_picture * size + (kPartSide - 1u)) / kPartSide;
  uint bits = isotact_frame.pixel_bits;
  float levels = float((1u << min(32u - bits, 24u)) - 2u);
  part = in_picture.y * kPartSide + in_picture.x;
  return ((1u + uint(clamp(value, 0.0, 1.0) * levels)) << bits) |
         ((1u << bits) - 1u - (local.y * isotact_frame.part_size.x + local.x));
}

// The pixel of a key.
uint find_pixel(uint part, uint key) {
  uint bits = isotact_frame.pixel_bits;
  uint local = (1u << bits) - 1u - (key & ((1u << bits) - 1u));
  uvec2 size = uvec2(kSize);
  uvec2 pixel = (uvec2(part % kPartSide, part / kPartSide) * size + (kPartSide - 1u)) / kPartSide +
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
    if (element >= get_head().elements) continue;  // of several that do not close
    uint word = note + kAround + (element >> 5), bit = 1u << (element & 31u);
    if ((notes[word] & bit) == 0u) atomicOr(notes[word], bit);
  }
}

void keep_hit(ivec2 pixel, Best best, uint part, uint key, uint first_key, uint note, uint place) {
  if (keys[first_key + part] != key) return;
  atomicMax(notes[note + kKeys + first_key + part], key);
  DepthHit hit;
  hit.key = key;
  hit.pixel = uint(pixel.y * WIDTH + pixel.x);
  hit.z = best.z;
  hit.element = best.who >> 1 | (best.who & 1u) << 31;
#ifdef CONTACTS
  hit.reach = best.reach;
  hit.slope = best.slope;
#endif
  hit.value = best.value;
  hits[place + hit.pixel] = hit;
}

// How many pixels of the tile are hit, and from where to where.
void note_pixels(ivec2 first, uint note) {
  uint count = 0u, columns = 0u, rows = 0u;
  for (uint y = 0u; y < kTileSide; ++y) {
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
    atomicOr(hit_rows[p.in_tile.y & (kDepthTile - 1)], 1u << p.in_tile.x);
    key = compute_key(p.at, p.deepest.value, part);
    atomicMax(keys[part], key);
#ifdef CONTACTS
    contact_key = compute_key(p.at, p.contact.value, contact_part);
    atomicMax(keys[kPartContacts + contact_part], contact_key);
#endif
  }
  barrier();
  if (has_hit) {
    uint place = query * isotact_frame.hit_room;
    keep_hit(p.at, p.deepest, part, key, 0u, note, place);
#ifdef CONTACTS
    keep_hit(p.at, p.contact, contact_part, contact_key, kPartContacts, note, place + isotact_frame.pixels);
#endif
  }
  uint word = min(me, kMostWords - 1u);
  if (me < kMostWords && met[word] != 0u) atomicOr(notes[note + kMet + word], met[word]);
  if (me == 64u && within != 0u) atomicMax(notes[note + kWithin], within);
  if (me == 96u && any_hit != 0u) note_pixels(first, note);
}

// ---- the report ---------------------------------------------------------------------------------

#ifdef CONTACTS
void put_contact(uint part, DepthHit hit) {
  uint place = 0u;
  uint mine = keys[kPartContacts + part];
  for (uint i = 0u; i < kPartCount; ++i) {
    uint other = keys[kPartContacts + i];
    if (other != kNone && (other > mine || (other == mine && places[i] < hit.pixel)))
      ++place;
  }
  if (place >= isotact_frame.max_contacts) return;
  atomicAdd(contacts, 1u);
  bool back = (hit.element & kHitBack) != 0u;
  vec3 normal = normalize(vec3(hit.slope, -1)) * (back ? -1.0 : 1.0);
  uint to = kHeadWords + kContactWords * place;
  pool[to + kContactPixel] = hit.pixel;
  pool[to + kContactElement] = hit.element & ~kHitBack;
  pool[to + kContactZ] = floatBitsToUint(hit.z);
  pool[to + kContactReach] = floatBitsToUint(back ? -hit.reach : hit.reach);
  for (uint i = 0u; i < 3u; ++i) pool[to + kContactNormal + i] = floatBitsToUint(normal[i]);
  pool[to + kContactDepth] = floatBitsToUint(hit.value);
}
#endif

// Elements that are around the object at one of the map's probes. `sum`: of the lane's own element.
void find_around(uint query, int sum) {
  uint elements = get_head().elements;
  for (uint e = gl_LocalInvocationIndex; e < elements; e += gl_WorkGroupSize.x) {
    if (e != gl_LocalInvocationIndex) sum = sums[query * elements + e];
    if (sum == 0) continue;
    sums[query * elements + e] = 0;
    if (sum > 0) atomicOr(met[min(e >> 5, kMostWords - 1u)], 1u << (e & 31u));
  }
}

void put_elements(uint note_word, uint pixels) {
  uint i = min(gl_LocalInvocationIndex, kMostWords - 1u);
  if (gl_LocalInvocationIndex >= get_head().element_words) return;
  uint word = pixels > 0u ? note_word : note_word | met[i];
  pool[kHeadWords + kContactWords * isotact_frame.max_contacts + i] = word;
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
  pool[kHeadPixels] = pixels;
  pool[kHeadContacts] = contacts;
  pool[kHeadFirstPixel] = pixels > 0u ? ~first.x : uint(WIDTH);
  pool[kHeadFirstPixel + 1u] = pixels > 0u ? ~first.y : uint(HEIGHT);
  pool[kHeadLastPixel] = pixels > 0u ? last.x : kNone;
  pool[kHeadLastPixel + 1u] = pixels > 0u ? last.y : kNone;
  if (pixels == 0u && inside != 0u) {
    // A place of the object that lies within an element: in the middle of its first part.
    vec2 solid = intervals[slot * isotact_frame.pixels * uint(LAYERS) + ~inside];
    pool[kHeadInside] = 1u;
    pool[kHeadDeepestPixel] = ~inside;
    pool[kHeadDeepestElement] = min(around_whom, get_head().elements - 1u);
    pool[kHeadDeepestZ] = floatBitsToUint(0.5 * (solid.x + solid.y));
  }
  pool[kHeadLost] = of_map.x;
  pool[kHeadCovered] = of_map.y;
  pool[kHeadOverfull] = of_map.z;
  pool[kHeadOpen] = of_map.w;
  pool[kHeadSlot] = slot;
}

// Words, then what proves them: whoever waits need not ask the driver.
void write_record(uint query, uint length) {
  OnceHead head = get_head();
  uint me = gl_LocalInvocationIndex, serial = head.serial, to = query * head.stride, sum = 0u;
  for (uint i = me; i < length; i += gl_WorkGroupSize.x) {
    results[to + i] = pool[i];
    sum += mix_word(pool[i], i, serial);
  }
  if (sum != 0u) atomicAdd(check, sum);
  barrier();
  if (me != 0u) return;
  results[to + head.stride - 2u] = serial;
  results[to + head.stride - 1u] = check;
}

void finish(uint query, uint slot) {
  OnceHead head = get_head();
  uint me = gl_LocalInvocationIndex, note = query * kNoteStride, part = min(me, kParts - 1u);
  uint key = me < kParts ? notes[note + kKeys + part] : 0u;
  uint pixels = notes[note + kPixels], inside = notes[note + kWithin];
  uvec2 first = uvec2(notes[note + kFirstX], notes[note + kFirstY]);
  uvec2 last = uvec2(notes[note + kLastX], notes[note + kLastY]);
  uint word = notes[note + (pixels > 0u ? kMet : kAround) + min(me, kMostWords - 1u)];
  uint length = kHeadWords + kContactWords * isotact_frame.max_contacts + head.element_words;
  for (uint i = me; i < length; i += gl_WorkGroupSize.x) pool[i] = 0u;
  if (me < kMostWords) met[min(me, kMostWords - 1u)] = 0u;
  if (me == 0u) {
    greatest = contacts = check = 0u;
    greatest_pixel = around_whom = kNone;
  }
  // What is read from afar is read early.
  int sum = 0;
  if (isotact_is(kFrameFindInside) && me < head.elements) sum = sums[query * head.elements + me];
  uvec4 of_map = uvec4(0);
  if (me == 128u)
    of_map = uvec4(maps[slot].lost, maps[slot].covered, maps[slot].overfull, maps[slot].open);
  DepthHit hit;
  if (key != 0u) {
    uint place = query * isotact_frame.hit_room + (part < kPartCount ? 0u : isotact_frame.pixels);
    hit = hits[place + find_pixel(part % kPartCount, key)];
  }
  if (me < kParts) keys[part] = key != 0u ? floatBitsToUint(hit.value) : kNone;
#ifdef CONTACTS
  if (me >= kPartCount && key != 0u) places[part % kPartCount] = hit.pixel;
#endif
  barrier();
  if (me < kPartCount && key != 0u) atomicMax(greatest, keys[part]);
#ifdef CONTACTS
  if (me >= kPartCount && key != 0u) put_contact(part % kPartCount, hit);
#endif
  if (isotact_is(kFrameFindInside)) find_around(query, sum);
  barrier();
  bool mine = me < kPartCount && key != 0u && keys[part] == greatest;
  if (mine) atomicMin(greatest_pixel, hit.pixel);
  put_elements(word, pixels);
  barrier();
  if (mine && hit.pixel == greatest_pixel) {
    pool[kHeadDeepestPixel] = hit.pixel;
    pool[kHeadDeepestElement] = hit.element & ~kHitBack;
    pool[kHeadDeepestZ] = floatBitsToUint(hit.z);
    pool[kHeadDepth] = floatBitsToUint(hit.value);
  }
  if (me == 128u) put_head(slot, pixels, first, last, inside, of_map);
  barrier();
  write_record(query, length);
  for (uint i = me; i < kNoteStride; i += gl_WorkGroupSize.x) notes[note + i] = 0u;
}
