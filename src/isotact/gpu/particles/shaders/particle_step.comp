// Moves particles for a while and lets them bounce off what the maps hold (gpu/particle_maps.h).
layout(local_size_x = 64) in;
#include "index.glsl"
#include "particle_map.glsl"

struct Particle {
  vec4 position_age, velocity_life;
  uvec4 state;  // seed, side, hits, last hit
};
layout(std430, binding = 8) buffer Particles { Particle particles[]; };
layout(std430, binding = 9) buffer Counts { uint collisions, hidden, outside, born; };
layout(std140, binding = 31) uniform ParticleStepBlock {
  vec4 gravity_seconds, source_radius, velocity_least_life, spread_most_life;
  vec4 forces;    // drag, perturbation, surface motion
  vec4 response;  // restitution, friction
  uvec4 counts;   // particles, samples, whether data are forces
} step_;

shared uint group_counts[4];
const uint kMostBounces = 4u;

// O'Neill's PCG, as a hash.
uint next_random(inout uint seed) {
  seed = seed * 747796405u + 2891336453u;
  uint word = ((seed >> ((seed >> 28u) + 4u)) ^ seed) * 277803737u;
  return (word >> 22u) ^ word;
}
float next_uniform(inout uint seed) { return float(next_random(seed) >> 8u) * (1.0 / 16777216.0); }
vec3 next_in_cube(inout uint seed) {
  float x = next_uniform(seed), y = next_uniform(seed), z = next_uniform(seed);
  return vec3(x, y, z) * 2.0 - 1.0;
}

void bear(inout Particle particle) {
  vec3 place = next_in_cube(particle.state.x);
  float far = dot(place, place);
  if (far > 1) place *= inversesqrt(far) * next_uniform(particle.state.x);
  particle.position_age = vec4(step_.source_radius.xyz + place * step_.source_radius.w, 0);
  vec3 velocity = step_.velocity_least_life.xyz +
                  next_in_cube(particle.state.x) * step_.spread_most_life.xyz;
  float life = mix(step_.velocity_least_life.w, step_.spread_most_life.w,
                   next_uniform(particle.state.x));
  particle.velocity_life = vec4(velocity, life);
  particle.state.yzw = uvec3(0xffffffffu, 0u, 0u);
}

// Of obstacles whose data are forces: of the surfaces before and behind the particle.
vec3 find_force(vec3 p) {
  ParticlePlace place = find_particle_place(p);
  vec3 force = vec3(0);
  if (!place.found) return force;
  for (int layer = 0; layer < particle_map.shape.y; ++layer) {
    ParticleSurface surface = find_particle_surface(place, layer);
    if (!surface.found) break;
    vec4 data = find_particle_data(place, layer);
    float away = abs(dot(surface.normal, p - surface.point));
    if (away < data.w) force += data.xyz * (1.0 - away / data.w);
  }
  return force;
}

void main() {
  if (gl_LocalInvocationIndex < 4u) group_counts[gl_LocalInvocationIndex] = 0u;
  barrier();
  uint i = invocation_index();
  if (i < step_.counts.x) {
    Particle particle = particles[i];
    float seconds = step_.gravity_seconds.w;
    if (particle.position_age.w >= particle.velocity_life.w) {
      bear(particle);
      atomicAdd(group_counts[3], 1u);
    }
    vec3 position = particle.position_age.xyz, velocity = particle.velocity_life.xyz;
    vec3 force = step_.gravity_seconds.xyz - velocity * step_.forces.x +
                 next_in_cube(particle.state.x) * step_.forces.y;
    if (step_.counts.z != 0u) force += find_force(position);
    velocity += force * seconds;
    vec3 from = position, end = position + velocity * seconds;
    bool inside = true;
    ParticlePlace place;
    for (uint s = 1u; s <= step_.counts.y; ++s) {
      vec3 to = mix(position, end, float(s) / float(step_.counts.y));
      // What it bounces off may throw it behind another surface: corners have three.
      uint bounces = 0u;
      for (; bounces < kMostBounces; ++bounces) {
        place = find_particle_place(to);
        inside = place.found;
        if (!inside) {
          particle.state.y = 0xffffffffu;
          break;
        }
        ParticleCrossing crossing =
            find_particle_crossing(from, to, place, step_.forces.z, particle.state.y);
        if (!crossing.found) break;
        float behind = -dot(crossing.normal, to - crossing.point);
        to += crossing.normal * ((1.0 + step_.response.x) * behind + 0.05 * crossing.pixel_size);
        float along = dot(velocity, crossing.normal);
        if (along < 0) {
          vec3 across = velocity - crossing.normal * along;
          velocity = across * (1.0 - step_.response.y) - crossing.normal * (along * step_.response.x);
        }
        particle.state.z += 1u;
        particle.state.w = crossing.id;
        atomicAdd(group_counts[0], 1u);
      }
      from = to;
      if (bounces == 0u) continue;
      end = to;
      break;
    }
    if (!inside) atomicAdd(group_counts[2], 1u);
    // All surfaces that are known are before it.
    if (inside && particle.state.y >= uint(particle_map.shape.y))
      atomicAdd(group_counts[1], 1u);
    particles[i] = Particle(vec4(end, particle.position_age.w + seconds),
                            vec4(velocity, particle.velocity_life.w), particle.state);
  }
  barrier();
  if (gl_LocalInvocationIndex == 0u) {
    if (group_counts[0] > 0u) atomicAdd(collisions, group_counts[0]);
    if (group_counts[1] > 0u) atomicAdd(hidden, group_counts[1]);
    if (group_counts[2] > 0u) atomicAdd(outside, group_counts[2]);
    if (group_counts[3] > 0u) atomicAdd(born, group_counts[3]);
  }
}
