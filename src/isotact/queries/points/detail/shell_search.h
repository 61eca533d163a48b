// One shell in one target at one pose, prepared for the kernels.
#pragma once

#include <cstdint>
#include <span>

#include "isotact/base/mat3.h"
#include "isotact/queries/points/detail/shell_view.h"
#include "isotact/queries/points/detail/target_access.h"
#include "isotact/queries/points/shell_query.h"

namespace isotact::detail {

class ShellSearch {
 public:
  ShellSearch(const PointSphereTree& tree, const ShellTarget& target,
              const ShellPlacement& placement, double margin);
  ShellSearch(const ShellSearch&) = delete;
  ShellSearch& operator=(const ShellSearch&) = delete;

  const ShellView& view() const { return view_; }

  // Returns candidates: points that may be hits, in order. With has_distances() their distances are
  // known, and they are hits.
  ShellCounts search(const ShellBuffers& buffers) const;
  ShellCounts search_linear(const ShellBuffers& buffers) const;
  ShellCounts search_clusters(std::span<const std::uint32_t> clusters,
                              const ShellBuffers& buffers) const;
  // Finds clusters that may contain a hit while no point moves further than `reach` (metres);
  // writes to front[0]. Not for an AnyField.
  ShellCounts find_clusters(double reach, const ShellBuffers& buffers) const;
  bool has_distances() const;

  // Returns bits of spheres that may contain a hit.
  unsigned test_group(const SphereGroup& group) const;
  // Returns distances of points, metres (world).
  void measure(std::span<const std::uint32_t> points, float* distances) const;

  // Returns a lower bound of the distance of points as near as `reach` (metres of the shell) to one
  // of that distance.
  double compute_least(float distance, float reach) const {
    return static_cast<double>(distance) - slope_ * static_cast<double>(reach) - jump_;
  }

 private:
  void prepare_formula();
  void prepare_grid();
  ShellTask task() const { return {&view_, &map_, &numbers_, clearance_}; }
  void measure_in_field(std::span<const std::uint32_t> points, float* distances) const;
  void measure_one_by_one(std::span<const std::uint32_t> points, float* distances) const;
  ShellCounts search_any(const ShellBuffers& buffers) const;
  Vec3 place_in_target(std::uint32_t point) const;

  const PointSphereTree& tree_;
  const ShellTarget& target_;
  const ShellPlacement& placement_;
  double margin_, slope_, jump_;
  Mat3 linear_{};  // From the shell to the target's frame, unscaled.
  Vec3 offset_{};
  ShellView view_{};
  ShellMap map_{};
  ShellMap cells_{};  // Into fine cells of a brick field.
  FormulaNumbers numbers_{};
  const ClearanceView* clearance_ = nullptr;
  SphereTest test_ = SphereTest::kClearance;
  double units_a_metre_ = 1;  // For the map.
  const ShellKernels* kernels_;
};

}  // namespace isotact::detail
