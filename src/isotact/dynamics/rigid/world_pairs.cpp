// Pairs of bodies that may touch in a step: the broad phase over the boxes that they fill.
#include <algorithm>
#include <cmath>

#include "isotact/dynamics/rigid/detail/world_state.h"

namespace isotact {

using detail::PairState;
using detail::WorldBody;

namespace {

// The body's box and ball at two poses, and by how much places bulge out between them: one that is
// r from the pivot goes on an arc, off its chord by r (1 - cos(angle / 2)) at most, which is no
// more than r angle^2 / 8.
Aabb compute_swept_box(const WorldBody& b, double step) {
  if (std::isinf(b.ball_radius)) return all_of_space();
  const BodyMotion& m = b.step.motion;
  const double angle = length(b.step.angular_velocity) * step;
  const double reach = length(b.ball_center - m.pivot) + b.ball_radius;
  const double bulge = reach * angle * angle / 8;
  const Vec3 half = extent(b.box) * 0.5;
  Aabb all;
  for (const Pose* pose : {&m.from, &m.to}) {
    const Mat3 turn = to_matrix(pose->rotation);
    const Vec3 in_box = transform_point(*pose, center(b.box));
    const Vec3 in_ball = transform_point(*pose, b.ball_center);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const Vec3& row = turn.rows[axis];
      const double side =
          std::abs(row.x) * half.x + std::abs(row.y) * half.y + std::abs(row.z) * half.z;
      const double lower = std::max(in_box[axis] - side, in_ball[axis] - b.ball_radius);
      const double upper = std::min(in_box[axis] + side, in_ball[axis] + b.ball_radius);
      all.lower[axis] = std::min(all.lower[axis], lower - bulge);
      all.upper[axis] = std::max(all.upper[axis], upper + bulge);
    }
  }
  const double way = (length(b.step.velocity) + length(b.step.angular_velocity) * reach) * step;
  if (!b.is_dynamic() || way <= b.ball_radius) return all;
  const double around = way + reach;
  const Vec3 begin = transform_point(m.from, m.pivot), r{around, around, around};
  return {begin - r, begin + r};
}

bool is_number(const Aabb& box) {
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (std::isnan(box.lower[axis]) || std::isnan(box.upper[axis])) return false;
  return true;
}

Aabb widen(const Aabb& box, double by) {
  const Vec3 r{by, by, by};
  return {box.lower - r, box.upper + r};
}

bool can_touch(const WorldBody& a, const WorldBody& b) {
  return (a.has_points() && b.has_field()) || (b.has_points() && a.has_field());
}

}  // namespace

void World::State::find_pairs() {
  if (settings.contact == ContactRule::kOff) {
    broad.reset();
  } else {
    if (!broad) broad = std::make_unique<BoxTree>();
    boxes.resize(bodies.size());
    for (BodyId k = 0; k < bodies.size(); ++k) {
      Aabb box = compute_swept_box(bodies[k], settings.step);
      // Iteration changes paths.
      if (settings.solve == ForceSolve::kStep && bodies[k].moves())
        box = widen(box, 0.5 * length(bodies[k].step.velocity) * settings.step);
      if (!is_number(box)) box = {};  // of a body that is flawed: find_flawed_body tells of it
      boxes[k] = box;
      if (broad->contains(k))
        broad->update(k, box);
      else
        broad->insert(box);  // handles are given out in order, and no body is ever removed
    }
    broad->step(settings.threads);
  }
  std::vector<PairState>& next = last_pairs;
  next.clear();
  std::size_t old = 0;
  for (const ObjectPair& found : broad ? broad->pairs() : std::span<const ObjectPair>{}) {
    const BodyPair pair{found.a, found.b};
    if (!may_meet(pair)) continue;
    while (old < pairs.size() && pairs[old].pair < pair) keep_if_ended(pairs[old++], next);
    if (old < pairs.size() && pairs[old].pair == pair)
      next.push_back(std::move(pairs[old++]));
    else
      next.push_back({.pair = pair});
    PairState& p = next.back();
    p.touched = p.touches;
    p.touches = p.impact = p.apart = false;
  }
  while (old < pairs.size()) keep_if_ended(pairs[old++], next);
  pairs.swap(next);
  next.clear();
  report.pairs = static_cast<std::uint32_t>(pairs.size());
}

bool World::State::add_pairs() {
  if (!broad) return false;
  bool left = false;
  for (BodyId k = 0; k < bodies.size(); ++k) {
    if (!bodies[k].moves()) continue;
    const Aabb box = compute_swept_box(bodies[k], settings.step);
    if (!is_number(box) || (contains(boxes[k], box.lower) && contains(boxes[k], box.upper)))
      continue;
    left = true;
    extend(boxes[k], widen(box, 0.5 * length(bodies[k].step.velocity) * settings.step));
    broad->update(k, boxes[k]);
  }
  if (!left) return false;
  broad->step(settings.threads);
  const std::size_t known = pairs.size();
  for (const ObjectPair& found : broad->pairs()) {
    const BodyPair pair{found.a, found.b};
    const auto at =
        std::lower_bound(pairs.begin(), pairs.begin() + static_cast<std::ptrdiff_t>(known), pair,
                         [](const PairState& p, const BodyPair& b) { return p.pair < b; });
    if (at != pairs.begin() + static_cast<std::ptrdiff_t>(known) && at->pair == pair)
      at->apart = false;
    else if (may_meet(pair))
      pairs.push_back({.pair = pair});
  }
  std::sort(pairs.begin(), pairs.end(),
            [](const PairState& a, const PairState& b) { return a.pair < b.pair; });
  report.pairs = static_cast<std::uint32_t>(pairs.size());
  return pairs.size() > known;
}

bool World::State::may_meet(const BodyPair& pair) const {
  const WorldBody &a = bodies[pair.a], &b = bodies[pair.b];
  return (a.is_dynamic() || b.is_dynamic()) && can_touch(a, b) &&
         !std::binary_search(ignored.begin(), ignored.end(), pair);
}

// A pair whose boxes have left each other while it touched: told of once more.
void World::State::keep_if_ended(PairState& pair, std::vector<PairState>& next) {
  if (!pair.touches) return;
  next.push_back({.pair = pair.pair, .touched = true, .contact = pair.contact, .apart = true});
}

}  // namespace isotact
