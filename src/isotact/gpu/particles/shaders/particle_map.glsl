// Maps of what is around particles (gpu/particles/particle_maps.h). For compute shaders, ours and others:
// GpuParticleMaps::bind() binds what is declared here.
#include "particle_layout.h"
layout(std140, binding = kParticleMapAt) uniform IsotactParticleMap {
  ParticleMapBlock particle_map;
};
layout(binding = kParticleDepthUnit) uniform sampler2DArray particle_depths;
layout(binding = kParticleNormalUnit) uniform sampler2DArray particle_normals;
layout(binding = kParticleIdUnit) uniform usampler2DArray particle_ids;
layout(binding = kParticleDataUnit) uniform sampler2DArray particle_data;

// Where a point of the world is in the maps.
struct ParticlePlace {
  bool found;
  int face;
  ivec2 pixel;
  vec3 ray;          // through the pixel's middle, in the face's frame: per metre of depth
  float pixel_size;  // metres, at the point
};

ParticlePlace find_particle_place(vec3 p) {
  ParticlePlace place;
  place.face = 0;
  if (particle_map.is_cube != 0) {
    vec3 offset = p - particle_map.faces[0].origin, size = abs(offset);
    int axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
    place.face = 2 * axis + (offset[axis] < 0 ? 1 : 0);
  }
  ParticleFace face = particle_map.faces[place.face];
  vec3 offset = p - face.origin;
  vec3 local = vec3(dot(face.x, offset), dot(face.y, offset), dot(face.z, offset));
  // Nothing is nearer than a cube's near plane: what is there sees all.
  place.found = local.z > 0 && local.z < face.far;
  float resolution = float(particle_map.size);
  vec2 half_size = particle_map.is_cube != 0 ? vec2(local.z) : vec2(face.half_x, face.half_y);
  vec2 at = (local.xy / half_size * 0.5 + 0.5) * resolution;
  if (particle_map.is_cube == 0)
    place.found = place.found && all(greaterThanEqual(at, vec2(0))) &&
                  all(lessThan(at, vec2(resolution)));
  place.pixel = clamp(ivec2(at), ivec2(0), ivec2(particle_map.size - 1));
  vec2 middle = (vec2(place.pixel) + 0.5) / resolution * 2.0 - 1.0;
  place.ray = particle_map.is_cube != 0 ? vec3(middle, 1)
                                        : vec3(middle * vec2(face.half_x, face.half_y), 0);
  place.pixel_size = 2.0 * max(half_size.x, half_size.y) / resolution;
  return place;
}

// The plane that stands for a surface in a pixel.
struct ParticleSurface {
  bool found;
  vec3 point, normal;  // towards the viewer
};

int particle_slice(ParticlePlace place, int layer) {
  return place.face * particle_map.layers + layer;
}

ParticleSurface find_particle_surface(ParticlePlace place, int layer) {
  ParticleSurface surface;
  ivec3 texel = ivec3(place.pixel, particle_slice(place, layer));
  float depth = texelFetch(particle_depths, texel, 0).x;
  surface.found = depth < 1.0;
  ParticleFace face = particle_map.faces[place.face];
  float near = face.near, far = face.far;
  bool cube = particle_map.is_cube != 0;
  float z = cube ? near * far / (far - depth * (far - near)) : near + depth * (far - near);
  vec3 local = cube ? place.ray * z : vec3(place.ray.xy, z);
  vec3 ray = cube ? place.ray : vec3(0, 0, 1);
  surface.point = face.origin + face.x * local.x + face.y * local.y + face.z * local.z;
  vec3 away = face.x * ray.x + face.y * ray.y + face.z * ray.z;
  surface.normal = -normalize(away);
  if (particle_map.has_normals != 0) {
    vec3 outwards = texelFetch(particle_normals, texel, 0).xyz;
    surface.normal = dot(outwards, away) > 0 ? -outwards : outwards;
  }
  return surface;
}

uint find_particle_id(ParticlePlace place, int layer) {
  if (particle_map.has_ids == 0) return 0u;
  return texelFetch(particle_ids, ivec3(place.pixel, particle_slice(place, layer)), 0).x;
}

vec4 find_particle_data(ParticlePlace place, int layer) {
  if (particle_map.has_data == 0) return vec4(0);
  return texelFetch(particle_data, ivec3(place.pixel, particle_slice(place, layer)), 0);
}

// How many surfaces are before a point on its ray.
uint count_particle_surfaces(ParticlePlace place, vec3 p) {
  uint passed = 0u;
  for (int layer = 0; layer < particle_map.layers; ++layer) {
    ParticleSurface surface = find_particle_surface(place, layer);
    if (!surface.found || dot(surface.normal, p - surface.point) >= 0) break;
    ++passed;
  }
  return passed;
}

// A particle's way from one point to another.
struct ParticleCrossing {
  bool found;
  vec3 point, normal;  // of the surface, turned to where the particle was
  uint id;
  float pixel_size;
};

// `side`: what count_particle_surfaces said where it was, kUnknownSide where that is not known; it
// becomes that of `to`, unless the particle crosses something and will be put back. `reach`: how
// far surfaces have moved.
ParticleCrossing find_particle_crossing(vec3 from, vec3 to, ParticlePlace place, float reach,
                                        inout uint side) {
  ParticleCrossing crossing;
  crossing.found = false;
  crossing.pixel_size = place.pixel_size;
  uint now = count_particle_surfaces(place, to);
  uint before = side;
  side = now;
  if (before == kUnknownSide || before == now) return crossing;
  int layer = int(now > before ? before : before - 1u);
  if (layer >= particle_map.layers) return crossing;
  ParticleSurface surface = find_particle_surface(place, layer);
  if (!surface.found) return crossing;
  crossing.point = surface.point;
  crossing.normal = now > before ? surface.normal : -surface.normal;
  float slack = place.pixel_size + reach;
  float behind = -dot(crossing.normal, to - surface.point);
  float before_it = dot(crossing.normal, from - surface.point);
  crossing.found = behind > 0 && behind <= distance(from, to) + slack && before_it >= -slack;
  if (!crossing.found) return crossing;
  crossing.id = find_particle_id(place, layer);
  side = before;
  return crossing;
}
