#include "fire.h"

namespace isotact::demo {
namespace {

constexpr ParticleStep kFlames{.seconds = static_cast<float>(Fire::kSeconds),
                               .gravity = {0, 2.2F, 0},  // hot air rises
                               .drag = 1.5F,
                               .perturbation = 7,
                               .restitution = 0.25F,
                               .friction = 0.05F,
                               .surface_motion = 0.004F,
                               .source = {0, 0, 0},
                               .source_radius = 0.05F,
                               .velocity = {0, 0.5F, 0},
                               .velocity_spread = {0.1F, 0.2F, 0.1F},
                               .least_life = 0.4F,
                               .most_life = 1.4F};

}  // namespace

Fire::Fire(const GpuContext& gpu, int size, std::uint32_t particles, bool save_state)
    : skillet_(make_skillet(), {0.10F, 0.10F, 0.11F}),
      maps_(gpu, {.size = size, .cull_back_faces = true, .save_state = save_state}),
      particles_(gpu, particles),
      flames_(particles_),
      obstacles_({{.drawable = skillet_.drawable(1, true)}}) {}

Pose Fire::skillet_pose() const { return compute_skillet_pose(steps_ * kSeconds); }

void Fire::draw_maps() {
  ++steps_;
  skillet_.move(0, skillet_pose());
  maps_.draw({.center = {0, 0.3, 0}, .half_size = {0.42, 0.42, 0.35}}, obstacles_);
}

void Fire::move_particles() { particles_.step(maps_, kFlames); }

void Fire::step() {
  draw_maps();
  move_particles();
}

}  // namespace isotact::demo
