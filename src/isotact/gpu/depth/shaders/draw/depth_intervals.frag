// Fragments of the environment, as the graphics pipeline makes them.
#include "depth_pass.glsl"
#include "depth_test.glsl"

void main() {
  float z = gl_FragCoord.z;
  vec2 slope = vec2(dFdx(z), dFdy(z));
  float reach = isotact_find_reach(z);
  IsotactDrawn d = isotact_find_drawn();
  ivec2 pixel = ivec2(gl_FragCoord.xy) - isotact_origin(d.query);
  // Conservative rasterisation and lines may reach beyond the picture.
  if (any(lessThan(pixel, ivec2(0))) || any(greaterThanEqual(pixel, isotact_frame.size))) return;
  isotact_test(d.query, d.element, d.closed, d.thin, gl_FrontFacing, pixel, z, reach, slope);
}
