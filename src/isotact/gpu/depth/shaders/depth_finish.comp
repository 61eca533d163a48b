// Notes of hits become a report, and are emptied for the next detection. A work-group a query.
layout(local_size_x = 1024) in;
#define MASK_BY_FOURS
#include "depth_hit.glsl"
layout(std430, binding = kDepthIntervalsAt) readonly buffer Intervals { vec2 intervals[]; };
layout(std430, binding = kDepthSumsAt) buffer Sums { int sums[]; };
layout(std430, binding = kDepthResultsAt) writeonly buffer Results { uint results[]; };

const uint kNone = 0xffffffffu;
shared uint pixels, around_whom;
shared ivec2 first_pixel, last_pixel;
shared uint value[kPartHits], rank[kPartHits], chosen[kPartHits], pixel_of[kPartCount];
shared uint greatest, greatest_pixel, contacts;
shared uint lost_pixel[kPartCount];

void count_pixels(uint query) {
  uint n = 0u;
  ivec2 lowest = isotact_frame.size, highest = ivec2(-1);
  uint fours = isotact_frame.mask_words / 4u, first = query * fours;
  for (uint i = gl_LocalInvocationIndex; i < fours; i += gl_WorkGroupSize.x) {
    uvec4 words = isotact_mask.words[first + i];
    if (words == uvec4(0)) continue;
    isotact_mask.words[first + i] = uvec4(0);
    for (uint k = 0u; k < 4u; ++k) {
      uint word = words[k], at = 4u * i + k;
      if (word == 0u) continue;
      int y = int(at / isotact_frame.row_words), x = int(at % isotact_frame.row_words) * 32;
      n += uint(bitCount(word));
      lowest = min(lowest, ivec2(x + findLSB(word), y));
      highest = max(highest, ivec2(x + findMSB(word), y));
    }
  }
  if (n == 0u) return;
  atomicAdd(pixels, n);
  atomicMin(first_pixel.x, lowest.x);
  atomicMin(first_pixel.y, lowest.y);
  atomicMax(last_pixel.x, highest.x);
  atomicMax(last_pixel.y, highest.y);
}

uint part_of(DepthHit hit) {
  uvec2 part = isotact_part(hit.pixel);
  return ((hit.element & kHitContact) != 0u ? kPartContacts : 0u) + part.y * kPartSide + part.x;
}

// Of hits with the greatest key of their part the deepest wins, of those the first element's.
void choose(uint query, uint hits) {
  uint first = query * isotact_frame.hit_room, keys = query * kPartStride;
  for (int turn = 0; turn < 3; ++turn) {
    for (uint i = gl_LocalInvocationIndex; i < hits; i += gl_WorkGroupSize.x) {
      DepthHit hit = isotact_hits.hits[first + i];
      uint part = part_of(hit);
      if (hit.key != isotact_parts.keys[keys + part]) continue;
      uint bits = floatBitsToUint(hit.value);
      uint who = ((hit.element & ~(kHitBack | kHitContact)) << 1) | (hit.element >> 31);
      if (turn == 0)
        atomicMax(value[part], bits);
      else if (bits == value[part] && turn == 1)
        atomicMin(rank[part], who);
      else if (bits == value[part] && who == rank[part])
        atomicMin(chosen[part], i);
    }
    barrier();
  }
}

// Where the list of hits was full the best of a part may not be in it. Its key still says how deep it
// is, in steps of 2^-12 or finer, and in which pixel; which element it is of, and at what depth, is not
// known any more.
void recover(uint query) {
  uint part = min(gl_LocalInvocationIndex, kPartCount - 1u);
  uint key = isotact_parts.keys[query * kPartStride + part], bits = isotact_frame.pixel_bits;
  if (gl_LocalInvocationIndex >= kPartCount || chosen[part] != kNone || key == 0u) return;
  float levels = float((1u << min(32u - bits, 24u)) - 2u);
  value[part] = floatBitsToUint(float((key >> bits) - 1u) / levels);
  uint local = (1u << bits) - 1u - (key & ((1u << bits) - 1u));
  uvec2 size = uvec2(isotact_frame.size);
  uvec2 pixel = (uvec2(part % kPartSide, part / kPartSide) * size + (kPartSide - 1u)) / kPartSide +
                uvec2(local % isotact_frame.part_size.x, local / isotact_frame.part_size.x);
  lost_pixel[part] = min(pixel.y, size.y - 1u) * size.x + min(pixel.x, size.x - 1u);
}

void write_contacts(uint query, uint to) {
  uint lane = min(gl_LocalInvocationIndex, kPartCount - 1u), part = kPartContacts + lane;
  if (gl_LocalInvocationIndex < kPartCount && chosen[part] != kNone)
    pixel_of[lane] =
        isotact_hits.hits[query * isotact_frame.hit_room + chosen[part]].pixel;
  barrier();
  if (gl_LocalInvocationIndex < kPartCount && chosen[part] != kNone) {
    DepthHit hit = isotact_hits.hits[query * isotact_frame.hit_room + chosen[part]];
    uint place = 0u;
    for (uint other = kPartContacts; other < kPartHits; ++other)
      if (chosen[other] != kNone &&
          (value[other] > value[part] ||
           (value[other] == value[part] && pixel_of[other - kPartContacts] < hit.pixel)))
        ++place;
    if (place < isotact_frame.max_contacts) {
      atomicAdd(contacts, 1u);
      bool back = (hit.element & kHitBack) != 0u;
      vec3 normal = normalize(vec3(hit.slope, -1)) * (back ? -1.0 : 1.0);
      to += kHeadWords + kContactWords * place;
      results[to + kContactPixel] = hit.pixel;
      results[to + kContactElement] = hit.element & ~(kHitBack | kHitContact);
      results[to + kContactZ] = floatBitsToUint(hit.z);
      results[to + kContactReach] = floatBitsToUint(back ? -hit.reach : hit.reach);
      for (uint i = 0u; i < 3u; ++i) results[to + kContactNormal + i] = floatBitsToUint(normal[i]);
      results[to + kContactDepth] = floatBitsToUint(hit.value);
    }
  }
}

void write_elements(uint query, uint to) {
  to += kHeadWords + kContactWords * isotact_frame.max_contacts;
  bool look_inside = isotact_is(kFrameFindInside);
  for (uint i = gl_LocalInvocationIndex; i < isotact_frame.element_words;
       i += gl_WorkGroupSize.x) {
    uint at = query * isotact_frame.element_words + i;
    uint word = isotact_bits.words[at], around = 0u;
    if (word != 0u) isotact_bits.words[at] = 0u;
    if (look_inside)
      for (uint bit = 0u, e = 32u * i; bit < 32u && e < isotact_frame.elements; ++bit, ++e) {
        uint sum_at = query * isotact_frame.elements + e;
        int sum = sums[sum_at];
        if (sum == 0) continue;
        sums[sum_at] = 0;
        // Below zero: a room that is turned inwards, with the object outside of its solid.
        if (sum > 0 && pixels == 0u) around |= 1u << bit;
      }
    results[to + i] = word | around;
    if (pixels == 0u && (word | around) != 0u)
      atomicMin(around_whom, 32u * i + uint(findLSB(word | around)));
  }
}

// A place of the object that lies within an element: in the middle of its first part.
void write_place_within(uint slot, uint to, uint pixel) {
  vec2 interval = intervals[slot * isotact_frame.pixels * uint(isotact_frame.layers) + pixel];
  results[to + kHeadDeepestPixel] = pixel;
  results[to + kHeadDeepestElement] = min(around_whom, isotact_frame.elements - 1u);
  results[to + kHeadDeepestZ] = floatBitsToUint(0.5 * (interval.x + interval.y));
  results[to + kHeadDepth] = 0u;
}

void main() {
  uint query = gl_WorkGroupID.x, me = gl_LocalInvocationIndex, to = query * isotact_frame.result_stride;
  if (me == 0u) {
    pixels = greatest = contacts = 0u;
    around_whom = greatest_pixel = kNone;
    first_pixel = isotact_frame.size;
    last_pixel = ivec2(-1);
  }
  if (me < kPartHits) {
    uint part = min(me, kPartHits - 1u);
    value[part] = 0u;
    rank[part] = chosen[part] = kNone;
  }
  if (me < kPartCount) lost_pixel[min(me, kPartCount - 1u)] = kNone;
  barrier();
  count_pixels(query);
  uint hits = min(isotact_parts.keys[query * kPartStride + kPartHits], isotact_frame.hit_room);
  choose(query, hits);
  recover(query);
  // Compilers may read before they ask: no lane has an index beyond what there is.
  uint mine_part = min(me, kPartCount - 1u);
  bool has_best = me < kPartCount && (chosen[mine_part] != kNone || lost_pixel[mine_part] != kNone);
  if (has_best) atomicMax(greatest, value[mine_part]);
  write_contacts(query, to);
  write_elements(query, to);
  barrier();
  bool mine = has_best && value[mine_part] == greatest;
  DepthHit hit;
  if (mine) {
    bool is_lost = chosen[mine_part] == kNone;
    hit = isotact_hits.hits[query * isotact_frame.hit_room + (is_lost ? 0u : chosen[mine_part])];
    if (is_lost) {
      hit.pixel = lost_pixel[mine_part];
      hit.element = kNone & ~(kHitBack | kHitContact);
      hit.z = 0.5;
      hit.value = uintBitsToFloat(value[mine_part]);
    }
    atomicMin(greatest_pixel, hit.pixel);
  }
  barrier();
  if (mine && hit.pixel == greatest_pixel) {
    results[to + kHeadDeepestPixel] = hit.pixel;
    results[to + kHeadDeepestElement] = hit.element & ~(kHitBack | kHitContact);
    results[to + kHeadDeepestZ] = floatBitsToUint(hit.z);
    results[to + kHeadDepth] = floatBitsToUint(hit.value);
  }
  uint within = isotact_parts.keys[query * kPartStride + kPartWithin];
  barrier();
  if (me < kPartStride) isotact_parts.keys[query * kPartStride + me] = 0u;
  if (me != 0u) return;
  uint slot = isotact_slot(query);
  results[to + kHeadPixels] = pixels;
  results[to + kHeadInside] = pixels == 0u && within != 0u ? 1u : 0u;
  results[to + kHeadContacts] = contacts;
  results[to + kHeadFirstPixel] = uint(first_pixel.x);
  results[to + kHeadFirstPixel + 1u] = uint(first_pixel.y);
  results[to + kHeadLastPixel] = uint(last_pixel.x);
  results[to + kHeadLastPixel + 1u] = uint(last_pixel.y);
  if (greatest_pixel == kNone)
    for (uint i = kHeadDeepestPixel; i <= kHeadDepth; ++i) results[to + i] = 0u;
  if (pixels == 0u && within != 0u) write_place_within(slot, to, ~within);
  results[to + kHeadLost] = isotact_maps.maps[slot].lost;
  results[to + kHeadCovered] = isotact_maps.maps[slot].covered;
  results[to + kHeadOverfull] = isotact_maps.maps[slot].overfull;
  results[to + kHeadOpen] = isotact_maps.maps[slot].open;
  results[to + kHeadSlot] = slot;
}
