// Sum and bounds of the particles' positions, one record a work-group.
#include "particle_layout.h"
layout(local_size_x = kParticleExtentGroup) in;
#include "index.glsl"
layout(std430, binding = kParticlesAt) readonly buffer Particles { Particle particles[]; };
layout(std430, binding = kParticleExtentsAt) writeonly buffer Extents { ParticleExtent extents[]; };
uniform uint count;
shared vec3 sums[kParticleExtentGroup], lowers[kParticleExtentGroup],
    uppers[kParticleExtentGroup];

void main() {
  uint i = invocation_index(), me = gl_LocalInvocationIndex;
  vec3 p = particles[min(i, count - 1u)].position;
  sums[me] = i < count ? p : vec3(0);
  lowers[me] = p;
  uppers[me] = p;
  barrier();
  for (uint half_size = kParticleExtentGroup / 2u; half_size > 0u; half_size /= 2u) {
    if (me < half_size) {
      sums[me] += sums[me + half_size];
      lowers[me] = min(lowers[me], lowers[me + half_size]);
      uppers[me] = max(uppers[me], uppers[me + half_size]);
    }
    barrier();
  }
  if (me == 0u)
    extents[gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x] =
        ParticleExtent(sums[0], 0, lowers[0], 0, uppers[0], 0);
}
