// Only where the object is: for the stencil.
#include "depth_pass.glsl"
layout(binding = kObjectFarUnit) uniform sampler2D isotact_far;

void main() {
  ivec2 pixel = ivec2(gl_FragCoord.xy) - isotact_origin(isotact_pass.query);
  ivec2 at = isotact_origin(isotact_slot(isotact_pass.query)) + pixel;
  if (texelFetch(isotact_far, at, 0).r == 0) discard;
}
