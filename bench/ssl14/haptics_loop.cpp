#include <algorithm>
#include <chrono>
#include <ctime>
#include <limits>

#include "haptics_report.h"

namespace isotact::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kStep = 1e-3;  // seconds

// Of this thread, microseconds. Other work on the machine is not in it.
double thread_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return 1e6 * static_cast<double>(time.tv_sec) + 1e-3 * static_cast<double>(time.tv_nsec);
}

// What reading that clock takes by itself, which is a call into the system.
double thread_time_cost() {
  double least = 1e6;
  for (int i = 0; i < 1000; ++i) {
    const double start = thread_time();
    least = std::min(least, thread_time() - start);
  }
  return least;
}

CollideRequest request_of(const HapticsCase& c, double budget) {
  return {.roles = c.roles, .max_microseconds = budget, .want_force = true, .force = c.force};
}

// The oracle of one way: all points, one after the other.
struct Linear {
  ShellResult answer{};
  Vec3 force{};  // on the tool, in the world's frame
};
Linear find_linear(const HapticsCase& c, const Pose& world_from_tool, bool points_of_tool,
                   ShellScratch& state) {
  const Shape &points = points_of_tool ? c.tool : c.part, &field = points_of_tool ? c.part : c.tool;
  const ShellPlacement placement{points_of_tool ? world_from_tool : inverse(world_from_tool)};
  const auto target = field.shell_target(0);
  Linear linear{find_hits_linear(*points.tree(), *target, placement, {}, state)};
  const ShellForce f =
      compute_force(*points.tree(), *target, placement, linear.answer.hits, c.force);
  linear.force = points_of_tool ? f.force : -rotate(world_from_tool.rotation, f.force);
  return linear;
}

}  // namespace

std::vector<LoopStep> run_loop(const HapticsCase& c, const LoopSettings& settings) {
  const CollideRequest request = request_of(c, settings.budget);
  CollideScratch state;
  RigidBody tool{.mass = c.mass};
  Pose device = pose_at(c.path, c.path.start());
  set_pose(tool, device);
  collide(c.tool, device, c.part, {}, request, state);  // prepares
  std::vector<LoopStep> steps(static_cast<std::size_t>(c.path.duration() / kStep));
  const double clock_cost = thread_time_cost();
  auto next = Clock::now();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    LoopStep& step = steps[i];
    const Pose before = device;
    device = pose_at(c.path, c.path.start() + kStep * static_cast<double>(i + 1));
    step.tool = c.is_rigid ? device : world_from_body(tool);
    if (settings.paced) {
      // Spins, as such loops do: a thread that slept would come back too late.
      while (Clock::now() < next) __builtin_ia32_pause();
      next = std::max(next, Clock::now() - std::chrono::milliseconds(1)) +
             std::chrono::milliseconds(1);
    }
    const double processor = thread_time();
    const auto start = Clock::now();
    const CollideResult& touch = collide(c.tool, step.tool, c.part, {}, request, state);
    const auto end = Clock::now();
    step.processor = thread_time() - processor - clock_cost;
    step.wall = std::chrono::duration<double, std::micro>(end - start).count();
    step.touching = touch.touching_points;
    step.distance = touch.distance;
    step.lower_bound = touch.lower_bound;
    step.force = touch.force;
    step.torque = touch.torque;
    step.complete = touch.complete;
    step.nodes = touch.work.spheres + touch.work.points;
    if (!c.is_rigid)
      step_tool(tool, {before, device}, make_tool_contact(touch, tool, c.force), c.coupling, kStep);
  }
  return steps;
}

void ask_again(const HapticsCase& c, const LoopSettings& settings, std::vector<LoopStep>& steps) {
  constexpr int kTimes = 5;
  constexpr double kSlow = 0.02;  // share of the steps
  const CollideRequest request = request_of(c, settings.budget);
  std::vector<std::size_t> order(steps.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i, steps[i].again = steps[i].processor;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return steps[a].processor > steps[b].processor;
  });
  order.resize(1 + static_cast<std::size_t>(kSlow * static_cast<double>(steps.size())));
  std::vector<std::uint64_t> other(1U << 17U);  // a megabyte: what a loop's other work would touch
  const double clock_cost = thread_time_cost();
  CollideScratch state;
  for (int k = 0; k < kTimes; ++k)
    for (const std::size_t i : order) {
      for (std::uint64_t& x : other) x = x * 3 + i;
      const double start = thread_time();
      collide(c.tool, steps[i].tool, c.part, {}, request, state);
      steps[i].again = std::min(steps[i].again, thread_time() - start - clock_cost);
    }
}

void check_steps(const HapticsCase& c, const std::vector<LoopStep>& steps, Report& report) {
  constexpr std::size_t kSamples = 40;
  ShellScratch state;
  const std::size_t stride = std::max<std::size_t>(1, steps.size() / kSamples);
  for (std::size_t i = stride / 2; i < steps.size(); i += stride) {
    const LoopStep& step = steps[i];
    double distance = std::numeric_limits<double>::infinity();
    std::uint64_t touching = 0;
    Vec3 force{};
    int roles = 0;
    for (const bool points_of_tool : {true, false}) {
      if (c.roles == (points_of_tool ? Roles::kPointsOfB : Roles::kPointsOfA)) continue;
      const Linear linear = find_linear(c, step.tool, points_of_tool, state);
      distance = std::min(distance, linear.answer.distance);
      touching += linear.answer.hits.size();
      force = force + linear.force;
      ++roles;
    }
    force = force / roles;
    const std::string where = fmt::format("{}, step {}", c.name, i);
    report.check(step.lower_bound <= std::min(distance, 0.0) + 1e-6, "no point is below the bound",
                 fmt::format("{}: one at {} m, the bound {} m", where, distance, step.lower_bound));
    if (!step.complete) continue;
    report.check(step.touching == touching, "as many points touch as by testing all",
                 fmt::format("{}: {}, not {}", where, step.touching, touching));
    report.check(touching == 0 || step.distance == distance, "the deepest is that of all points",
                 fmt::format("{}: {} m, not {} m", where, step.distance, distance));
    report.check(length(step.force - force) <= 1e-9 * (1 + length(force)),
                 "the force is that of all points", where);
  }
}

}  // namespace isotact::bench
