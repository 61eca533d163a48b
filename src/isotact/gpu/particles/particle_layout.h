// Particles and the maps around them, as shaders see them. Shaders of callers may also include it.
// C++ and GLSL read this file: see base/shader_types.h.
#pragma once

#include "isotact/base/shader_types.h"

#ifdef __cplusplus
#include "isotact/base/vec.h"
#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {
namespace glsl {
#endif

// A direction of a view. x is to the right, y up, z ahead: x = z cross y.
struct ParticleFace {
  Vec3f x ISOTACT_DEFAULT({});
  float half_x ISOTACT_DEFAULT(1);  // For a view of one direction.
  Vec3f y ISOTACT_DEFAULT({});
  float half_y ISOTACT_DEFAULT(1);
  Vec3f z ISOTACT_DEFAULT({});
  float near ISOTACT_DEFAULT(0);
  Vec3f origin ISOTACT_DEFAULT({});
  float far ISOTACT_DEFAULT(1);
};

// 48 bytes, std430.
struct Particle {
  Vec3f position ISOTACT_DEFAULT({});     // 0, metres.
  float age ISOTACT_DEFAULT(0);           // 12, seconds.
  Vec3f velocity ISOTACT_DEFAULT({});     // 16
  float life ISOTACT_DEFAULT(0);          // 28: it is born again when its age exceeds this.
  uint seed ISOTACT_DEFAULT(0);           // 32, of its random numbers.
  uint side ISOTACT_DEFAULT(0xffffffff);  // 36: surfaces before it on its ray, or kUnknownSide.
  uint hits ISOTACT_DEFAULT(0);           // 40: bounces since it was born.
  uint last_hit ISOTACT_DEFAULT(0);       // 44: id of the last hit.
#ifdef __cplusplus

  friend bool operator==(const Particle&, const Particle&) = default;
#endif
};
ISOTACT_CONSTANT uint kUnknownSide = 0xffffffffu;

// Sums over all steps since they were last read.
struct ParticleCounts {
  uint collisions ISOTACT_DEFAULT(0);  // Bounces.
  uint hidden ISOTACT_DEFAULT(0);      // Particles and steps: behind the last known surface.
  uint outside ISOTACT_DEFAULT(0);     // Particles and steps: not in the maps' view.
  uint born ISOTACT_DEFAULT(0);
#ifdef __cplusplus

  friend bool operator==(const ParticleCounts&, const ParticleCounts&) = default;
#endif
};

// The uniform block of all maps of a view.
struct ParticleMapBlock {
  ParticleFace faces[6];
  int size, layers;  // Pixels along each side, layers per face.
  int is_cube;       // 1: six faces.
  int has_normals, has_ids, has_data;
  int unused0, unused1;
};

// The uniform block of one drawing of an obstacle.
struct ParticleDrawBlock {
  vec4 data;
  int face, layer;
  int id;
  int is_thin;  // 1: lines or points, which have no normal.
};

// The uniform block of a step.
struct ParticleStepBlock {
  Vec3f gravity;
  float seconds;
  Vec3f source;
  float source_radius;
  Vec3f velocity;
  float least_life;
  Vec3f velocity_spread;
  float most_life;
  float drag, perturbation, surface_motion;
  float restitution, friction;
  uint count, samples;
  uint use_forces;  // 1: the maps' data are forces.
};

// Sum and bounds of the positions of some particles.
struct ParticleExtent {
  Vec3f sum;
  float unused0;
  Vec3f lower;
  float unused1;
  Vec3f upper;
  float unused2;
};

ISOTACT_CONSTANT uint kParticleStepGroup = 64u, kParticleExtentGroup = 256u;  // Invocations.
ISOTACT_CONSTANT uint kParticleBounces = 4u;  // Largest number per step.

// Uniform buffers, texture units, storage buffers.
ISOTACT_CONSTANT int kParticleMapAt = 30, kParticleDrawAt = 31, kParticleStepAt = 31;
ISOTACT_CONSTANT int kParticleDepthUnit = 8, kParticleNormalUnit = 9, kParticleIdUnit = 10,
                     kParticleDataUnit = 11;
ISOTACT_CONSTANT int kParticlesAt = 8, kParticleCountsAt = 9, kParticleExtentsAt = 9;

#ifdef __cplusplus
static_assert(sizeof(ParticleFace) == 64 && sizeof(Particle) == 48);

}  // namespace glsl
}  // namespace isotact

namespace ISOTACT_PUBLIC isotact {

using glsl::Particle, glsl::ParticleCounts, glsl::ParticleFace;

}  // namespace isotact
#endif
