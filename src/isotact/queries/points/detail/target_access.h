// What queries read of a target.
#pragma once

#include <memory>
#include <vector>

#include "isotact/queries/detail/grid_target.h"
#include "isotact/queries/shell_target.h"

namespace isotact::detail {

struct HullTarget {
  std::shared_ptr<const HullSolid> solid;
  std::vector<float> planes;  // x, y, z, offset of each
};

// Signed, exact: to the rounded hull.
double find_hull_distance(const HullSolid& hull, const Vec3& point);

struct ShellTargetAccess {
  static const Vec3& center(const ShellTarget& t) { return t.center_; }
  static const Vec3& axis(const ShellTarget& t) { return t.axis_; }
  static double size(const ShellTarget& t, int i) { return t.sizes_[i]; }
  static double rounding(const ShellTarget& t) { return t.rounding_; }
  static const HullTarget* hull(const ShellTarget& t) { return t.hull_.get(); }
  static const GridTarget* grid(const ShellTarget& t) { return t.grid_.get(); }
  static const AnyField* any(const ShellTarget& t) { return t.any_.get(); }
  // Whether two give the same answers for certain.
  static bool is_same(const ShellTarget& a, const ShellTarget& b) {
    return a.kind_ == b.kind_ && a.center_ == b.center_ && a.axis_ == b.axis_ &&
           a.sizes_[0] == b.sizes_[0] && a.sizes_[1] == b.sizes_[1] && a.sizes_[2] == b.sizes_[2] &&
           a.rounding_ == b.rounding_ && a.hull_ == b.hull_ && a.grid_ == b.grid_ &&
           a.any_ == b.any_;
  }
};

}  // namespace isotact::detail
