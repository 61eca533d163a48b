// The bunny that is dropped, for several parts: what each step took, and where it was.
#pragma once

#include <functional>
#include <vector>

#include "bullet_report.h"
#include "bullet_stage.h"

namespace isotact::bench {

struct FallSettings {
  Ground ground = Ground::kPlane;
  const OwnedShape* mapped_ground = nullptr;  // in the place of `ground`
  double hertz = 200;
  std::size_t steps = 600;
  std::size_t repeats = 3;  // of the same motion: each step counts with its least time
  double height = 0.5;      // of the centre of mass, metres
};

struct FallStep {
  double microseconds = 0;  // of dispatch
  Pose pose{};              // at its beginning, as dispatch saw it
  double speed = 0;         // m/s, at its end
  double kinetic_energy = 0;
  double lowest = 0;  // metres: y of the lowest vertex, by brute force, at its end; every 50 steps
  int contacts = 0, manifolds = 0;
};

// Seeded: the same for all contenders.
Quat start_rotation(int index);

std::vector<FallStep> run_fall(const Bunny& bunny, const OwnedShape& shape, int rotation,
                               const FallSettings& settings);

// The lowest of all vertices, y, by brute force.
double lowest_vertex(const TriangleMesh& mesh, const Pose& pose);

// Of steps 200 to 600 (SSL14 4.2), of all rotations.
inline constexpr std::size_t kFirstStep = 200;
struct FallTimes {
  double mean = 0, median = 0, p99 = 0;  // microseconds
};
FallTimes times_of(const std::vector<std::vector<FallStep>>& falls);

// How long one call takes on each pose, microseconds: mean and so on of the least times of
// repeats. The call is made in the order of poses.
FallTimes time_on_poses(const std::vector<Pose>& poses, std::size_t repeats,
                        const std::function<double(const Pose&)>& microseconds_of);

// Dispatch alone, at given poses and without speed. `has_plugin` as in StageSettings.
FallTimes time_dispatch(const Bunny& bunny, const OwnedShape& shape, Ground ground,
                        const std::vector<Pose>& poses, bool has_plugin, std::size_t repeats);

// Those of steps 200 to 600.
std::vector<Pose> poses_of(const std::vector<std::vector<FallStep>>& falls, std::size_t every);

}  // namespace isotact::bench
