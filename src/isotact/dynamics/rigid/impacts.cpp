// Bodies that are too fast for a penalty: moved to their first contact, separated there, and on.
//
// Events are taken in the order of time. Each is the moment at which a pair must not go on as it
// does: a point enters, and would get deeper within this step than a penalty should push back. All
// bodies that touch the two at that moment, and through them others, are solved together
// (impact_blow.cpp). Bodies that turn far within a step do so in small parts, so
// that queries see the true motion.
#include "isotact/dynamics/rigid/detail/impacts.h"

#include <algorithm>
#include <cmath>

#include "isotact/base/detail/thread_scratch.h"

namespace isotact {

using detail::Blow;
using detail::CurrentPart;
using detail::Encounter;
using detail::Impact;
using detail::ImpactState;
using detail::ImpactWorld;
using detail::is_driven;
using detail::kNoTime;
using detail::make_contact;
using detail::PairImpacts;
using detail::PairState;
using detail::place_in_field;
using detail::pose_at;
using detail::WorldBody;

namespace {

// Impacts of a pair in a step. Then it goes on by sub-steps, in which its shallow contacts wait for
// the end of the sub-step. Impacts at these ends have no restitution.
constexpr int kMostImpacts = 48;
constexpr double kSubstep = 1.0 / 64;  // share of a step
constexpr double kIdleDepth = 0.25;    // of the greatest depth: movement without a search
constexpr double kLeastIdle = 1e-4;    // share of a step
constexpr int kMostSubsteps = 512;     // impacts of a pair by sub-steps; the penalty has the rest
constexpr double kDeepShare = 0.05;    // of a body's radius: what is left to a penalty
constexpr double kDeepWall = 0.25;     // of the greatest depth in a body
constexpr double kDeepHard = 0.003;    // of the smaller diagonal, if the library chose the springs
constexpr double kTurn = 0.5;          // radians in a part of a step
constexpr double kMostParts = 4096;
constexpr double kNearlyDeep = 0.75;     // of the depth that a penalty may reach
constexpr double kSlideShare = 1.0 / 6;  // of the greatest depth: bodies that slide get as deep
constexpr double kAfterImpact = 2;       // speeds of rest: contacts that begin after an impact

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

Aabb ball_box(const Vec3& center, double radius) {
  const Vec3 r{radius, radius, radius};
  return {center - r, center + r};
}

class Impacts {
 public:
  explicit Impacts(const ImpactWorld& world)
      : s_{.world = world},
        bodies_(world.bodies),
        pairs_(world.pairs),
        settings_(world.settings),
        parts_(s_.parts),
        pairs_of_body_(s_.pairs_of_body),
        impacts_(s_.impacts),
        part_versions_(bodies_.size(), 0) {
    parts_.resize(bodies_.size());
    for (std::size_t k = 0; k < bodies_.size(); ++k) parts_[k].motion = bodies_[k].step.motion;
    // What gravity gives in a step does not bounce.
    s_.rest_speed = length(settings_.gravity) * settings_.step;
  }

  // Cost: a search for each pair, then for each impact one for every pair that one of its bodies is
  // in.
  void run() {
    list_pairs_of_bodies();
    for (BodyId id = 0; id < bodies_.size(); ++id)
      if (!pairs_of_body_[id].empty()) split_turn(id);
    impacts_.resize(pairs_.size());
    parallel_for(pairs_.size(), 1, settings_.threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) impacts_[k].next = look(k);
    });
    for (std::size_t k = 0; k < pairs_.size(); ++k) add_turn(k);
    while (!turns_.empty() && !s_.world.trouble) {
      std::pop_heap(turns_.begin(), turns_.end(), is_later);
      const Turn turn = turns_.back();
      turns_.pop_back();
      if (turn.is_part) {
        if (turn.version != part_versions_[turn.index]) continue;
        go_on(static_cast<BodyId>(turn.index), turn.time);
        look_again({static_cast<BodyId>(turn.index)});
      } else {
        if (turn.version != impacts_[turn.index].version) continue;
        resolve(turn.index, turn.time);
      }
    }
    finish();
  }

  // Whether each pair would have an impact as bodies move now.
  void mark() {
    list_pairs_of_bodies();
    impacts_.resize(pairs_.size());
    parallel_for(pairs_.size(), 1, settings_.threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k)
        pairs_[k].own.held =
            look(k).time != kNoTime || turns_far(pairs_[k].pair.a) || turns_far(pairs_[k].pair.b);
    });
  }

 private:
  // ---- motions ----

  double turn_of(BodyId id) const {  // radians in the step
    const WorldBody& w = bodies_[id];
    if (!w.is_dynamic()) return length(w.turn);
    return w.moves() ? length(angular_velocity(w.body)) * settings_.step : 0;
  }

  bool turns_far(BodyId id) const { return turn_of(id) > kTurn; }

  // What turns far does so in parts, from the beginning.
  void split_turn(BodyId id) {
    if (turn_of(id) <= kTurn) return;
    WorldBody& w = bodies_[id];
    if (w.is_dynamic()) {
      set_pose(w.body, w.step.motion.from);
      w.body.state.center = w.step.center_from;
    }
    begin_part(id, 0);
  }

  // Ends the current part of a body's path at a time and begins another, from where the body is.
  void go_on(BodyId id, double time) {
    end_part(id, time);
    if (bodies_[id].is_dynamic()) set_pose(bodies_[id].body, pose_at(parts_[id], time));
    begin_part(id, time);
  }

  void end_part(BodyId id, double time) {
    const CurrentPart& part = parts_[id];
    if (time > part.begin)
      bodies_[id].parts.push_back({part.begin, time, motion_between(part, part.begin, time)});
  }

  void begin_part(BodyId id, double time) {
    WorldBody& w = bodies_[id];
    CurrentPart& part = parts_[id];
    part.changed = true;
    part.begin = time;
    const double left = (1 - time) * settings_.step;
    const double turn =
        w.is_dynamic() ? length(angular_velocity(w.body)) * left : length(w.turn) * (1 - time);
    const double most = std::max(kTurn, turn / kMostParts);
    part.end = turn > most ? std::min(1.0, time + (1 - time) * most / turn) : 1;
    if (w.is_dynamic()) {
      part.motion.from = world_from_body(w.body);
      if (left > 0) drift(w.body, (part.end - time) * settings_.step, settings_.turns);
      part.motion.to = world_from_body(w.body);
    } else {
      part.motion.from = detail::driven_pose(w, time);
      part.motion.to = detail::driven_pose(w, part.end);
    }
    ++part_versions_[id];
    if (part.end < 1) add({part.end, true, id, part_versions_[id]});
    stay_in_box(id);
  }

  // Pairs are those of the boxes that bodies were about to fill. Who leaves his box may meet
  // others.
  void stay_in_box(BodyId id) {
    const WorldBody& w = bodies_[id];
    const CurrentPart& part = parts_[id];
    if (std::isinf(w.ball_radius)) return;
    // The centre of mass goes straight; the ball's centre and all places stay this far from it.
    const double reach = length(w.ball_center - part.motion.pivot) + w.ball_radius;
    Aabb box = ball_box(transform_point(part.motion.from, part.motion.pivot), reach);
    extend(box, ball_box(transform_point(part.motion.to, part.motion.pivot), reach));
    if (contains(s_.world.boxes[id], box.lower) && contains(s_.world.boxes[id], box.upper)) return;
    extend(s_.world.boxes[id], box);
    for (BodyId other = 0; other < bodies_.size(); ++other)
      if (other != id && overlaps(s_.world.boxes[id], s_.world.boxes[other])) meet(id, other);
  }

  void meet(BodyId id, BodyId other) {
    const BodyPair pair{std::min(id, other), std::max(id, other)};
    for (const std::size_t k : pairs_of_body_[id])
      if (pairs_[k].pair == pair) {
        pairs_[k].apart = false;
        return;
      }
    if (!s_.world.may_meet(pair)) return;
    pairs_.emplace_back().pair = pair;
    impacts_.emplace_back();
    for (const BodyId b : {pair.a, pair.b}) pairs_of_body_[b].push_back(pairs_.size() - 1);
  }

  void finish() {
    for (BodyId id = 0; id < bodies_.size(); ++id) {
      WorldBody& w = bodies_[id];
      if (!parts_[id].changed) continue;
      end_part(id, 1);
      detail::finish_body_step(w, settings_.step);
      if (!w.is_dynamic()) continue;
      w.step.velocity = velocity(w.body);
      w.step.angular_velocity = angular_velocity(w.body);
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
    const PairImpacts& w = impacts_[k];
    if (w.next.time != kNoTime) add({w.next.time, false, k, w.version});
  }

  // Whoever one of them may meet now meets it elsewhere. What nothing pushes goes on as before.
  void look_again(const std::vector<BodyId>& changed) {
    std::vector<std::size_t> again;
    for (const BodyId id : changed)
      again.insert(again.end(), pairs_of_body_[id].begin(), pairs_of_body_[id].end());
    std::sort(again.begin(), again.end());
    again.erase(std::unique(again.begin(), again.end()), again.end());
    for (const std::size_t k : again) {
      ++impacts_[k].version;
      impacts_[k].next = look(k);
      add_turn(k);
    }
  }

  Vec3 velocity_of(BodyId id, const Vec3& place, double time) const {
    const Vec3 center = transform_point(pose_at(parts_[id], time), parts_[id].motion.pivot);
    return moved(twist_at(s_, id, time), place - center).linear;
  }
  Vec3 slip(const BodyPair& pair, const Vec3& place, double time) const {
    return velocity_of(pair.a, place, time) - velocity_of(pair.b, place, time);
  }

  // m/s: no place of one moves faster against the other.
  double bound_speed(const BodyPair& pair) const {
    const auto linear_of = [](const WorldBody& w) {
      return w.is_dynamic() ? velocity(w.body) : w.step.velocity;
    };
    const auto turn = [&](BodyId id) {
      const WorldBody& w = bodies_[id];
      const Vec3 rate = w.is_dynamic() ? angular_velocity(w.body) : w.step.angular_velocity;
      return std::isfinite(w.ball_radius)
                 ? length(rate) * (length(w.ball_center - parts_[id].motion.pivot) + w.ball_radius)
                 : 0.0;
    };
    return length(linear_of(bodies_[pair.a]) - linear_of(bodies_[pair.b])) + turn(pair.a) +
           turn(pair.b);
  }

  // Metres: a penalty can push points back from this depth. It is a part of the bodies' own sizes.
  // Cells do not matter, since walls that are thinner than that are looked for one by one
  // (compute_local_depth).
  double room_of(const BodyPair& pair) const {
    double least = kNoTime;
    for (const bool of_a : {true, false}) {
      const WorldBody& w = bodies_[of_a ? pair.a : pair.b];
      const WorldBody& other = bodies_[of_a ? pair.b : pair.a];
      if (w.is_dynamic() && std::isfinite(w.ball_radius))
        least = std::min(least, kDeepShare * w.ball_radius);
      if (w.has_field() && other.has_points()) least = std::min(least, kDeepWall * w.inner_depth);
    }
    return least;
  }
  // Metres: the greatest depth that is left to a penalty. Springs that the library chose keep
  // bodies as good as apart.
  double deep_of(const BodyPair& pair) const {
    const double room = room_of(pair);
    if (!s_.world.is_hard(pair)) return room;
    return std::min(room, kDeepHard * detail::compute_diagonal(bodies_[pair.a], bodies_[pair.b]));
  }
  // Metres: how far they may move in a step without a search for walls that they would pass. No
  // point may pass a wall of the stated thickness t (compute_thinnest_wall): one at a depth d needs
  // t - d to leave on the other side. Half of that is allowed.
  double safe_move(const PairState& p) const {
    double least = kNoTime;
    for (const bool of_a : {true, false}) {
      const WorldBody& w = bodies_[of_a ? p.pair.a : p.pair.b];
      const WorldBody& other = bodies_[of_a ? p.pair.b : p.pair.a];
      if (!w.has_field() || !other.has_points()) continue;
      least = std::min(least, 0.5 * std::max(detail::thinnest_wall(other, w) - p.depth, 0.0));
    }
    return least;
  }

  enum class Search : std::uint8_t {
    kNone,
    kWalls,  // For points that would pass a wall.
    kDepth,  // For points that would get too deep, too.
  };
  Search choose_search(std::size_t k, double begin) const {
    if (settings_.impacts == ImpactRule::kOff) return Search::kNone;
    const PairState& p = pairs_[k];
    if (bodies_[p.pair.a].settings.fast || bodies_[p.pair.b].settings.fast) return Search::kDepth;
    if (settings_.impacts != ImpactRule::kAuto) return Search::kNone;
    const double speed = bound_speed(p.pair), move = speed * (1 - begin) * settings_.step;
    if (begins_hard(k) && speed > hard_speed(k)) return Search::kDepth;
    if (is_driven_in(k) || move > 2 * deep_of(p.pair)) return Search::kDepth;
    return move > safe_move(p) ? Search::kWalls : Search::kNone;
  }
  // A contact that begins is an impact, unless springs that somebody chose are to take it.
  bool begins_hard(std::size_t k) const {
    const PairState& p = pairs_[k];
    return settings_.impacts == ImpactRule::kAuto && p.points == 0 && s_.world.is_hard(p.pair);
  }
  // m/s: a contact that begins faster is an impact. What gravity adds in a step is not one. A pair
  // that had an impact in the last step and still touches may approach by that much at either end:
  // with one step's speed for both it would have an impact in each step, and never come to rest.
  double hard_speed(std::size_t k) const {
    return (pairs_[k].touched ? kAfterImpact : 1.0) * s_.rest_speed;
  }
  // A penalty does not stop a driven body.
  bool is_driven_in(std::size_t k) const {
    const BodyPair& pair = pairs_[k].pair;
    return (is_driven(bodies_[pair.a]) || is_driven(bodies_[pair.b])) &&
           pairs_[k].depth > kNearlyDeep * deep_of(pair);
  }
  Impact look(std::size_t k) const {
    const BodyPair pair = pairs_[k].pair;
    const PairImpacts& impacts = impacts_[k];
    if (pairs_[k].apart || impacts.pressed || impacts.count > kMostImpacts + kMostSubsteps)
      return {};
    const double begin = std::max({parts_[pair.a].begin, parts_[pair.b].begin, impacts.idle_until});
    const double end = std::min(parts_[pair.a].end, parts_[pair.b].end);
    const Search search = begin < end ? choose_search(k, begin) : Search::kNone;
    if (search == Search::kNone) return {};
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
      find_impact({pair, points_of_a, shell, field, motion, begin, end,
                   begins_hard(k) ? hard_speed(k) : kNoTime,
                   search == Search::kDepth ? deep_of(pair) : kNoTime,
                   pairs_[k].touched ? kSlideShare * deep_of(pair) : 0},
                  impacts.quiet_until, best);
    }
    return best;
  }

  void find_impact(const Encounter& m, double quiet_until, Impact& best) const {
    const ThreadScratch<SweptResults> scratch;
    SweptResults& swept = *scratch;
    m.field.all->trace(m.shell.tree(), m.motion, swept);
    if (swept.hits.empty()) return;
    const double span = m.end - m.begin;
    const double speed = bound_speed(m.pair) * span * settings_.step;
    const double quiet = std::clamp((quiet_until - m.begin) / span, 0.0, 1.0);
    for (const SweptHit& hit : swept.hits)
      for (std::uint32_t k = 0; k < hit.interval_count; ++k) {
        const SegmentInterval& i = swept.intervals[hit.first_interval + k];
        const auto enter = static_cast<double>(i.enter), exit = static_cast<double>(i.exit);
        if (m.begin + enter * span >= best.time) break;
        const double local = std::min(m.deep, compute_local_depth(m, hit.point, enter, exit));
        const double time = find_hard_time(m, hit.point, {enter, exit, quiet}, local, speed);
        if (time == kNoTime || m.begin + time * span >= best.time) continue;
        best.time = m.begin + time * span;
        best.contact = make_contact(m, hit.point, time);
        break;
      }
  }

  // Metres: the greatest depth of a point between two times, at some places.
  double compute_depth(const Encounter& m, std::uint32_t point, double enter, double exit) const {
    double most = 0;
    for (int i = 0; i <= kWallPlaces; ++i) {
      const double time = enter + (exit - enter) * i / kWallPlaces;
      most = std::max(most, -m.field.field().value(place_in_field(m, point, time)));
    }
    return most;
  }

  // Metres: half of the depth that a point reaches in a wall which it would pass, or whose middle
  // it would pass: the gradient turns over on its path. Infinite otherwise. A path through a wall
  // of thickness t reaches the depth t / 2; one that is far shallower goes along a surface, in by
  // one side of a body that slides on it, and out by another.
  double compute_local_depth(const Encounter& m, std::uint32_t point, double enter,
                             double exit) const {
    const AnyField& field = m.field.field();
    const Vec3 from = place_in_field(m, point, enter), to = place_in_field(m, point, exit);
    if (dot(field.sample(from).gradient, field.sample(to).gradient) > kTurnedOver) return kNoTime;
    const double most = compute_depth(m, point, enter, exit);
    return most < 0.25 * detail::thinnest_wall(m.shell, m.field) ? kNoTime : 0.5 * most;
  }
  static constexpr int kWallPlaces = 8;
  static constexpr double kTurnedOver = -0.5;  // Sides of a wall differ by more than 120 degrees.

  // When a point that is inside must not go on, if it gets deeper than `deep` before it leaves: at
  // its entry if it approaches, else when it is nearly as deep. A point at a depth d below three
  // quarters of `deep` takes (deep - d) / speed to get there, or more. Shallow points wait until
  // the pair is not quiet any more.
  struct Times {
    double enter, exit, quiet;
  };
  double find_hard_time(const Encounter& m, std::uint32_t point, const Times& i, double deep,
                        double speed) const {
    const AnyField& field = m.field.field();
    const double fall = std::min(field.lipschitz(), kSteepest) * speed;
    const double entry = std::max(i.enter, std::min(i.quiet, i.exit));
    double last = -field.value(place_in_field(m, point, i.enter));
    const bool is_deep = last >= kNearlyDeep * deep;  // from the beginning
    if (is_deep && approaches(m, point, i.enter)) return i.enter;
    if (i.enter > 0 && approaches(m, point, i.enter, m.hard_speed) &&
        !(compute_depth(m, point, i.enter, i.exit) < m.least_depth))
      return entry;
    for (double t = i.enter; t < i.exit && fall > 0;) {
      t = std::min(i.exit, t + std::max(deep - last, 0.25 * deep) / fall);
      const double depth = -field.value(place_in_field(m, point, t));
      const bool grows = is_deep ? depth > last + 0.01 * deep : depth >= kNearlyDeep * deep;
      if (grows && entry <= t && approaches(m, point, i.enter)) return entry;
      // A point that has turned back already needs no impact: there is nothing to stop.
      if (grows && approaches(m, point, t)) return t;
      last = depth;
    }
    return kNoTime;
  }
  static constexpr double kSteepest = 2;  // of fields, but in a few cells

  bool approaches(const Encounter& m, std::uint32_t point, double time) const {
    return approaches(m, point, time, 0.5 * s_.rest_speed);
  }
  bool approaches(const Encounter& m, std::uint32_t point, double time, double speed) const {
    const Contact c = make_contact(m, point, time);
    const double now = m.begin + time * (m.end - m.begin);
    return dot(slip(m.pair, c.position, now), c.normal) < -speed;
  }

  // ---- an impact ----

  void resolve(std::size_t index, double time) {
    PairImpacts& now = impacts_[index];
    const detail::PairPoint point{now.next.contact.sampled_by, now.next.contact.point};
    if (std::find(now.known.begin(), now.known.end(), point) == now.known.end())
      now.known.push_back(point);
    if (++now.count > kMostImpacts) {
      ++s_.world.report.substeps;
      if (time >= now.quiet_until) now.quiet_until = time + kSubstep;
    }
    const Blow blow = detail::solve_blow(s_, index, time);
    look_for_pressed(blow);
    if (s_.world.trouble) return;
    apply(blow, index, time);
  }

  // Contacts that no impulses keep from approaching are left to the penalty as long as that holds
  // them.
  void look_for_pressed(const Blow& blow) {
    for (std::size_t i = 0; i < blow.contacts.size(); ++i) {
      if (!blow.problem.contacts[i].jammed) continue;
      const std::size_t k = blow.pair_of[i];
      impacts_[k].pressed = true;
      const BodyPair& pair = pairs_[k].pair;
      const Contact& c = blow.contacts[i];
      const double speed = -dot(slip(pair, c.position, blow.time), c.normal);
      const double depth = c.depth + std::max(speed, 0.0) * (1 - blow.time) * settings_.step;
      const double most = kNearlyDeep * room_of(pair);
      if (depth > most && !s_.world.trouble)
        s_.world.trouble = detail::describe_jam(s_, blow, i, depth, most);
    }
  }

  void apply(const Blow& blow, std::size_t index, double time) {
    std::vector<BodyId> changed;
    for (std::size_t i = 0; i < blow.bodies.size(); ++i) {
      const detail::ImpactBody& solved = blow.problem.bodies[i];
      const BodyId id = blow.bodies[i];
      WorldBody& w = bodies_[id];
      if (!w.is_dynamic()) {
        // The work of a driven body, exactly: its velocity does not change.
        s_.world.energy_bound += std::max(-dot(solved.impulse, solved.velocity), 0.0);
        continue;
      }
      if (length_sq(solved.impulse.linear) + length_sq(solved.impulse.angular) == 0) continue;
      w.body.state.momentum += solved.impulse.linear;
      w.body.state.angular_momentum += solved.impulse.angular;
      go_on(id, time);
      changed.push_back(id);
    }
    bool pushes = false;
    for (std::size_t i = 0; i < blow.contacts.size(); ++i) {
      const Vec3& push = blow.problem.contacts[i].push;
      if (length_sq(push) == 0) continue;
      note_impact(blow.pair_of[i], blow.contacts[i], push);
      pushes = pushes || blow.pair_of[i] == index;
    }
    if (pushes)
      ++s_.world.report.impacts;
    else
      let_be(impacts_[index], pairs_[index].pair, time);
    changed.push_back(pairs_[index].pair.a);
    look_again(changed);
  }

  // It does not approach but for gravity: to be looked at again later, before any other point of
  // the pair can have got deep.
  void let_be(PairImpacts& impacts, const BodyPair& pair, double time) const {
    const double move = bound_speed(pair) * settings_.step;
    const double share = move > 0 ? kIdleDepth * deep_of(pair) / move : kSubstep;
    impacts.idle_until = time + std::clamp(share, kLeastIdle, kSubstep);
    --impacts.count;
  }

  void note_impact(std::size_t k, const Contact& contact, const Vec3& push) {
    PairState& p = pairs_[k];
    if (!p.impact) p.impulse = p.angular_impulse = {};
    p.impact = true;
    p.impulse += push;
    p.angular_impulse += cross(contact.position, push);
    p.contact = contact;
  }

  ImpactState s_;
  std::vector<WorldBody>& bodies_;
  std::vector<PairState>& pairs_;
  const WorldSettings& settings_;
  std::vector<CurrentPart>& parts_;
  std::vector<std::vector<std::size_t>>& pairs_of_body_;
  std::vector<PairImpacts>& impacts_;
  std::vector<std::uint32_t> part_versions_;
  std::vector<Turn> turns_;  // a heap, the first one on top
};

}  // namespace

// Calls `use` with all impacts of the step.
template <typename Use>
void World::State::with_impacts(Use&& use) {
  for (WorldBody& b : bodies) b.parts.clear();
  if (settings.impacts == ImpactRule::kOff || pairs.empty()) return;
  const auto is_hard = [&](const BodyPair& pair) {
    return bodies[pair.a].settings.material.stiffness == 0 &&
           bodies[pair.b].settings.material.stiffness == 0 && !materials.contains(pair);
  };
  Impacts impacts({settings, bodies, pairs, boxes, joints, report, trouble, energy_bound,
                   [&](const BodyPair& pair) { return material_of(pair); }, is_hard,
                   [&](const BodyPair& pair) { return may_meet(pair); }});
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
