// Whether the object's parts begin within closed elements. A work-group: a tile of the map.
#include "depth_hit.glsl"
layout(local_size_x = kDepthTile, local_size_y = kDepthTile) in;
#include "depth_winding.glsl"
layout(std430, binding = kDepthIntervalsAt) readonly buffer Intervals { vec2 intervals[]; };

void main() {
  ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);
  if (any(greaterThanEqual(pixel, isotact_frame.size))) return;
  uint query = gl_GlobalInvocationID.z, layers = uint(isotact_frame.layers);
  uint index = uint(pixel.y * isotact_frame.size.x + pixel.x);
  uint at = isotact_slot(query) * layers * isotact_frame.pixels + index;
  uint sum_at = query * layers * isotact_frame.pixels + index;
  // Where surfaces show in the object, nobody asks what it is within; but what was counted, by the
  // graphics pipeline, is taken away.
  bool has_hit = isotact_has_hit(query);
  if (has_hit && !isotact_is(kFrameCountedAlways)) return;
  int sum = 0;
  for (uint layer = 0u; layer < layers;
       ++layer, at += isotact_frame.pixels, sum_at += isotact_frame.pixels) {
    vec2 interval = intervals[at];
    if (interval.x > interval.y) return;
    int more = isotact_windings.sums[sum_at];
    if (more != 0) isotact_windings.sums[sum_at] = 0;
    sum += more;
    // Below zero: a room that is turned inwards, with the object outside of its solid.
    int count = isotact_count(sum);
    if (count <= 0 || has_hit) continue;
    uint within = query * kPartStride + kPartWithin;
    if (isotact_parts.keys[within] < ~index) atomicMax(isotact_parts.keys[within], ~index);
    if (count != 1) continue;
    uint element = isotact_only_element(sum);
    if (element >= isotact_frame.elements) continue;  // of several that do not close
    uint word = query * isotact_frame.element_words + (element >> 5), bit = 1u << (element & 31u);
    if ((isotact_bits.words[word] & bit) == 0u) atomicOr(isotact_bits.words[word], bit);
  }
}
