// All surfaces of the object in each pixel, as lists.
#include "depth_pass.glsl"
layout(std430, binding = kDepthHeadsAt) buffer IsotactHeads { uint heads[]; } isotact_heads;
#ifdef CONSERVATIVE
// Bands: the depths over the pixel's square. WHOLE: drawn by conservative rasterisation, so that
// those that do not hold the pixel's middle are there, too; which way they are crossed is told by
// another drawing without it.
layout(std430, binding = kDepthNodesAt) buffer IsotactNodes {
  DepthNodesHead head;
  uvec4 nodes[];
} isotact_nodes;

void add(uint pixel, float low, float high, int crossing) {
  uint node = atomicAdd(isotact_nodes.head.count, 1u);
  if (node >= isotact_nodes.head.room) return;
  uint next = atomicExchange(isotact_heads.heads[pixel], node + 1u);
  isotact_nodes.nodes[node] = uvec4(1u + floatBitsToUint(clamp(low, 0.0, 1.0)),
                                    floatBitsToUint(clamp(high, 0.0, 1.0)), uint(crossing), next);
}
#else
layout(std430, binding = kDepthNodesAt) buffer IsotactNodes {
  DepthNodesHead head;
  uvec2 nodes[];
} isotact_nodes;

void add(uint pixel, float z, bool front) {
  uint node = atomicAdd(isotact_nodes.head.count, 1u);
  if (node >= isotact_nodes.head.room) return;
  // Positive floats are in the order of their bits; front before back.
  uint key = 1u + ((floatBitsToUint(clamp(z, 0.0, 1.0)) << 1) | (front ? 0u : 1u));
  isotact_nodes.nodes[node] = uvec2(key, atomicExchange(isotact_heads.heads[pixel], node + 1u));
}
#endif

void main() {
  float z = gl_FragCoord.z;
  vec2 slope = vec2(dFdx(z), dFdy(z));
  float reach = isotact_find_reach(z);
  IsotactDrawn d = isotact_find_drawn();
  ivec2 at = ivec2(gl_FragCoord.xy);
  uint pixel = uint(at.y * isotact_frame.size.x + at.x);
#ifdef CONSERVATIVE
  int crossing = d.thin ? 0 : gl_FrontFacing ? 1 : -1;
#ifdef WHOLE
  crossing = 0;
#endif
  add(pixel, z - reach, z + reach, crossing);
#else
  // Of triangles that are seen along themselves the pipeline's depths may be anything. Of those that
  // are not even in the box nothing is kept: the pixel is open then, and counted so.
  if ((z <= 0 || z >= 1) && abs(slope.x) + abs(slope.y) > 0.25) return;
  if (d.thin || gl_FrontFacing) add(pixel, z, true);
  if (d.thin || !gl_FrontFacing) add(pixel, z, false);
#endif
}
