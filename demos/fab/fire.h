// FAB's Figure 7: a fire of 50,000 particles under a moving skillet of 81,920 triangles. A step
// draws the map from below and moves the particles.
#pragma once

#include <memory>

#include "isotact/gpu/particles/particle_maps.h"

#include "things.h"

namespace isotact::demo {

inline constexpr std::uint32_t kFireParticles = 50'000;

class Fire {
 public:
  // `size` is that of the maps, pixels per side. save_state: as in ParticleMapSettings.
  Fire(const GpuContext& gpu, int size, std::uint32_t particles = kFireParticles,
       bool save_state = true);

  static constexpr double kSeconds = 1.0 / 90;  // Per step.
  void step();                                  // Returns at once.
  void draw_maps();                             // Its two halves.
  void move_particles();

  MeshThing& skillet() { return skillet_; }
  FlameThing& flames() { return flames_; }
  const GpuParticleMaps& maps() const { return maps_; }
  GpuParticles& particles() { return particles_; }
  Pose skillet_pose() const;  // As in the maps.

 private:
  MeshThing skillet_;
  GpuParticleMaps maps_;
  GpuParticles particles_;
  FlameThing flames_;
  std::vector<ParticleObstacle> obstacles_;
  int steps_ = 0;
};

}  // namespace isotact::demo
