// Particles that bounce off all that can be drawn: FAB, section 2, "Particle system". What is
// around is drawn from where the particles start, once a step for all of them: along one direction,
// or onto the six faces of a cube about their middle. A pixel keeps the first surfaces along its
// ray: their depth, normal, id, and four numbers of the caller's, such as a force. A compute shader
// moves the particles and looks up what they meet.
//
//   GpuParticleMaps maps(gpu, {.size = 1024});
//   GpuParticles particles(gpu, 50'000);
//   maps.draw({.center = fire, .direction = {0, 1, 0}, .half_size = {0.5, 0.5, 0.5}}, obstacles);
//   particles.step(maps, {.seconds = 0.01F, .gravity = {0, 2, 0}});
//
// What a map knows: along a ray from the centre (or from the plane, of one direction), the first
// `layers` surfaces. Behind the last of them it knows nothing; particles there are counted as
// hidden, and fly on without bounces. So one layer is enough where the zone of the particles is
// convex, or star-convex as seen from the centre; ParticleCounts says whether it was so.
//
// How a particle meets a surface: for each it is noted how many surfaces its pixel's ray had passed
// before it (Particle::side), each surface being a plane through the pixel. Where that number
// changes, and the plane is no further away than the particle has moved, a pixel, and
// `surface_motion`, it has crossed it. Otherwise it came out of, or went into, another one's
// shadow. So surfaces that move sweep particles along. Where a bounce ends behind another surface,
// as in corners, the particle bounces again, up to four times a step. Particles that move by more
// than a pixel a step may miss things thinner than their way: `samples` looks at places between.
//
// Works in the context that is current, which must be the same always; leaves its state as it was.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "isotact/base/aabb.h"
#include "isotact/base/vec.h"
#include "isotact/gpu/buffer.h"
#include "isotact/gpu/context.h"
#include "isotact/gpu/depth_detector.h"

namespace isotact {

// ---- maps ---------------------------------------------------------------------------------------

inline constexpr int kMostParticleLayers = 8;

struct ParticleMapSettings {
  int size = 1024;      // pixels along each side
  bool cube = false;    // six directions
  int layers = 1;       // depth peeling: as many drawings
  bool normals = true;  // without: all surfaces face the viewer
  bool ids = true;
  bool data = false;
  // Closed obstacles without their far sides: half the work. Right for one layer, where none of
  // them reaches through the box's side that is seen first, or a cube's near plane.
  bool cull_back_faces = false;
  // False where nobody else changes the context's state: spares tens of microseconds a call.
  bool save_state = true;
};

// One direction: a box about `center`, seen along `direction` from its side on. Six: what is up to
// `far` away from the centre along an axis; `near` must be before the first surface.
struct ParticleView {
  Vec3 center{};
  Vec3 direction{0, 1, 0};       // one direction
  Vec3 half_size{1, 1, 1};       // of the box: across, across, along
  double near = 0.01, far = 10;  // six directions
};

struct ParticleObstacle {
  GpuDrawable drawable;
  std::array<float, 4> data{};  // what the maps keep of it: see ParticleStep::use_forces
};

// A direction of a view, as shaders see it. x is to the right, y up, z ahead: x = z cross y.
struct ParticleFace {
  Vec3f x{};
  float half_x = 1;  // of one direction
  Vec3f y{};
  float half_y = 1;
  Vec3f z{};
  float near = 0;
  Vec3f origin{};
  float far = 1;
};
static_assert(sizeof(ParticleFace) == 64);

// Maps on the CPU. [face][layer][row][column], rows from below; what was not asked for is empty.
struct ParticleMaps {
  int size = 0, faces = 0, layers = 0;
  bool cube = false;
  std::array<ParticleFace, 6> face{};
  std::vector<float> depths;  // as in the depth buffer: 0 at near, 1 at far and where nothing is
  std::vector<std::array<float, 4>> normals;  // outwards; w is not used
  std::vector<std::uint32_t> ids;
  std::vector<std::array<float, 4>> data;
};

class GpuParticleMaps {
 public:
  // Throws Error for settings without sense, or where the GPU has no room.
  GpuParticleMaps(const GpuContext& gpu, const ParticleMapSettings& settings);
  GpuParticleMaps(GpuParticleMaps&&) noexcept;
  GpuParticleMaps& operator=(GpuParticleMaps&&) noexcept;
  ~GpuParticleMaps();

  // Each obstacle once for each face and layer. Throws Error for views without sense.
  void draw(const ParticleView& view, std::span<const ParticleObstacle> obstacles);
  // For a compute shader of the caller's that includes "particle_map.glsl": uniform buffer 30,
  // texture units 8 to 11.
  void bind() const;
  ParticleMaps read() const;  // waits

  const ParticleMapSettings& settings() const;
  std::uint64_t memory_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// ---- particles ----------------------------------------------------------------------------------

// As in the buffer: 48 bytes, std430.
struct Particle {
  Vec3f position{};                      //  0, metres
  float age = 0;                         // 12, seconds
  Vec3f velocity{};                      // 16
  float life = 0;                        // 28: it is born again when its age exceeds this
  std::uint32_t seed = 0;                // 32, of its random numbers
  std::uint32_t side = 0xffffffffU;      // 36: surfaces before it on its ray; not known yet
  std::uint32_t hits = 0, last_hit = 0;  // 40, 44: bounces since it was born; id of the last

  friend bool operator==(const Particle&, const Particle&) = default;
};
static_assert(sizeof(Particle) == 48);

struct ParticleStep {
  float seconds = 0.01F;
  Vec3f gravity{0, -9.81F, 0};
  float drag = 0;          // a second
  float perturbation = 0;  // metres/second^2, along each axis, anew for each step
  float restitution = 0.5F, friction = 0.1F;  // parts of the normal and tangential velocity
  float surface_motion = 0;                   // metres that surfaces move a step, at most
  int samples = 1;                            // places looked at on a particle's way
  // The maps' data are forces: xyz is an acceleration for particles that are nearer than w metres
  // to the obstacle's surface, fading to nothing there.
  bool use_forces = false;
  // Where particles are born: in a ball, with a velocity out of a box.
  Vec3f source{};
  float source_radius = 0;
  Vec3f velocity{}, velocity_spread{};
  float least_life = 1, most_life = 2;
};
void check_particle_step(const ParticleStep& step);  // throws Error

// Of all steps since they were last read.
struct ParticleCounts {
  std::uint32_t collisions = 0;  // bounces
  std::uint32_t hidden = 0;      // particles and steps: behind the last surface that is known
  std::uint32_t outside = 0;     // particles and steps: not in the maps' view
  std::uint32_t born = 0;

  friend bool operator==(const ParticleCounts&, const ParticleCounts&) = default;
};

class GpuParticles {
 public:
  // All will be born in the first step.
  GpuParticles(const GpuContext& gpu, std::uint32_t count, std::uint32_t seed = 1);
  GpuParticles(const GpuContext& gpu, std::span<const Particle> particles);
  GpuParticles(GpuParticles&&) noexcept;
  GpuParticles& operator=(GpuParticles&&) noexcept;
  ~GpuParticles();

  // Returns at once. save_state is that of the maps.
  void step(const GpuParticleMaps& maps, const ParticleStep& step);
  ParticleCounts read_counts();  // waits, and sets them to zero
  std::vector<Particle> read() const;
  // Of all particles, and the box around them: for a cube's view. Waits.
  struct Extent {
    Vec3 centroid{};
    Aabb bounds{};
  };
  Extent find_extent() const;

  std::uint32_t count() const;
  const GpuBuffer& buffer() const;  // of Particle: to draw, or for the caller's own shaders

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The CPU's side: the same step, with the same maps. Differs by rounding, which may change what
// happens to a particle at a pixel's rim.
void step_particles(const ParticleMaps& maps, const ParticleStep& step,
                    std::span<Particle> particles, ParticleCounts& counts);
// As GpuParticles makes them.
std::vector<Particle> make_particles(std::uint32_t count, std::uint32_t seed = 1);

}  // namespace isotact
