#include <algorithm>
#include <cmath>

#include "isotact/dynamics/rigid/detail/world_state.h"

namespace isotact {

using detail::WorldBody;

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

void add_role_paths(const WorldBody& shell, const WorldBody& field, MotionModel model,
                    std::size_t most, std::vector<ContactPath>& paths) {
  PathScratch scratch;
  const PointSphereTree& tree = shell.tree();
  const ShellMotion motion{.shell = shell.step.motion, .field = field.step.motion, .model = model};
  field.all->trace(tree, motion, scratch.swept);
  const std::vector<SweptHit>& hits = scratch.swept.hits;
  if (hits.empty() || most == 0) return;
  compute_shell_path(motion, ball_of(tree), field.all->settings().path_tolerance * field.cell(),
                     scratch.path);
  const std::size_t every = (hits.size() - 1) / most + 1;
  for (std::size_t k = 0; k < hits.size(); k += every) {
    const SegmentInterval& inside = scratch.swept.intervals[hits[k].first_interval];
    ContactPath p = find_piece(scratch.path, to_double(tree.point(hits[k].point)), inside);
    p.from = transform_point(field.step.motion.to, p.from);
    p.to = transform_point(field.step.motion.to, p.to);
    paths.push_back(p);
  }
}

}  // namespace

void World::find_contact_paths(const BodyPair& pair, std::size_t most,
                               std::vector<ContactPath>& paths) const {
  const WorldBody &a = state_->bodies[pair.a], &b = state_->bodies[pair.b];
  const bool of_a = a.has_points() && b.has_field(), of_b = b.has_points() && a.has_field();
  const std::size_t share = of_a && of_b ? (most + 1) / 2 : most;
  const MotionModel model = state_->settings.motion;
  if (of_a) add_role_paths(a, b, model, share, paths);
  if (of_b) add_role_paths(b, a, model, share, paths);
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

}  // namespace isotact
