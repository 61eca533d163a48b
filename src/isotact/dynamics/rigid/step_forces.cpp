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
#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "isotact/base/disjoint_sets.h"
#include "isotact/dynamics/rigid/detail/velocity_solver.h"
#include "isotact/dynamics/rigid/detail/world_state.h"

namespace isotact {

using detail::ContactPush;
using detail::mass_of;
using detail::OwnForce;
using detail::PairState;
using detail::WorldBody;

namespace {

using StepClock = std::chrono::steady_clock;
double seconds_from(StepClock::time_point start) {
  return std::chrono::duration<double>(StepClock::now() - start).count();
}

constexpr double kFaint = 1e-2;      // of a pair's momentum: smaller impulses need not be as exact
constexpr double kUnsolved = 0.1;    // a residual
constexpr double kRounding = 1e-12;  // of the energy of an island
constexpr double kExcess = 0.1;  // of the work of contacts, that their second part does not mend

double size_of(const Wrench& w, double reach) {
  return length(w.linear) + (reach > 0 ? length(w.angular) / reach : 0.0);
}

}  // namespace

// With b = C h / m and s = K h^2 / m, half of b is the logarithmic decay of a step. Dampers at the
// mean velocity of a step take no more than (1 + s / 4) b / 2 can: larger by that and by the
// hyperbolic tangent, they let an oscillation decay as it does in truth, at any step.
double detail::adapt_to_step(ForceSettings& forces, double touching, double mass, double step) {
  ContactMaterial& m = forces.material;
  const double b = m.damping * touching * step / mass;
  const double s = m.stiffness * touching * step * step / mass;
  forces.drag_share = 0.5;
  forces.true_slope = forces.direction == ForceDirection::kField;
  forces.refine_crossings = forces.quadrature == Quadrature::kAdaptive;
  if (!(b > 0)) return 0.5;
  const double decay = std::tanh(b / 2), factor = (1 + s / 4) * decay / (b / 2);
  m.damping *= factor;
  m.stick_damping *= factor;
  forces.drag_share = 0.5 + 0.5 * decay;
  // What comes and goes within a step keeps this part of its speed.
  const double ratio = s > 0 ? b / (2 * std::sqrt(s)) : 1;
  const double kept =
      ratio < 1 ? std::exp(-3.141592653589793 * ratio / std::sqrt(1 - ratio * ratio)) : 0.0;
  return 0.5 + (1 / (1 + kept) - 0.5) * decay;
}

class World::State::StepForces {
 public:
  explicit StepForces(State& state) : s_(state), h_(state.settings.step) {
    for (const WorldBody& b : s_.bodies) moved_.push_back({.from = b.body.state});
    for (PairState& p : s_.pairs) note_start(p);
  }

  // After the loads.
  void note_loads() {
    for (std::size_t k = 0; k < moved_.size(); ++k) {
      const BodyState& now = s_.bodies[k].body.state;
      moved_[k].load = {now.momentum - moved_[k].from.momentum,
                        now.angular_momentum - moved_[k].from.angular_momentum};
    }
    detail::list_solver_bodies(s_.bodies, h_, solver_bodies_);
    for (PairState& p : s_.pairs)
      p.own.prediction.spare = p.points > 0 ? s_.find_spare_energy(p) : 0;
  }

  void predict() {
    std::vector<std::size_t> some;
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
    move(
        some, [&](const PairState& p) { return scaled(p.own.prediction, share_of(p)); }, false);
  }

  // Rounds until the impulses are those of the paths.
  void iterate() {
    for (PairState& p : s_.pairs) {
      p.work = {};
      p.detection_seconds = p.force_seconds = 0;
      if (s_.rests(p.pair)) p.touches = p.touched;
    }
    evaluate(true);
    for (int round = 1; round < s_.settings.force_rounds && !s_.trouble && find_unsolved();
         ++round) {
      choose_shares();
      solve_again(false);
    }
  }

  // Contacts that would give back more than they have taken are solved with that as a limit.
  void limit_work() {
    find_islands();
    std::vector<double> work(moved_.size()), most(moved_.size()), size(moved_.size());
    for (PairState& p : s_.pairs) {
      if (!acts(p)) continue;
      const std::size_t island = island_of(p);
      const double now = find_work(p);
      work[island] += now;
      size[island] += std::abs(now);
      most[island] += p.own.prediction.stored + p.own.prediction.spare;
    }
    for (std::size_t k = 0; k < moved_.size(); ++k) {
      const std::size_t island = moved_[k].island;
      moved_[k].again = work[island] > most[island] + kExcess * size[island];
    }
    if (std::any_of(moved_.begin(), moved_.end(), [](const Moved& m) { return m.again; }))
      solve_again(true);
  }

  // After impacts: contacts of what they have moved, the second part of all impulses, and what is
  // kept for the next step.
  void finish() {
    for (PairState& p : s_.pairs) {
      const bool changed =
          p.impact || p.own.held || s_.bodies[p.pair.a].bent || s_.bodies[p.pair.b].bent;
      if (!p.apart && changed && !s_.rests(p.pair)) look(p);
    }
    find_islands();
    add_second_part();
    for (PairState& p : s_.pairs) {
      if (p.apart) p.energy = p.push.stored = 0;
      if (p.apart || s_.rests(p.pair)) continue;
      if (!p.impact) make_prediction(p);
      const Wrench about_origin = moved(p.own.given, p.own.place * -1.0);
      p.impulse = about_origin.linear;
      p.angular_impulse = about_origin.angular;
      s_.report.residual = std::max(s_.report.residual, p.own.residual);
    }
  }

 private:
  // A body in this step.
  struct Moved {
    BodyState from{};
    Wrench load{};  // about its centre
    Twist twist{};  // with which it moves, at its first rotation
    // Impulses of its contacts: all, about its first centre, and their second part, about its last.
    Wrench push{}, rest{};
    double share = 0.5;
    std::size_t island = 0;
    bool again = false;  // is to be solved again
  };

  void note_start(PairState& p) const {
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

  double pair_mass(const PairState& p) const {
    return mass_of(s_.bodies[p.pair.a], s_.bodies[p.pair.b]);
  }
  // Whether it has moved bodies in this step.
  static bool acts(const PairState& p) {
    return length_sq(p.own.given.linear) > 0 || length_sq(p.own.given.angular) > 0;
  }
  bool pushes(const PairState& p) const {
    if (s_.rests(p.pair)) return false;
    return p.own.held ? acts(p) : p.points > 0 || (p.own.guessed && acts(p));
  }
  std::size_t island_of(const PairState& p) const {
    return moved_[s_.bodies[p.pair.a].moves() ? p.pair.a : p.pair.b].island;
  }
  double share_of(const PairState& p) const { return moved_[island_of(p)].share; }
  bool is_again(const PairState& p) const {
    return (s_.bodies[p.pair.a].moves() && moved_[p.pair.a].again) ||
           (s_.bodies[p.pair.b].moves() && moved_[p.pair.b].again);
  }

  // ---- islands ----

  void find_islands() {
    DisjointSets sets(moved_.size());
    const auto join = [&](BodyId a, BodyId b) {
      if (s_.bodies[a].moves() && s_.bodies[b].moves()) sets.join(a, b);
    };
    for (const PairState& p : s_.pairs)
      if (acts(p) || pushes(p)) join(p.pair.a, p.pair.b);
    for (const JointSettings& j : s_.joints)
      join(static_cast<BodyId>(j.a), static_cast<BodyId>(j.b));
    for (std::size_t k = 0; k < moved_.size(); ++k)
      moved_[k].island = sets.find(static_cast<std::uint32_t>(k));
  }

  // Of bodies that are to be solved again. Joints hold the velocities with which bodies move.
  void choose_shares() {
    std::vector<double> share(moved_.size(), 0.5);
    for (const PairState& p : s_.pairs)
      if (pushes(p)) share[island_of(p)] = std::max(share[island_of(p)], p.own.lean);
    for (const JointSettings& j : s_.joints)
      for (const std::size_t b : {j.a, j.b}) share[moved_[b].island] = 1;
    for (Moved& m : moved_)
      if (m.again) m.share = share[m.island];
  }

  // Marks the bodies of islands in which an impulse is not yet that of the path.
  bool find_unsolved() {
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

  // ---- motion ----

  static ContactPush scaled(ContactPush p, double share) {
    p.push = p.push * share;
    p.response = p.response * share;
    p.slide = p.slide * share;
    p.normal *= share;
    p.found_normal *= share;
    p.normal_response = p.normal_response * share;
    p.share = share;
    p.work_share = 1;
    return p;
  }

  Twist slip_at(const PairState& p, const Vec3& place) const {
    const Moved &a = moved_[p.pair.a], &b = moved_[p.pair.b];
    return isotact::moved(a.twist, place - a.from.center) -
           isotact::moved(b.twist, place - b.from.center);
  }

  // Newton's step: the impulse of the last path, and how it answers to another velocity. Where a
  // step went too far and lost the contact, the line between the two is taken.
  ContactPush next_guess(PairState& p) const {
    if (p.own.held) return scaled(p.own.prediction, share_of(p));
    if (p.points == 0) {
      shorten_guess(p);
      return scaled(p.own.guess, share_of(p));
    }
    const ContactResponse& r = p.own.response;
    const Twist slip = slip_at(p, p.push.place);
    ContactPush push = p.push;
    push.stored = p.own.prediction.stored;
    push.spare = p.own.prediction.spare;
    push.push += r.path * slip;
    push.push += r.slide * slip;
    push.response = r.path;
    push.slide = r.slide;
    push.found_normal = r.normal;
    push.normal_response = r.normal_path;
    push.normal = r.normal + dot(r.normal_path, slip);
    p.own.guess = push;
    p.own.guess_slip = slip;
    p.own.guessed = true;
    return scaled(push, share_of(p));
  }
  // Responses become those of the line from where the contact was to where it is lost.
  void shorten_guess(PairState& p) const {
    ContactPush& g = p.own.guess;
    const Twist& slip = p.own.guess_slip;
    const double found = g.normal - dot(g.normal_response, slip);
    const double change = dot(g.normal_response, slip_at(p, g.place) - slip);
    const double share = change > found ? std::max(found / change, 0.0) : 1.0;
    const Wrench answer = g.response * slip, slides = g.slide * slip;
    g.push += answer * (share - 1);
    g.push += slides * (share - 1);
    g.normal = found + share * (g.normal - found);
    g.response = g.response * share;
    g.slide = g.slide * share;
    g.normal_response = g.normal_response * share;
  }

  // What this step's contacts let expect of the next one: depth grows on from where it ends.
  static void make_prediction(PairState& p, const Twist& slip, double drag_share) {
    const ContactResponse& r = p.own.response;
    ContactPush& push = p.push;
    push.response = r.spring * 0.5;
    push.response += r.damper;
    push.push += r.trend;
    push.push += push.response * slip;
    push.push += r.slide * slip;
    push.push += r.stick * slip * (drag_share - 1);
    push.response += r.stick * drag_share;
    push.slide = r.slide;
    push.found_normal = r.normal;
    push.normal_response = r.normal_spring * 0.5;
    push.normal_response += r.normal_damper;
    push.normal = r.normal + r.normal_trend + dot(push.normal_response, slip);
  }
  void make_prediction(PairState& p) const {
    if (p.points == 0) return;
    if (p.own.residual > kUnsolved) {
      // It is not the impulse of this step, which is the better guess.
      const double found = size_of(p.push.push, 0), given = size_of(p.own.given, 0);
      const double share = found > given ? given / found : 1.0;
      p.own.response = p.own.response * share;
      p.push.push = p.push.push * share;
    }
    const WorldBody &a = s_.bodies[p.pair.a], &b = s_.bodies[p.pair.b];
    const auto twist = [&](const WorldBody& w) {
      return isotact::moved(Twist{w.step.velocity, w.step.angular_velocity},
                            p.push.place - w.step.center_to);
    };
    make_prediction(p, twist(a) - twist(b), 0.5);
    // The contact goes on with the body that it is written about.
    p.push.place += velocity((a.is_dynamic() ? a : b).body) * h_;
  }

  void solve_again(bool limited) {
    std::vector<std::size_t> some;
    for (std::size_t k = 0; k < s_.pairs.size(); ++k)
      if (is_again(s_.pairs[k]) && pushes(s_.pairs[k])) some.push_back(k);
    move(
        some, [&](PairState& p) { return next_guess(p); }, limited);
    if (s_.find_flawed_body()) return;
    s_.add_pairs();
    evaluate(false);
  }

  double find_slack(const PairState& p) const {
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

  // Takes all bodies that are marked back to the start, and moves them with what the solver makes
  // of these pushes.
  template <typename Guess>
  void move(const std::vector<std::size_t>& some, Guess&& guess, bool limited) {
    const auto start = StepClock::now();
    std::vector<ContactPush> pushes;
    for (const std::size_t k : some) {
      pushes.push_back(guess(s_.pairs[k]));
      // Guesses on the way may do more work than the answer, but no wonders.
      if (!limited) pushes.back().spare += find_slack(s_.pairs[k]);
    }
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
  bool is_moved(std::size_t k) const { return moved_[k].again && s_.bodies[k].moves(); }

  void solve(std::vector<ContactPush>& pushes, bool limited) {
    std::vector<JointSettings> joints;
    for (const JointSettings& j : s_.joints)
      if (moved_[j.a].again || moved_[j.b].again) joints.push_back(j);
    std::vector<Twist> starts;
    for (const WorldBody& b : s_.bodies) starts.push_back(b.start);
    const detail::VelocityReport solved =
        detail::solve_velocities({solver_bodies_.all, solver_bodies_.twists, pushes, joints, h_,
                                  s_.settings.threads, starts});
    s_.energy_bound += std::abs(solved.joint_work);
    s_.report.islands = std::max(s_.report.islands, solved.islands);
    s_.report.largest_island = std::max(s_.report.largest_island, solved.largest);
    if (limited) s_.report.limited += solved.limited;
  }

  void move_body(std::size_t k) {
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

  // ---- contacts ----

  // Of all pairs of bodies that have moved. The first contact of a blow is left to impacts.
  void evaluate(bool all) {
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
        p.own.residual = find_residual(p);
      }
    });
  }

  void look(PairState& p) const {
    const double lean = p.own.lean;
    p.sticks = p.own.sticks;
    p.push.stored = p.own.prediction.stored;
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
    if (!p.touched) p.own.prediction.stored = p.own.energy = p.push.stored;
  }

  double find_residual(const PairState& p) const {
    const Wrench given = isotact::moved(p.own.given, p.push.place - p.own.place);
    const WorldBody &a = s_.bodies[p.pair.a], &b = s_.bodies[p.pair.b];
    const double reach =
        std::min(a.moves() ? a.ball_radius : kFar, b.moves() ? b.ball_radius : kFar);
    const double off = size_of(given - p.push.push, reach);
    if (off == 0) return 0;
    const double speed = length(s_.settings.gravity) * h_ + length(slip_at(p, p.push.place).linear);
    const double size = std::max(size_of(given, reach), size_of(p.push.push, reach)) +
                        kFaint * pair_mass(p) * speed;
    return off / size;
  }
  static constexpr double kFar = 1e9;

  // ---- energy ----

  // Along the path. What a share above 1/2 takes is not the contacts' to give.
  double find_work(const PairState& p) const { return dot(p.own.given, slip_at(p, p.own.place)); }

  // What happens to an island in the second part of a step.
  struct Finish {
    // J, of the energy at the start and what loads and driven bodies have added. Contacts may bring
    // the kinetic energy to `most`; along their paths they bring it to `wanted`.
    double wanted = 0, most = 0;
    double potential = 0;  // at the end
    // Kinetic energy with the share s of the second parts of the contacts' impulses:
    // base + s linear + s^2 square.
    double base = 0, linear = 0, square = 0;
    bool exact = true;  // no joint, impact or driven body takes part
    double share = 1;
  };

  double kinetic_at_start(std::size_t k) const {
    RigidBody b = s_.bodies[k].body;
    b.state = moved_[k].from;
    return kinetic_energy(b);
  }

  void gather_bodies(std::vector<Finish>& islands) {
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
      f.exact = f.exact && !b.bent;
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

  // The impulses of contacts about the centres of bodies: all of them, and their second parts.
  void gather_pushes() {
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

  void gather_pairs(std::vector<Finish>& islands) const {
    for (const PairState& p : s_.pairs) {
      if (p.apart || s_.rests(p.pair)) continue;
      Finish& f = islands[island_of(p)];
      f.most += p.own.prediction.stored + p.own.prediction.spare;
      if (!p.impact) f.wanted += p.own.energy - p.energy - p.own.lost;
      f.potential += p.impact ? 0 : p.energy;
      f.exact = f.exact && !p.impact && !p.own.held;
      for (const bool of_a : {true, false}) {
        const BodyId id = of_a ? p.pair.a : p.pair.b;
        if (s_.bodies[id].body.kind != BodyKind::kKinematic || !acts(p)) continue;
        f.exact = false;
        f.most -= dot(p.own.given,
                      isotact::moved(moved_[id].twist, p.own.place - moved_[id].from.center)) *
                  (of_a ? 1 : -1);
      }
    }
  }

  // The share with which contacts do the work of their paths. It is near 1, or something else is
  // at work, and the account alone counts.
  static double choose_share(const Finish& f) {
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
  static constexpr double kCorrection = 0.05;

  // The second part of the impulses. The energy is exact: what contacts have taken from bodies is
  // their account, as far as their springs hold it.
  void add_second_part() {
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
      p.push.stored = left < f.potential ? held * left / f.potential : held;
      const double share = share_of(p);
      p.own.given = p.own.given * (share + (p.impact ? 0 : 1 - share) * f.share);
    }
  }

  State& s_;
  double h_;
  std::vector<Moved> moved_;
  detail::SolverBodies solver_bodies_;
};

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
