#include "isotact/queries/swept/closest_approach.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "isotact/queries/swept/detail/nearest_point.h"

namespace isotact {
namespace {

// A node, or a point on the level behind the last, for some of the time: many pieces of the path,
// or a part of one.
struct Candidate {
  double bound;  // no point below has a smaller value then
  double begin, end;
  std::uint32_t level, node;
};

template <Field F>
class Search {
 public:
  Search(const F& field, const PointSphereTree& tree, const ShellPath& path,
         const PointSphereTree* field_points)
      : field_(field), tree_(tree), path_(path), slope_(field.lipschitz()), box_(field.bounds()) {
    if (field_points != nullptr) {
      outside_.emplace(*field_points);
      covering_radius_ = field_points->covering_radius();
    }
    for (int level = 0; level < tree.level_count(); ++level) levels_.push_back(tree.level(level));
    best_.distance = std::numeric_limits<double>::infinity();
  }

  ApproachResult run(double tolerance, std::uint64_t max_values) {
    push(0, 0, 0, 1);
    while (!heap_.empty() && heap_.front().bound < best_.distance - slack(tolerance) &&
           best_.values < max_values) {
      std::pop_heap(heap_.begin(), heap_.end(), is_later);
      const Candidate now = heap_.back();
      heap_.pop_back();
      split(now);
    }
    const double left = heap_.empty() ? best_.distance : heap_.front().bound;
    if (left < best_.distance - slack(tolerance)) best_.status = ApproachStatus::kGaveUp;
    best_.lower_bound = std::min({best_.distance, left, resting_});
    return best_;
  }

 private:
  // What the best distance is known to.
  double slack(double tolerance) const {
    return best_is_outside_ ? tolerance + covering_radius_ : tolerance;
  }
  bool is_outside(const Vec3& x) const { return outside_.has_value() && !contains(box_, x); }

  static bool is_later(const Candidate& a, const Candidate& b) { return a.bound > b.bound; }
  bool is_point(std::uint32_t level) const { return level == levels_.size(); }

  Spheref ball(std::uint32_t level, std::uint32_t node) const {
    if (is_point(level)) return {tree_.point(node), 0};
    return sphere(levels_[level], node);
  }

  // The centre's way: a chord, and how far the chain of pieces bends from it. Halves of time, and
  // halves of these, begin and end where pieces do, or lie within one.
  struct Chord {
    Vec3 from, to;
    double bend;
  };
  bool bends(double begin, double end) const { return (end - begin) * path_.piece_count() > 1; }
  Chord chord(const Vec3& center, double begin, double end) const {
    const double span = end - begin;
    return {place_on(path_, center, begin), place_on(path_, center, end),
            (bends(begin, end) ? path_.acceleration * span * span / 8 : 0) + 2 * path_.rounding};
  }

  // All points below are within the radius, the bend and half of the chord from its middle.
  void push(std::uint32_t level, std::uint32_t node, double begin, double end) {
    const Spheref s = ball(level, node);
    const Chord travel = chord(to_double(s.center), begin, end);
    const double around = path_.stretch * static_cast<double>(s.radius) + travel.bend +
                          length(travel.to - travel.from) * 0.5;
    ++best_.values;
    const Vec3 middle = (travel.from + travel.to) * 0.5;
    double bound = field_.value(middle) - slope_ * around;
    // The surface is no nearer than its nearest sample, less the covering radius.
    if (is_outside(middle))
      bound = std::max(bound, outside_->distance(middle) - covering_radius_ - around);
    if (bound >= best_.distance) return;
    const std::uint32_t point = is_point(level) ? node : levels_[level].nodes[node].representative;
    for (const double time : {begin, (begin + end) * 0.5, end}) try_point(point, time);
    heap_.push_back({bound, begin, end, level, node});
    std::push_heap(heap_.begin(), heap_.end(), is_later);
  }

  void try_point(std::uint32_t point, double time) {
    ++best_.values;
    const Vec3 x = place_on(path_, to_double(tree_.point(point)), time);
    const bool outside = is_outside(x);
    const double value = outside ? outside_->distance(x) : field_.value(x);
    if (value >= best_.distance) return;
    best_is_outside_ = outside;
    best_.distance = value;
    best_.time = time;
    best_.point = point;
  }

  // What is larger: the sphere, or its way?
  void split(const Candidate& c) {
    const Spheref s = ball(c.level, c.node);
    const Chord travel = chord(to_double(s.center), c.begin, c.end);
    const double move = travel.bend + length(travel.to - travel.from) * 0.5;
    // Of a point that rests nothing more can be found out: outside of the field's box it is known
    // to within the covering radius, and stays so in all parts of the time.
    if (is_point(c.level) && travel.from == travel.to && !bends(c.begin, c.end)) {
      resting_ = std::min(resting_, c.bound);
    } else if (is_point(c.level) || move > static_cast<double>(s.radius)) {
      const double middle = (c.begin + c.end) * 0.5;
      push(c.level, c.node, c.begin, middle);
      push(c.level, c.node, middle, c.end);
    } else {
      const ShellNode& node = levels_[c.level].nodes[c.node];
      for (std::uint32_t i = 0; i < node.child_count; ++i)
        push(c.level + 1, node.first_child + i, c.begin, c.end);
    }
  }

  const F& field_;
  const PointSphereTree& tree_;
  const ShellPath& path_;
  double slope_;
  Aabb box_;
  std::optional<detail::NearestOnShell> outside_;
  double covering_radius_ = 0;
  bool best_is_outside_ = false;
  std::vector<ShellLevel> levels_;
  std::vector<Candidate> heap_;
  double resting_ = std::numeric_limits<double>::infinity();  // least bound of points that rest
  ApproachResult best_;
};

}  // namespace

ApproachResult find_closest_approach(const BrickField& field, const PointSphereTree& tree,
                                     const ShellMotion& motion, const ApproachSettings& settings) {
  const double cell = field.voxel_size();
  ShellPath path;
  compute_shell_path(motion, ball_of(tree), settings.path_tolerance * cell, path);
  return Search(field, tree, path, settings.field_points)
      .run(settings.tolerance * cell, settings.max_values);
}

ApproachResult find_closest_approach(const AnyField& field, double cell,
                                     const PointSphereTree& tree, const ShellMotion& motion,
                                     const ApproachSettings& settings) {
  ShellPath path;
  compute_shell_path(motion, ball_of(tree), settings.path_tolerance * cell, path);
  return Search(field, tree, path, settings.field_points)
      .run(settings.tolerance * cell, settings.max_values);
}

}  // namespace isotact
