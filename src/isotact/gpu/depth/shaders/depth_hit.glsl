// Notes of hits, from which depth_finish.comp makes the report. All is left empty by that.
#include "depth_frame.glsl"
layout(std430, binding = kDepthMapsAt) readonly buffer IsotactMaps {
  DepthMapNote maps[];
} isotact_maps;
#ifdef MASK_BY_FOURS
layout(std430, binding = kDepthMaskAt) buffer IsotactMask { uvec4 words[]; } isotact_mask;
#else
layout(std430, binding = kDepthMaskAt) buffer IsotactMask { uint words[]; } isotact_mask;
#endif
layout(std430, binding = kDepthPartsAt) buffer IsotactParts { uint keys[]; } isotact_parts;
layout(std430, binding = kDepthHitsAt) buffer IsotactHits { DepthHit hits[]; } isotact_hits;
layout(std430, binding = kDepthBitsAt) buffer IsotactBits { uint words[]; } isotact_bits;

bool isotact_has_hit(uint query) { return isotact_parts.keys[query * kPartStride + kPartHits] > 0u; }

// One of kPartSide x kPartSide of the picture.
uvec2 isotact_part(uint pixel) {
  uvec2 size = uvec2(isotact_frame.size);
  return uvec2(pixel % size.x, pixel / size.x) * kPartSide / size;
}

// How far a way along the ray reaches behind a surface's plane. The same bits in every shader.
float isotact_contact_depth(float reach, vec2 slope) {
  precise float stretch = 1.0 + (slope.x * slope.x + slope.y * slope.y);
  precise float depth = reach * inversesqrt(stretch);
  return depth;
}

// Kept are those that are greater than all before, so that few are written; equal ones, too, and
// the last step chooses. The pixel is in the key: in a plane across all would be equal.
void isotact_offer(uint query, uint first_part, DepthHit hit) {
  ivec2 pixel = ivec2(int(hit.pixel) % isotact_frame.size.x, int(hit.pixel) / isotact_frame.size.x);
  uvec2 part = isotact_part(hit.pixel);
  uvec2 local = uvec2(pixel) - (part * uvec2(isotact_frame.size) + (kPartSide - 1u)) / kPartSide;
  uint bits = isotact_frame.pixel_bits;
  float levels = float((1u << min(32u - bits, 24u)) - 2u);
  hit.key = ((1u + uint(clamp(hit.value, 0.0, 1.0) * levels)) << bits) |
            ((1u << bits) - 1u - (local.y * isotact_frame.part_size.x + local.x));
  uint at = query * kPartStride + first_part + part.y * kPartSide + part.x;
  if (isotact_parts.keys[at] > hit.key || atomicMax(isotact_parts.keys[at], hit.key) > hit.key)
    return;
  uint i = atomicAdd(isotact_parts.keys[query * kPartStride + kPartHits], 1u);
  if (i < isotact_frame.hit_room) isotact_hits.hits[query * isotact_frame.hit_room + i] = hit;
}

#ifndef MASK_BY_FOURS
// Depths and ways are parts of the box's depth. slope: of z, a pixel.
void isotact_record(uint query, uint slot, uint element, bool thin, bool front, ivec2 pixel,
                    float z, vec2 interval, vec2 slope) {
  uint word = query * isotact_frame.mask_words + uint(pixel.y) * isotact_frame.row_words +
              (uint(pixel.x) >> 5);
  uint bit = 1u << (uint(pixel.x) & 31u);
  if ((isotact_mask.words[word] & bit) == 0u) atomicOr(isotact_mask.words[word], bit);
  uint element_word = query * isotact_frame.element_words + (element >> 5);
  uint element_bit = 1u << (element & 31u);
  if ((isotact_bits.words[element_word] & element_bit) == 0u)
    atomicOr(isotact_bits.words[element_word], element_bit);

  bool one_sided = isotact_is(kFrameOneSided);
  float to_near = z - interval.x, to_far = interval.y - z;
  // Which way leads into the environment, along the ray.
  bool forward = one_sided || (thin ? to_far <= to_near : front);
  DepthHit hit;
  hit.pixel = uint(pixel.y * isotact_frame.size.x + pixel.x);
  hit.z = z;
  hit.element = element | (forward ? 0u : kHitBack);
  hit.reach = max(forward ? to_far : to_near, 0.0);
  hit.slope = thin ? vec2(0) : slope * isotact_maps.maps[slot].slope;
  hit.value = max(one_sided ? to_far : min(to_near, to_far), 0.0);
  isotact_offer(query, 0u, hit);
  if (isotact_frame.max_contacts == 0u) return;
  hit.element |= kHitContact;
  hit.value = isotact_contact_depth(hit.reach, hit.slope);
  isotact_offer(query, kPartContacts, hit);
}
#endif
