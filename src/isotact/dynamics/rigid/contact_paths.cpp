// Paths of bodies within a step, and of points through other bodies.
#include <algorithm>
#include <cmath>

#include "isotact/base/trig.h"
#include "isotact/dynamics/rigid/detail/world_state.h"

namespace isotact {

using detail::MotionPart;
using detail::WorldBody;

namespace detail {

Vec3 mean_rate(const Quat& from, const Quat& to, double step) {
  Quat q = to * conjugate(from);
  if (q.w < 0) q = {-q.w, -q.x, -q.y, -q.z};
  const Vec3 v{q.x, q.y, q.z};
  const double sine = length(v);
  return sine < 1e-100 ? Vec3{} : v * (2 * angle_of(sine, q.w) / (sine * step));
}

void finish_body_step(WorldBody& b, double step) {
  BodyStep& s = b.step;
  s.velocity_from = b.start.linear;
  s.angular_velocity_from = b.start.angular;
  s.motion.to = world_from_body(b.body);
  s.center_to = b.body.state.center;
  s.velocity = (s.center_to - s.center_from) / step;
  s.angular_velocity = mean_rate(s.motion.from.rotation, s.motion.to.rotation, step);
  // Both poses do not tell how often it turned.
  if (!b.is_dynamic())
    s.angular_velocity = b.turn / step;
  else if (const Vec3 rate = angular_velocity(b.body); length(rate) * step > kPi / 2)
    s.angular_velocity = rate;
}

// The body's box and ball at two poses, and by how much places bulge out between them: one that is
// r from the pivot goes on an arc, off its chord by r (1 - cos(angle / 2)) at most, which is no
// more than r angle^2 / 8.
Aabb compute_swept_box(const WorldBody& b, double step) {
  if (std::isinf(b.ball_radius)) return all_of_space();
  const BodyMotion& m = b.step.motion;
  double angle = length(b.step.angular_velocity) * step;
  if (b.moves()) {  // The rate at the start may be another one.
    RigidBody before = b.body;
    before.state.rotation = m.from.rotation;
    angle = std::max(angle, length(angular_velocity(before)) * step);
  }
  const double reach = length(b.ball_center - m.pivot) + b.ball_radius;
  const double way = length(b.step.velocity) * step + angle * reach;
  Aabb all;
  if (b.is_dynamic() ? way > b.ball_radius : angle > kPi) {
    // Impacts change the path of a dynamic body, but not its speed by much.
    const double around = b.is_dynamic() ? way + reach : reach;
    for (const Pose* pose : {&m.from, &m.to}) {
      const Vec3 pivot = transform_point(*pose, m.pivot);
      extend(all, pivot - Vec3{around, around, around});
      extend(all, pivot + Vec3{around, around, around});
      if (b.is_dynamic()) break;
    }
    return all;
  }
  const double bulge = reach * angle * angle / 8;
  const Vec3 half = extent(b.box) * 0.5;
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
  return all;
}

Pose driven_pose(const WorldBody& b, double time) {
  const BodyMotion& m = b.step.motion;
  if (time <= 0) return m.from;
  if (time >= 1) return m.to;
  const double angle = length(b.turn) * time;
  const Quat turn = angle > 0 ? rotation_about(b.turn, angle) : Quat{};
  const Quat rotation = normalized(turn * m.from.rotation);
  const Vec3 pivot = lerp(transform_point(m.from, m.pivot), transform_point(m.to, m.pivot), time);
  return {rotation, pivot - rotate(rotation, m.pivot)};
}

namespace {

// The path between two times of one part, as a step of its own.
BodyStep cut(const WorldBody& body, double from, double to, double step) {
  if (!body.is_bent() && from <= 0 && to >= 1) return body.step;
  MotionPart part{0, 1, body.step.motion};
  for (const MotionPart& p : body.parts)
    if (p.begin <= from && to <= p.end) part = p;
  const auto pose_at = [&](double time) {
    if (time <= part.begin) return part.motion.from;
    if (time >= part.end) return part.motion.to;
    return compute_pose(part.motion, (time - part.begin) / (part.end - part.begin));
  };
  BodyStep s;
  s.motion = {pose_at(from), pose_at(to), part.motion.pivot};
  s.center_from = transform_point(s.motion.from, s.motion.pivot);
  s.center_to = transform_point(s.motion.to, s.motion.pivot);
  const double time = (to - from) * step;
  s.velocity = (s.center_to - s.center_from) / time;
  s.angular_velocity = mean_rate(s.motion.from.rotation, s.motion.to.rotation, time);
  return s;
}

}  // namespace

std::vector<StepPiece> list_pieces(const WorldBody& a, const WorldBody& b, double step) {
  std::vector<double> ends;
  for (const WorldBody* w : {&a, &b})
    for (const MotionPart& p : w->parts) ends.push_back(p.end);
  ends.push_back(1);
  std::sort(ends.begin(), ends.end());
  std::vector<StepPiece> pieces;
  double from = 0;
  for (const double to : ends) {
    if (!(to > from)) continue;
    pieces.push_back({to - from, cut(a, from, to, step), cut(b, from, to, step)});
    from = to;
  }
  return pieces;
}

}  // namespace detail

namespace {

struct PathScratch {
  SweptResults swept{};
  ShellPath path{};
};

// The piece of a chain in which an interval begins. Most chains have one piece.
ContactPath find_piece(const ShellPath& path, const Vec3& point, const SegmentInterval& inside) {
  const auto pieces = static_cast<double>(path.piece_count());
  const double first = std::min(std::floor(static_cast<double>(inside.enter) * pieces), pieces - 1);
  const auto in_piece = [&](float time) {
    return static_cast<float>(std::clamp(static_cast<double>(time) * pieces - first, 0.0, 1.0));
  };
  const auto k = static_cast<std::size_t>(first);
  return {path.maps[k] * point, path.maps[k + 1] * point, in_piece(inside.enter),
          in_piece(inside.exit)};
}

struct PathSides {
  const WorldBody &shell, &field;
  ShellMotion motion;
};

void add_role_paths(const PathSides& sides, std::size_t most, std::vector<ContactPath>& paths) {
  PathScratch scratch;
  const PointSphereTree& tree = sides.shell.tree();
  const SweptTracer& tracer = *sides.field.all;
  tracer.trace(tree, sides.motion, scratch.swept);
  const std::vector<SweptHit>& hits = scratch.swept.hits;
  if (hits.empty() || most == 0) return;
  compute_shell_path(sides.motion, ball_of(tree),
                     tracer.settings().path_tolerance * sides.field.cell(), scratch.path);
  const Pose& now = sides.field.step.motion.to;
  const std::size_t every = (hits.size() - 1) / most + 1;
  for (std::size_t k = 0; k < hits.size(); k += every) {
    const SegmentInterval& inside = scratch.swept.intervals[hits[k].first_interval];
    ContactPath p = find_piece(scratch.path, to_double(tree.point(hits[k].point)), inside);
    p.from = transform_point(now, p.from);
    p.to = transform_point(now, p.to);
    paths.push_back(p);
  }
}

}  // namespace

void World::find_contact_paths(const BodyPair& pair, std::size_t most,
                               std::vector<ContactPath>& paths) const {
  const WorldBody &a = state_->bodies[pair.a], &b = state_->bodies[pair.b];
  const bool of_a = a.has_points() && b.has_field(), of_b = b.has_points() && a.has_field();
  const std::size_t share = of_a && of_b ? (most + 1) / 2 : most;
  const WorldSettings& s = state_->settings;
  const auto add = [&](const WorldBody& shell, const WorldBody& field) {
    if (!shell.is_bent() && !field.is_bent()) {
      add_role_paths({shell, field, {shell.step.motion, field.step.motion, s.motion}}, share,
                     paths);
      return;
    }
    const std::vector<detail::StepPiece> pieces = detail::list_pieces(shell, field, s.step);
    const std::size_t share_of_piece = (share + pieces.size() - 1) / pieces.size();
    for (const detail::StepPiece& p : pieces)
      add_role_paths({shell, field, {p.a.motion, p.b.motion, MotionModel::kConstantRates}},
                     share_of_piece, paths);
  };
  if (of_a) add(a, b);
  if (of_b) add(b, a);
}

// ---- pairs without contact ----

namespace detail {
namespace {

// Returns a bound of the motion of any point of either body in the frame of the other, from the
// clearance to one of the poses of the step. A turn by the angle t changes a quaternion by
// 2 sin(t / 4), and t is at most 2.1 times that if it is below 1.
double bound_move(const Clearance& from, const WorldBody& a, const WorldBody& b, bool to_end) {
  const double apart = length(from.centers[0] - from.centers[1]);
  double move = 0, turn = 0, reach = 0, furthest = 0;
  for (std::size_t k = 0; k < 2; ++k) {
    const WorldBody& w = k == 0 ? a : b;
    const Quat& q = (to_end ? w.step.motion.to : w.step.motion.from).rotation;
    const Quat& old = from.rotations[k];
    const Vec3& center = to_end ? w.step.center_to : w.step.center_from;
    const Vec3 axis = Vec3{q.x, q.y, q.z} - Vec3{old.x, old.y, old.z};
    const double change = std::sqrt(length_sq(axis) + (q.w - old.w) * (q.w - old.w));
    if (!(change < 1)) return std::numeric_limits<double>::infinity();
    move += length(center - from.centers[k]);
    turn += 2.1 * change;
    furthest = std::max(furthest, length(center));
    if (w.has_points() && std::isfinite(w.ball_radius))
      reach = std::max(reach, length(w.ball_center - w.body.mass.center) + w.ball_radius);
  }
  constexpr double kRounding = 1e-12;
  return move + turn * (apart + reach) + kRounding * (furthest + reach);
}

}  // namespace

bool stays_clear(const Clearance& c, const WorldBody& a, const WorldBody& b) {
  return c.free_move > 0 && bound_move(c, a, b, false) < c.free_move &&
         bound_move(c, a, b, true) < c.free_move;
}

void note_clearance(PairState& pair, const WorldBody& a, const WorldBody& b, bool points_of_a,
                    bool points_of_b) {
  Clearance& c = pair.clearance;
  c = {.free_move = std::numeric_limits<double>::infinity(),
       .centers = {a.step.center_to, b.step.center_to},
       .rotations = {a.step.motion.to.rotation, b.step.motion.to.rotation}};
  if (points_of_a) c.free_move = std::min(c.free_move, pair.memory[0].compute_free_move());
  if (points_of_b) c.free_move = std::min(c.free_move, pair.memory[1].compute_free_move());
}

}  // namespace detail

Load compute_contact_load(const RigidBody& body, std::span<const Contact> contacts,
                          const ContactLoadSettings& settings) {
  Load load;
  if (contacts.empty()) return load;
  const double share = 1 / static_cast<double>(contacts.size());
  for (const Contact& contact : contacts) {
    const Vec3 velocity = velocity_at(body, contact.position);
    const double growth = -dot(velocity, contact.normal);  // of depth
    const double push =
        std::max(0.0, share * (settings.stiffness * contact.depth + settings.damping * growth));
    const Vec3 slip = velocity + contact.normal * growth;
    const double speed = length(slip);
    Vec3 force = contact.normal * push;
    if (speed > 0) force -= slip * (settings.friction * push / std::max(speed, settings.creep));
    load += {force, cross(contact.position - body.state.center, force)};
  }
  return load;
}

}  // namespace isotact
