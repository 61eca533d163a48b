// Bodies that rest are left alone until something moves them.
#include <algorithm>
#include <cmath>
#include <limits>

#include "isotact/base/disjoint_sets.h"
#include "isotact/dynamics/rigid/detail/world_state.h"

namespace isotact {

using detail::PairState;
using detail::WorldBody;

namespace {

constexpr double kQuietTime = 0.5;  // seconds, before a set of bodies sleeps

bool is_moved(const WorldBody& b) {
  return b.body.kind == BodyKind::kKinematic &&
         (length_sq(b.step.velocity) > 0 || length_sq(b.step.angular_velocity) > 0);
}

// No place of the body is faster.
double top_speed(const WorldBody& b) {
  const double reach =
      std::isfinite(b.ball_radius) ? b.ball_radius + length(b.ball_center - b.body.mass.center) : 0;
  return length(velocity(b.body)) + length(angular_velocity(b.body)) * reach;
}

}  // namespace

// Visits all bodies that hang together with each other by touching or by joints.
template <typename Visit>
void World::State::for_each_link(Visit&& visit) const {
  for (const PairState& p : pairs)
    if (p.touches) visit(p.pair.a, p.pair.b);
  for (const JointSettings& j : joints) visit(j.a, j.b);
}

// What the user moved or pushes.
void World::State::wake_changed() {
  if (settings.sleep_speed <= 0) return;
  for (std::size_t k = 0; k < bodies.size(); ++k) {
    const WorldBody& b = bodies[k];
    if (b.asleep && (b.body.state != b.slept || b.load.force != Vec3{} || b.load.torque != Vec3{}))
      wake(static_cast<BodyId>(k));
  }
}

// With all that sleeps and hangs together with it.
void World::State::wake(BodyId id) {
  std::vector<BodyId> next = {id};
  while (!next.empty()) {
    const BodyId now = next.back();
    next.pop_back();
    WorldBody& b = bodies[now];
    b.quiet = 0;
    if (!b.asleep) continue;
    b.asleep = false;
    for_each_link([&](BodyId a, BodyId c) {
      if (a == now && bodies[c].asleep) next.push_back(c);
      if (c == now && bodies[a].asleep) next.push_back(a);
    });
  }
}

// As far as they are there.
void World::State::wake_pair(BodyId a, BodyId b) {
  for (const BodyId id : {a, b})
    if (id < bodies.size()) wake(id);
}

// By what touches them or leaves them, or drives them by a joint.
void World::State::wake_touched() {
  if (settings.sleep_speed <= 0) return;
  std::vector<BodyId> woken;
  const auto look = [&](BodyId a, BodyId b) {
    for (const auto& [sleeper, other] : {std::pair{a, b}, std::pair{b, a}})
      if (bodies[sleeper].asleep && (bodies[other].moves() || is_moved(bodies[other])))
        woken.push_back(sleeper);
  };
  for_each_link(look);
  for (const PairState& p : pairs)
    if (p.touched && !p.touches) look(p.pair.a, p.pair.b);
  for (const BodyId id : woken) wake(id);
}

void World::State::put_to_sleep() {
  report.asleep = 0;
  if (settings.sleep_speed <= 0) return;
  DisjointSets sets(bodies.size());
  for (WorldBody& b : bodies)
    if (b.moves()) b.quiet = top_speed(b) < settings.sleep_speed ? b.quiet + settings.step : 0;
  for_each_link([&](BodyId a, BodyId b) {
    for (const auto& [one, other] : {std::pair{a, b}, std::pair{b, a}})
      if (is_moved(bodies[other])) bodies[one].quiet = 0;
    if (bodies[a].is_dynamic() && bodies[b].is_dynamic()) sets.join(a, b);
  });
  std::vector<double> quiet(bodies.size(), std::numeric_limits<double>::infinity());
  for (BodyId k = 0; k < bodies.size(); ++k)
    if (bodies[k].moves()) quiet[sets.find(k)] = std::min(quiet[sets.find(k)], bodies[k].quiet);
  for (BodyId k = 0; k < bodies.size(); ++k) {
    WorldBody& b = bodies[k];
    if (b.moves() && quiet[sets.find(k)] >= kQuietTime) {
      b.asleep = true;
      b.body.state.momentum = b.body.state.angular_momentum = {};
      b.slept = b.body.state;
    }
    report.asleep += b.asleep ? 1U : 0U;
  }
}

}  // namespace isotact
