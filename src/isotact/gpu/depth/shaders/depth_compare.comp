// FAB: two height maps, compared pixel by pixel.
layout(local_size_x = 8, local_size_y = 8) in;
#include "depth_hit.glsl"
layout(binding = kObjectFarUnit) uniform sampler2D object_far;
layout(binding = kObjectNearUnit) uniform sampler2D object_near;
layout(binding = kEnvironmentDepthUnit) uniform sampler2D environment_depth;
layout(binding = kEnvironmentSurfaceUnit) uniform usampler2D environment_surface;

void main() {
  ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);
  if (any(greaterThanEqual(pixel, isotact_frame.size))) return;
  uint query = gl_GlobalInvocationID.z, slot = isotact_slot(query);
  ivec2 at = isotact_origin(slot) + pixel, e = isotact_origin(query) + pixel;
  vec2 interval = vec2(0, texelFetch(object_far, at, 0).r);
  if (interval.y == 0) return;
  float z = texelFetch(environment_depth, e, 0).r;
  if (z > interval.y) return;
  if (isotact_is(kFrameTwoSided)) interval.x = texelFetch(object_near, at, 0).r;
  if (z < interval.x) return;
  uvec4 surface = texelFetch(environment_surface, e, 0);
  if (surface.x == 0u) return;  // nothing was drawn here
  isotact_record(query, slot, surface.x - 1u, (surface.w & 2u) != 0u, (surface.w & 1u) != 0u, pixel,
                 z, interval, uintBitsToFloat(surface.yz));
}
