#include "bullet_fall.h"

#include <algorithm>
#include <cmath>

#include "isotact/adapters/bullet/convert.h"
#include "isotact/base/random.h"

#include "support/measure.h"

namespace isotact::bench {
namespace {

FallTimes summarise(const std::vector<double>& times) {
  double sum = 0;
  for (const double t : times) sum += t;
  return {.mean = times.empty() ? 0 : sum / static_cast<double>(times.size()),
          .median = quantile(times, 0.5),
          .p99 = quantile(times, 0.99)};
}

constexpr std::size_t kLookEvery = 50;

}  // namespace

Quat start_rotation(int index) {
  Random random(static_cast<std::uint64_t>(100 + index));
  return random.rotation();
}

double lowest_vertex(const TriangleMesh& mesh, const Pose& pose) {
  double lowest = 1e300;
  for (const Vec3f& p : mesh.positions)
    lowest = std::min(lowest, transform_point(pose, to_double(p)).y);
  return lowest;
}

std::vector<FallStep> run_fall(const Bunny& bunny, const OwnedShape& shape, int rotation,
                               const FallSettings& settings) {
  std::vector<FallStep> steps(settings.steps);
  for (std::size_t repeat = 0; repeat < settings.repeats; ++repeat) {
    Stage stage({.ground = settings.mapped_ground != nullptr ? Ground::kNone : settings.ground,
                 .step = 1 / settings.hertz});
    if (settings.mapped_ground != nullptr) stage.add(*settings.mapped_ground, {.mass = 0});
    btRigidBody& body =
        stage.add(shape, {.mass = kBunnyMass,
                          .inertia = bunny.inertia,
                          .pose = {start_rotation(rotation), {0, settings.height, 0}}});
    for (std::size_t i = 0; i < settings.steps; ++i) {
      FallStep& s = steps[i];
      const Pose pose = pose_of(body);
      stage.step();
      s.microseconds =
          repeat == 0 ? stage.microseconds() : std::min(s.microseconds, stage.microseconds());
      if (repeat > 0) continue;
      s.pose = pose;
      s.speed = static_cast<double>(body.getLinearVelocity().length());
      s.kinetic_energy = kinetic_energy(body);
      s.contacts = stage.contact_count();
      s.manifolds = stage.manifold_count();
      if (i % kLookEvery == kLookEvery - 1) s.lowest = lowest_vertex(bunny.closed, pose_of(body));
    }
  }
  return steps;
}

FallTimes times_of(const std::vector<std::vector<FallStep>>& falls) {
  std::vector<double> times;
  for (const auto& fall : falls)
    for (std::size_t i = kFirstStep; i < fall.size(); ++i) times.push_back(fall[i].microseconds);
  return summarise(times);
}

FallTimes time_on_poses(const std::vector<Pose>& poses, std::size_t repeats,
                        const std::function<double(const Pose&)>& microseconds_of) {
  std::vector<double> times(poses.size(), 1e300);
  for (std::size_t repeat = 0; repeat < repeats; ++repeat)
    for (std::size_t i = 0; i < poses.size(); ++i)
      times[i] = std::min(times[i], microseconds_of(poses[i]));
  return summarise(times);
}

FallTimes time_dispatch(const Bunny& bunny, const OwnedShape& shape, Ground ground,
                        const std::vector<Pose>& poses, bool has_plugin, std::size_t repeats) {
  Stage stage({.ground = ground, .has_plugin = has_plugin});
  btRigidBody& body = stage.add(shape, {.inertia = bunny.inertia});
  return time_on_poses(poses, repeats, [&](const Pose& pose) {
    stage.detect(body, pose);
    return stage.microseconds();
  });
}

std::vector<Pose> poses_of(const std::vector<std::vector<FallStep>>& falls, std::size_t every) {
  std::vector<Pose> poses;
  for (const auto& fall : falls)
    for (std::size_t i = kFirstStep; i < fall.size(); i += every) poses.push_back(fall[i].pose);
  return poses;
}

}  // namespace isotact::bench
