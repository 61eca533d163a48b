// Contact forces of the step that they act in: ForceSolve::kStep, docs/dynamics.md.
//
// A step takes velocities v to v' by impulses I of the contacts and G of the loads, and moves
// bodies with velocities w between them:
//
//   w = v + a (G + I) / m,   x' = x + h w,   v' = w + (1 - a) (G + I) / m,
//
// where I is XB14's continuous impulse along the path from x to x'. With a = 1/2, w is the mean of
// v and v'. The mean force along a path is a discrete gradient of the potential, so the work of I
// is exactly what the springs lose. A share a above 1/2 takes energy, in proportion to the square
// of the change of momentum. It is that of the damper of contacts which the step does not resolve.
//
// I is found by Newton's method in w. A prediction from the last step comes first, then rounds:
// move, find the contacts along the paths, compare their impulses with those that moved the bodies.
// Bodies of islands in which the two differ go back to the start of the step and move again.
#include "isotact/dynamics/rigid/detail/step_forces.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "isotact/base/disjoint_sets.h"

namespace isotact {

using detail::ContactPush;
using detail::mass_of;
using detail::OwnForce;
using detail::WorldBody;

namespace {

using StepClock = std::chrono::steady_clock;
double seconds_from(StepClock::time_point start) {
  return std::chrono::duration<double>(StepClock::now() - start).count();
}

constexpr double kFar = 1e9;     // metres
constexpr double kFaint = 0.1;   // of a pair's momentum: smaller impulses need not be as exact
constexpr double kExcess = 0.1;  // of the work of contacts, that their second part does not mend

double size_of(const Wrench& w, double reach) {
  return length(w.linear) + (reach > 0 ? length(w.angular) / reach : 0.0);
}

}  // namespace

World::State::StepForces::StepForces(State& state) : s_(state), h_(state.settings.step) {
  for (const WorldBody& b : s_.bodies) moved_.push_back({.from = b.body.state});
  for (PairState& p : s_.pairs) note_start(p);
}

void World::State::StepForces::note_loads() {
  for (std::size_t k = 0; k < moved_.size(); ++k) {
    const BodyState& now = s_.bodies[k].body.state;
    moved_[k].load = {now.momentum - moved_[k].from.momentum,
                      now.angular_momentum - moved_[k].from.angular_momentum};
  }
  detail::list_solver_bodies(s_.bodies, h_, solver_bodies_);
  for (PairState& p : s_.pairs) {
    ContactPush& push = p.own.prediction;
    push.most = push.taken;
    if (p.points > 0) push.most += s_.compute_spare_energy(p, p.energy - p.push.taken);
  }
}

void World::State::StepForces::predict() {
  std::vector<std::size_t> some;
  std::vector<ContactPush> pushes;
  for (std::size_t k = 0; k < s_.pairs.size(); ++k) {
    PairState& p = s_.pairs[k];
    if (p.points == 0 || s_.rests(p.pair)) continue;
    ForceSettings forces = s_.settings.forces;
    forces.material = s_.material_of(p.pair);
    p.own.lean = detail::adapt_to_step(forces, p.own.area, pair_mass(p), h_);
    some.push_back(k);
  }
  find_islands();
  for (Moved& m : moved_) m.again = true;
  choose_shares();
  for (const std::size_t k : some)
    pushes.push_back(scaled(s_.pairs[k].own.prediction, share_of(s_.pairs[k])));
  move(some, pushes, false);
}

void World::State::StepForces::iterate() {
  for (PairState& p : s_.pairs) {
    p.work = {};
    p.detection_seconds = p.force_seconds = 0;
    if (s_.rests(p.pair)) p.touches = p.touched;
  }
  evaluate(true);
  for (int round = 1; round < s_.settings.force_rounds && !s_.trouble && find_unsolved(); ++round) {
    choose_shares();
    solve_again(false);
  }
}

void World::State::StepForces::limit_work() {
  find_islands();
  std::vector<double> work(moved_.size()), most(moved_.size()), size(moved_.size());
  for (PairState& p : s_.pairs) {
    if (!acts(p)) continue;
    const std::size_t island = island_of(p);
    const double now = find_work(p);
    work[island] += now;
    size[island] += std::abs(now);
    most[island] += p.own.prediction.most;
  }
  for (std::size_t k = 0; k < moved_.size(); ++k) {
    const std::size_t island = moved_[k].island;
    moved_[k].again = work[island] > most[island] + kExcess * size[island];
  }
  if (std::any_of(moved_.begin(), moved_.end(), [](const Moved& m) { return m.again; }))
    solve_again(true);
}

void World::State::StepForces::finish() {
  for (PairState& p : s_.pairs) {
    const bool changed =
        p.impact || p.own.held || s_.bodies[p.pair.a].is_bent() || s_.bodies[p.pair.b].is_bent();
    if (!p.apart && changed && !s_.rests(p.pair)) look(p);
  }
  find_islands();
  add_second_part();
  for (PairState& p : s_.pairs) {
    if (p.apart) p.energy = p.stored = p.push.taken = 0;
    if (p.apart || s_.rests(p.pair)) continue;
    if (!p.impact) make_prediction(p);
    const Wrench about_origin = moved(p.own.given, p.own.place * -1.0);
    p.impulse = about_origin.linear;
    p.angular_impulse = about_origin.angular;
    s_.report.residual = std::max(s_.report.residual, p.own.residual);
  }
}

void World::State::StepForces::note_start(PairState& p) const {
  OwnForce& own = p.own;
  own.sticks = p.sticks;
  own.prediction = p.push;
  own.energy = p.energy;
  own.area = p.area;
  own.given = {};
  own.residual = 0;
  own.held = own.guessed = false;
  own.lean = 0.5;
}

double World::State::StepForces::pair_mass(const PairState& p) const {
  return mass_of(s_.bodies[p.pair.a], s_.bodies[p.pair.b]);
}

bool World::State::StepForces::acts(const PairState& p) {
  return length_sq(p.own.given.linear) > 0 || length_sq(p.own.given.angular) > 0;
}

bool World::State::StepForces::pushes(const PairState& p) const {
  if (s_.rests(p.pair)) return false;
  return p.own.held ? acts(p) : p.points > 0 || (p.own.guessed && acts(p));
}

std::size_t World::State::StepForces::island_of(const PairState& p) const {
  return moved_[s_.bodies[p.pair.a].moves() ? p.pair.a : p.pair.b].island;
}

bool World::State::StepForces::is_again(const PairState& p) const {
  return (s_.bodies[p.pair.a].moves() && moved_[p.pair.a].again) ||
         (s_.bodies[p.pair.b].moves() && moved_[p.pair.b].again);
}

void World::State::StepForces::find_islands() {
  DisjointSets sets(moved_.size());
  const auto join = [&](BodyId a, BodyId b) {
    if (s_.bodies[a].moves() && s_.bodies[b].moves()) sets.join(a, b);
  };
  for (const PairState& p : s_.pairs)
    if (acts(p) || pushes(p)) join(p.pair.a, p.pair.b);
  for (const JointSettings& j : s_.joints) join(static_cast<BodyId>(j.a), static_cast<BodyId>(j.b));
  for (std::size_t k = 0; k < moved_.size(); ++k)
    moved_[k].island = sets.find(static_cast<std::uint32_t>(k));
}

void World::State::StepForces::choose_shares() {
  std::vector<double> share(moved_.size(), 0.5);
  for (const PairState& p : s_.pairs)
    if (pushes(p)) share[island_of(p)] = std::max(share[island_of(p)], p.own.lean);
  for (const JointSettings& j : s_.joints)
    for (const std::size_t b : {j.a, j.b}) share[moved_[b].island] = 1;
  for (Moved& m : moved_)
    if (m.again) m.share = share[m.island];
}

bool World::State::StepForces::find_unsolved() {
  find_islands();
  std::vector<bool> wrong(moved_.size());
  bool any = false;
  for (const PairState& p : s_.pairs) {
    if (p.own.residual <= s_.settings.force_tolerance || s_.rests(p.pair)) continue;
    wrong[island_of(p)] = any = true;
  }
  for (Moved& m : moved_) m.again = wrong[m.island];
  return any;
}

Twist World::State::StepForces::slip_at(const PairState& p, const Vec3& place) const {
  const Moved &a = moved_[p.pair.a], &b = moved_[p.pair.b];
  return isotact::moved(a.twist, place - a.from.center) -
         isotact::moved(b.twist, place - b.from.center);
}

void World::State::StepForces::solve_again(bool limited) {
  std::vector<std::size_t> some;
  std::vector<ContactPush> guesses;
  for (std::size_t k = 0; k < s_.pairs.size(); ++k) {
    if (!is_again(s_.pairs[k]) || !pushes(s_.pairs[k])) continue;
    some.push_back(k);
    guesses.push_back(next_guess(s_.pairs[k]));
  }
  move(some, guesses, limited);
  if (s_.find_flawed_body()) return;
  s_.add_pairs();
  evaluate(false);
}

double World::State::StepForces::compute_slack(const PairState& p) const {
  double sum = 0;
  for (const BodyId id : {p.pair.a, p.pair.b}) {
    const WorldBody& b = s_.bodies[id];
    if (!b.moves()) continue;
    RigidBody loaded = b.body;
    loaded.state = moved_[id].from;
    sum += kinetic_energy(loaded);
    loaded.state.momentum = moved_[id].load.linear;
    loaded.state.angular_momentum = moved_[id].load.angular;
    sum += kinetic_energy(loaded);
  }
  return sum;
}

void World::State::StepForces::move(const std::vector<std::size_t>& some,
                                    std::vector<ContactPush>& pushes, bool limited) {
  const auto start = StepClock::now();
  // Guesses on the way may do more work than the answer, but no wonders.
  if (!limited)
    for (std::size_t i = 0; i < some.size(); ++i)
      pushes[i].most += compute_slack(s_.pairs[some[i]]);
  for (std::size_t k = 0; k < moved_.size(); ++k) {
    Moved& m = moved_[k];
    if (!is_moved(k)) continue;
    BodyState& state = s_.bodies[k].body.state;
    state = m.from;
    state.momentum += m.load.linear * m.share;
    state.angular_momentum += m.load.angular * m.share;
  }
  solve(pushes, limited);
  for (PairState& p : s_.pairs)
    if (is_again(p)) p.own.given = {};
  for (std::size_t i = 0; i < some.size(); ++i) {
    OwnForce& own = s_.pairs[some[i]].own;
    own.given = pushes[i].given * (1 / pushes[i].share);
    own.place = pushes[i].place;
  }
  parallel_for(moved_.size(), 64, s_.settings.threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) move_body(k);
  });
  s_.report.seconds.motion += seconds_from(start);
}

void World::State::StepForces::solve(std::vector<ContactPush>& pushes, bool limited) {
  std::vector<JointSettings> some_joints;
  for (const JointSettings& j : s_.joints)
    if (moved_[j.a].again || moved_[j.b].again) some_joints.push_back(j);
  std::vector<Twist> starts;
  for (const WorldBody& b : s_.bodies) starts.push_back(b.start);
  const detail::VelocityReport solved =
      detail::solve_velocities({solver_bodies_.all, solver_bodies_.twists, pushes, some_joints, h_,
                                s_.settings.threads, starts});
  s_.energy_bound += std::abs(solved.joint_work);
  s_.report.islands = std::max(s_.report.islands, solved.islands);
  s_.report.largest_island = std::max(s_.report.largest_island, solved.largest);
  if (limited) s_.report.limited += solved.limited;
}

void World::State::StepForces::move_body(std::size_t k) {
  WorldBody& b = s_.bodies[k];
  Moved& m = moved_[k];
  if (!m.again) return;
  BodyStep& step = b.step;
  m.twist = b.body.kind == BodyKind::kKinematic
                ? solver_bodies_.twists[k]
                : (b.moves() ? Twist{velocity(b.body), angular_velocity(b.body)} : Twist{});
  if (!b.moves() && b.body.kind == BodyKind::kKinematic) b.body.state = m.from;
  step.motion = {world_from_body(b.body), {}, b.body.mass.center};
  step.center_from = b.body.state.center;
  if (b.moves())
    drift(b.body, h_, s_.settings.turns);
  else if (b.body.kind == BodyKind::kKinematic)
    set_pose(b.body, b.target);
  detail::finish_body_step(b, h_);
}

void World::State::StepForces::evaluate(bool all) {
  std::vector<std::size_t> some;
  for (std::size_t k = 0; k < s_.pairs.size(); ++k) {
    const PairState& p = s_.pairs[k];
    if (!p.apart && !p.own.held && !s_.rests(p.pair) && (all || is_again(p))) some.push_back(k);
  }
  ++s_.report.force_rounds;
  s_.report.evaluations += static_cast<std::uint32_t>(some.size());
  parallel_for(some.size(), 1, s_.settings.threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      PairState& p = s_.pairs[some[i]];
      look(p);
      p.own.residual = compute_residual(p);
    }
  });
}

void World::State::StepForces::look(PairState& p) const {
  const double lean = p.own.lean;
  p.sticks = p.own.sticks;
  p.push.taken = p.stored = p.own.prediction.taken;
  p.energy = p.own.energy;
  p.own.lean = 0.5;
  p.own.lost = 0;
  p.impulse = p.angular_impulse = {};
  p.points = p.sticking = 0;
  p.area = p.depth = 0;
  s_.look_at_pair(p);
  // What touched before has its share for the whole step.
  if (p.own.area > 0) p.own.lean = lean;
  // Bodies that overlap when they first meet have the energy of their springs.
  if (!p.touched) p.own.prediction.taken = p.own.prediction.most = p.own.energy = p.push.taken;
}

double World::State::StepForces::compute_residual(const PairState& p) const {
  const Wrench given = isotact::moved(p.own.given, p.push.place - p.own.place);
  const WorldBody &a = s_.bodies[p.pair.a], &b = s_.bodies[p.pair.b];
  const double reach = std::min(a.moves() ? a.ball_radius : kFar, b.moves() ? b.ball_radius : kFar);
  const double off = size_of(given - p.push.push, reach);
  if (off == 0) return 0;
  const double speed = length(s_.settings.gravity) * h_ + length(slip_at(p, p.push.place).linear);
  const double size =
      std::max(size_of(given, reach), size_of(p.push.push, reach)) + kFaint * pair_mass(p) * speed;
  return off / size;
}

bool World::State::advance_by_own_forces() {
  auto start = StepClock::now();
  StepForces forces(*this);
  apply_loads();
  forces.note_loads();
  report.seconds.motion = seconds_from(start);
  forces.predict();
  if (find_flawed_body()) return false;
  start = StepClock::now();
  find_pairs();
  mark_impacts();
  report.seconds.broad = seconds_from(start);
  forces.iterate();
  forces.limit_work();
  if (find_flawed_body()) return false;
  start = StepClock::now();
  resolve_impacts();
  report.seconds.motion += seconds_from(start);
  if (find_flawed_body()) return false;
  forces.finish();
  return true;
}

}  // namespace isotact
