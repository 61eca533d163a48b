// Bodies that fall or rest on the ground, for the stability experiment: docs/stability.md.
#pragma once

#include <functional>
#include <vector>

#include "dynamics_report.h"

namespace isotact::bench {

enum class Method {
  kContinuous,  // the mean force of a step acts in the next: XB14
  kDiscrete,    // the force at the end of a step acts in the next
  kLagged,      // the force at the beginning of a step acts in the next
  kImplicit,    // continuous, and the force answers to the motion of the next step: what worlds do
  kOwn,         // the mean force of a step acts in this same step: ForceSolve::kStep
};
const char* name(Method method);

// The largest value up to which a test holds: up a ladder from `least` to the first failure, then
// halving to 2 in 100. 0: not even the least.
double compute_largest(double least, double most, const std::function<bool(double)>& holds);
// A part of the stability experiment (dynamics_free.cpp).
void bench_free_drops(const Options& options, Report& report, Json& json);

struct Spring {
  double stiffness = 0;  // N/m^3
  double damping = 0;    // N s/m^3
};
// The damper for a ratio where this area touches.
Spring make_spring(double stiffness, double damping_ratio, double mass, double area);

// A body on the ground, and perhaps its fixed twin. Steps as World does; for kLagged the forces are
// found here and handed to the world a step late.
class Stage {
 public:
  struct Settings {
    Method method = Method::kContinuous;
    ForceLaw law = ForceLaw::kPaper;
    Spring spring{};
    double step = 0;  // seconds
    Pose pose{};
    Vec3 velocity{};
    bool has_twin = false;
  };
  Stage(const DropBody& body, const Settings& settings);

  void step();
  const World& world() const { return world_; }
  BodyId body() const { return body_id_; }
  std::size_t points() const { return points_; }  // in contact in the last step
  double depth() const { return depth_; }         // at its end

 private:
  struct Impulse {
    Vec3 linear{}, angular{};  // N s, N m s about the world's origin; on the body
  };
  Impulse compute_impulse(const Pose& from);

  const DropBody& what_;
  Settings settings_;
  World world_;
  BodyId body_id_ = 0;
  std::size_t points_ = 0;
  double depth_ = 0;
  Impulse found_{}, pending_{};  // at the end of the last step and of the one before
};

// A drop from 30 cm above the ground, or just above the twin.
struct Drop {
  Method method = Method::kContinuous;
  ForceLaw law = ForceLaw::kPaper;
  double stiffness = 5e8, damping_ratio = 0.5;
  double step = 1e-3;
  int orientation = 1;  // a seed
  bool has_twin = false;
  double seconds = 2.5;
};
struct DropOutcome {
  bool stable = false;
  double deepest = 0;         // metres
  double gained = 0;          // part of the drop's energy that was gained, in flight, at most
  double rest = 0;            // kinetic energy in the last tenth, as part of the drop's
  std::vector<Pose> poses{};  // every 1/30 s, where asked for
};
DropOutcome run_drop(const DropBody& body, const Drop& drop, bool keep_poses = false);

// Poses a tenth of a second apart, the later the darker.
void draw_figure6(const DropBody& body, const Drop& drop, double continuous_step,
                  double discrete_step, const std::filesystem::path& file);

}  // namespace isotact::bench
