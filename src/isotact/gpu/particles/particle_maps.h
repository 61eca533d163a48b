// Particles that bounce off everything that can be drawn: FAB, section 2, "Particle system". The
// surroundings are drawn from the source of the particles, once per step for all of them. They are
// drawn along one direction, or to the six faces of a cube about their centre. A pixel keeps the
// first surfaces along its ray: their depth, normal, id, and four numbers of the caller's, such as
// a force. A compute shader moves the particles and reads the surfaces that they meet.
//
//   GpuParticleMaps maps(gpu, {.size = 1024});
//   GpuParticles particles(gpu, 50'000);
//   maps.draw({.center = fire, .direction = {0, 1, 0}, .half_size = {0.5, 0.5, 0.5}}, obstacles);
//   particles.step(maps, {.seconds = 0.01F, .gravity = {0, 2, 0}});
//
// Content of a map: the first `layers` surfaces along a ray from the centre (or from the plane, for
// one direction). It has no data behind the last of them. Particles there are counted as hidden,
// and continue without bounces. One layer therefore suffices if the zone of the particles is
// convex, or star-convex as seen from the centre. ParticleCounts shows whether it was.
//
// Bounces: each particle stores the number of surfaces that its pixel's ray had passed before it
// (Particle::side). Each surface is a plane through the pixel. The particle has crossed the plane
// on two conditions. That number changes, and the plane is no further away than the sum of the
// particle's motion, a pixel, and `surface_motion`. Otherwise it has left or entered the shadow of
// another surface. Moving surfaces therefore sweep particles along. If a bounce ends behind another
// surface, as in corners, the particle bounces again, up to four times per step. Particles that
// move by more than a pixel per step may miss things thinner than their motion: `samples` tests
// positions in between.
//
// Everything works in the current context, which must always be the same, and leaves its state
// unchanged.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "isotact/base/aabb.h"
#include "isotact/base/vec.h"
#include "isotact/export.h"
#include "isotact/gpu/core/buffer.h"
#include "isotact/gpu/core/context.h"
#include "isotact/gpu/depth/depth_detector.h"
#include "isotact/gpu/particles/particle_layout.h"

namespace ISOTACT_PUBLIC isotact {

// ---- maps ---------------------------------------------------------------------------------------

inline constexpr int kMostParticleLayers = 8;

struct ParticleMapSettings {
  int size = 1024;      // Pixels along each side.
  bool cube = false;    // Six directions.
  int layers = 1;       // Depth peeling: as many drawings.
  bool normals = true;  // False: all surfaces face the viewer.
  bool ids = true;
  bool data = false;
  // Draws closed obstacles without their far sides: half the work. Correct for one layer, if none
  // of them reaches through the box's first side, or a cube's near plane.
  bool cull_back_faces = false;
  // False if nobody else changes the context's state: saves tens of microseconds per call.
  bool save_state = true;
};

// One direction: a box about `center`, seen along `direction` from its side. Six directions:
// everything up to `far` away from the centre along an axis. `near` must be before the first
// surface.
struct ParticleView {
  Vec3 center{};
  Vec3 direction{0, 1, 0};       // One direction.
  Vec3 half_size{1, 1, 1};       // Half extents of the box: across, across, along.
  double near = 0.01, far = 10;  // Six directions.
};

struct ParticleObstacle {
  GpuDrawable drawable;
  std::array<float, 4> data{};  // Data that the maps keep: see ParticleStep::use_forces.
};

// Maps on the CPU. [face][layer][row][column], rows from below. Arrays that were not requested are
// empty.
struct ParticleMaps {
  int size = 0, faces = 0, layers = 0;
  bool cube = false;
  std::array<ParticleFace, 6> face{};
  std::vector<float> depths;  // As in the depth buffer: 0 at near, 1 at far and at empty pixels.
  std::vector<std::array<float, 4>> normals;  // Outward; w is not used.
  std::vector<std::uint32_t> ids;
  std::vector<std::array<float, 4>> data;
};

class GpuParticleMaps {
 public:
  // Throws Error for invalid settings, or if the GPU lacks memory.
  GpuParticleMaps(const GpuContext& gpu, const ParticleMapSettings& settings);
  GpuParticleMaps(GpuParticleMaps&&) noexcept;
  GpuParticleMaps& operator=(GpuParticleMaps&&) noexcept;
  ~GpuParticleMaps();

  // Draws each obstacle once per face and layer. Throws Error for invalid views.
  void draw(const ParticleView& view, std::span<const ParticleObstacle> obstacles);
  // For the caller's own compute shader that includes "particle_map.glsl": uniform buffer 30,
  // texture units 8 to 11.
  void bind() const;
  ParticleMaps read() const;  // Waits.

  const ParticleMapSettings& settings() const;
  std::uint64_t memory_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// ---- particles ----------------------------------------------------------------------------------

struct ParticleStep {
  float seconds = 0.01F;
  Vec3f gravity{0, -9.81F, 0};
  float drag = 0;          // Per second.
  float perturbation = 0;  // Metres/second^2, along each axis, new for each step.
  float restitution = 0.5F, friction = 0.1F;  // Fractions of the normal and tangential velocity.
  float surface_motion = 0;                   // Largest motion of surfaces per step, metres.
  int samples = 1;                            // Tested positions on a particle's path.
  // The maps' data are forces: xyz is an acceleration for particles that are nearer than w metres
  // to the obstacle's surface. It fades to zero at that distance.
  bool use_forces = false;
  // Birth of particles: in a ball, with a velocity out of a box.
  Vec3f source{};
  float source_radius = 0;
  Vec3f velocity{}, velocity_spread{};
  float least_life = 1, most_life = 2;
};
void check_particle_step(const ParticleStep& step);  // Throws Error.

class GpuParticles {
 public:
  // All are born in the first step.
  GpuParticles(const GpuContext& gpu, std::uint32_t count, std::uint32_t seed = 1);
  GpuParticles(const GpuContext& gpu, std::span<const Particle> particles);
  GpuParticles(GpuParticles&&) noexcept;
  GpuParticles& operator=(GpuParticles&&) noexcept;
  ~GpuParticles();

  // Returns at once. save_state is that of the maps.
  void step(const GpuParticleMaps& maps, const ParticleStep& step);
  ParticleCounts read_counts();  // Waits, and sets them to zero.
  std::vector<Particle> read() const;
  // Centroid of all particles, and the box around them, for a cube's view. Waits.
  struct Extent {
    Vec3 centroid{};
    Aabb bounds{};
  };
  Extent compute_extent() const;

  std::uint32_t count() const;
  // An array of Particle: for drawing, or for the caller's own shaders.
  const GpuBuffer& buffer() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The CPU implementation: the same step, with the same maps. It differs by rounding, which may
// change the result for a particle at a pixel's rim.
void step_particles(const ParticleMaps& maps, const ParticleStep& step,
                    std::span<Particle> particles, ParticleCounts& counts);
// As in GpuParticles.
std::vector<Particle> make_particles(std::uint32_t count, std::uint32_t seed = 1);

}  // namespace isotact
