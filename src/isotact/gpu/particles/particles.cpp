#include <algorithm>
#include <cmath>

#include <epoxy/gl.h>
#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/gpu/gl_state.h"
#include "isotact/gpu/particle_maps.h"
#include "isotact/gpu/program.h"

namespace isotact {
namespace {

constexpr std::uint32_t kParticleBinding = 8, kCountBinding = 9;
constexpr std::uint32_t kStepGroup = 64, kExtentGroup = 256;

// As in shaders/particle_step.comp.
struct StepBlock {
  Vec3f gravity;
  float seconds;
  Vec3f source;
  float radius;
  Vec3f velocity;
  float least_life;
  Vec3f spread;
  float most_life;
  std::array<float, 4> forces, response;
  std::array<std::uint32_t, 4> counts;
};
static_assert(sizeof(StepBlock) == 112);

struct ExtentRecord {
  Vec3f sum;
  float pad0;
  Vec3f lower;
  float pad1;
  Vec3f upper;
  float pad2;
};
static_assert(sizeof(ExtentRecord) == 48);

}  // namespace

struct GpuParticles::State {
  explicit State(std::span<const Particle> first)
      : particles(first),
        counts(sizeof(ParticleCounts)),
        count(static_cast<std::uint32_t>(first.size())) {
    counts.clear();
    glCreateBuffers(1, &block);
    glNamedBufferStorage(block, sizeof(StepBlock), nullptr, GL_DYNAMIC_STORAGE_BIT);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { glDeleteBuffers(1, &block); }

  GpuBuffer particles, counts;
  std::uint32_t count = 0;
  GLuint block = 0;
  GpuProgram step{"particle_step.comp"}, extent{"particle_extent.comp"};
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
  const StepBlock block{
      step.gravity,
      step.seconds,
      step.source,
      step.source_radius,
      step.velocity,
      step.least_life,
      step.velocity_spread,
      step.most_life,
      {step.drag, step.perturbation, step.surface_motion, 0},
      {step.restitution, step.friction, 0, 0},
      {s.count, static_cast<std::uint32_t>(step.samples), step.use_forces ? 1U : 0U, 0}};
  glNamedBufferSubData(s.block, 0, sizeof block, &block);
  maps.bind();
  glBindBufferBase(GL_UNIFORM_BUFFER, 31, s.block);
  s.particles.bind(kParticleBinding);
  s.counts.bind(kCountBinding);
  const GroupGrid groups = spread_groups((s.count + kStepGroup - 1) / kStepGroup);
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

GpuParticles::Extent GpuParticles::find_extent() const {
  const State& s = *state_;
  const GpuStateGuard guard;
  const std::uint32_t needed = (s.count + kExtentGroup - 1) / kExtentGroup;
  const GroupGrid groups = spread_groups(needed);
  std::vector<ExtentRecord> records(std::size_t{groups.x} * groups.y);
  const GpuBuffer buffer(records.size() * sizeof(ExtentRecord));
  s.particles.bind(kParticleBinding);
  buffer.bind(kCountBinding);
  s.extent.set("count", s.count);
  s.extent.dispatch(groups.x, groups.y);
  buffer.read(std::span<ExtentRecord>(records));
  Extent extent;
  for (const ExtentRecord& r : records) {
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
