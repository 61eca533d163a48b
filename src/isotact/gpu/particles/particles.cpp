#include <algorithm>
#include <cmath>

#include <epoxy/gl.h>
#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/gpu/core/gl_state.h"
#include "isotact/gpu/core/program.h"
#include "isotact/gpu/particles/particle_maps.h"

namespace isotact {
namespace {

using glsl::kParticleExtentGroup, glsl::kParticleStepGroup;
using glsl::ParticleExtent, glsl::ParticleStepBlock;

}  // namespace

struct GpuParticles::State {
  explicit State(std::span<const Particle> first)
      : particles(first),
        counts(sizeof(ParticleCounts)),
        count(static_cast<std::uint32_t>(first.size())) {
    counts.clear();
    glCreateBuffers(1, &block);
    glNamedBufferStorage(block, sizeof(ParticleStepBlock), nullptr, GL_DYNAMIC_STORAGE_BIT);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { glDeleteBuffers(1, &block); }

  GpuBuffer particles, counts;
  std::uint32_t count = 0;
  GLuint block = 0;
  GpuProgram step{"particle_moves.comp"}, extent{"particle_extent.comp"};
};

GpuParticles::GpuParticles(const GpuContext& gpu, std::span<const Particle> particles) {
  if (particles.empty() || particles.size() > 50'000'000)
    throw Error(fmt::format("{} particles; it must be 1 to 50000000", particles.size()));
  gpu.make_current();
  state_ = std::make_unique<State>(particles);
}
GpuParticles::GpuParticles(const GpuContext& gpu, std::uint32_t count, std::uint32_t seed)
    : GpuParticles(gpu, make_particles(count, seed)) {}
GpuParticles::GpuParticles(GpuParticles&&) noexcept = default;
GpuParticles& GpuParticles::operator=(GpuParticles&&) noexcept = default;
GpuParticles::~GpuParticles() = default;

void GpuParticles::step(const GpuParticleMaps& maps, const ParticleStep& step) {
  check_particle_step(step);
  State& s = *state_;
  const GpuStateGuard guard(maps.settings().save_state);
  const ParticleStepBlock block{.gravity = step.gravity,
                                .seconds = step.seconds,
                                .source = step.source,
                                .source_radius = step.source_radius,
                                .velocity = step.velocity,
                                .least_life = step.least_life,
                                .velocity_spread = step.velocity_spread,
                                .most_life = step.most_life,
                                .drag = step.drag,
                                .perturbation = step.perturbation,
                                .surface_motion = step.surface_motion,
                                .restitution = step.restitution,
                                .friction = step.friction,
                                .count = s.count,
                                .samples = static_cast<std::uint32_t>(step.samples),
                                .use_forces = step.use_forces ? 1U : 0U};
  glNamedBufferSubData(s.block, 0, sizeof block, &block);
  maps.bind();
  glBindBufferBase(GL_UNIFORM_BUFFER, glsl::kParticleStepAt, s.block);
  s.particles.bind(glsl::kParticlesAt);
  s.counts.bind(glsl::kParticleCountsAt);
  const GroupGrid groups = spread_groups((s.count + kParticleStepGroup - 1) / kParticleStepGroup);
  s.step.dispatch(groups.x, groups.y);
  glMemoryBarrier(GL_VERTEX_ATTRIB_ARRAY_BARRIER_BIT);
}

ParticleCounts GpuParticles::read_counts() {
  ParticleCounts counts;
  state_->counts.read(std::span<ParticleCounts>(&counts, 1));
  state_->counts.clear();
  return counts;
}

std::vector<Particle> GpuParticles::read() const {
  std::vector<Particle> particles(state_->count);
  state_->particles.read(std::span<Particle>(particles));
  return particles;
}

GpuParticles::Extent GpuParticles::compute_extent() const {
  const State& s = *state_;
  const GpuStateGuard guard;
  const std::uint32_t needed = (s.count + kParticleExtentGroup - 1) / kParticleExtentGroup;
  const GroupGrid groups = spread_groups(needed);
  std::vector<ParticleExtent> records(std::size_t{groups.x} * groups.y);
  const GpuBuffer buffer(records.size() * sizeof(ParticleExtent));
  s.particles.bind(glsl::kParticlesAt);
  buffer.bind(glsl::kParticleExtentsAt);
  s.extent.set("count", s.count);
  s.extent.dispatch(groups.x, groups.y);
  buffer.read(std::span<ParticleExtent>(records));
  Extent extent;
  for (const ParticleExtent& r : records) {
    extent.centroid += to_double(r.sum);
    isotact::extend(extent.bounds, to_double(r.lower));
    isotact::extend(extent.bounds, to_double(r.upper));
  }
  extent.centroid = extent.centroid / static_cast<double>(s.count);
  return extent;
}

std::uint32_t GpuParticles::count() const { return state_->count; }
const GpuBuffer& GpuParticles::buffer() const { return state_->particles; }

}  // namespace isotact
