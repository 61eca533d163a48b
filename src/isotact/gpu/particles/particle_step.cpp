// The CPU implementation of shaders/particle_map.glsl and particle_moves.comp: line by line the
// same.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/gpu/particles/particle_maps.h"

namespace isotact {
namespace {

using glsl::kParticleBounces, glsl::kUnknownSide;

std::uint32_t next_random(std::uint32_t& seed) {
  seed = seed * 747796405U + 2891336453U;
  const std::uint32_t word = ((seed >> ((seed >> 28U) + 4U)) ^ seed) * 277803737U;
  return (word >> 22U) ^ word;
}
float next_uniform(std::uint32_t& seed) {
  return static_cast<float>(next_random(seed) >> 8U) * 0x1p-24F;
}
Vec3f next_in_cube(std::uint32_t& seed) {
  const float x = next_uniform(seed), y = next_uniform(seed), z = next_uniform(seed);
  return Vec3f{x, y, z} * 2.0F - Vec3f{1, 1, 1};
}

struct Place {
  bool found = false;
  std::size_t face = 0, column = 0, row = 0;
  Vec3f ray{};
  float pixel_size = 0;
};

struct PlaneSurface {
  bool found = false;
  Vec3f point{}, normal{};
};

struct Crossing {
  bool found = false;
  Vec3f point{}, normal{};
  std::uint32_t id = 0;
};

class MapReader {
 public:
  explicit MapReader(const ParticleMaps& maps) : maps_(maps) {}

  std::uint32_t layers() const { return static_cast<std::uint32_t>(maps_.layers); }

  Place find_place(const Vec3f& p) const {
    Place place;
    if (maps_.cube) {
      const Vec3f offset = p - maps_.face[0].origin;
      const Vec3f size{std::abs(offset.x), std::abs(offset.y), std::abs(offset.z)};
      const std::size_t axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
      place.face = 2 * axis + (offset[axis] < 0 ? 1 : 0);
    }
    const ParticleFace& face = maps_.face[place.face];
    const Vec3f offset = p - face.origin;
    const Vec3f local{dot(face.x, offset), dot(face.y, offset), dot(face.z, offset)};
    const auto resolution = static_cast<float>(maps_.size);
    const float half_x = maps_.cube ? local.z : face.half_x;
    const float half_y = maps_.cube ? local.z : face.half_y;
    const float x = (local.x / half_x * 0.5F + 0.5F) * resolution;
    const float y = (local.y / half_y * 0.5F + 0.5F) * resolution;
    place.found = local.z > 0 && local.z < face.far &&
                  (maps_.cube || (x >= 0 && y >= 0 && x < resolution && y < resolution));
    if (!place.found) return place;
    const auto last = static_cast<std::size_t>(maps_.size - 1);
    place.column = std::min(static_cast<std::size_t>(std::max(x, 0.0F)), last);
    place.row = std::min(static_cast<std::size_t>(std::max(y, 0.0F)), last);
    const float middle_x = (static_cast<float>(place.column) + 0.5F) / resolution * 2 - 1;
    const float middle_y = (static_cast<float>(place.row) + 0.5F) / resolution * 2 - 1;
    place.ray = maps_.cube ? Vec3f{middle_x, middle_y, 1}
                           : Vec3f{middle_x * face.half_x, middle_y * face.half_y, 0};
    place.pixel_size = 2 * std::max(half_x, half_y) / resolution;
    return place;
  }

  std::size_t texel(const Place& place, std::uint32_t layer) const {
    const auto size = static_cast<std::size_t>(maps_.size);
    return ((place.face * layers() + layer) * size + place.row) * size + place.column;
  }

  PlaneSurface find_surface(const Place& place, std::uint32_t layer) const {
    PlaneSurface surface;
    const std::size_t at = texel(place, layer);
    const float depth = maps_.depths[at];
    surface.found = depth < 1;
    const ParticleFace& face = maps_.face[place.face];
    const float z = maps_.cube ? face.near * face.far / (face.far - depth * (face.far - face.near))
                               : face.near + depth * (face.far - face.near);
    const Vec3f local = maps_.cube ? place.ray * z : Vec3f{place.ray.x, place.ray.y, z};
    const Vec3f ray = maps_.cube ? place.ray : Vec3f{0, 0, 1};
    surface.point = face.origin + face.x * local.x + face.y * local.y + face.z * local.z;
    const Vec3f away = face.x * ray.x + face.y * ray.y + face.z * ray.z;
    surface.normal = -normalized(away);
    if (!maps_.normals.empty()) {
      const auto& n = maps_.normals[at];
      const Vec3f outwards{n[0], n[1], n[2]};
      surface.normal = dot(outwards, away) > 0 ? -outwards : outwards;
    }
    return surface;
  }

  std::uint32_t count_surfaces(const Place& place, const Vec3f& p) const {
    std::uint32_t passed = 0;
    for (std::uint32_t layer = 0; layer < layers(); ++layer) {
      const PlaneSurface surface = find_surface(place, layer);
      if (!surface.found || dot(surface.normal, p - surface.point) >= 0) break;
      ++passed;
    }
    return passed;
  }

  Crossing find_crossing(const Vec3f& from, const Vec3f& to, const Place& place, float reach,
                         std::uint32_t& side) const {
    Crossing crossing;
    const std::uint32_t now = count_surfaces(place, to), before = side;
    side = now;
    if (before == kUnknownSide || before == now) return crossing;
    const std::uint32_t layer = now > before ? before : before - 1;
    if (layer >= layers()) return crossing;
    const PlaneSurface surface = find_surface(place, layer);
    if (!surface.found) return crossing;
    crossing.point = surface.point;
    crossing.normal = now > before ? surface.normal : -surface.normal;
    const float slack = place.pixel_size + reach;
    const float behind = -dot(crossing.normal, to - surface.point);
    const float before_it = dot(crossing.normal, from - surface.point);
    crossing.found = behind > 0 && behind <= length(to - from) + slack && before_it >= -slack;
    if (!crossing.found) return crossing;
    if (!maps_.ids.empty()) crossing.id = maps_.ids[texel(place, layer)];
    side = before;
    return crossing;
  }

  Vec3f compute_force(const Vec3f& p) const {
    Vec3f force{};
    const Place place = find_place(p);
    if (!place.found || maps_.data.empty()) return force;
    for (std::uint32_t layer = 0; layer < layers(); ++layer) {
      const PlaneSurface surface = find_surface(place, layer);
      if (!surface.found) break;
      const auto& data = maps_.data[texel(place, layer)];
      const float away = std::abs(dot(surface.normal, p - surface.point));
      if (away < data[3]) force += Vec3f{data[0], data[1], data[2]} * (1 - away / data[3]);
    }
    return force;
  }

 private:
  const ParticleMaps& maps_;
};

void bear(const ParticleStep& step, Particle& particle) {
  Vec3f place = next_in_cube(particle.seed);
  const float far = dot(place, place);
  if (far > 1) place *= next_uniform(particle.seed) / std::sqrt(far);
  particle.position = step.source + place * step.source_radius;
  particle.age = 0;
  const Vec3f spread = next_in_cube(particle.seed);
  particle.velocity =
      step.velocity + Vec3f{spread.x * step.velocity_spread.x, spread.y * step.velocity_spread.y,
                            spread.z * step.velocity_spread.z};
  particle.life =
      step.least_life + (step.most_life - step.least_life) * next_uniform(particle.seed);
  particle.side = kUnknownSide;
  particle.hits = particle.last_hit = 0;
}

void step_particle(const MapReader& maps, const ParticleStep& step, Particle& particle,
                   ParticleCounts& counts) {
  if (particle.age >= particle.life) {
    bear(step, particle);
    ++counts.born;
  }
  const Vec3f position = particle.position;
  Vec3f velocity = particle.velocity;
  Vec3f force =
      step.gravity - velocity * step.drag + next_in_cube(particle.seed) * step.perturbation;
  if (step.use_forces) force += maps.compute_force(position);
  velocity += force * step.seconds;
  Vec3f from = position, end = position + velocity * step.seconds;
  bool inside = true;
  for (int s = 1; s <= step.samples; ++s) {
    const float t = static_cast<float>(s) / static_cast<float>(step.samples);
    Vec3f to = position * (1 - t) + end * t;
    // A bounce may throw it behind another surface: corners have three.
    std::uint32_t bounces = 0;
    for (; bounces < kParticleBounces; ++bounces) {
      const Place place = maps.find_place(to);
      inside = place.found;
      if (!inside) {
        particle.side = kUnknownSide;
        break;
      }
      const Crossing crossing =
          maps.find_crossing(from, to, place, step.surface_motion, particle.side);
      if (!crossing.found) break;
      const float behind = -dot(crossing.normal, to - crossing.point);
      to += crossing.normal * ((1 + step.restitution) * behind + 0.05F * place.pixel_size);
      const float along = dot(velocity, crossing.normal);
      if (along < 0) {
        const Vec3f across = velocity - crossing.normal * along;
        velocity = across * (1 - step.friction) - crossing.normal * (along * step.restitution);
      }
      ++particle.hits;
      particle.last_hit = crossing.id;
      ++counts.collisions;
    }
    from = to;
    if (bounces == 0) continue;
    end = to;
    break;
  }
  if (!inside) ++counts.outside;
  if (inside && particle.side >= maps.layers()) ++counts.hidden;
  particle.position = end;
  particle.velocity = velocity;
  particle.age += step.seconds;
}

}  // namespace

void check_particle_step(const ParticleStep& step) {
  if (!(step.seconds >= 0) || !std::isfinite(step.seconds))
    throw Error(fmt::format("a step of {} seconds", step.seconds));
  if (step.samples < 1 || step.samples > 1024)
    throw Error(fmt::format("{} samples on a particle's path; it must be 1 to 1024", step.samples));
  if (!(step.restitution >= 0 && step.restitution <= 1 && step.friction >= 0 && step.friction <= 1))
    throw Error(fmt::format("restitution {} and friction {}; they must be 0 to 1", step.restitution,
                            step.friction));
  if (!(step.least_life > 0 && step.most_life >= step.least_life))
    throw Error(
        fmt::format("particles that live for {} to {} seconds", step.least_life, step.most_life));
}

void step_particles(const ParticleMaps& maps, const ParticleStep& step,
                    std::span<Particle> particles, ParticleCounts& counts) {
  check_particle_step(step);
  const MapReader reader(maps);
  for (Particle& particle : particles) step_particle(reader, step, particle, counts);
}

std::vector<Particle> make_particles(std::uint32_t count, std::uint32_t seed) {
  std::vector<Particle> particles(count);
  std::uint32_t state = seed;
  for (Particle& particle : particles) particle.seed = next_random(state);
  return particles;
}

}  // namespace isotact
