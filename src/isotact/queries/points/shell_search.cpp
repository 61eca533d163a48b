#include "isotact/queries/points/detail/shell_search.h"

#include <algorithm>
#include <cmath>

#include "isotact/queries/points/detail/shell_kernel.h"

namespace isotact::detail {
namespace {

// Positions are floats after some operations. Relative to the largest number in them; float's step
// is 6e-8.
constexpr double kShellRounding = 2e-6;
constexpr double kWidenRadius = 1 + 1e-6;  // Radii.

using TargetAccess = ShellTargetAccess;

ShellView make_view(const PointSphereTree& tree) {
  ShellView view{};
  view.level_count = tree.level_count();
  const std::byte* base = tree.buffer().data();
  const PointSphereTreeHeader& h = tree.header();
  for (int i = 0; i < view.level_count; ++i) {
    view.levels[i].groups = reinterpret_cast<const SphereGroup*>(base + h.levels[i].group_offset);
    view.levels[i].nodes = reinterpret_cast<const ShellNode*>(base + h.levels[i].node_offset);
  }
  view.point_count = h.point_count;
  view.x = reinterpret_cast<const float*>(base + h.x_offset);
  view.y = reinterpret_cast<const float*>(base + h.y_offset);
  view.z = reinterpret_cast<const float*>(base + h.z_offset);
  return view;
}

SphereTest test_of(TargetKind kind) {
  switch (kind) {
    case TargetKind::kPlane:
      return SphereTest::kPlane;
    case TargetKind::kBox:
      return SphereTest::kBox;
    case TargetKind::kSphere:
      return SphereTest::kSphere;
    case TargetKind::kCapsule:
      return SphereTest::kCapsule;
    case TargetKind::kCylinder:
      return SphereTest::kCylinder;
    case TargetKind::kCone:
      return SphereTest::kCone;
    case TargetKind::kHull:
      return SphereTest::kHull;
    case TargetKind::kBrickField:
    case TargetKind::kVoxmap:
    case TargetKind::kAnyField:
      break;
  }
  return SphereTest::kClearance;
}

}  // namespace

ShellSearch::ShellSearch(const PointSphereTree& tree, const ShellTarget& target,
                         const ShellPlacement& placement, double margin)
    : tree_(tree),
      target_(target),
      placement_(placement),
      margin_(margin),
      slope_(target.lipschitz() * placement.shell_scale),
      jump_(target.jump() * placement.field_scale),
      view_(make_view(tree)),
      test_(test_of(target.kind())),
      kernels_(&choose_shell_kernels(simd_level())) {
  const Mat3 rotation = to_matrix(placement.field_from_shell.rotation);
  const double per_field = 1 / placement.field_scale;
  for (std::size_t axis = 0; axis < 3; ++axis)
    linear_.rows[axis] = rotation.rows[axis] * (placement.shell_scale * per_field);
  offset_ = placement.field_from_shell.translation * per_field;
  if (TargetAccess::grid(target) != nullptr)
    prepare_grid();
  else
    prepare_formula();
}

// Metres of the world, about the solid's centre. For a hull in its own metres, since its planes
// are.
void ShellSearch::prepare_formula() {
  const double scale = target_.kind() == TargetKind::kHull ? 1 : placement_.field_scale;
  const double in_world = scale == 1 ? 1 : placement_.field_scale;
  units_a_metre_ = target_.kind() == TargetKind::kHull ? 1 / placement_.field_scale : 1;
  const Vec3 offset = (offset_ - TargetAccess::center(target_)) * in_world;
  const Vec3& axis = TargetAccess::axis(target_);
  const auto size = [&](int i) { return TargetAccess::size(target_, i) * scale; };
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t k = 0; k < 3; ++k)
      map_.linear[row][k] = static_cast<float>(linear_.rows[row][k] * in_world);
    map_.offset[row] = static_cast<float>(offset[row]);
  }
  numbers_.rounding = static_cast<float>(TargetAccess::rounding(target_) * scale);
  float* n = numbers_.number;
  double largest = length(offset) + TargetAccess::rounding(target_) * scale;
  switch (target_.kind()) {
    case TargetKind::kPlane: {
      // The plane is transformed to the shell: one product per point, and no large numbers that
      // cancel.
      const Vec3 normal = transpose(linear_) * axis;
      for (std::size_t k = 0; k < 3; ++k)
        map_.linear[0][k] = static_cast<float>(normal[k] * in_world);
      const double at = dot(axis, offset) - size(0);
      map_.offset[0] = static_cast<float>(at);
      largest = std::abs(at);
      break;
    }
    case TargetKind::kBox:
      for (int i = 0; i < 3; ++i) n[i] = static_cast<float>(size(i)), largest += size(i);
      break;
    case TargetKind::kCapsule: {
      const Vec3 along = axis * scale;
      for (std::size_t i = 0; i < 3; ++i) n[i] = static_cast<float>(along[i]);
      const double square = length_sq(along);
      n[3] = square > 0 ? static_cast<float>(1 / square) : 0;
      largest += length(along);
      break;
    }
    case TargetKind::kCylinder:
    case TargetKind::kCone: {
      const double radius = size(0), half = size(1);
      const double side = std::sqrt(radius * radius + 4 * half * half);
      n[0] = static_cast<float>(radius), n[1] = static_cast<float>(half);
      n[2] = static_cast<float>(2 * half / side), n[3] = static_cast<float>(radius / side);
      n[4] = -n[3], n[5] = n[2], n[6] = static_cast<float>(side);
      largest += radius + half;
      break;
    }
    case TargetKind::kHull: {
      const HullTarget& hull = *TargetAccess::hull(target_);
      numbers_.planes = hull.planes.data();
      numbers_.plane_count = static_cast<std::uint32_t>(hull.planes.size() / 4);
      for (const Vec3& corner : hull.solid->corners) largest = std::max(largest, length(corner));
      break;
    }
    case TargetKind::kSphere:
    case TargetKind::kBrickField:
    case TargetKind::kVoxmap:
    case TargetKind::kAnyField:
      break;
  }
  const Spheref ball = tree_.bounding_sphere();
  const double shell = placement_.shell_scale * units_a_metre_;
  largest += shell * (length(to_double(ball.center)) + static_cast<double>(ball.radius));
  map_.radius_scale = static_cast<float>(shell * kWidenRadius);
  map_.margin = static_cast<float>(margin_ * units_a_metre_);
  map_.cull = static_cast<float>(margin_ * units_a_metre_ + kShellRounding * largest);
}

void ShellSearch::prepare_grid() {
  const GridTarget& grid = *TargetAccess::grid(target_);
  clearance_ = &grid.view;
  const double per_block = 1 / grid.block;
  units_a_metre_ = per_block / placement_.field_scale;
  double largest = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (std::size_t k = 0; k < 3; ++k)
      map_.linear[axis][k] = static_cast<float>(linear_.rows[axis][k] * per_block);
    const double at = (offset_[axis] - grid.origin[axis]) * per_block;
    if (grid.field) {
      const double per_cell = 1 / grid.field->voxel_size();
      for (std::size_t k = 0; k < 3; ++k)
        cells_.linear[axis][k] = static_cast<float>(linear_.rows[axis][k] * per_cell);
      cells_.offset[axis] = static_cast<float>((offset_[axis] - grid.origin[axis]) * per_cell);
    }
    map_.offset[axis] = static_cast<float>(at);
    largest += std::abs(at) + static_cast<double>(grid.view.size[axis]);
  }
  const Spheref ball = tree_.bounding_sphere();
  const double shell = placement_.shell_scale * units_a_metre_;
  largest += shell * (length(to_double(ball.center)) + static_cast<double>(ball.radius));
  map_.radius_scale = static_cast<float>(shell * kWidenRadius);
  map_.cull = static_cast<float>(grid.reach + kShellRounding * largest);
}

bool ShellSearch::has_distances() const {
  return test_ != SphereTest::kClearance && test_ != SphereTest::kHull;
}

ShellCounts ShellSearch::search(const ShellBuffers& buffers) const {
  if (TargetAccess::any(target_) != nullptr) return search_any(buffers);
  return kernels_->search(test_, task(), buffers);
}

ShellCounts ShellSearch::search_linear(const ShellBuffers& buffers) const {
  if (has_distances()) return kernels_->search_linear(test_, task(), buffers);
  ShellCounts counts;
  for (std::uint32_t i = 0; i < view_.point_count; ++i) buffers.points[i] = i;
  counts.points = view_.point_count;
  counts.points_seen = view_.point_count;
  return counts;
}

ShellCounts ShellSearch::search_clusters(std::span<const std::uint32_t> clusters,
                                         const ShellBuffers& buffers) const {
  return kernels_->search_clusters(test_, task(), clusters.data(),
                                   static_cast<std::uint32_t>(clusters.size()), buffers);
}

ShellCounts ShellSearch::find_clusters(double reach, const ShellBuffers& buffers) const {
  ShellMap wider = map_;
  wider.cull += static_cast<float>(reach * units_a_metre_ * kWidenRadius);
  const ShellTask task{&view_, &wider, &numbers_, clearance_};
  return kernels_->find_clusters(test_, task, buffers);
}

unsigned ShellSearch::test_group(const SphereGroup& group) const {
  const AnyField* any = TargetAccess::any(target_);
  if (any == nullptr) return kernels_->test_group(test_, task(), group);
  unsigned bits = 0;
  for (unsigned lane = 0; lane < 8; ++lane) {
    if (group.radius[lane] < 0) continue;
    const Vec3 center =
        linear_ * to_double(Vec3f{group.x[lane], group.y[lane], group.z[lane]}) + offset_;
    const double value = any->value(center) * placement_.field_scale;
    const double reach = slope_ * static_cast<double>(group.radius[lane]) * kWidenRadius +
                         kShellRounding * length(center) * placement_.field_scale;
    if (!(value > margin_ + reach)) bits |= 1U << lane;
  }
  return bits;
}

ShellCounts ShellSearch::search_any(const ShellBuffers& buffers) const {
  ShellCounts counts;
  counts.spheres_seen = 1;
  if ((test_group(view_.levels[0].groups[0]) & 1U) == 0) return counts;
  buffers.front[0][0] = 0;
  std::uint32_t front = 1;
  unsigned in = 0;
  for (int level = 0; level + 1 < view_.level_count; ++level, in ^= 1U) {
    std::uint32_t next = 0;
    for (std::uint32_t i = 0; i < front; ++i) {
      const ShellNode& node = view_.levels[level].nodes[buffers.front[in][i]];
      counts.spheres_seen += node.child_count;
      for (std::uint32_t k = 0; k < node.child_count; k += 8) {
        const std::uint32_t child = node.first_child + k;
        unsigned bits = test_group(view_.levels[level + 1].groups[child / 8]) >> child % 8;
        for (; bits != 0; bits &= bits - 1) {
          const auto lane = static_cast<std::uint32_t>(__builtin_ctz(bits));
          if (k + lane < node.child_count) buffers.front[in ^ 1U][next++] = child + lane;
        }
      }
    }
    front = next;
  }
  for (std::uint32_t i = 0; i < front; ++i) {
    const ShellNode& node = view_.levels[view_.level_count - 1].nodes[buffers.front[in][i]];
    for (std::uint32_t k = 0; k < node.point_count; ++k)
      buffers.points[counts.points++] = node.first_point + k;
    counts.points_seen += node.point_count;
  }
  return counts;
}

Vec3 ShellSearch::place_in_target(std::uint32_t point) const {
  return linear_ * to_double(Vec3f{view_.x[point], view_.y[point], view_.z[point]}) + offset_;
}

void ShellSearch::measure(std::span<const std::uint32_t> points, float* distances) const {
  if (has_distances()) {
    for (std::size_t at = 0; at < points.size(); at += 8)
      kernels_->measure(test_, task(), points.data() + at,
                        static_cast<std::uint32_t>(std::min<std::size_t>(8, points.size() - at)),
                        distances + at);
  } else if (target_.field() != nullptr) {
    measure_in_field(points, distances);
  } else {
    measure_one_by_one(points, distances);
  }
}

void ShellSearch::measure_in_field(std::span<const std::uint32_t> points, float* distances) const {
  kernels_->measure_bricks(TargetAccess::grid(target_)->bricks, cells_, view_, points.data(),
                           points.size(), distances);
  const auto scale = static_cast<float>(placement_.field_scale);
  if (scale == 1) return;
  for (std::size_t i = 0; i < points.size(); ++i) distances[i] *= scale;
}

void ShellSearch::measure_one_by_one(std::span<const std::uint32_t> points,
                                     float* distances) const {
  const std::span<const Vec3f> normals = tree_.normals();
  const HullTarget* hull = TargetAccess::hull(target_);
  const Voxmap* voxmap = target_.voxmap();
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Vec3 place = place_in_target(points[i]);
    double d = 0;
    if (hull != nullptr) {
      d = compute_hull_distance(*hull->solid, place);
    } else if (voxmap == nullptr) {
      d = TargetAccess::any(target_)->value(place);
    } else if (voxmap->encoding() == VoxmapEncoding::kSupport) {
      d = voxmap->interpolated_distance(place);
    } else {
      const Vec3 inward =
          -rotate(placement_.field_from_shell.rotation, to_double(normals[points[i]]));
      d = voxmap->distance(place, inward);
    }
    distances[i] = static_cast<float>(d * placement_.field_scale);
  }
}

const ShellKernels& shell_kernels_baseline() {
  static const ShellKernels kernels = ShellKernel<Lanes<float, 4>>::kernels();
  return kernels;
}

const ShellKernels& choose_shell_kernels([[maybe_unused]] SimdLevel level) {
#if defined(ISOTACT_HAS_AVX2_KERNELS)
  if (level == SimdLevel::kAvx2) return shell_kernels_avx2();
#endif
  return shell_kernels_baseline();
}

}  // namespace isotact::detail
