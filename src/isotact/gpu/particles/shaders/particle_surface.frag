// Draws what is around particles: depth by the depth buffer; normal, id and data here. Reads
// gl_FragCoord and gl_FrontFacing only. Surfaces up to the layer before are peeled off.
#include "particle_layout.h"
layout(std140, binding = kParticleMapAt) uniform IsotactParticleMap {
  ParticleMapBlock particle_map;
};
layout(std140, binding = kParticleDrawAt) uniform IsotactParticleDraw {
  ParticleDrawBlock obstacle;
};
#ifdef PEEL
layout(binding = kParticleDepthUnit) uniform sampler2DArray particle_depths;
#endif
layout(location = 0) out vec4 normal;
layout(location = 1) out uint id;
layout(location = 2) out vec4 data;

void main() {
  ParticleFace face = particle_map.faces[obstacle.face];
  float scale = float(particle_map.size) * 0.5;
  vec3 local;
  if (particle_map.is_cube != 0) {
    // One over depth is linear on the screen: that of a plane with normal n is n . (x, y, 1).
    vec2 at = gl_FragCoord.xy / scale - 1.0;
    vec2 slope = vec2(dFdx(gl_FragCoord.w), dFdy(gl_FragCoord.w)) * scale;
    local = -vec3(slope, gl_FragCoord.w - dot(slope, at));
    if (obstacle.is_thin != 0) local = -vec3(at, 1);
  } else {
    vec2 slope = vec2(dFdx(gl_FragCoord.z), dFdy(gl_FragCoord.z)) * (face.far - face.near) *
                 scale / vec2(face.half_x, face.half_y);
    local = vec3(slope, -1);
    if (obstacle.is_thin != 0) local = vec3(0, 0, -1);
  }
#ifdef PEEL
  // Only now: slopes need the pixels around this one.
  if (obstacle.layer > 0) {
    int slice = obstacle.face * particle_map.layers + obstacle.layer - 1;
    if (gl_FragCoord.z <= texelFetch(particle_depths, ivec3(gl_FragCoord.xy, slice), 0).x) discard;
  }
#endif
  // Towards the viewer so far.
  if (obstacle.is_thin == 0 && !gl_FrontFacing) local = -local;
  normal = vec4(normalize(face.x * local.x + face.y * local.y + face.z * local.z), 1);
  id = uint(obstacle.id);
  data = obstacle.data;
}
