// The second part of a step's impulses, which makes the energy exact (detail/step_forces.h).
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "isotact/dynamics/rigid/detail/step_forces.h"

namespace isotact {

using detail::PairState;
using detail::WorldBody;

namespace {

constexpr double kRounding = 1e-12;   // of the energy of an island
constexpr double kCorrection = 0.05;  // of the second part, that the energy may ask for

}  // namespace

double World::State::StepForces::kinetic_at_start(std::size_t k) const {
  RigidBody b = s_.bodies[k].body;
  b.state = moved_[k].from;
  return kinetic_energy(b);
}

void World::State::StepForces::gather_bodies(std::vector<Finish>& islands) {
  for (std::size_t k = 0; k < moved_.size(); ++k) {
    WorldBody& b = s_.bodies[k];
    if (!b.moves()) continue;
    const Moved& m = moved_[k];
    Finish& f = islands[m.island];
    const double start = kinetic_at_start(k);
    const double added = dot(m.load, Twist{b.step.velocity, b.step.angular_velocity});
    // What a share above 1/2 takes.
    RigidBody change = b.body;
    change.state = m.from;
    change.state.momentum = m.load.linear + m.push.linear;
    change.state.angular_momentum = m.load.angular + m.push.angular;
    f.wanted += start + added - (2 * m.share - 1) * kinetic_energy(change);
    f.most += start + added;
    f.exact = f.exact && !b.is_bent();
    b.body.state.momentum += m.load.linear * (1 - m.share);
    b.body.state.angular_momentum += m.load.angular * (1 - m.share);
    RigidBody part = b.body;
    part.state.momentum = m.rest.linear;
    part.state.angular_momentum = m.rest.angular;
    f.base += kinetic_energy(b.body);
    f.linear += dot(m.rest, Twist{velocity(b.body), angular_velocity(b.body)});
    f.square += kinetic_energy(part);
  }
  for (const JointSettings& j : s_.joints)
    for (const std::size_t b : {j.a, j.b}) islands[moved_[b].island].exact = false;
}

void World::State::StepForces::gather_pushes() {
  for (Moved& m : moved_) m.push = m.rest = {};
  for (const PairState& p : s_.pairs) {
    if (!acts(p) || s_.rests(p.pair)) continue;
    const double rest = p.impact ? 0 : 1 - share_of(p);
    for (const bool of_a : {true, false}) {
      const BodyId id = of_a ? p.pair.a : p.pair.b;
      const WorldBody& b = s_.bodies[id];
      if (!b.moves()) continue;
      const double sign = of_a ? 1 : -1;
      moved_[id].push += isotact::moved(p.own.given, moved_[id].from.center - p.own.place) * sign;
      moved_[id].rest +=
          isotact::moved(p.own.given, b.body.state.center - p.own.place) * (sign * rest);
    }
  }
}

void World::State::StepForces::gather_pairs(std::vector<Finish>& islands) const {
  for (const PairState& p : s_.pairs) {
    if (p.apart || s_.rests(p.pair)) continue;
    Finish& f = islands[island_of(p)];
    f.most += p.own.prediction.most;
    if (!p.impact) f.wanted += p.own.energy - p.energy - p.own.lost;
    f.potential += p.impact ? 0 : p.energy;
    f.exact = f.exact && !p.impact && !p.own.held;
    for (const bool of_a : {true, false}) {
      const BodyId id = of_a ? p.pair.a : p.pair.b;
      if (s_.bodies[id].body.kind != BodyKind::kKinematic || !acts(p)) continue;
      f.exact = false;
      f.most -=
          dot(p.own.given, isotact::moved(moved_[id].twist, p.own.place - moved_[id].from.center)) *
          (of_a ? 1 : -1);
    }
  }
}

double World::State::StepForces::choose_share(const Finish& f) {
  const auto kinetic = [&](double s) { return f.base + s * (f.linear + s * f.square); };
  double share = 1;
  const double slope = f.linear + 2 * f.square, off = std::min(f.wanted, f.most) - kinetic(1);
  if (f.exact && std::abs(off) <= kCorrection * std::abs(slope)) {
    // The root near 1, written so that it does not cancel.
    const double root = std::sqrt(std::max(slope * slope + 4 * f.square * off, 0.0));
    share = 1 + 2 * off / (slope + (slope < 0 ? -root : root));
  }
  if (kinetic(share) <= f.most * (1 + kRounding)) return share;
  // Less, down to the least kinetic energy.
  const double least = f.square > 0 ? std::clamp(-f.linear / (2 * f.square), 0.0, 1.0) : 0;
  double low = least, high = share;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (kinetic(middle) <= f.most ? low : high) = middle;
  }
  return low;
}

void World::State::StepForces::add_second_part() {
  std::vector<Finish> islands(moved_.size());
  gather_pushes();
  gather_pairs(islands);
  gather_bodies(islands);
  for (Finish& f : islands) f.share = choose_share(f);
  for (std::size_t k = 0; k < moved_.size(); ++k) {
    WorldBody& b = s_.bodies[k];
    if (!b.moves()) continue;
    const double share = islands[moved_[k].island].share;
    b.body.state.momentum += moved_[k].rest.linear * share;
    b.body.state.angular_momentum += moved_[k].rest.angular * share;
  }
  for (PairState& p : s_.pairs) {
    if (p.apart || s_.rests(p.pair)) continue;
    const Finish& f = islands[island_of(p)];
    const double kinetic = f.base + f.share * (f.linear + f.share * f.square);
    const double left = std::max(f.most - kinetic, 0.0);
    const double held = p.impact ? 0 : p.energy;
    p.stored = p.push.taken = left < f.potential ? held * left / f.potential : held;
    const double share = share_of(p);
    p.own.given = p.own.given * (share + (p.impact ? 0 : 1 - share) * f.share);
  }
}

void World::State::look_for_trouble() {
  if (trouble) return;
  // Implicit steps take out what stiff springs get by being entered within a step: it moves
  // nothing.
  const bool implicit = settings.solve != ForceSolve::kExplicit;
  const double grown =
      report.energies.total() - (implicit ? report.energies.springs : 0.0) - energy_start;
  // What falls may move as much.
  const double there = energy_bound + std::max(potential_start - report.energies.potential, 0.0);
  if (!(grown > settings.energy_factor * there)) return;
  std::size_t worst = 0;
  double most = -1;
  for (std::size_t k = 0; k < bodies.size(); ++k) {
    if (!bodies[k].is_dynamic() || kinetic_energy(bodies[k].body) <= most) continue;
    most = kinetic_energy(bodies[k].body);
    worst = k;
  }
  trouble = {
      static_cast<BodyId>(worst), report.time,
      fmt::format("body '{}' at {:.6g} s: the energy has grown by {:.3g} J, where {:.3g} J were "
                  "there or put in: the contact is too stiff for the time step of {:.3g} s, or "
                  "bodies overlapped at the start",
                  bodies[worst].settings.name, report.time, grown, there, settings.step)};
}

}  // namespace isotact
