// Draws what is around particles: depth by the depth buffer; normal, id and data here. Reads
// gl_FragCoord and gl_FrontFacing only. Surfaces up to the layer before are peeled off.
struct ParticleFace {
  vec4 x, y, z, origin;
};
layout(std140, binding = 30) uniform ParticleMapBlock {
  ParticleFace faces[6];
  ivec4 shape;
  ivec4 channels;
} particle_map;
layout(std140, binding = 31) uniform ParticleDrawBlock {
  vec4 data;
  ivec4 draw;  // face, layer, id, whether it has no normal: lines, points
} obstacle;
#ifdef PEEL
layout(binding = 8) uniform sampler2DArray particle_depths;
#endif
layout(location = 0) out vec4 normal;
layout(location = 1) out uint id;
layout(location = 2) out vec4 data;

void main() {
  ParticleFace face = particle_map.faces[obstacle.draw.x];
  float scale = float(particle_map.shape.x) * 0.5;
  vec3 local;
  if (particle_map.shape.w != 0) {
    // One over depth is linear on the screen: that of a plane with normal n is n . (x, y, 1).
    vec2 at = gl_FragCoord.xy / scale - 1.0;
    vec2 slope = vec2(dFdx(gl_FragCoord.w), dFdy(gl_FragCoord.w)) * scale;
    local = -vec3(slope, gl_FragCoord.w - dot(slope, at));
    if (obstacle.draw.w != 0) local = -vec3(at, 1);
  } else {
    vec2 slope = vec2(dFdx(gl_FragCoord.z), dFdy(gl_FragCoord.z)) * (face.origin.w - face.z.w) *
                 scale / vec2(face.x.w, face.y.w);
    local = vec3(slope, -1);
    if (obstacle.draw.w != 0) local = vec3(0, 0, -1);
  }
#ifdef PEEL
  // Only now: slopes need the pixels around this one.
  if (obstacle.draw.y > 0) {
    int slice = obstacle.draw.x * particle_map.shape.y + obstacle.draw.y - 1;
    if (gl_FragCoord.z <= texelFetch(particle_depths, ivec3(gl_FragCoord.xy, slice), 0).x) discard;
  }
#endif
  // Towards the viewer so far.
  if (obstacle.draw.w == 0 && !gl_FrontFacing) local = -local;
  normal = vec4(normalize(face.x.xyz * local.x + face.y.xyz * local.y + face.z.xyz * local.z), 1);
  id = uint(obstacle.draw.z);
  data = obstacle.data;
}
