// How far is it from a place to the nearest point of a tree?
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "isotact/pointshell/point_sphere_tree.h"

namespace isotact::detail {

// Depth first, nearest child first. For one thread at a time; the tree must outlive it.
class NearestOnShell {
 public:
  explicit NearestOnShell(const PointSphereTree& tree) : tree_(tree) {
    for (int level = 0; level < tree.level_count(); ++level) levels_.push_back(tree.level(level));
  }

  double distance(const Vec3& x) {
    best_ = std::numeric_limits<double>::infinity();
    visit(0, 0, x);
    return best_;
  }

 private:
  struct Child {
    double bound;
    std::uint32_t place;
  };

  void visit(std::size_t level, std::uint32_t place, const Vec3& x) {
    const ShellNode& node = levels_[level].nodes[place];
    if (level + 1 == levels_.size()) {
      for (std::uint32_t i = 0; i < node.point_count; ++i)
        best_ = std::min(best_, length(to_double(tree_.point(node.first_point + i)) - x));
      return;
    }
    Child children[kMaxChildren];
    for (std::uint32_t i = 0; i < node.child_count; ++i) {
      const Spheref s = sphere(levels_[level + 1], node.first_child + i);
      children[i] = {length(to_double(s.center) - x) - static_cast<double>(s.radius),
                     node.first_child + i};
    }
    std::sort(children, children + node.child_count,
              [](const Child& a, const Child& b) { return a.bound < b.bound; });
    for (std::uint32_t i = 0; i < node.child_count && children[i].bound < best_; ++i)
      visit(level + 1, children[i].place, x);
  }

  const PointSphereTree& tree_;
  std::vector<ShellLevel> levels_;
  double best_ = 0;
};

}  // namespace isotact::detail
