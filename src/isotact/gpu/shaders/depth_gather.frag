// All surfaces of the object in each pixel, as lists.
#include "depth_pass.glsl"
layout(std430, binding = 10) buffer IsotactHeads { uint heads[]; } isotact_heads;
layout(std430, binding = 11) buffer IsotactNodes { uint count, room; uvec2 nodes[]; } isotact_nodes;

void add(uint pixel, float z, bool front) {
  uint node = atomicAdd(isotact_nodes.count, 1u);
  if (node >= isotact_nodes.room) return;
  // Positive floats are in the order of their bits; front before back.
  uint key = 1u + ((floatBitsToUint(clamp(z, 0.0, 1.0)) << 1) | (front ? 0u : 1u));
  isotact_nodes.nodes[node] = uvec2(key, atomicExchange(isotact_heads.heads[pixel], node + 1u));
}

void main() {
  float z = gl_FragCoord.z;
  float reach = 0;
#ifdef CONSERVATIVE
  reach = 0.5 * (abs(dFdx(z)) + abs(dFdy(z)));
#endif
  IsotactDrawn d = isotact_find_drawn();
  ivec2 at = ivec2(gl_FragCoord.xy);
  uint pixel = uint(at.y * isotact_frame.size.x + at.x);
  bool both = d.thin || reach > 0;
  if (both || gl_FrontFacing) add(pixel, z - reach, true);
  if (both || !gl_FrontFacing) add(pixel, z + reach, false);
}
