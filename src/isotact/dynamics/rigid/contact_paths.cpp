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

}  // namespace isotact
