// Bodies that rest under any load: stiffness that follows it, and points that a constraint holds.
#include <algorithm>
#include <cmath>

#include "isotact/base/detail/thread_scratch.h"
#include "isotact/base/disjoint_sets.h"
#include "isotact/dynamics/rigid/detail/impacts.h"
#include "isotact/dynamics/rigid/detail/world_state.h"

namespace isotact {

using detail::HeldPoint;
using detail::PairState;
using detail::WorldBody;

namespace {

// Depth at rest, as a share of the smaller body's diagonal, with a stiffness chosen by the library.
constexpr double kRestDepth = 1e-4;
constexpr double kLeastShare = 0.01;  // of a surface that touches, for the stiffness under a load
constexpr double kLoadGrowth = 2;     // of the stiffness in a step, at most
constexpr double kHealing = 1.1;      // The same, if springs bear the load already, but too deep.
constexpr double kLoadDecay = 0.98;   // in a step, at least

// The depth beyond which a constraint holds points: of the diagonal, and of the wall's half.
constexpr double kHoldDepth = 1e-3;
constexpr double kHoldShare = 0.5;
constexpr double kHoldRecovery = 0.2;  // of what is beyond, in a step

// rad in half of a step; what turns by more has the equation of the beginning.
constexpr double kMostAhead = 0.25;
constexpr double kSameFace = 0.5;  // Cosine of normals in the middle and at the beginning.

Twist twist_of(const WorldBody& b) {
  if (!b.is_dynamic()) return {b.step.velocity, b.step.angular_velocity};
  return {velocity(b.body), angular_velocity(b.body)};
}

// The equation of a point in the middle of the next step. That of its beginning is of first order:
// a body that turns under a tip, or over one, would get deeper by half of the turn times the slip
// in each step. The normal turns with the field's body, and changes as the point slides along: that
// of a thread stays where it is. The place is that in the frame of the bodies' common motion.
HeldPoint look_ahead(const DeepPoint& p, const WorldBody& a, const WorldBody& b, double allowed,
                     double step) {
  const WorldBody &shell = p.of_a ? a : b, &field = p.of_a ? b : a;
  const Twist of_shell = twist_of(shell), of_field = twist_of(field);
  const double turn = 0.5 * step * length(of_field.angular);
  const Vec3 slip = moved(of_shell, p.place - shell.body.state.center).linear;
  const Pose now = world_from_body(field.body);
  const Vec3 center = field.body.state.center, x_now = transform_point(inverse(now), p.place);
  Quat ahead = now.rotation;
  if (turn > 0) ahead = normalized(rotation_about(of_field.angular, turn) * ahead);
  const Vec3 from_center = p.place + (slip - of_field.linear) * (0.5 * step) - center;
  const Vec3 x_then = rotate(conjugate(ahead), from_center) + field.body.mass.center;
  const Vec3 g_now = normalized(field.field().sample(x_now).gradient);
  const Vec3 g_then = normalized(field.field().sample(x_then).gradient);
  const Vec3 local = rotate(conjugate(now.rotation), p.normal);
  const double side = dot(local, g_now) < 0 ? -1 : 1;
  if (turn > kMostAhead || dot(g_now, g_then) < kSameFace) return {p.place, p.normal, allowed};
  const Vec3 normal = normalized(rotate(ahead, local + (g_then - g_now) * side));
  const double ma = a.is_dynamic() ? a.body.mass.mass : 0;
  const double mb = b.is_dynamic() ? b.body.mass.mass : 0;
  Vec3 common{};
  if (ma + mb > 0) common = (twist_of(a).linear * ma + twist_of(b).linear * mb) * (1 / (ma + mb));
  return {p.place + (slip - common) * (0.5 * step), normal, allowed};
}

bool is_soft(const WorldBody& b) { return b.settings.material.stiffness > 0; }

}  // namespace

namespace detail {

double mass_of(const WorldBody& b) {
  return b.is_dynamic() ? b.body.mass.mass : std::numeric_limits<double>::infinity();
}

double compute_area(const WorldBody& a, const WorldBody& b) {
  double area = std::numeric_limits<double>::infinity();
  for (const WorldBody* w : {&a, &b})
    if (w->area > 0) area = std::min(area, w->area);
  return area;
}

double compute_diagonal(const WorldBody& a, const WorldBody& b) {
  double diagonal = std::numeric_limits<double>::infinity();
  for (const WorldBody* w : {&a, &b})
    if (std::isfinite(w->ball_radius)) diagonal = std::min(diagonal, length(extent(w->box)));
  return diagonal;
}

}  // namespace detail

// The load of a pair is the impulse that the last step's velocities needed. Its stiffness follows
// within a few steps, so that the depth at rest is the stated one under any load, and it goes back
// slowly, so that a body at rest feels a constant stiffness.
void World::State::note_load(PairState& pair) const {
  const double target =
      kRestDepth * detail::compute_diagonal(bodies[pair.pair.a], bodies[pair.pair.b]);
  const double surface = detail::compute_area(bodies[pair.pair.a], bodies[pair.pair.b]);
  if (settings.solve != ForceSolve::kImplicit || !std::isfinite(target * surface)) return;
  // A contact that begins has no area yet: held points stop it, by no load that lasts.
  const double load = pair.touched && pair.area > 0 ? pair.push.pushed / settings.step : 0;
  const double wanted = load / (std::max(pair.area, kLeastShare * surface) * target);
  const double now = std::max(pair.carried, material_of(pair.pair).stiffness);
  const bool bears = now * pair.area * pair.depth > load;
  pair.carried =
      std::clamp(wanted, kLoadDecay * pair.carried, (bears ? kHealing : kLoadGrowth) * now);
}

// Springs that were entered within a step hold more than they took from the bodies. They may give
// back enough of it to part them at the speed that gravity gives in a step, and no faster. What
// they give was taken by this contact before.
double World::State::compute_spare_energy(const PairState& pair, double held) const {
  const WorldBody &a = bodies[pair.pair.a], &b = bodies[pair.pair.b];
  double fast = 0;
  for (const Vec3& place : {pair.push.place, pair.contact.position})
    fast = std::max(fast, length_sq(moved(a.start, place - a.body.state.center).linear -
                                    moved(b.start, place - b.body.state.center).linear));
  const double slow = length_sq(settings.gravity) * settings.step * settings.step;
  if (!(slow > fast)) return 0;
  // What lies on the bodies is lifted with them.
  const double carried = pair.push.pushed / std::sqrt(slow);
  const double mass = std::max(std::min(detail::mass_of(a), detail::mass_of(b)), carried);
  const double room = 0.5 * mass * (slow - fast);
  return std::max(0.0, std::min(held, room));
}

Energies World::State::energies() const {
  Energies e;
  for (const WorldBody& b : bodies) {
    if (!b.is_dynamic()) continue;
    e.kinetic += kinetic_energy(b.body);
    e.potential -= b.body.mass.mass * dot(settings.gravity, b.body.state.center);
  }
  const bool implicit = settings.solve != ForceSolve::kExplicit;
  for (const PairState& p : pairs) e.springs += implicit ? p.stored : p.energy;
  return e;
}

// With what users put in since the last step, by setting states.
double World::State::bound_energy() const {
  if (report.number == 0) return energy_bound;
  return energy_bound + std::max(0.0, energies().total() - report.energies.total());
}

std::vector<double> World::State::compute_kinetic() const {
  std::vector<double> kinetic;
  for (const WorldBody& b : bodies)
    kinetic.push_back(b.is_dynamic() ? kinetic_energy(b.body) : 0.0);
  return kinetic;
}

// Bodies that impacts connect share what they lost equally.
void World::State::credit_impacts(const std::vector<double>& kinetic) {
  DisjointSets sets(bodies.size());
  for (const PairState& p : pairs)
    if (p.impact && bodies[p.pair.a].is_dynamic() && bodies[p.pair.b].is_dynamic())
      sets.join(p.pair.a, p.pair.b);
  const auto set_of = [&](const PairState& p) {
    return sets.find(bodies[p.pair.a].is_dynamic() ? p.pair.a : p.pair.b);
  };
  std::vector<double> lost(bodies.size(), 0), count(bodies.size(), 0);
  const std::vector<double> now = compute_kinetic();
  for (BodyId k = 0; k < bodies.size(); ++k) lost[sets.find(k)] += kinetic[k] - now[k];
  for (const PairState& p : pairs)
    if (p.impact) count[set_of(p)] += 1;
  for (PairState& p : pairs)
    if (p.impact) p.push.taken += std::max(lost[set_of(p)], 0.0) / count[set_of(p)];
}

// Springs that somebody chose are meant to yield; they may do so as deep as walls allow.
double World::State::compute_hold_depth(const BodyPair& pair) const {
  if (settings.solve != ForceSolve::kImplicit) return std::numeric_limits<double>::infinity();
  const WorldBody &a = bodies[pair.a], &b = bodies[pair.b];
  double wall = std::numeric_limits<double>::infinity();
  for (const auto& [shell, field] : {std::pair{&a, &b}, std::pair{&b, &a}})
    if (shell->has_points() && field->has_field()) wall = std::min(wall, field->inner_depth);
  wall *= kHoldShare;
  if (materials.contains(pair) || is_soft(a) || is_soft(b)) return wall;
  return std::min(wall, kHoldDepth * detail::compute_diagonal(a, b));
}

// The deepest point, and then always the one that is farthest from those chosen.
void World::State::hold_points(PairState& pair, double depth) const {
  std::vector<DeepPoint>& deep = pair.deep;
  const double h = settings.step, slow = length(settings.gravity) * h;
  const auto is_less = [](const DeepPoint& a, const DeepPoint& b) { return a.depth < b.depth; };
  while (!deep.empty() && pair.push.held_count < detail::kMaxHeldPoints) {
    auto chosen = std::max_element(deep.begin(), deep.end(), is_less);
    double farthest = 0;
    for (auto at = deep.begin(); at != deep.end() && pair.push.held_count > 0; ++at) {
      double least = std::numeric_limits<double>::infinity();
      for (std::uint32_t i = 0; i < pair.push.held_count; ++i)
        least = std::min(least, length_sq(at->place - pair.push.held[i].place));
      if (!(least > farthest)) continue;
      farthest = least;
      chosen = at;
    }
    const double beyond = chosen->depth - depth;
    const double allowed = beyond > 0 ? -std::min(kHoldRecovery * beyond / h, slow) : -beyond / h;
    HeldPoint& held = pair.push.held[pair.push.held_count++];
    held = {chosen->place, chosen->normal, allowed};
    // Springs of a surface that touches see where it turns. Those of a tip do not.
    if (pair.points <= detail::kMaxHeldPoints)
      held = look_ahead(*chosen, bodies[pair.pair.a], bodies[pair.pair.b], allowed, h);
    deep.erase(chosen);
  }
  deep.clear();
}

// A pair that had an impact has no force in that step. Points that touch at its end may not
// approach in the next step: else gravity would end in another impact there, and in each step from
// then on, and a body would never come to rest.
void World::State::hold_after_impact(PairState& pair) const {
  if (settings.solve != ForceSolve::kImplicit) return;
  const WorldBody &a = bodies[pair.pair.a], &b = bodies[pair.pair.b];
  std::vector<Contact> touching;
  for (const bool points_of_a : {true, false}) {
    const WorldBody &shell = points_of_a ? a : b, &field = points_of_a ? b : a;
    if (!shell.has_points() || !field.has_field()) continue;
    const ShellMotion motion{.shell = at_rest(shell.step.motion.to),
                             .field = at_rest(field.step.motion.to)};
    const ThreadScratch<SweptResults> scratch;
    field.near->trace(shell.tree(), motion, *scratch);
    const detail::Encounter end{pair.pair, points_of_a, shell, field, motion, 0, 0};
    for (const SweptHit& hit : scratch->hits)
      touching.push_back(detail::make_contact(end, hit.point, 0));
  }
  detail::take_face_normals({a, a.step.motion.to}, {b, b.step.motion.to}, touching);
  for (const Contact& c : touching)
    pair.deep.push_back({c.position, c.normal, c.depth, c.sampled_by == Body::kA});
  hold_points(pair, 0);
}

}  // namespace isotact
