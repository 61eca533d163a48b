// The environment's height map: beside the depth who it is, and how it lies.
#include "depth_pass.glsl"
layout(location = 0) out uvec4 isotact_surface;  // element + 1, slopes of z, flags

void main() {
  IsotactDrawn d = isotact_find_drawn();
  isotact_surface =
      uvec4(d.element + 1u, floatBitsToUint(dFdx(gl_FragCoord.z)),
            floatBitsToUint(dFdy(gl_FragCoord.z)), (d.thin ? 2u : 0u) | (gl_FrontFacing ? 1u : 0u));
}
