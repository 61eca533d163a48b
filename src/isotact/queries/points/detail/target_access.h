// Data of a target that queries read.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/field/models/brick_field.h"
#include "isotact/field/voxmap/voxmap.h"
#include "isotact/queries/points/detail/brick_lanes.h"
#include "isotact/queries/points/detail/shell_view.h"
#include "isotact/queries/points/shell_target.h"

namespace isotact::detail {

// A field on a grid, or a voxmap, prepared for shell queries.

struct GridTarget {
  std::optional<BrickField> field;
  std::optional<Voxmap> voxmap;
  double max_margin = 0;  // Metres.

  Vec3 origin{};     // Origin of the blocks, metres.
  double block = 1;  // Metres.
  std::vector<std::uint8_t> quarters;
  ClearanceView view{};
  BrickView bricks{};  // If there is a field.
  // Blocks: if positions that count leave the box, they are within this distance of a marked block.
  double reach = 0;
};

GridTarget prepare_grid(const BrickField& field, double max_margin, Threads threads);
GridTarget prepare_grid(const Voxmap& voxmap, double max_margin, Threads threads);

struct HullTarget {
  std::shared_ptr<const HullSolid> solid;
  std::vector<float> planes;  // x, y, z, offset of each.
};

// Returns the signed, exact distance to the rounded hull.
double compute_hull_distance(const HullSolid& hull, const Vec3& point);

struct ShellTargetAccess {
  static const Vec3& center(const ShellTarget& t) { return t.center_; }
  static const Vec3& axis(const ShellTarget& t) { return t.axis_; }
  static double size(const ShellTarget& t, int i) { return t.sizes_[i]; }
  static double rounding(const ShellTarget& t) { return t.rounding_; }
  static const HullTarget* hull(const ShellTarget& t) { return t.hull_.get(); }
  static const GridTarget* grid(const ShellTarget& t) { return t.grid_.get(); }
  static const AnyField* any(const ShellTarget& t) { return t.any_.get(); }
  // Returns whether two certainly give the same results.
  static bool is_same(const ShellTarget& a, const ShellTarget& b) {
    return a.kind_ == b.kind_ && a.center_ == b.center_ && a.axis_ == b.axis_ &&
           a.sizes_[0] == b.sizes_[0] && a.sizes_[1] == b.sizes_[1] && a.sizes_[2] == b.sizes_[2] &&
           a.rounding_ == b.rounding_ && a.hull_ == b.hull_ && a.grid_ == b.grid_ &&
           a.any_ == b.any_;
  }
};

}  // namespace isotact::detail
