// FAB's alternative: a fragment of the environment against the object's height map.
#include "depth_pass.glsl"
#include "depth_hit.glsl"
layout(binding = kObjectFarUnit) uniform sampler2D isotact_far;
layout(binding = kObjectNearUnit) uniform sampler2D isotact_near;

void main() {
  float z = gl_FragCoord.z;
  vec2 slope = vec2(dFdx(z), dFdy(z));
  IsotactDrawn d = isotact_find_drawn();
  uint slot = isotact_slot(d.query);
  ivec2 pixel = ivec2(gl_FragCoord.xy) - isotact_origin(d.query);
  if (any(lessThan(pixel, ivec2(0))) || any(greaterThanEqual(pixel, isotact_frame.size))) return;
  ivec2 at = isotact_origin(slot) + pixel;
  vec2 interval = vec2(0, texelFetch(isotact_far, at, 0).r);
  if (interval.y == 0 || z > interval.y) return;
  if (isotact_is(kFrameTwoSided)) interval.x = texelFetch(isotact_near, at, 0).r;
  if (z < interval.x) return;
  isotact_record(d.query, slot, d.element, d.thin, gl_FrontFacing, pixel, z, interval, slope);
}
