// Bodies that are too fast for a penalty: moved to their first contact, separated there, and on.
//
// Events are taken in the order of time. Each is the moment at which a pair must not go on as it
// does: a point enters, and would get deeper within this step than a penalty should push back. All
// bodies that touch the two at that moment, and through them others, are solved together
// (impact_solver.h). Bodies that turn far within a step do so in small parts, so
// that queries see the true motion.
#include <algorithm>
#include <cmath>
#include <limits>

#include "isotact/base/detail/thread_scratch.h"
#include "isotact/dynamics/rigid/detail/impact_solver.h"
#include "isotact/dynamics/rigid/detail/joint_rows.h"
#include "isotact/dynamics/rigid/detail/world_state.h"

namespace isotact {

using detail::PairState;
using detail::WorldBody;

namespace {

constexpr int kMostBounces = 16;   // of a pair in a step; from then on it does not bounce
constexpr int kMostImpacts = 48;   // then both wait where they are until the next step
constexpr double kFastMove = 0.1;  // of a body's radius in a step
constexpr double kDeepMove = 0.5;  // of the depth of a body
constexpr double kTurn = 0.5;      // radians in a part of a step
constexpr double kMostParts = 4096;
constexpr std::size_t kContactsOfPair = 12;
constexpr double kNoTime = std::numeric_limits<double>::infinity();

// A part of a body's step: from its last impact, or the beginning, to the end, or as far as it
// turns by kTurn.
struct Part {
  double begin = 0, end = 1;  // of the step
  BodyMotion motion{};
  bool waits = false;  // where it is
  bool changed = false;
};

struct Impact {
  double time = kNoTime;  // of the step, 0 to 1
  Contact contact{};
};

struct Waiting {
  Impact impact{};
  std::uint32_t version = 0;  // how often it has changed
  int count = 0;              // of impacts that were
};

// An impact of a pair, or the end of a part of a body's motion; unless it has changed since.
struct Turn {
  double time;
  bool is_part;
  std::size_t index;
  std::uint32_t version;
};
bool is_later(const Turn& a, const Turn& b) {
  if (a.time != b.time) return a.time > b.time;
  if (a.is_part != b.is_part) return a.is_part;
  return a.index > b.index;
}

struct PointContact {
  Vec3 place{}, normal{};  // world; the normal pushes A
  double depth = 0;
  Body by = Body::kA;
  std::uint32_t point = 0;
};

Pose pose_at(const Part& part, double time) {
  if (time >= part.end) return part.motion.to;
  if (time <= part.begin) return part.motion.from;
  return compute_pose(part.motion, (time - part.begin) / (part.end - part.begin));
}

BodyMotion motion_between(const Part& part, double from, double to) {
  return {pose_at(part, from), pose_at(part, to), part.motion.pivot};
}

Aabb ball_box(const Vec3& center, double radius) {
  const Vec3 r{radius, radius, radius};
  return {center - r, center + r};
}

// The parts of a world that impacts read and change.
struct ImpactWorld {
  const WorldSettings& settings;
  std::vector<WorldBody>& bodies;
  std::vector<PairState>& pairs;
  std::vector<Aabb>& boxes;  // that bodies fill in the step
  std::span<const JointSettings> joints;
  StepReport& report;
};

template <typename MaterialOf, typename IsHard, typename MayMeet>
class Impacts {
 public:
  Impacts(const ImpactWorld& world, const MaterialOf& material_of, const IsHard& is_hard,
          const MayMeet& may_meet)
      : bodies_(world.bodies),
        pairs_(world.pairs),
        settings_(world.settings),
        boxes_(world.boxes),
        joints_(world.joints),
        report_(world.report),
        material_of_(material_of),
        is_hard_(is_hard),
        may_meet_(may_meet),
        parts_(bodies_.size()),
        part_versions_(bodies_.size(), 0) {
    for (std::size_t k = 0; k < bodies_.size(); ++k) parts_[k].motion = bodies_[k].step.motion;
    // What gravity gives in two steps does not bounce.
    rest_speed_ = 2 * length(settings_.gravity) * settings_.step;
  }

  // Cost: a search for each pair, then for each impact one for every pair that one of its bodies is
  // in.
  void run() {
    list_pairs_of_bodies();
    for (BodyId id = 0; id < bodies_.size(); ++id)
      if (!pairs_of_body_[id].empty()) split_turn(id);
    waiting_.resize(pairs_.size());
    parallel_for(pairs_.size(), 1, settings_.threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) waiting_[k].impact = look(k);
    });
    for (std::size_t k = 0; k < pairs_.size(); ++k) add_turn(k);
    while (!turns_.empty()) {
      std::pop_heap(turns_.begin(), turns_.end(), is_later);
      const Turn turn = turns_.back();
      turns_.pop_back();
      if (turn.is_part) {
        if (turn.version != part_versions_[turn.index]) continue;
        place_at(static_cast<BodyId>(turn.index), turn.time);
        go_on(static_cast<BodyId>(turn.index), turn.time);
        look_again({static_cast<BodyId>(turn.index)});
      } else {
        if (turn.version != waiting_[turn.index].version) continue;
        resolve(turn.index, turn.time);
      }
    }
    finish();
  }

  // Whether each pair would have an impact as bodies move now.
  void mark() {
    list_pairs_of_bodies();
    waiting_.resize(pairs_.size());
    parallel_for(pairs_.size(), 1, settings_.threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k)
        pairs_[k].own.held =
            look(k).time != kNoTime || turns_far(pairs_[k].pair.a) || turns_far(pairs_[k].pair.b);
    });
  }

 private:
  // ---- motions ----

  bool turns_far(BodyId id) const {
    const WorldBody& w = bodies_[id];
    return w.moves() && length(angular_velocity(w.body)) * settings_.step > kTurn;
  }
  // What turns far does so in parts, from the beginning.
  void split_turn(BodyId id) {
    WorldBody& w = bodies_[id];
    if (!turns_far(id)) return;
    set_pose(w.body, w.step.motion.from);
    w.body.state.center = w.step.center_from;
    go_on(id, 0);
  }

  void place_at(BodyId id, double time) {
    if (bodies_[id].is_dynamic()) set_pose(bodies_[id].body, pose_at(parts_[id], time));
  }

  // Free motion from where the body is.
  void go_on(BodyId id, double time) {
    WorldBody& w = bodies_[id];
    if (!w.is_dynamic()) return;
    Part& part = parts_[id];
    part.changed = true;
    part.begin = time;
    part.motion.from = world_from_body(w.body);
    const double left = (1 - time) * settings_.step;
    const double turn = length(angular_velocity(w.body)) * left;
    part.end = 1;
    if (part.waits || !(left > 0)) {
      part.motion.to = part.motion.from;
    } else {
      const double most = std::max(kTurn, turn / kMostParts);
      if (turn > most) part.end = std::min(1.0, time + (1 - time) * most / turn);
      drift(w.body, (part.end - time) * settings_.step, settings_.turns);
      part.motion.to = world_from_body(w.body);
    }
    ++part_versions_[id];
    if (part.end < 1) add({part.end, true, id, part_versions_[id]});
    stay_in_box(id);
  }

  // Pairs are those of the boxes that bodies were about to fill. Who leaves his box may meet
  // others.
  void stay_in_box(BodyId id) {
    const WorldBody& w = bodies_[id];
    const Part& part = parts_[id];
    if (std::isinf(w.ball_radius)) return;
    // The centre of mass goes straight; the ball's centre and all places stay this far from it.
    const double reach = length(w.ball_center - part.motion.pivot) + w.ball_radius;
    Aabb box = ball_box(transform_point(part.motion.from, part.motion.pivot), reach);
    extend(box, ball_box(transform_point(part.motion.to, part.motion.pivot), reach));
    if (contains(boxes_[id], box.lower) && contains(boxes_[id], box.upper)) return;
    extend(boxes_[id], box);
    for (BodyId other = 0; other < bodies_.size(); ++other)
      if (other != id && overlaps(boxes_[id], boxes_[other])) meet(id, other);
  }

  void meet(BodyId id, BodyId other) {
    const BodyPair pair{std::min(id, other), std::max(id, other)};
    for (const std::size_t k : pairs_of_body_[id])
      if (pairs_[k].pair == pair) {
        pairs_[k].apart = false;
        return;
      }
    if (!may_meet_(pair)) return;
    pairs_.emplace_back().pair = pair;
    waiting_.emplace_back();
    for (const BodyId b : {pair.a, pair.b}) pairs_of_body_[b].push_back(pairs_.size() - 1);
  }

  void finish() {
    for (BodyId id = 0; id < bodies_.size(); ++id) {
      WorldBody& w = bodies_[id];
      if (!parts_[id].changed) continue;
      detail::finish_body_step(w, settings_.step);
      w.bent = true;
      w.step.velocity = velocity(w.body);
      w.step.angular_velocity = angular_velocity(w.body);
      report_.waiting += parts_[id].waits ? 1U : 0U;
    }
    std::sort(pairs_.begin(), pairs_.end(),
              [](const PairState& a, const PairState& b) { return a.pair < b.pair; });
  }

  // ---- events ----

  void list_pairs_of_bodies() {
    pairs_of_body_.assign(bodies_.size(), {});
    for (std::size_t k = 0; k < pairs_.size(); ++k)
      for (const BodyId id : {pairs_[k].pair.a, pairs_[k].pair.b}) pairs_of_body_[id].push_back(k);
  }

  void add(const Turn& turn) {
    turns_.push_back(turn);
    std::push_heap(turns_.begin(), turns_.end(), is_later);
  }
  void add_turn(std::size_t k) {
    const Waiting& w = waiting_[k];
    if (w.impact.time != kNoTime) add({w.impact.time, false, k, w.version});
  }

  // Whoever one of them may meet now meets it elsewhere. What nothing pushes goes on as before.
  void look_again(const std::vector<BodyId>& changed) {
    std::vector<std::size_t> again;
    for (const BodyId id : changed)
      if (bodies_[id].is_dynamic())
        again.insert(again.end(), pairs_of_body_[id].begin(), pairs_of_body_[id].end());
    std::sort(again.begin(), again.end());
    again.erase(std::unique(again.begin(), again.end()), again.end());
    for (const std::size_t k : again) {
      ++waiting_[k].version;
      waiting_[k].impact = look(k);
      add_turn(k);
    }
  }

  static Vec3 linear_of(const WorldBody& w) {
    return w.is_dynamic() ? velocity(w.body) : w.step.velocity;
  }
  static Vec3 angular_of(const WorldBody& w) {
    return w.is_dynamic() ? angular_velocity(w.body) : w.step.angular_velocity;
  }
  // Momenta are constant between impacts; the rate of a turn changes with the rotation.
  Twist twist_at(BodyId id, double time) const {
    const WorldBody& w = bodies_[id];
    if (!w.is_dynamic()) return {w.step.velocity, w.step.angular_velocity};
    if (parts_[id].waits) return {};
    RigidBody there = w.body;
    there.state.rotation = pose_at(parts_[id], time).rotation;
    return {velocity(there), angular_velocity(there)};
  }
  Vec3 velocity_of(BodyId id, const Vec3& place, double time) const {
    const Vec3 center = transform_point(pose_at(parts_[id], time), parts_[id].motion.pivot);
    return moved(twist_at(id, time), place - center).linear;
  }
  Vec3 slip(const BodyPair& pair, const Vec3& place, double time) const {
    return velocity_of(pair.a, place, time) - velocity_of(pair.b, place, time);
  }

  // m/s: no place of one moves faster against the other.
  double bound_speed(const BodyPair& pair) const {
    const auto turn = [&](BodyId id) {
      const WorldBody& w = bodies_[id];
      return std::isfinite(w.ball_radius) && !parts_[id].waits
                 ? length(angular_of(w)) *
                       (length(w.ball_center - parts_[id].motion.pivot) + w.ball_radius)
                 : 0.0;
    };
    const Vec3 a = parts_[pair.a].waits ? Vec3{} : linear_of(bodies_[pair.a]);
    const Vec3 b = parts_[pair.b].waits ? Vec3{} : linear_of(bodies_[pair.b]);
    return length(a - b) + turn(pair.a) + turn(pair.b);
  }

  // Metres: how far they may move in a step without a search.
  double allowed_move(const BodyPair& pair) const {
    double least = kNoTime;
    for (const bool of_a : {true, false}) {
      const WorldBody& w = bodies_[of_a ? pair.a : pair.b];
      const WorldBody& other = bodies_[of_a ? pair.b : pair.a];
      if (w.is_dynamic() && std::isfinite(w.ball_radius))
        least = std::min(least, kFastMove * w.ball_radius);
      if (w.has_field() && other.has_points()) {
        least = std::min(least, kDeepMove * w.inner_depth);
        // Fins and webs are thinner than the body; those of a few cells hold.
        if (!w.settings.shape->solid()) least = std::min(least, 2 * w.cell());
      }
    }
    return least;
  }
  bool is_fast(std::size_t k, double left) const {
    if (settings_.impacts == ImpactRule::kOff) return false;
    const BodyPair& pair = pairs_[k].pair;
    if (bodies_[pair.a].settings.fast || bodies_[pair.b].settings.fast) return true;
    if (settings_.impacts != ImpactRule::kAuto) return false;
    const double speed = bound_speed(pair);
    if (begins_hard(k) && speed > rest_speed_) return true;
    return allowed_move(pair) < speed * left * settings_.step;
  }
  // A contact that begins is an impact, unless springs that somebody chose are to take it.
  bool begins_hard(std::size_t k) const {
    const PairState& p = pairs_[k];
    return settings_.impacts == ImpactRule::kAuto && p.points == 0 && is_hard_(p.pair);
  }

  struct Meeting {
    BodyPair pair;
    bool points_of_a;
    const WorldBody &shell, &field;
    const ShellMotion& motion;
    double begin, end;
    bool begins_hard = false;
  };

  Impact look(std::size_t k) const {
    const BodyPair pair = pairs_[k].pair;
    if (pairs_[k].apart || waiting_[k].count > kMostImpacts) return {};
    const double begin = std::max(parts_[pair.a].begin, parts_[pair.b].begin);
    const double end = std::min(parts_[pair.a].end, parts_[pair.b].end);
    if (begin >= end || !is_fast(k, 1 - begin)) return {};
    const BodyMotion of_a = motion_between(parts_[pair.a], begin, end);
    const BodyMotion of_b = motion_between(parts_[pair.b], begin, end);
    Impact best;
    for (const bool points_of_a : {true, false}) {
      const WorldBody& shell = bodies_[points_of_a ? pair.a : pair.b];
      const WorldBody& field = bodies_[points_of_a ? pair.b : pair.a];
      if (!shell.has_points() || !field.has_field()) continue;
      const ShellMotion motion{.shell = points_of_a ? of_a : of_b,
                               .field = points_of_a ? of_b : of_a,
                               .model = MotionModel::kConstantRates};
      find_impact({pair, points_of_a, shell, field, motion, begin, end, begins_hard(k)}, best);
    }
    return best;
  }

  void find_impact(const Meeting& m, Impact& best) const {
    const ThreadScratch<SweptResults> scratch;
    SweptResults& swept = *scratch;
    m.field.first->trace(m.shell.tree(), m.motion, swept);
    if (swept.motions[0].point == kNoPoint) return;
    m.field.all->trace(m.shell.tree(), m.motion, swept);
    const double deep = 0.5 * allowed_move(m.pair);
    const double span = m.end - m.begin;
    const double speed = bound_speed(m.pair) * span * settings_.step;
    for (const SweptHit& hit : swept.hits)
      for (std::uint32_t k = 0; k < hit.interval_count; ++k) {
        const SegmentInterval& i = swept.intervals[hit.first_interval + k];
        const auto enter = static_cast<double>(i.enter), exit = static_cast<double>(i.exit);
        if (m.begin + enter * span >= best.time) break;
        const double time = find_hard_time(m, hit.point, {enter, exit}, deep, speed);
        if (time == kNoTime || m.begin + time * span >= best.time) continue;
        best.time = m.begin + time * span;
        best.contact = make_contact(m, hit.point, time);
        break;
      }
  }

  Vec3 place_in_field(const Meeting& m, std::uint32_t point, double time) const {
    return compute_map(m.motion, time) * to_double(m.shell.tree().point(point));
  }

  // When a point that is inside must not go on, if it gets deeper than `deep` before it leaves: at
  // its entry if it approaches, else when it is nearly as deep. A point at a depth d below three
  // quarters of `deep` takes (deep - d) / speed to get there, or more.
  struct Times {
    double enter, exit;
  };
  double find_hard_time(const Meeting& m, std::uint32_t point, const Times& i, double deep,
                        double speed) const {
    const AnyField& field = m.field.field();
    const double fall = std::min(field.lipschitz(), kSteepest) * speed;
    double last = -field.value(place_in_field(m, point, i.enter));
    const bool is_deep = last >= 0.75 * deep;  // from the beginning
    if (is_deep && approaches(m, point, i.enter)) return i.enter;
    if (m.begins_hard && i.enter > 0 && approaches(m, point, i.enter, rest_speed_)) return i.enter;
    for (double t = i.enter; t < i.exit && fall > 0;) {
      t = std::min(i.exit, t + std::max(deep - last, 0.25 * deep) / fall);
      const double depth = -field.value(place_in_field(m, point, t));
      if (is_deep ? depth > last + 0.01 * deep : depth >= 0.75 * deep)
        return approaches(m, point, i.enter) ? i.enter : t;
      last = depth;
    }
    return kNoTime;
  }
  static constexpr double kSteepest = 2;  // of fields, but in a few cells

  bool approaches(const Meeting& m, std::uint32_t point, double time) const {
    return approaches(m, point, time, 0.5 * rest_speed_);
  }
  bool approaches(const Meeting& m, std::uint32_t point, double time, double speed) const {
    const Contact c = make_contact(m, point, time);
    const double now = m.begin + time * (m.end - m.begin);
    return dot(slip(m.pair, c.position, now), c.normal) < -speed;
  }

  Contact make_contact(const Meeting& m, std::uint32_t point, double time) const {
    const Vec3 x = place_in_field(m, point, time);
    const FieldSample sample = m.field.field().sample(x);
    Vec3 out = normalized(sample.gradient);
    if (length_sq(out) == 0) out = {0, 1, 0};
    const Pose world = compute_pose(m.motion.field, time);
    const Vec3 place = transform_point(world, x), normal = transform_vector(world, out);
    return {.position = place,
            .point_on_a = place,
            .point_on_b = place,
            .normal = m.points_of_a ? normal : -normal,
            .depth = -sample.distance,
            .sampled_by = m.points_of_a ? Body::kA : Body::kB,
            .point = point};
  }

  // ---- an impact ----

  // A problem that grows: bodies and contacts that the blow reaches.
  struct Blow {
    double time = 0;
    detail::ImpactProblem problem{};
    std::vector<BodyId> bodies{};        // of the problem
    std::vector<bool> looked_at{};       // whether their contacts are in it
    std::vector<std::size_t> pair_of{};  // of each contact
    std::vector<Contact> contacts{};
    std::vector<std::size_t> pairs{};  // in it
  };

  std::uint32_t add_body(Blow& blow, BodyId id) const {
    const auto at = std::find(blow.bodies.begin(), blow.bodies.end(), id);
    if (at != blow.bodies.end()) return static_cast<std::uint32_t>(at - blow.bodies.begin());
    const WorldBody& w = bodies_[id];
    const Part& part = parts_[id];
    const Pose pose = pose_at(part, blow.time);
    detail::ImpactBody body;
    body.center = transform_point(pose, part.motion.pivot);
    body.velocity = part.waits && !w.is_dynamic() ? Twist{} : Twist{linear_of(w), angular_of(w)};
    if (w.is_dynamic()) {
      RigidBody there = w.body;
      set_pose(there, pose);
      body.velocity = {velocity(there), angular_velocity(there)};
      // Velocities have the loads of the whole step: they are those of its middle.
      if (flies(id))
        body.velocity.linear += settings_.gravity * (settings_.step * (blow.time - 0.5));
      body.inverse_mass = 1 / w.body.mass.mass;
      const Mat3 turn = to_matrix(there.state.rotation);
      body.inverse_inertia = turn * w.body.mass.inverse_inertia * transpose(turn);
    }
    blow.problem.bodies.push_back(body);
    blow.bodies.push_back(id);
    blow.looked_at.push_back(false);
    return static_cast<std::uint32_t>(blow.bodies.size() - 1);
  }

  // Whether nothing touched it when the step began.
  bool flies(BodyId id) const {
    return std::none_of(pairs_of_body_[id].begin(), pairs_of_body_[id].end(),
                        [&](std::size_t k) { return pairs_[k].points > 0 || pairs_[k].touched; });
  }

  // Contacts of a body with all others that it touches.
  void look_around(Blow& blow, std::uint32_t local) const {
    blow.looked_at[local] = true;
    const BodyId id = blow.bodies[local];
    if (!bodies_[id].is_dynamic()) return;
    for (const std::size_t k : pairs_of_body_[id]) {
      if (pairs_[k].apart) continue;
      if (std::find(blow.pairs.begin(), blow.pairs.end(), k) != blow.pairs.end()) continue;
      add_pair(blow, k, nullptr);
    }
    for (const JointSettings& j : joints_) {
      if (j.a != id && j.b != id) continue;
      add_body(blow, j.a);
      add_body(blow, j.b);
    }
  }
  // Points that touch at the moment, and one that is known to.
  void add_pair(Blow& blow, std::size_t k, const Contact* known) const {
    const BodyPair pair = pairs_[k].pair;
    std::vector<Contact> touching = find_touching(pair, blow.time);
    if (known != nullptr) touching.insert(touching.begin(), *known);
    if (touching.empty()) return;
    blow.pairs.push_back(k);
    const std::uint32_t a = add_body(blow, pair.a), b = add_body(blow, pair.b);
    const WorldBody &wa = bodies_[pair.a], &wb = bodies_[pair.b];
    const double restitution =
        waiting_[k].count > kMostBounces
            ? 0
            : std::max(wa.settings.material.restitution, wb.settings.material.restitution);
    const double friction = material_of_(pair).friction;
    for (const std::size_t i : choose(touching, known != nullptr)) {
      const Contact& c = touching[i];
      blow.problem.contacts.push_back({.a = a,
                                       .b = b,
                                       .place = c.position,
                                       .normal = c.normal,
                                       .friction = friction,
                                       .restitution = restitution});
      blow.pair_of.push_back(k);
      blow.contacts.push_back(c);
    }
  }

  std::vector<Contact> find_touching(const BodyPair& pair, double time) const {
    std::vector<Contact> touching;
    const ThreadScratch<SweptResults> scratch;
    for (const bool points_of_a : {true, false}) {
      const BodyId of_shell = points_of_a ? pair.a : pair.b;
      const BodyId of_field = points_of_a ? pair.b : pair.a;
      const WorldBody &shell = bodies_[of_shell], &field = bodies_[of_field];
      if (!shell.has_points() || !field.has_field()) continue;
      const ShellMotion motion{.shell = at_rest(pose_at(parts_[of_shell], time)),
                               .field = at_rest(pose_at(parts_[of_field], time))};
      field.near->trace(shell.tree(), motion, *scratch);
      const Meeting m{pair, points_of_a, shell, field, motion, time, time};
      for (const SweptHit& hit : scratch->hits) touching.push_back(make_contact(m, hit.point, 0));
    }
    return touching;
  }

  // Some that are far from each other: the corners of a face rather than its middle. Contacts of
  // different directions count as far.
  static std::vector<std::size_t> choose(const std::vector<Contact>& some, bool first_is_known) {
    std::vector<std::size_t> chosen;
    if (some.size() <= kContactsOfPair) {
      for (std::size_t i = 0; i < some.size(); ++i) chosen.push_back(i);
      return chosen;
    }
    Aabb box;
    for (const Contact& c : some) extend(box, c.position);
    const double size = length(extent(box));
    std::vector<double> far(some.size(), kNoTime);
    std::size_t next = 0;
    if (!first_is_known)
      for (std::size_t i = 1; i < some.size(); ++i)
        if (some[i].depth > some[next].depth) next = i;
    while (chosen.size() < kContactsOfPair) {
      chosen.push_back(next);
      const Contact& c = some[next];
      double most = -1;
      for (std::size_t i = 0; i < some.size(); ++i) {
        const double d = length_sq(some[i].position - c.position) +
                         0.25 * size * size * length_sq(some[i].normal - c.normal);
        far[i] = std::min(far[i], d);
        if (far[i] > most) {
          most = far[i];
          next = i;
        }
      }
      if (!(most > 1e-6 * size * size)) break;
    }
    return chosen;
  }

  void add_joints(Blow& blow) const {
    blow.problem.joints.clear();
    std::vector<detail::JointRow> rows;
    for (const JointSettings& j : joints_) {
      const auto a = std::find(blow.bodies.begin(), blow.bodies.end(), j.a);
      const auto b = std::find(blow.bodies.begin(), blow.bodies.end(), j.b);
      if (a == blow.bodies.end() || b == blow.bodies.end()) continue;
      RigidBody at_a = bodies_[j.a].body, at_b = bodies_[j.b].body;
      set_pose(at_a, pose_at(parts_[j.a], blow.time));
      set_pose(at_b, pose_at(parts_[j.b], blow.time));
      rows.clear();
      detail::add_joint_rows(j, at_a, at_b, settings_.step, rows);
      for (const detail::JointRow& row : rows) {
        // Motors and limits act in the next step.
        if (std::isfinite(row.least) || std::isfinite(row.most)) continue;
        blow.problem.joints.push_back({static_cast<std::uint32_t>(a - blow.bodies.begin()),
                                       static_cast<std::uint32_t>(b - blow.bodies.begin()),
                                       row.on_a, row.on_b});
      }
    }
  }

  void resolve(std::size_t index, double time) {
    Waiting& now = waiting_[index];
    const BodyPair pair = pairs_[index].pair;
    if (++now.count > kMostImpacts) {
      wait(pair, time);
      return;
    }
    Blow blow{.time = time};
    blow.problem.rest_speed = rest_speed_;
    add_pair(blow, index, &now.impact.contact);
    for (std::uint32_t i = 0; i < 2; ++i) look_around(blow, i);
    solve(blow);
    apply(blow, time);
  }

  // Bodies whose motion changed are looked around, as long as that finds something to do.
  void solve(Blow& blow) const {
    for (;;) {
      // Joints connect: whoever is jointed with one of them moves with it.
      for (std::uint32_t i = 0; i < blow.bodies.size(); ++i)
        if (is_jointed(blow.bodies[i]) && !blow.looked_at[i]) look_around(blow, i);
      add_joints(blow);
      const detail::ImpactReport report = detail::solve_impacts(blow.problem);
      if (report.rounds == 0) return;
      bool grew = false;
      for (std::uint32_t i = 0; i < blow.bodies.size(); ++i) {
        const Wrench& w = blow.problem.bodies[i].impulse;
        if (blow.looked_at[i] || (length_sq(w.linear) == 0 && length_sq(w.angular) == 0)) continue;
        look_around(blow, i);
        grew = true;
      }
      if (!grew) return;
    }
  }
  bool is_jointed(BodyId id) const {
    return std::any_of(joints_.begin(), joints_.end(),
                       [&](const JointSettings& j) { return j.a == id || j.b == id; });
  }

  void apply(const Blow& blow, double time) {
    std::vector<BodyId> changed;
    for (std::size_t i = 0; i < blow.bodies.size(); ++i) {
      const detail::ImpactBody& solved = blow.problem.bodies[i];
      WorldBody& w = bodies_[blow.bodies[i]];
      if (!w.is_dynamic()) continue;
      const bool first = blow.bodies[i] == pairs_[blow.pairs[0]].pair.a ||
                         blow.bodies[i] == pairs_[blow.pairs[0]].pair.b;
      const bool pushed = length_sq(solved.impulse.linear) + length_sq(solved.impulse.angular) > 0;
      if (!first && !pushed) continue;
      place_at(blow.bodies[i], time);
      w.body.state.momentum += solved.impulse.linear;
      w.body.state.angular_momentum += solved.impulse.angular;
      go_on(blow.bodies[i], time);
      changed.push_back(blow.bodies[i]);
    }
    for (std::size_t i = 0; i < blow.contacts.size(); ++i) {
      if (!(blow.problem.contacts[i].impulse > 0)) continue;
      PairState& p = pairs_[blow.pair_of[i]];
      p.impact = true;
      p.contact = blow.contacts[i];
    }
    pairs_[blow.pairs[0]].impact = true;
    ++report_.impacts;
    look_again(changed);
  }

  // What cannot be separated in so many impacts stays where it is for the rest of the step, with
  // its momentum: time is lost, and nothing passes.
  void wait(const BodyPair& pair, double time) {
    std::vector<BodyId> changed;
    for (const BodyId id : {pair.a, pair.b}) {
      if (!bodies_[id].is_dynamic()) continue;
      place_at(id, time);
      parts_[id].waits = true;
      go_on(id, time);
      changed.push_back(id);
    }
    for (std::size_t k = 0; k < pairs_.size(); ++k)
      if (pairs_[k].pair == pair) pairs_[k].impact = true;
    look_again(changed);
  }

  std::vector<WorldBody>& bodies_;
  std::vector<PairState>& pairs_;
  const WorldSettings& settings_;
  std::vector<Aabb>& boxes_;
  std::span<const JointSettings> joints_;
  StepReport& report_;
  const MaterialOf& material_of_;
  const IsHard& is_hard_;
  const MayMeet& may_meet_;
  double rest_speed_ = 0;
  std::vector<Part> parts_;
  std::vector<std::uint32_t> part_versions_;
  std::vector<std::vector<std::size_t>> pairs_of_body_;
  std::vector<Waiting> waiting_;  // of pairs
  std::vector<Turn> turns_;       // a heap, the first one on top
};

}  // namespace

// Calls `use` with all impacts of the step.
template <typename Use>
void World::State::with_impacts(Use&& use) {
  for (WorldBody& b : bodies) b.bent = false;
  if (settings.impacts == ImpactRule::kOff || pairs.empty()) return;
  const auto material = [&](const BodyPair& pair) { return material_of(pair); };
  const auto can_meet = [&](const BodyPair& pair) { return may_meet(pair); };
  const auto is_hard = [&](const BodyPair& pair) {
    return bodies[pair.a].settings.material.stiffness == 0 &&
           bodies[pair.b].settings.material.stiffness == 0 && !materials.contains(pair);
  };
  Impacts impacts({settings, bodies, pairs, boxes, joints, report}, material, is_hard, can_meet);
  use(impacts);
}

void World::State::resolve_impacts() {
  with_impacts([](auto& impacts) { impacts.run(); });
}

void World::State::mark_impacts() {
  for (PairState& p : pairs) p.own.held = false;
  with_impacts([](auto& impacts) { impacts.mark(); });
}

}  // namespace isotact
