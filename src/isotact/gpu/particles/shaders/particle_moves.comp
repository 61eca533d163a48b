// Moves particles for a while and lets them bounce off what the maps hold (gpu/particles/particle_maps.h).
#include "particle_layout.h"
layout(local_size_x = kParticleStepGroup) in;
#include "index.glsl"
#include "particle_map.glsl"

layout(std430, binding = kParticlesAt) buffer Particles { Particle particles[]; };
layout(std430, binding = kParticleCountsAt) buffer Counts { ParticleCounts counts; };
layout(std140, binding = kParticleStepAt) uniform IsotactParticleStep { ParticleStepBlock step_; };

shared uint group_counts[4];

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
  vec3 place = next_in_cube(particle.seed);
  float far = dot(place, place);
  if (far > 1) place *= inversesqrt(far) * next_uniform(particle.seed);
  particle.position = step_.source + place * step_.source_radius;
  particle.age = 0;
  particle.velocity = step_.velocity + next_in_cube(particle.seed) * step_.velocity_spread;
  particle.life = mix(step_.least_life, step_.most_life, next_uniform(particle.seed));
  particle.side = kUnknownSide;
  particle.hits = 0u;
  particle.last_hit = 0u;
}

// Of obstacles whose data are forces: of the surfaces before and behind the particle.
vec3 compute_force(vec3 p) {
  ParticlePlace place = find_particle_place(p);
  vec3 force = vec3(0);
  if (!place.found) return force;
  for (int layer = 0; layer < particle_map.layers; ++layer) {
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
  if (i < step_.count) {
    Particle particle = particles[i];
    float seconds = step_.seconds;
    if (particle.age >= particle.life) {
      bear(particle);
      atomicAdd(group_counts[3], 1u);
    }
    vec3 position = particle.position, velocity = particle.velocity;
    vec3 force = step_.gravity - velocity * step_.drag +
                 next_in_cube(particle.seed) * step_.perturbation;
    if (step_.use_forces != 0u) force += compute_force(position);
    velocity += force * seconds;
    vec3 from = position, end = position + velocity * seconds;
    bool inside = true;
    ParticlePlace place;
    for (uint s = 1u; s <= step_.samples; ++s) {
      vec3 to = mix(position, end, float(s) / float(step_.samples));
      // What it bounces off may throw it behind another surface: corners have three.
      uint bounces = 0u;
      for (; bounces < kParticleBounces; ++bounces) {
        place = find_particle_place(to);
        inside = place.found;
        if (!inside) {
          particle.side = kUnknownSide;
          break;
        }
        ParticleCrossing crossing =
            find_particle_crossing(from, to, place, step_.surface_motion, particle.side);
        if (!crossing.found) break;
        float behind = -dot(crossing.normal, to - crossing.point);
        to += crossing.normal * ((1.0 + step_.restitution) * behind + 0.05 * crossing.pixel_size);
        float along = dot(velocity, crossing.normal);
        if (along < 0) {
          vec3 across = velocity - crossing.normal * along;
          velocity = across * (1.0 - step_.friction) - crossing.normal * (along * step_.restitution);
        }
        particle.hits += 1u;
        particle.last_hit = crossing.id;
        atomicAdd(group_counts[0], 1u);
      }
      from = to;
      if (bounces == 0u) continue;
      end = to;
      break;
    }
    if (!inside) atomicAdd(group_counts[2], 1u);
    // All surfaces that are known are before it.
    if (inside && particle.side >= uint(particle_map.layers))
      atomicAdd(group_counts[1], 1u);
    particle.position = end;
    particle.velocity = velocity;
    particle.age += seconds;
    particles[i] = particle;
  }
  barrier();
  if (gl_LocalInvocationIndex == 0u) {
    if (group_counts[0] > 0u) atomicAdd(counts.collisions, group_counts[0]);
    if (group_counts[1] > 0u) atomicAdd(counts.hidden, group_counts[1]);
    if (group_counts[2] > 0u) atomicAdd(counts.outside, group_counts[2]);
    if (group_counts[3] > 0u) atomicAdd(counts.born, group_counts[3]);
  }
}
