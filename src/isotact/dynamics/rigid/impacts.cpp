// Bodies that are too fast for a penalty: moved to their first contact, pushed apart there, and on.
#include <algorithm>
#include <cmath>
#include <limits>

#include "isotact/dynamics/rigid/detail/world_state.h"
#include "isotact/queries/continuous_collide.h"

namespace isotact {

using detail::PairState;
using detail::WorldBody;

namespace {

constexpr int kMostImpacts = 8;    // of a pair in a step, before it is stopped
constexpr double kFastMove = 0.1;  // of a body's radius in a step
constexpr double kDeepMove = 0.5;  // of the depth of a body
constexpr double kNoTime = std::numeric_limits<double>::infinity();

// The rest of a body's step: since its last impact, or the beginning.
struct Rest {
  double begin = 0;  // 0 to 1
  BodyMotion motion{};
};

struct Impact {
  double time = kNoTime;  // of the step, 0 to 1
  std::size_t pair = 0;
  Contact contact{};
};

// The next impact of a pair, as far as is known.
struct Waiting {
  Impact impact{};
  std::uint32_t version = 0;  // how often it has changed
  int count = 0;              // of impacts that were
};

// Of a pair, unless its next impact has changed since.
struct Turn {
  double time;
  std::size_t pair;
  std::uint32_t version;
};
bool is_later(const Turn& a, const Turn& b) {
  return a.time != b.time ? a.time > b.time : a.pair > b.pair;
}

// What cannot be parted goes on as one: both get the motion of the rigid body that they would make
// together. Keeps momentum and angular momentum.
void join(RigidBody& a, RigidBody& b) {
  const double mass = a.mass.mass + b.mass.mass;
  const Vec3 middle = (a.state.center * a.mass.mass + b.state.center * b.mass.mass) / mass;
  const Vec3 velocity = (a.state.momentum + b.state.momentum) / mass;
  Vec3 spin{};
  Mat3 inertia{};
  for (const RigidBody* body : {&a, &b}) {
    const Vec3 r = body->state.center - middle;
    const Mat3 turn = to_matrix(body->state.rotation);
    spin += body->state.angular_momentum + cross(r, body->state.momentum);
    inertia = inertia + turn * body->mass.inertia * transpose(turn) +
              (identity3() * length_sq(r) + Mat3{{r * -r.x, r * -r.y, r * -r.z}}) * body->mass.mass;
  }
  const auto& [i, j, k] = inertia.rows;  // solved by Cramer's rule
  const Vec3 rate =
      (cross(j, k) * spin.x + cross(k, i) * spin.y + cross(i, j) * spin.z) / determinant(inertia);
  for (RigidBody* body : {&a, &b})
    set_velocity(*body, velocity + cross(rate, body->state.center - middle), rate);
}

// The same with what nothing pushes.
void rest_on(WorldBody& body, const WorldBody& other) {
  const BodyStep& s = other.step;
  set_velocity(body.body,
               s.velocity + cross(s.angular_velocity, body.body.state.center - s.center_to),
               s.angular_velocity);
}

// What a place of two bodies does when they meet there.
struct Strike {
  Vec3 velocity{};  // of A against B
  Vec3 normal{};    // pushes A
  Mat3 give{};      // velocity of A against B by impulses on A
  double friction = 0, restitution = 0;
};

// Coulomb's law for impulses on A: what sticks loses all of its velocity along the surface, what
// slides is pulled against it. No impact adds energy: where friction would, which bodies that
// bounce and turn can come to, there is none.
Vec3 compute_impulse(const Strike& s) {
  const double along = dot(s.velocity, s.normal);
  const double straight = dot(s.normal, s.give * s.normal);
  if (!(along < 0 && straight > 0)) return {};
  const auto adds_nothing = [&](const Vec3& impulse) {
    return dot(impulse, s.velocity + s.give * impulse * 0.5) <= 0;
  };
  const double bounce = -(1 + s.restitution) * along;
  const Vec3 across = s.velocity - s.normal * along;
  const auto& [i, j, k] = s.give.rows;  // solved by Cramer's rule
  const Vec3 change = s.normal * bounce - across;
  const Vec3 held = (cross(j, k) * change.x + cross(k, i) * change.y + cross(i, j) * change.z) /
                    determinant(s.give);
  const double push = dot(held, s.normal);
  const bool sticks = push >= 0 && length(held - s.normal * push) <= s.friction * push;
  if (sticks && adds_nothing(held)) return held;
  const Vec3 way = s.normal - normalized(across) * s.friction;
  const double yields = dot(s.normal, s.give * way);
  const Vec3 slid = way * (bounce / yields);
  return yields > 0 && !sticks && adds_nothing(slid) ? slid : s.normal * (bounce / straight);
}

// The way a body takes from a time on.
BodyMotion motion_from(const Rest& rest, double time) {
  if (time <= rest.begin) return rest.motion;
  const double share = (time - rest.begin) / (1 - rest.begin);
  return {compute_pose(rest.motion, share), rest.motion.to, rest.motion.pivot};
}

class Impacts {
 public:
  Impacts(std::vector<WorldBody>& bodies, std::vector<PairState>& pairs,
          const WorldSettings& settings)
      : bodies_(bodies), pairs_(pairs), settings_(settings), rests_(bodies.size()) {
    for (std::size_t k = 0; k < bodies.size(); ++k) rests_[k].motion = bodies[k].step.motion;
  }

  // In the order of time, of equal times in that of pairs. Cost: a search for each pair, then for
  // each impact one for every pair that one of its bodies is in.
  template <typename MaterialOf>
  void run(MaterialOf&& material_of) {
    list_pairs_of_bodies();
    waiting_.resize(pairs_.size());
    parallel_for(pairs_.size(), 1, settings_.threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) waiting_[k].impact = look(k);
    });
    for (std::size_t k = 0; k < pairs_.size(); ++k) add_turn(k);
    while (!turns_.empty()) {
      std::pop_heap(turns_.begin(), turns_.end(), is_later);
      const Turn turn = turns_.back();
      turns_.pop_back();
      Waiting& now = waiting_[turn.pair];
      if (turn.version != now.version) continue;
      const Impact impact = now.impact;
      resolve(impact, material_of(pairs_[turn.pair].pair), ++now.count > kMostImpacts);
      look_again(pairs_[turn.pair].pair);
    }
  }

 private:
  // What the faster body moves by, against its size.
  bool is_fast(const WorldBody& a, const WorldBody& b) const {
    if (settings_.impacts == ImpactRule::kOff) return false;
    if (a.settings.fast || b.settings.fast) return true;
    return settings_.impacts == ImpactRule::kAuto && allowed_move(a, b) < relative_move(a, b);
  }
  // A part of the smaller one's size, and of how deep there is anything inside of what is hit.
  static double allowed_move(const WorldBody& a, const WorldBody& b) {
    double least = kNoTime;
    for (const WorldBody* w : {&a, &b}) {
      if (w->is_dynamic() && std::isfinite(w->ball_radius))
        least = std::min(least, kFastMove * w->ball_radius);
      const WorldBody& other = w == &a ? b : a;
      if (w->has_field() && other.has_points()) least = std::min(least, kDeepMove * w->inner_depth);
    }
    return least;
  }
  double relative_move(const WorldBody& a, const WorldBody& b) const {
    const auto turn = [](const WorldBody& w) {
      return std::isfinite(w.ball_radius) ? length(w.step.angular_velocity) * w.ball_radius : 0.0;
    };
    return (length(a.step.velocity - b.step.velocity) + turn(a) + turn(b)) * settings_.step;
  }

  void list_pairs_of_bodies() {
    first_of_body_.assign(bodies_.size() + 1, 0);
    for (const PairState& p : pairs_)
      for (const BodyId id : {p.pair.a, p.pair.b}) ++first_of_body_[id + 1];
    for (std::size_t i = 0; i < bodies_.size(); ++i) first_of_body_[i + 1] += first_of_body_[i];
    pairs_of_body_.resize(2 * pairs_.size());
    std::vector<std::size_t> next(first_of_body_.begin(), first_of_body_.end() - 1);
    for (std::size_t k = 0; k < pairs_.size(); ++k)
      for (const BodyId id : {pairs_[k].pair.a, pairs_[k].pair.b}) pairs_of_body_[next[id]++] = k;
  }

  void add_turn(std::size_t k) {
    const Waiting& w = waiting_[k];
    if (w.impact.time == kNoTime) return;
    turns_.push_back({w.impact.time, k, w.version});
    std::push_heap(turns_.begin(), turns_.end(), is_later);
  }

  // Whoever one of them may meet now meets it elsewhere. What nothing pushes goes on as before.
  void look_again(const BodyPair& pair) {
    for (const BodyId id : {pair.a, pair.b}) {
      if (!bodies_[id].is_dynamic()) continue;
      for (std::size_t i = first_of_body_[id]; i < first_of_body_[id + 1]; ++i) {
        const std::size_t k = pairs_of_body_[i];
        const bool is_own = pairs_[k].pair == pair;
        if (is_own && id == pair.b && bodies_[pair.a].is_dynamic()) continue;  // has been
        Waiting& w = waiting_[k];
        ++w.version;
        w.impact = w.count > kMostImpacts ? Impact{} : look(k);
        add_turn(k);
      }
    }
  }

  Impact look(std::size_t k) const {
    const BodyPair pair = pairs_[k].pair;
    if (pairs_[k].apart) return {};
    const WorldBody &a = bodies_[pair.a], &b = bodies_[pair.b];
    if (!is_fast(a, b)) return {};
    const double begin = std::max(rests_[pair.a].begin, rests_[pair.b].begin);
    if (begin >= 1) return {};
    const BodyMotion of_a = motion_from(rests_[pair.a], begin);
    const BodyMotion of_b = motion_from(rests_[pair.b], begin);
    Impact best{kNoTime, k, {}};
    for (const bool points_of_a : {true, false}) {
      const WorldBody &shell = points_of_a ? a : b, &field = points_of_a ? b : a;
      if (!shell.has_points() || !field.has_field()) continue;
      const ShellMotion motion{.shell = points_of_a ? of_a : of_b,
                               .field = points_of_a ? of_b : of_a,
                               .model = MotionModel::kConstantRates};
      for (const TimedContact& found : find_contacts(shell, field, motion, points_of_a)) {
        const double time = begin + found.time * (1 - begin);
        if (time >= best.time || !is_hard(a, b, found.contact, 1 - time)) continue;
        best.time = time;
        best.contact = found.contact;
      }
    }
    return best;
  }

  // All points that enter, or are inside from the beginning: the first one may graze, or be
  // leaving, where another is about to hit.
  static std::vector<TimedContact> find_contacts(const WorldBody& shell, const WorldBody& field,
                                                 const ShellMotion& motion, bool points_of_a) {
    std::vector<TimedContact> contacts;
    SweptResults swept;
    field.first->trace(shell.tree(), motion, swept);
    if (swept.motions[0].point == kNoPoint) return contacts;
    field.all->trace(shell.tree(), motion, swept);
    for (const SweptHit& hit : swept.hits)
      for (std::uint32_t k = 0; k < hit.interval_count; ++k) {
        const auto time = static_cast<double>(swept.intervals[hit.first_interval + k].enter);
        contacts.push_back(make_contact({shell, field, motion}, hit.point, time, points_of_a));
      }
    return contacts;
  }

  struct Meeting {
    const WorldBody &shell, &field;
    const ShellMotion& motion;
  };
  static TimedContact make_contact(const Meeting& m, std::uint32_t point, double time,
                                   bool points_of_a) {
    const Vec3 x = compute_map(m.motion, time) * to_double(m.shell.tree().point(point));
    const FieldSample sample = m.field.field().sample(x);
    Vec3 out = normalized(sample.gradient);
    if (length_sq(out) == 0) out = {0, 1, 0};
    const Pose world = compute_pose(m.motion.field, time);
    const Vec3 place = transform_point(world, x), normal = transform_vector(world, out);
    return {time,
            {.position = place,
             .point_on_a = place,
             .point_on_b = place,
             .normal = points_of_a ? normal : -normal,
             .depth = -sample.distance,
             .sampled_by = points_of_a ? Body::kA : Body::kB,
             .point = point}};
  }

  // Whether what is left of the step would take them deeper into each other than a penalty should
  // be asked to push back.
  bool is_hard(const WorldBody& a, const WorldBody& b, const Contact& contact, double left) const {
    const double approach = -dot(slip(a, b, contact.position), contact.normal);
    return approach * left * settings_.step > allowed_move(a, b) * 0.5;
  }

  static Vec3 velocity_of(const WorldBody& w, const Vec3& place) {
    if (w.is_dynamic()) return velocity_at(w.body, place);
    return w.step.velocity + cross(w.step.angular_velocity, place - w.step.center_to);
  }
  static Vec3 slip(const WorldBody& a, const WorldBody& b, const Vec3& place) {
    return velocity_of(a, place) - velocity_of(b, place);
  }

  void place_at(BodyId id, double time) {
    const Rest& rest = rests_[id];
    WorldBody& w = bodies_[id];
    if (!w.is_dynamic()) return;
    const double share = (time - rest.begin) / (1 - rest.begin);
    set_pose(w.body, compute_pose(rest.motion, share));
  }

  void go_on(BodyId id, double time) {
    WorldBody& w = bodies_[id];
    if (!w.is_dynamic()) return;
    Rest& rest = rests_[id];
    rest.motion.from = world_from_body(w.body);
    rest.begin = time;
    const double left = (1 - time) * settings_.step;
    if (left > 0) drift(w.body, left, settings_.turns);
    rest.motion.to = world_from_body(w.body);
    detail::finish_body_step(w, settings_.step);
  }

  void resolve(const Impact& impact, const ContactMaterial& material, bool stop) {
    PairState& pair = pairs_[impact.pair];
    WorldBody &a = bodies_[pair.pair.a], &b = bodies_[pair.pair.b];
    place_at(pair.pair.a, impact.time);
    place_at(pair.pair.b, impact.time);
    const Contact& c = impact.contact;
    const Strike strike{
        .velocity = slip(a, b, c.position),
        .normal = c.normal,
        .give = mobility(a.body, c.position) + mobility(b.body, c.position),
        .friction = material.friction,
        .restitution = std::max(a.settings.material.restitution, b.settings.material.restitution)};
    const Vec3 impulse = compute_impulse(strike);
    push(a.body, c.position, impulse);
    push(b.body, c.position, -impulse);
    pair.impact = true;
    pair.contact = c;
    if (stop) {
      if (a.is_dynamic() && b.is_dynamic())
        join(a.body, b.body);
      else
        rest_on(a.is_dynamic() ? a : b, a.is_dynamic() ? b : a);
    }
    go_on(pair.pair.a, impact.time);
    go_on(pair.pair.b, impact.time);
  }

  std::vector<WorldBody>& bodies_;
  std::vector<PairState>& pairs_;
  const WorldSettings& settings_;
  std::vector<Rest> rests_;
  std::vector<std::size_t> first_of_body_, pairs_of_body_;  // in order
  std::vector<Waiting> waiting_;                            // of pairs
  std::vector<Turn> turns_;                                 // a heap, the first one on top
};

}  // namespace

void World::State::resolve_impacts() {
  if (settings.impacts == ImpactRule::kOff || pairs.empty()) return;
  Impacts(bodies, pairs, settings).run([&](const BodyPair& pair) { return material_of(pair); });
}

}  // namespace isotact
