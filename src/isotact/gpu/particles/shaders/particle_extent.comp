// Sum and bounds of the particles' positions, one record a work-group.
layout(local_size_x = 256) in;
#include "index.glsl"
struct Particle {
  vec4 position_age, velocity_life;
  uvec4 state;
};
struct Extent {
  vec4 sum, lower, upper;
};
layout(std430, binding = 8) readonly buffer Particles { Particle particles[]; };
layout(std430, binding = 9) writeonly buffer Extents { Extent extents[]; };
uniform uint count;
shared vec3 sums[256], lowers[256], uppers[256];

void main() {
  uint i = invocation_index(), me = gl_LocalInvocationIndex;
  vec3 p = particles[min(i, count - 1u)].position_age.xyz;
  sums[me] = i < count ? p : vec3(0);
  lowers[me] = p;
  uppers[me] = p;
  barrier();
  for (uint half_size = 128u; half_size > 0u; half_size /= 2u) {
    if (me < half_size) {
      sums[me] += sums[me + half_size];
      lowers[me] = min(lowers[me], lowers[me + half_size]);
      uppers[me] = max(uppers[me], uppers[me + half_size]);
    }
    barrier();
  }
  if (me == 0u)
    extents[gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x] =
        Extent(vec4(sums[0], 0), vec4(lowers[0], 0), vec4(uppers[0], 0));
}
