#include "batch_queue.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <BulletCollision/CollisionDispatch/btManifoldResult.h>
#include <fmt/format.h>

#include "isotact/adapters/bullet/convert.h"
#include "isotact/base/error.h"

#include "gather.h"

namespace isotact::bullet_detail {
namespace {

constexpr std::size_t kPairsAtOnce = 16;  // A chunk of work for one thread.
constexpr double kSameSide = 0.5;         // Cosine between normals.

double since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double half_of_smallest_side(const btCollisionShape& shape) {
  btVector3 lower, upper;
  shape.getAabb(btTransform::getIdentity(), lower, upper);
  const Vec3 side = from_bullet(upper - lower);
  return std::min({side.x, side.y, side.z}) / 2;
}

// Returns the motion in this step if nothing stops the body. Rotation is ignored: points of rolling
// bodies move along arcs, not along lines. More than half of its size would jump over obstacles.
Vec3 shift_of(const btCollisionObject& body, const btCollisionShape& shape, double time_step) {
  if (body.isStaticObject() || !body.isActive() || !(time_step > 0)) return {};
  const Vec3 center = from_bullet(body.getWorldTransform().getOrigin());
  const Vec3 velocity = velocity_at(body, center) + gravity_of(body) * time_step;
  const Vec3 travel = velocity * time_step;
  const double far = length(travel), most = half_of_smallest_side(shape);
  return far > most ? travel * (most / far) : travel;
}

Vec3 to_shape(const IdfBody& body, const Vec3& world) {
  return transform_point(inverse(body.world_from_body), world) / body.scale;
}

double longest_side(const IdfShape& shape, double scale) {
  const Vec3 side = extent(shape.body());
  return std::max({side.x, side.y, side.z}) * scale;
}

double bounce_speed_of(const btCollisionShape& a, const btCollisionShape& b) {
  const bool first = a.getShapeType() == FAST_CONCAVE_MESH_PROXYTYPE;
  return static_cast<const IsotactShape&>(first ? a : b).settings().bounce_speed;
}

void check(const BatchSettings& s) {
  if (s.cells != 0 && (s.cells < 16 || s.cells > 1024))
    throw Error(fmt::format("cells is {}, must be 16 to 1024, or 0", s.cells));
  if (!(s.recovery_speed > 0))
    throw Error(fmt::format("recovery_speed is {}, must be positive", s.recovery_speed));
}

}  // namespace

Batch::Batch(BatchSettings settings)
    : settings_(std::move(settings)), shapes_(settings_.cells, settings_.query.threads) {
  check(settings_);
  if (!settings_.backend) settings_.backend = cpu_batch_query();
  settings_.query.keep_seeds = false;
}

bool Batch::can_take(const btCollisionShape& shape_0, const btCollisionShape& shape_1) {
  return shapes_.find(shape_0) && shapes_.find(shape_1);
}

void Batch::add(BatchPairState& pair, const btCollisionObjectWrapper& wrap_0,
                const btCollisionObjectWrapper& wrap_1) {
  const auto side = [](const btCollisionObjectWrapper& wrap) {
    return Side{.object = wrap.getCollisionObject(),
                .shape = wrap.getCollisionShape(),
                .world_from_bullet = wrap.getWorldTransform(),
                .part = wrap.m_partId,
                .index = wrap.m_index,
                .is_child = wrap.m_parent != nullptr};
  };
  requests_.push_back({&pair, {side(wrap_0), side(wrap_1)}});
  pair.is_waiting = true;
}

void Batch::forget(const BatchPairState& pair) {
  if (!pair.is_waiting) return;
  for (Request& request : requests_)
    if (request.pair == &pair) request.pair = nullptr;
}

// A body has one entry in the query for all its pairs; children of compounds have their own.
void Batch::place(Side& side, double time_step) {
  const BatchShape shape = *shapes_.find(*side.shape);
  side.shift = shift_of(*side.object, *side.shape, time_step);
  side.body = static_cast<std::uint32_t>(bodies_.size());
  if (!side.is_child) {
    const auto [at, is_new] = body_of_.try_emplace(side.object, side.body);
    side.body = at->second;
    if (!is_new) return;
  }
  Pose pose = from_bullet(side.world_from_bullet) * shape.bullet_from_shape;
  pose.translation += side.shift;
  bodies_.push_back({shape.shape, pose, shape.scale});
}

void Batch::run(double time_step, btManifoldResult* sink) {
  const auto begin = std::chrono::steady_clock::now();
  is_open_ = false;
  body_of_.clear();
  bodies_.clear();
  pairs_.clear();
  request_of_.clear();
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    Request& r = requests_[i];
    if (r.pair == nullptr) continue;
    r.pair->is_waiting = false;
    // A shape that was changed since its pair was made may no longer have a field.
    if (!can_take(*r.side[0].shape, *r.side[1].shape)) continue;
    for (Side& side : r.side) place(side, time_step);
    pairs_.push_back({r.side[0].body, r.side[1].body});
    request_of_.push_back(i);
  }
  const BatchStep step{.shapes = shapes_.all(),
                       .shapes_version = shapes_.version(),
                       .bodies = bodies_,
                       .pairs = pairs_,
                       .settings = settings_.query};
  const auto asked = std::chrono::steady_clock::now();
  result_.contacts.clear();
  result_.first_contact.assign(pairs_.size() + 1, 0);
  if (!pairs_.empty()) settings_.backend(step, result_, state_);
  report_ = {.pairs = pairs_.size(), .contacts = result_.contacts.size()};
  report_.query_seconds = since(asked);
  if (settings_.observer) settings_.observer(step, result_);
  if (found_.size() < pairs_.size()) found_.resize(pairs_.size());
  parallel_for(pairs_.size(), kPairsAtOnce, settings_.query.threads,
               [&](std::size_t from, std::size_t to) {
                 for (std::size_t i = from; i < to; ++i) find_contacts(i, time_step);
               });
  for (std::size_t i = 0; i < pairs_.size(); ++i)
    sink != nullptr ? hand_over(i, *sink) : write(i, time_step);
  requests_.clear();
  report_.all_seconds = since(begin);
}

// As chosen by plan_intersections.
double Batch::shell_of(const Request& request) const {
  if (settings_.query.margin > 0) return settings_.query.margin;
  const auto longest = [&](const Side& side) {
    const IdfBody& body = bodies_[side.body];
    return longest_side(shapes_.all()[body.shape], body.scale);
  };
  return 0.01 * std::min(longest(request.side[0]), longest(request.side[1]));
}

// Particles stop anywhere within margin of the surface, and depth is measured there. The position
// is therefore first moved to the surface, then measured in the other field. Gaps are correct, and
// contacts of bodies at rest do not tremble by margin.
bool Batch::look_at(const Request& request, const Place& place, double most_gap,
                    Found& found) const {
  const IdfBody* body[2] = {&bodies_[request.side[0].body], &bodies_[request.side[1].body]};
  const auto look = [&](int which, const Vec3& at) {
    FieldSample s = sample_solid(shapes_.all()[body[which]->shape], to_shape(*body[which], at));
    s.distance *= body[which]->scale;
    s.gradient = transform_vector(body[which]->world_from_body, s.gradient);
    return s;
  };
  const int own = place.on_0 ? 0 : 1, other = 1 - own;
  const FieldSample here = look(own, place.world);
  const Vec3 on_own = place.world - here.gradient * here.distance;
  const FieldSample there = look(other, on_own);
  if (!(there.distance <= most_gap)) return false;
  // The other's gradient points from it to us: from 1 to 0 if we are 0.
  Vec3 out = there.gradient;
  if (!(length_sq(out) > 0)) out = place.on_0 ? place.normal : -place.normal;
  // Back to the current poses.
  const Vec3 own_now = on_own - request.side[own].shift;
  Vec3 other_now = on_own - out * there.distance - request.side[other].shift;
  // A position that would enter a thin wall beyond its middle has its nearest exit on the far side.
  // It must stay on the side that it comes from.
  const FieldSample before = look(other, own_now + request.side[other].shift);
  if (dot(before.gradient, out) < kSameSide && length_sq(before.gradient) > 0) {
    out = before.gradient;
    other_now = own_now - out * before.distance;
  }
  if (!(length_sq(out) > 0)) return false;
  Candidate& c = found.candidate;
  c.on_0 = place.on_0 ? own_now : other_now;
  c.on_1 = place.on_0 ? other_now : own_now;
  c.normal = place.on_0 ? out : -out;
  c.distance = dot(c.normal, c.on_0 - c.on_1);
  found.kept.place = to_shape(*body[own], on_own);
  found.kept.on_0 = place.on_0;
  return true;
}

void Batch::find_contacts(std::size_t pair, double time_step) {
  const Request& request = requests_[request_of_[pair]];
  BatchPairState& state = *request.pair;
  std::vector<Found>& all = found_[pair];
  all.clear();
  const double shell = shell_of(request);
  Found found;
  // Those of the last step come first, and stay a little longer: they keep their impulses.
  for (std::size_t i = 0; i < state.kept_count; ++i) {
    const KeptContact& kept = state.kept[i];
    const IdfBody& body = bodies_[request.side[kept.on_0 ? 0 : 1].body];
    const Vec3 world = transform_point(body.world_from_body, kept.place * body.scale);
    if (!look_at(request, {world, kept.on_0, {}}, 2 * shell, found)) continue;
    found.candidate.key = found.kept.key = kept.key;
    all.push_back(found);
  }
  for (std::uint32_t i = result_.first_contact[pair]; i < result_.first_contact[pair + 1]; ++i) {
    const Contact& contact = result_.contacts[i];
    const bool on_0 = contact.sampled_by == Body::kA;
    const Vec3& world = on_0 ? contact.point_on_a : contact.point_on_b;
    if (!look_at(request, {world, on_0, contact.normal}, 2 * shell, found)) continue;
    found.candidate.key = found.kept.key = state.next_key++;
    all.push_back(found);
  }
  if (!(time_step > 0) || all.size() < 2) return;
  const btCollisionObject &body_0 = *request.side[0].object, &body_1 = *request.side[1].object;
  const bool of_0 = !body_0.isStaticOrKinematicObject();
  const RelativeMotion motion = of_0 ? motion_between(body_0, body_1, time_step, true)
                                     : motion_between(body_1, body_0, time_step, false);
  Candidate turned[kMostIdfContacts + kMostChosen];
  const std::size_t count = std::min(all.size(), std::size(turned));
  for (std::size_t i = 0; i < count; ++i) turned[i] = all[i].candidate;
  allow_for_turning(motion, {turned, count});
  for (std::size_t i = 0; i < count; ++i) all[i].candidate = turned[i];
}

void Batch::write(std::size_t pair, double time_step) {
  const Request& request = requests_[request_of_[pair]];
  BatchPairState& state = *request.pair;
  const std::vector<Found>& all = found_[pair];
  const double shell = shell_of(request);
  state.manifolds.begin();
  candidates_.clear();
  for (const Found& f : all) candidates_.push_back(f.candidate);
  const Choice choice =
      choose_contacts(candidates_, state.manifolds.keys(0), 0.02 * shell, kMostChosen);
  Candidate chosen[kMostChosen];
  state.kept_count = choice.count;
  for (std::size_t i = 0; i < choice.count; ++i) {
    chosen[i] = candidates_[choice.index[i]];
    state.kept[i] = all[choice.index[i]].kept;
  }
  if (choice.count > 0) {
    const Side &a = request.side[0], &b = request.side[1];
    const btCollisionObjectWrapper wrap_0(nullptr, a.shape, a.object, a.world_from_bullet, a.part,
                                          a.index);
    const btCollisionObjectWrapper wrap_1(nullptr, b.shape, b.object, b.world_from_bullet, b.part,
                                          b.index);
    state.manifolds.write(0, {chosen, choice.count}, wrap_0, wrap_1,
                          {.time_step = time_step,
                           .bounce_speed = bounce_speed_of(*a.shape, *b.shape),
                           .nearness = 2 * shell,
                           .recovery_speed = settings_.recovery_speed});
  }
  state.manifolds.end();
}

void Batch::hand_over(std::size_t pair, btManifoldResult& sink) {
  const Request& request = requests_[request_of_[pair]];
  sink.setPersistentManifold(
      &request.pair->manifolds.any(request.side[0].object, request.side[1].object));
  for (const Found& f : found_[pair])
    sink.addContactPoint(to_bullet(f.candidate.normal), to_bullet(f.candidate.on_1),
                         static_cast<btScalar>(f.candidate.distance));
}

}  // namespace isotact::bullet_detail
