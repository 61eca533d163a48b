#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "isotact/base/detail/thread_scratch.h"
#include "isotact/dynamics/rigid/detail/velocity_solver.h"
#include "isotact/dynamics/rigid/detail/world_state.h"

namespace isotact {

using detail::compute_area;
using detail::mass_of;
using detail::PairState;
using detail::WorldBody;

namespace {

// Of the depth beyond which points are held: shallower ones do not reach it in a step.
constexpr double kHoldFrom = 0.5;

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

const StepReport& World::step() {
  State& s = *state_;
  StepReport& report = s.report;
  s.make_points();  // Before anything changes: it may throw.
  const std::uint64_t number = report.number + 1;
  s.energy_bound = s.bound_energy();
  report = {.number = number, .time = static_cast<double>(number) * s.settings.step};
  if (number == 1) s.note_start();
  s.contacts.clear();
  if (s.find_flawed_body()) return report;
  s.wake_changed();
  const bool is_own = s.settings.solve == ForceSolve::kStep;
  if (!(is_own ? s.advance_by_own_forces() : s.advance())) return report;
  s.wake_touched();
  s.put_to_sleep();
  s.list_contacts();
  s.look_for_trouble();
  return report;
}

bool World::State::advance() {
  auto start = Clock::now();
  apply_loads();
  solve_velocities();
  move_bodies();
  report.seconds.motion = seconds_since(start);
  if (find_flawed_body()) return false;
  start = Clock::now();
  find_pairs();
  report.seconds.broad = seconds_since(start);
  start = Clock::now();
  const std::vector<double> kinetic = compute_kinetic();
  resolve_impacts();
  if (report.impacts > 0) credit_impacts(kinetic);
  report.seconds.motion += seconds_since(start);
  if (find_flawed_body()) return false;
  find_contacts();
  return true;
}

void World::State::note_start() {
  const Energies now = energies();
  energy_start = now.total();
  potential_start = now.potential;
  energy_bound = now.kinetic;
  for (const WorldBody& b : bodies) {
    if (!b.is_dynamic()) continue;
    // As large as its inertia says, at least.
    const Mat3& i = b.body.mass.inertia;
    const double gyration = (i.rows[0].x + i.rows[1].y + i.rows[2].z) / b.body.mass.mass;
    const double size = std::isfinite(b.ball_radius) ? std::max(b.ball_radius, std::sqrt(gyration))
                                                     : std::sqrt(gyration);
    energy_bound += b.body.mass.mass * length(settings.gravity) * size;
  }
}

void World::State::apply_loads() {
  const double h = settings.step;
  for (WorldBody& b : bodies) {
    b.start = {velocity(b.body), angular_velocity(b.body)};
    if (!b.moves()) continue;
    Load load = b.load;
    load.force += settings.gravity * b.body.mass.mass;
    // At the mean of the velocities before and after: what rests is moved by it, too.
    const Vec3 v = velocity(b.body), w = angular_velocity(b.body);
    kick(b.body, load, h);
    const double work = dot(b.load.force, v + velocity(b.body)) / 2 +
                        dot(b.load.torque, w + angular_velocity(b.body)) / 2;
    energy_bound += std::max(work, 0.0) * h;
  }
  for (WorldBody& b : bodies) b.load = {};
}

void detail::list_solver_bodies(std::vector<WorldBody>& bodies, double step, SolverBodies& r) {
  r.all.clear();
  r.held.clear();
  r.all.reserve(bodies.size());
  r.held.reserve(bodies.size());
  r.twists.assign(bodies.size(), {});
  for (std::size_t k = 0; k < bodies.size(); ++k) {
    WorldBody& b = bodies[k];
    if (b.asleep) {
      r.held.push_back(b.body);
      r.held.back().kind = BodyKind::kStatic;
    }
    r.all.push_back(b.asleep ? &r.held.back() : &b.body);
    if (b.body.kind != BodyKind::kKinematic) continue;
    // Contacts and joints feel where it goes.
    RigidBody there = b.body;
    set_pose(there, b.target);
    b.turn = b.target_turn ? *b.target_turn
                           : detail::mean_rate(b.body.state.rotation, there.state.rotation, 1);
    b.target_turn.reset();
    r.twists[k] = {(there.state.center - b.body.state.center) / step, b.turn / step};
  }
}

void World::State::solve_velocities() {
  const double h = settings.step;
  detail::SolverBodies solved_bodies;
  detail::list_solver_bodies(bodies, h, solved_bodies);
  const auto& [all, held, twists] = solved_bodies;
  std::vector<detail::ContactPush> pushes;
  std::vector<std::size_t> pair_of;
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    const PairState& p = pairs[k];
    if ((p.points == 0 && p.push.held_count == 0) || rests(p.pair)) continue;
    pushes.push_back(pairs[k].push);
    pushes.back().most =
        pairs[k].stored + compute_spare_energy(pairs[k], pairs[k].push.taken - pairs[k].stored);
    pair_of.push_back(k);
  }
  std::vector<Twist> starts;
  if (settings.solve == ForceSolve::kImplicit)
    for (const WorldBody& b : bodies) starts.push_back(b.start);
  const detail::VelocityReport solved =
      detail::solve_velocities({all, twists, pushes, joints, h, settings.threads, starts});
  for (std::size_t i = 0; i < pushes.size(); ++i) {
    PairState& pair = pairs[pair_of[i]];
    pair.stored = std::max(pair.stored + pushes[i].taken - pair.push.taken, 0.0);
    pair.push.taken = pushes[i].taken;
    pair.push.pushed = pushes[i].pushed;
  }
  energy_bound += std::abs(solved.joint_work);
  report.islands = solved.islands;
  report.largest_island = solved.largest;
  report.limited = solved.limited;
}

void World::State::move_bodies() {
  const double h = settings.step;
  parallel_for(bodies.size(), 64, settings.threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      WorldBody& b = bodies[k];
      BodyStep& s = b.step;
      s.motion = {world_from_body(b.body), {}, b.body.mass.center};
      s.center_from = b.body.state.center;
      if (b.moves())
        drift(b.body, h, settings.turns);
      else if (b.body.kind == BodyKind::kKinematic)
        set_pose(b.body, b.target);
      detail::finish_body_step(b, h);
    }
  });
}

ContactMaterial World::State::material_of(const BodyPair& pair, double carried) const {
  const auto given = materials.find(pair);
  if (given != materials.end()) return given->second;
  const WorldBody &a = bodies[pair.a], &b = bodies[pair.b];
  return pair_material({.a = a.settings.material,
                        .b = b.settings.material,
                        .mass_a = mass_of(a),
                        .mass_b = mass_of(b),
                        .area = compute_area(a, b),
                        .step = settings.step,
                        .solve = settings.solve,
                        .carried = carried});
}

namespace {

struct RoleContext {
  const WorldBody &shell, &field;
  const WorldSettings& settings;
  ForceSettings forces;
  int roles = 1;
};

RoleImpulse compute_impulse(const RoleContext& c, const RoleInput& input,
                            std::vector<PointStick>& sticks) {
  const bool discrete = c.settings.contact == ContactRule::kDiscrete;
  const auto with = [&](const auto& field) {
    return discrete ? compute_discrete_impulse(field, input, c.forces, sticks)
                    : compute_role_impulse(field, input, c.forces, sticks);
  };
  const Shape& shape = *c.field.settings.shape;
  return shape.solid() ? with(shape.any_field()) : with(shape.brick_field());
}

constexpr double kFieldError = 0.05;  // Of a cell.
struct RoleScratch {
  SweptResults swept{};
  ShellPath path{};
};

// J in the springs of bodies that overlap at the start of the step by more than the error of the
// field and of the sampling. Nobody gave the rest.
double energy_at_start(const RoleContext& c) {
  const PointSphereTree& tree = c.shell.tree();
  BodyStep shell = c.shell.step, field = c.field.step;
  shell.motion.to = shell.motion.from;
  field.motion.to = field.motion.from;
  ShellPath path;
  compute_shell_path({.shell = shell.motion, .field = field.motion}, ball_of(tree),
                     c.field.all->settings().path_tolerance * c.field.cell(), path);
  std::vector<PointStick> sticks;
  const RoleInput input{tree, path, {}, {}, shell, field, c.settings.step, {}};
  const Shape& shape = *c.field.settings.shape;
  const RoleImpulse found =
      shape.solid() ? compute_discrete_impulse(shape.any_field(), input, c.forces, sticks)
                    : compute_discrete_impulse(shape.brick_field(), input, c.forces, sticks);
  const double error = kFieldError * c.field.cell();
  if (!(found.depth > error)) return 0;
  const double share = (found.depth - error) / found.depth;
  return found.energy * share * share;
}

// Who put them into each other gave the energy of their springs.
bool overlap_at_start(const SweptResults& swept) {
  return std::any_of(swept.intervals.begin(), swept.intervals.end(),
                     [](const SegmentInterval& i) { return !(i.enter > 0); });
}

void credit_overlap(PairState& pair, double energy) {
  pair.push.taken += energy;
  pair.stored += energy;
}

// Adds a piece of a step. Springs of a piece answer to displacements of the whole step.
void add_piece(RoleImpulse piece, double share, RoleImpulse& sum) {
  ContactResponse& r = piece.response;
  for (SpatialMatrix* m : {&r.spring, &r.stick}) *m = *m * (1 / share);
  for (Wrench* w : {&r.trend, &r.head_on, &r.normal_spring}) *w = *w * (1 / share);
  for (double* x : {&r.stiffness, &r.normal_trend, &r.normal_head_on}) *x /= share;
  r.add(sum.response, 1);
  piece.impulse += sum.impulse;
  piece.angular_impulse += sum.angular_impulse;
  piece.points = std::max(piece.points, sum.points);
  piece.error += sum.error;
  piece.samples += sum.samples;
  piece.lost += sum.lost;
  sum = piece;  // with the area, depth and energy of its end
}

// Bodies that turned far or were hit within the step: piece by piece along their true paths.
std::optional<RoleImpulse> look_at_pieces(const RoleContext& c, PairState& pair, std::size_t role) {
  const ThreadScratch<RoleScratch> scratch;
  auto& [swept, path] = *scratch;
  const PointSphereTree& tree = c.shell.tree();
  RoleImpulse sum;
  bool first = !pair.touched;
  for (const detail::StepPiece& piece : detail::list_pieces(c.shell, c.field, c.settings.step)) {
    const ShellMotion motion{piece.a.motion, piece.b.motion, MotionModel::kConstantRates};
    auto start = Clock::now();
    c.field.all->trace(tree, motion, swept);
    pair.work += swept.motions[0].work;
    pair.detection_seconds += seconds_since(start);
    start = Clock::now();
    if (first && overlap_at_start(swept)) credit_overlap(pair, energy_at_start(c));
    first = false;
    RoleImpulse result;
    if (swept.hits.empty()) {
      pair.sticks[role].clear();
    } else {
      compute_shell_path(motion, ball_of(tree),
                         c.field.all->settings().path_tolerance * c.field.cell(), path);
      result = compute_impulse(
          c,
          {tree, path, swept.hits, swept.intervals, piece.a, piece.b, piece.share * c.settings.step,
           pair.push.place, kHoldFrom * pair.hold_depth},
          pair.sticks[role]);
    }
    add_piece(result, piece.share, sum);
    pair.force_seconds += seconds_since(start);
  }
  return sum.points > 0 ? std::optional(sum) : std::nullopt;
}

// m^2: of points that touch at some time.
double find_touching(const PointSphereTree& tree, const SweptResults& swept) {
  double sum = 0;
  for (const SweptHit& hit : swept.hits) sum += static_cast<double>(tree.areas()[hit.point]);
  return sum;
}

// Returns nothing if no point is in contact.
std::optional<RoleImpulse> look_at_role(RoleContext c, PairState& pair, std::size_t role) {
  const bool bent =
      c.settings.contact != ContactRule::kDiscrete && (c.shell.is_bent() || c.field.is_bent());
  // A contact that lasts has the forces of the pose at the end: the parts of a path serve those
  // that begin, or that do not last to the end.
  if (bent && !pair.touched && !pair.impact) return look_at_pieces(c, pair, role);
  const ShellMotion motion{
      .shell = c.shell.step.motion, .field = c.field.step.motion, .model = c.settings.motion};
  const ThreadScratch<RoleScratch> scratch;
  auto& [swept, path] = *scratch;
  std::vector<PointStick>& sticks = pair.sticks[role];
  auto start = Clock::now();
  const PointSphereTree& tree = c.shell.tree();
  // The discrete twin looks at the end of the step: at rest there.
  ShellMotion looked_at = motion;
  if (c.settings.contact == ContactRule::kDiscrete || bent) {
    looked_at.shell.from = looked_at.shell.to;
    looked_at.field.from = looked_at.field.to;
  }
  // An impact leaves points at the surface, where rounding says on which side they are.
  if (pair.impact)
    c.field.near->trace(tree, looked_at, swept);
  else
    c.field.all->trace(tree, looked_at, swept, pair.memory[role]);
  pair.work += swept.motions[0].work;
  pair.detection_seconds += seconds_since(start);
  if (swept.hits.empty() && bent && !pair.impact) return look_at_pieces(c, pair, role);
  if (swept.hits.empty()) {
    sticks.clear();
    return {};
  }
  start = Clock::now();
  if (!pair.touched && !pair.impact && overlap_at_start(swept))
    credit_overlap(pair, energy_at_start(c));
  if (c.settings.solve == ForceSolve::kStep) {
    const double lean = detail::adapt_to_step(c.forces, c.roles * find_touching(tree, swept),
                                              mass_of(c.shell, c.field), c.settings.step);
    pair.own.lean = std::max(pair.own.lean, lean);
  }
  compute_shell_path(bent ? looked_at : motion, ball_of(tree),
                     c.field.all->settings().path_tolerance * c.field.cell(), path);
  const RoleInput input{tree,
                        path,
                        swept.hits,
                        swept.intervals,
                        c.shell.step,
                        c.field.step,
                        c.settings.step,
                        pair.push.place,
                        kHoldFrom * pair.hold_depth};
  std::optional<RoleImpulse> result = compute_impulse(c, input, sticks);
  pair.force_seconds += seconds_since(start);
  return result;
}

// Of the deepest point of a role; `of_a`: points of A.
Contact make_contact(const RoleImpulse& role, bool of_a) {
  const Vec3 on_shell = role.place, on_field = role.place + role.normal * role.depth;
  return {.position = (on_shell + on_field) * 0.5,
          .point_on_a = of_a ? on_shell : on_field,
          .point_on_b = of_a ? on_field : on_shell,
          .normal = of_a ? role.normal : -role.normal,
          .depth = role.depth,
          .sampled_by = of_a ? Body::kA : Body::kB};
}

// Sums up the roles: `sign` is 1 where the shell is A's. The impulse's moment is about the world's
// origin.
void add_role(const RoleImpulse& r, double sign, PairState& pair, ContactResponse& response) {
  pair.impulse += r.impulse * sign;
  pair.angular_impulse += r.angular_impulse * sign;
  pair.push.push += moved(Wrench{r.impulse, r.angular_impulse}, pair.push.place) * sign;
  response.add(r.response, sign);
  pair.points += r.points;
  pair.sticking += r.sticking;
  pair.energy += r.energy;
  pair.own.lost += r.lost;
  pair.area = std::max(pair.area, r.area);
  for (const DeepPoint& p : r.deep)
    pair.deep.push_back({p.place, p.normal * sign, p.depth, sign > 0});
  if (r.depth > pair.depth) {
    pair.depth = r.depth;
    pair.contact = make_contact(r, sign > 0);
  }
}

// Let I be the impulse of this step, found with the velocity u0 of A against B, and u that of the
// next. Depth grows on as it did for t steps (`trend`), and by what u differs from u0 (`spring`);
// what sticks is dragged by half a step at u0 and one at u; and dampers act on u instead of u0:
//
//   I + t trend - spring (u - u0) - stick (u0 / 2 + u) - (damper + slide) (u - u0).
//
// I stands for the middle of this step. t = 0.5 neither brakes nor drives, and is right for soft
// springs. To stop what comes head-on, springs that are stiff for the step look ahead to the end of
// the next one, and a step further: t = 2.5. Under what slides depth grows and shrinks with the
// roughness of a surface made of cells, to which foresight is a brake: t = 0.75 at most.
//
// A very stiff spring would leave in one step, with the speed that this takes, and throw bodies off
// each other. With as much again as a damper (kLag) it leaves by half of the depth a step.
constexpr double kLag = 1;
void make_implicit(const ContactResponse& r, const Twist& slip, double mass,
                   detail::ContactPush& push) {
  const double stiff = r.stiffness / (r.stiffness + mass);  // 0 to 1
  const double sliding = 0.5 + 0.25 * stiff, head_on = 1.75 * stiff;
  SpatialMatrix change = r.spring * (1 + kLag);  // what answers to u - u0
  change += r.damper;
  push.push += r.trend * sliding;
  push.push += r.head_on * head_on;
  push.push += change * slip;
  push.push += r.slide * slip;
  push.push += r.stick * slip * -0.5;
  push.response = change;
  push.response += r.stick * (1 + kLag);
  push.slide = r.slide;
  push.found_normal = r.normal;
  push.normal_response = r.normal_spring * (1 + kLag);
  push.normal_response += r.normal_damper;
  push.normal = r.normal + sliding * r.normal_trend + head_on * r.normal_head_on +
                dot(push.normal_response, slip);
}

Twist twist_at(const WorldBody& b, const Vec3& place) {
  return moved(Twist{b.step.velocity, b.step.angular_velocity}, place - b.step.center_to);
}

}  // namespace

void World::State::look_at_pair(PairState& pair) const {
  const WorldBody &a = bodies[pair.pair.a], &b = bodies[pair.pair.b];
  const bool roles[2] = {a.has_points() && b.has_field(), b.has_points() && a.has_field()};
  pair.push = {
      .a = pair.pair.a, .b = pair.pair.b, .taken = pair.push.taken, .pushed = pair.push.pushed};
  const double energy_before = std::exchange(pair.energy, 0);
  pair.push.place = a.is_dynamic() ? a.step.center_to : b.step.center_to;
  // A contact is an impact or a force in a step. The force of the next step is that of the pose
  // after the impact.
  const Vec3 blow = pair.impulse, angular_blow = pair.angular_impulse;
  if (pair.impact)
    for (std::vector<PointStick>& sticks : pair.sticks)
      for (PointStick& s : sticks) s.drag = {};  // Its side stays.
  // No spring stops a driven body: its contacts go on by impacts.
  if (pair.impact && (a.body.kind == BodyKind::kKinematic || b.body.kind == BodyKind::kKinematic)) {
    pair.touches = true;
    pair.stored = 0;
    return;
  }
  pair.hold_depth = compute_hold_depth(pair.pair);
  if (!pair.touched && !pair.impact) pair.push.taken = pair.stored = 0;
  const auto note_free = [&] {
    pair.touches = false;
    if (settings.solve == ForceSolve::kStep)
      pair.own.response = {};
    else
      pair.stored = std::min({pair.stored, pair.push.taken, energy_before});
  };
  const bool is_straight =
      settings.motion == MotionModel::kStraight && !a.is_bent() && !b.is_bent();
  if (is_straight && !pair.impact && detail::stays_clear(pair.clearance, a, b)) {
    for (std::vector<PointStick>& sticks : pair.sticks) sticks.clear();
    note_free();
    return;
  }
  ForceSettings forces = settings.forces;
  forces.material = material_of(pair.pair, pair.carried);
  // Both surfaces are sampled: each carries half.
  if (roles[0] && roles[1]) {
    forces.material.stiffness *= 0.5;
    forces.material.damping *= 0.5;
    forces.material.stick_stiffness *= 0.5;
    forces.material.stick_damping *= 0.5;
  }
  ContactResponse response;
  for (std::size_t role = 0; role < 2; ++role) {
    if (!roles[role]) continue;
    const WorldBody &shell = role == 0 ? a : b, &field = role == 0 ? b : a;
    if (const auto r = look_at_role({shell, field, settings, forces, roles[0] && roles[1] ? 2 : 1},
                                    pair, role))
      add_role(*r, role == 0 ? 1 : -1, pair, response);
  }
  if (pair.impact) {
    pair.impulse = blow;
    pair.angular_impulse = angular_blow;
    if (pair.points == 0) {
      pair.touches = true;
      pair.stored = 0;
      return;
    }
  }
  if (pair.points == 0) {
    note_free();
    if (is_straight) detail::note_clearance(pair, a, b, roles[0], roles[1]);
    return;
  }
  pair.touches = pair.points > 0;
  if (settings.solve == ForceSolve::kStep) {
    pair.own.response = response;
    return;
  }
  // They give back what springs hold at most: those of the end, or those of the beginning, which
  // this step's impulse is still to give. Springs that bodies enter within a step have not taken
  // their energy from them yet.
  pair.stored = std::min({pair.stored, pair.push.taken, std::max(pair.energy, energy_before)});
  if (settings.solve == ForceSolve::kImplicit) {
    const Vec3& place = pair.push.place;
    make_implicit(response, twist_at(a, place) - twist_at(b, place), mass_of(a, b), pair.push);
  }
  if (pair.impact && !pair.touched) hold_after_impact(pair);
  hold_points(pair, pair.hold_depth);
}

void World::State::find_contacts() {
  parallel_for(pairs.size(), 1, settings.threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      PairState& p = pairs[k];
      p.work = {};
      p.detection_seconds = p.force_seconds = 0;
      if (!p.apart && rests(p.pair)) {
        p.touches = p.touched;
        continue;
      }
      note_load(p);
      if (!p.impact) p.impulse = p.angular_impulse = {};
      p.points = p.sticking = 0;
      p.area = p.depth = 0;
      if (p.apart)
        p.energy = p.stored = p.push.taken = 0;
      else
        look_at_pair(p);
    }
  });
}

void World::State::list_contacts() {
  contacts.clear();
  for (const PairState& p : pairs) {
    report.work += p.work;
    report.seconds.detection += p.detection_seconds;
    report.seconds.forces += p.force_seconds;
    report.points += p.points;
    report.held += p.push.held_count;
    if (p.points > 0) report.hold_depth = std::max(report.hold_depth, p.hold_depth);
    report.depth = std::max(report.depth, p.depth);
    for (const BodyId id : {p.pair.a, p.pair.b}) {
      // What a body that goes where it is told puts in. Impacts have added theirs.
      const WorldBody& b = bodies[id];
      if (b.body.kind != BodyKind::kKinematic || p.impact) continue;
      const Vec3 v =
          b.step.velocity + cross(b.step.angular_velocity, p.contact.position - b.step.center_to);
      energy_bound += std::abs(dot(p.impulse, v));
    }
    if (!p.touches && !p.touched) continue;
    contacts.push_back({.pair = p.pair,
                        .phase = !p.touches  ? ContactPhase::kEnd
                                 : p.touched ? ContactPhase::kPersist
                                             : ContactPhase::kBegin,
                        .contact = p.contact,
                        .impulse = p.impulse,
                        .angular_impulse = p.angular_impulse,
                        .area = p.area,
                        .points = p.points,
                        .sticking = p.sticking,
                        .impact = p.impact});
    report.contacts += p.touches ? 1U : 0U;
  }
  report.energies = energies();
}

// A body that is nowhere, with which no query can do anything. It is told of.
bool World::State::find_flawed_body() {
  for (std::size_t k = 0; k < bodies.size(); ++k)
    if (const auto flaw = find_flaw(bodies[k].body.state)) {
      trouble = {
          static_cast<BodyId>(k), report.time,
          fmt::format("body '{}' at {:.6g} s: {}; a smaller time step or a softer contact may "
                      "help",
                      bodies[k].settings.name, report.time, *flaw)};
      report.energies = energies();
      return true;
    }
  return false;
}

}  // namespace isotact
