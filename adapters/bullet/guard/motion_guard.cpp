#include <algorithm>
#include <cmath>
#include <deque>
#include <set>
#include <unordered_map>

#include <BulletCollision/CollisionDispatch/btCollisionWorld.h>
#include <BulletCollision/CollisionShapes/btCompoundShape.h>
#include <BulletDynamics/Dynamics/btRigidBody.h>
#include <BulletDynamics/Featherstone/btMultiBodyLinkCollider.h>

#include "isotact/adapters/bullet/convert.h"
#include "isotact/adapters/bullet/guarded_world.h"
#include "isotact/base/trig.h"

#include "budget/step_budget.h"
#include "impulse.h"
#include "pair_test.h"

namespace isotact {
namespace bullet_detail {

// A body that was stopped so often in one step stays at its start.
static constexpr int kMostChanges = 6;

// What stops together: a rigid body, or a multibody with all of its links.
struct Group {
  btRigidBody* rigid = nullptr;
  btMultiBody* multi = nullptr;
  double until = 1;
  int changes = 0;
  std::vector<std::size_t> pairs{};
};

struct Follower {
  btCollisionObject* object = nullptr;
  int group = -1;  // None: it stands still, or nothing can stop it.
  Path path{};
  btVector3 lower{}, upper{};  // Box of the path.
};

struct FollowedPair {
  std::size_t a = 0, b = 0;
  Stop stop{};
};

// The box of a shape along a path.
static void box_along(const Follower& f, btVector3& lower, btVector3& upper) {
  const btCollisionShape& shape = *f.object->getCollisionShape();
  shape.getAabb(f.object->getWorldTransform(), lower, upper);
  if (!f.path.moves()) return;
  btVector3 center;
  btScalar radius = 0;
  shape.getBoundingSphere(center, radius);
  const double reach = length(from_bullet(center)) + static_cast<double>(radius);
  for (std::size_t i = 0; i < f.path.knots.size(); ++i) {
    btVector3 a, b;
    shape.getAabb(to_bullet(f.path.knots[i]), a, b);
    // A point that turns by an angle leaves its chord by the sagitta.
    double sagitta = 1e-4 * reach;
    if (i > 0) {
      const Quat turn = conjugate(f.path.knots[i - 1].rotation) * f.path.knots[i].rotation;
      sagitta += reach * (1 - std::min(1.0, std::abs(turn.w)));
    }
    const btVector3 grow = to_bullet(Vec3{sagitta, sagitta, sagitta});
    lower.setMin(a - grow), upper.setMax(b + grow);
  }
}

static bool are_overlapping(const Follower& a, const Follower& b) {
  for (int i = 0; i < 3; ++i)
    if (a.lower[i] > b.upper[i] || b.lower[i] > a.upper[i]) return false;
  return true;
}

}  // namespace bullet_detail

using namespace bullet_detail;

struct MotionGuard::State {
  GuardReport report{};
  GuardScratch scratch{};
  std::unordered_map<const btCollisionObject*, btTransform> poses{};
  std::unordered_map<const btMultiBody*, Configuration> configurations{};
  std::vector<Follower> followers{};
  std::vector<Group> groups{};
  std::vector<FollowedPair> pairs{};
  StepBudget budget{};
  using PairKey = std::pair<const btCollisionObject*, const btCollisionObject*>;
  std::set<PairKey> starved{};  // by the budget of the last step

  PairKey key_of(const FollowedPair& pair) const {
    return {followers[pair.a].object, followers[pair.b].object};
  }
  void follow(btCollisionWorld& world);
  void follow_multibody(btMultiBody& body, int group);
  void find_pairs(btCollisionWorld& world);
  Stop compute_stop_of(const FollowedPair& pair);
  Stop first_stop(const Follower& a, const btCollisionShape& shape_a, const Pose& a_from_shape,
                  const Follower& b, const btCollisionShape& shape_b, const Pose& b_from_shape);
  void resolve();
  void stop(Group& group, double time, std::deque<std::size_t>& queue, std::vector<char>& queued);
  void move_back(double time_step);
  void push_apart();
  double until(const Follower& f) const {
    return f.group >= 0 ? groups[static_cast<std::size_t>(f.group)].until : 1;
  }
};

void MotionGuard::State::follow(btCollisionWorld& world) {
  followers.clear(), groups.clear(), pairs.clear();
  std::unordered_map<const btMultiBody*, int> group_of;
  const btCollisionObjectArray& objects = world.getCollisionObjectArray();
  std::vector<std::pair<btMultiBody*, int>> multibodies;
  for (int i = 0; i < objects.size(); ++i) {
    btCollisionObject& object = *objects[i];
    if (object.getCollisionShape() == nullptr || object.getBroadphaseHandle() == nullptr) continue;
    Follower f{.object = &object};
    f.path.knots = {from_bullet(object.getWorldTransform())};
    if (const auto* link = btMultiBodyLinkCollider::upcast(&object);
        link != nullptr && link->m_multiBody != nullptr) {
      const auto [at, is_new] =
          group_of.emplace(link->m_multiBody, static_cast<int>(groups.size()));
      if (is_new) {
        groups.push_back({.multi = link->m_multiBody});
        multibodies.emplace_back(link->m_multiBody, at->second);
      }
      f.group = at->second;
    } else if (btRigidBody* rigid = btRigidBody::upcast(&object);
               rigid != nullptr && !rigid->isStaticOrKinematicObject() && rigid->isActive()) {
      const auto before = poses.find(&object);
      if (before != poses.end()) {
        f.path = path_between(before->second, object.getWorldTransform());
        f.group = static_cast<int>(groups.size());
        groups.push_back({.rigid = rigid});
      }
    }
    followers.push_back(std::move(f));
  }
  for (const auto& [body, group] : multibodies) follow_multibody(*body, group);
  for (Follower& f : followers) box_along(f, f.lower, f.upper);
}

void MotionGuard::State::follow_multibody(btMultiBody& body, int group) {
  const auto before = configurations.find(&body);
  if (before == configurations.end() || !body.isAwake() ||
      before->second.joints.size() != configuration_of(body).joints.size())
    return;
  const Configuration end = configuration_of(body);
  const int pieces = count_pieces(body, before->second, end);
  std::vector<Follower*> links;
  for (Follower& f : followers)
    if (f.group == group) links.push_back(&f);
  for (Follower* f : links) f->path.knots.clear();
  for (int i = 0; i <= pieces; ++i) {
    configure(body, i == pieces ? end : between(body, before->second, end, double(i) / pieces));
    for (Follower* f : links) f->path.knots.push_back(from_bullet(f->object->getWorldTransform()));
  }
}

// Sweep and prune along x.
void MotionGuard::State::find_pairs(btCollisionWorld& world) {
  std::vector<std::size_t> order(followers.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return followers[a].lower.x() < followers[b].lower.x();
  });
  btDispatcher& dispatcher = *world.getDispatcher();
  btOverlappingPairCache* cache = world.getPairCache();
  std::vector<std::size_t> open;
  for (const std::size_t i : order) {
    const Follower& f = followers[i];
    open.erase(std::remove_if(open.begin(), open.end(),
                              [&](std::size_t o) { return followers[o].upper.x() < f.lower.x(); }),
               open.end());
    for (const std::size_t o : open) {
      const Follower& g = followers[o];
      if (!f.path.moves() && !g.path.moves()) continue;
      if (!are_overlapping(f, g)) continue;
      if (cache != nullptr && !cache->needsBroadphaseCollision(f.object->getBroadphaseHandle(),
                                                               g.object->getBroadphaseHandle()))
        continue;
      if (!dispatcher.needsCollision(f.object, g.object) ||
          !dispatcher.needsResponse(f.object, g.object))
        continue;
      for (const std::size_t k : {i, o})
        if (const int group = followers[k].group; group >= 0)
          groups[static_cast<std::size_t>(group)].pairs.push_back(pairs.size());
      pairs.push_back({std::min(i, o), std::max(i, o)});
    }
    open.push_back(i);
  }
  report.pairs = static_cast<std::uint32_t>(pairs.size());
}

// Children of compounds one by one.
Stop MotionGuard::State::first_stop(const Follower& a, const btCollisionShape& shape_a,
                                    const Pose& a_from_shape, const Follower& b,
                                    const btCollisionShape& shape_b, const Pose& b_from_shape) {
  const auto children = [&](const btCollisionShape& shape, const Pose& from, const auto& visit) {
    const auto& compound = static_cast<const btCompoundShape&>(shape);
    Stop first;
    for (int i = 0; i < compound.getNumChildShapes(); ++i) {
      const Stop stop =
          visit(*compound.getChildShape(i), from * from_bullet(compound.getChildTransform(i)));
      if (stop.time < first.time) first = stop;
    }
    return first;
  };
  if (shape_a.isCompound())
    return children(shape_a, a_from_shape, [&](const btCollisionShape& s, const Pose& p) {
      return first_stop(a, s, p, b, shape_b, b_from_shape);
    });
  if (shape_b.isCompound())
    return children(shape_b, b_from_shape, [&](const btCollisionShape& s, const Pose& p) {
      return first_stop(a, shape_a, a_from_shape, b, s, p);
    });
  if (!is_guarded(shape_a, shape_b)) return {};
  return compute_stop({&shape_a, a_from_shape, &a.path, until(a)},
                      {&shape_b, b_from_shape, &b.path, until(b)}, scratch);
}

Stop MotionGuard::State::compute_stop_of(const FollowedPair& pair) {
  const Follower &a = followers[pair.a], &b = followers[pair.b];
  return first_stop(a, *a.object->getCollisionShape(), {}, b, *b.object->getCollisionShape(), {});
}

void MotionGuard::State::stop(Group& group, double time, std::deque<std::size_t>& queue,
                              std::vector<char>& queued) {
  if (group.until <= time && time > 0) return;
  if (group.until == 0) return;
  group.until = ++group.changes > kMostChanges ? 0 : time;
  // Others may have moved to where it stays now.
  for (const std::size_t p : group.pairs)
    if (queued[p] == 0) queue.push_back(p), queued[p] = 1;
}

// Each round stops bodies earlier, and each body at most kMostChanges + 1 times, so this ends. In
// the end all pairs were followed with the times at which their bodies stop.
void MotionGuard::State::resolve() {
  std::deque<std::size_t> queue;
  std::vector<char> queued(pairs.size(), 1);
  for (std::size_t i = 0; i < pairs.size(); ++i) queue.push_back(i);
  // Those that the last step did not come to are first.
  std::stable_partition(queue.begin(), queue.end(),
                        [&](std::size_t i) { return starved.count(key_of(pairs[i])) > 0; });
  starved.clear();
  report.unproved = 0;
  Allowance allowance{.has_nodes = budget.nodes > 0,
                      .has_time = budget.microseconds > 0,
                      .nodes = budget.nodes,
                      .microseconds = budget.microseconds};
  const bool is_limited = allowance.has_nodes || allowance.has_time;
  const OpenAllowance open(is_limited ? &allowance : nullptr);
  while (!queue.empty()) {
    const std::size_t i = queue.front();
    queue.pop_front();
    queued[i] = 0;
    allowance.was_cut = false;
    const Stop found = compute_stop_of(pairs[i]);
    if (allowance.was_cut) {
      ++report.unproved;
      starved.insert(key_of(pairs[i]));
    }
    if (found.time >= 1) continue;
    pairs[i].stop = found;
    for (const std::size_t k : {pairs[i].a, pairs[i].b})
      if (const Follower& f = followers[k]; f.group >= 0 && f.path.moves())
        stop(groups[static_cast<std::size_t>(f.group)], found.time, queue, queued);
  }
  report.nodes = allowance.used_nodes;
}

void MotionGuard::State::move_back(double time_step) {
  report.held = 0;
  for (const Group& group : groups) {
    if (group.until >= 1) continue;
    ++report.held;
    if (group.multi != nullptr) {
      const Configuration& from = configurations.at(group.multi);
      configure(*group.multi,
                between(*group.multi, from, configuration_of(*group.multi), group.until));
    } else {
      // Bullet turns no body by more in a step: its faster points are not where they should be, and
      // the solver would find them parting.
      constexpr double kMostTurn = kPi / 4;
      const double turn = length(from_bullet(group.rigid->getAngularVelocity())) * time_step;
      if (turn > kMostTurn)
        group.rigid->setAngularVelocity(group.rigid->getAngularVelocity() *
                                        static_cast<btScalar>(kMostTurn / turn));
      const btTransform& start = poses.at(group.rigid);
      if (group.until == 0) {
        group.rigid->proceedToTransform(start);
        continue;
      }
      const Path path = path_between(start, group.rigid->getWorldTransform());
      group.rigid->proceedToTransform(to_bullet(path.at(group.until)));
    }
  }
  report.held_in_all += report.held;
}

// A stopped pair has no contact yet where it stopped, or one that the solver did not choose: its
// parts would run into each other again in each step. They get the impulse of that one place.
void MotionGuard::State::push_apart() {
  for (const FollowedPair& pair : pairs) {
    // No place is known if a budget ended.
    if (pair.stop.time >= 1 || !(length_sq(pair.stop.normal) > 0)) continue;
    const Follower &a = followers[pair.a], &b = followers[pair.b];
    // Others may have stopped them before.
    const double first = std::min(until(a), until(b));
    if (first > 0 && pair.stop.time > first) continue;
    push_apart_at(*a.object, *b.object, pair.stop.place, pair.stop.normal);
  }
}

MotionGuard::MotionGuard() : state_(std::make_unique<State>()) {}
MotionGuard::MotionGuard(MotionGuard&&) noexcept = default;
MotionGuard& MotionGuard::operator=(MotionGuard&&) noexcept = default;
MotionGuard::~MotionGuard() = default;
void MotionGuard::set_budget(const StepBudget& budget) { state_->budget = budget; }
const GuardReport& MotionGuard::report() const { return state_->report; }

void MotionGuard::sweep_boxes(btCollisionWorld& world) const {
  const auto time_step = static_cast<double>(world.getDispatchInfo().m_timeStep);
  const btCollisionObjectArray& objects = world.getCollisionObjectArray();
  for (int i = 0; i < objects.size(); ++i) {
    btCollisionObject& object = *objects[i];
    if (btMultiBodyLinkCollider::upcast(&object) == nullptr || !object.isActive() ||
        object.getBroadphaseHandle() == nullptr)
      continue;
    const BodyVelocity velocity = velocity_of(object);
    btVector3 center, lower, upper;
    btScalar radius = 0;
    object.getCollisionShape()->getBoundingSphere(center, radius);
    world.getBroadphase()->getAabb(object.getBroadphaseHandle(), lower, upper);
    const btVector3 shift =
        to_bullet((velocity.linear + gravity_of(object) * time_step) * time_step);
    const double turn = length(velocity.angular) * time_step;
    const double reach = std::min(turn, 2.0) * static_cast<double>(radius + center.length());
    const btVector3 grow = to_bullet(Vec3{reach, reach, reach});
    btVector3 then_lower = lower + shift - grow, then_upper = upper + shift + grow;
    then_lower.setMin(lower), then_upper.setMax(upper);
    if (!is_finite(from_bullet(then_lower)) || !is_finite(from_bullet(then_upper))) continue;
    world.getBroadphase()->setAabb(object.getBroadphaseHandle(), then_lower, then_upper,
                                   world.getDispatcher());
  }
}

void MotionGuard::remember(const btCollisionWorld& world) {
  State& s = *state_;
  s.poses.clear(), s.configurations.clear();
  const btCollisionObjectArray& objects = world.getCollisionObjectArray();
  for (int i = 0; i < objects.size(); ++i) {
    const btCollisionObject& object = *objects[i];
    if (const auto* link = btMultiBodyLinkCollider::upcast(&object)) {
      if (link->m_multiBody != nullptr && s.configurations.count(link->m_multiBody) == 0)
        s.configurations.emplace(link->m_multiBody, configuration_of(*link->m_multiBody));
    } else if (!object.isStaticOrKinematicObject()) {
      s.poses.emplace(&object, object.getWorldTransform());
    }
  }
}

void MotionGuard::hold(btCollisionWorld& world, double time_step) {
  State& s = *state_;
  s.scratch.tests = 0;
  s.follow(world);
  s.find_pairs(world);
  s.resolve();
  s.move_back(time_step);
  s.push_apart();
  s.report.tests = s.scratch.tests;
  // Shapes may have gone: what is remembered about them is not kept for long.
  constexpr std::size_t kMostShapes = 1024;
  if (s.scratch.solids.size() > kMostShapes) s.scratch.solids.clear();
  if (s.scratch.thickness.size() > kMostShapes) s.scratch.thickness.clear();
}

}  // namespace isotact
