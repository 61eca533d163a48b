// What is being drawn: by our own vertex shader, which tells, or by a caller's.
#include "depth_frame.glsl"
#ifdef FROM_VERTEX
layout(location = 0) flat in uvec3 isotact_drawn;  // query, element, flags
#else
layout(std140, binding = kDepthPassAt) uniform IsotactPass { DepthPassBlock isotact_pass; };
#endif

struct IsotactDrawn {
  uint query, element;
  bool closed, thin;
};

IsotactDrawn isotact_find_drawn() {
#ifdef FROM_VERTEX
  uvec3 d = isotact_drawn;
#else
  uvec3 d = uvec3(isotact_pass.query, isotact_pass.element, isotact_pass.flags);
#endif
  return IsotactDrawn(d.x, d.y, (d.z & kPassClosed) != 0u, (d.z & kPassThin) != 0u);
}

// How far the depth over the pixel's square may be from that in its middle. Not within branches.
float isotact_find_reach(float z) {
#ifdef CONSERVATIVE
  return 0.502 * (abs(dFdx(z)) + abs(dFdy(z))) + 1e-6;
#else
  return 0;
#endif
}
