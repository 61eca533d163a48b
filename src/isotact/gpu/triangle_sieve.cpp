#include "isotact/gpu/detail/triangle_sieve.h"

#include <algorithm>
#include <cmath>

namespace isotact::detail {

void TriangleSieve::begin(const SolidTiles& solid, std::array<std::int32_t, 2> pixels,
                          std::size_t most_bundles) {
  solid_ = &solid;
  bundles_left_ = most_bundles;
  scale_ = {static_cast<float>(pixels[0]) / 32, static_cast<float>(pixels[1]) / 32, 0.5F};
  triangles_.clear();
  tiles_.clear();
  const auto count =
      static_cast<std::size_t>(solid.columns()) * static_cast<std::size_t>(solid.rows());
  if (marks_.size() < count) marks_.resize(count);
  if (++picture_ == 0) {
    std::fill(marks_.begin(), marks_.end(), 0U);
    picture_ = 1;
  }
}

Vec3f TriangleSieve::place(const Vec3f& corner) const {
  const auto along = [&](std::size_t r) {
    return rows_[r] * corner.x + rows_[r + 1] * corner.y + rows_[r + 2] * corner.z + rows_[r + 3];
  };
  return {along(0), along(4), along(8)};
}

bool TriangleSieve::may_meet(const ClusterNode& node) const {
  const auto reach = [&](std::size_t r) {
    return std::abs(rows_[r]) * node.half.x + std::abs(rows_[r + 1]) * node.half.y +
           std::abs(rows_[r + 2]) * node.half.z;
  };
  const Vec3f at = place(node.middle);
  const Vec3f half = Vec3f{reach(0), reach(4), reach(8)} + room_;
  return solid_->may_meet(at - half, at + half);
}

// A triangle in the picture, and its plane: depth = depth(first) + slope . (place - first), off by
// no more than `off` a tile of distance. Where it is seen along itself there is no plane.
struct TriangleSieve::Placed {
  Vec3 at[3];
  double lower, upper;  // depths
  bool has_plane = false;
  double turn = 0;  // 1: counter-clockwise
  double slope_x = 0, slope_y = 0, off = 0;
};

// Is the triangle over the tile, at a depth at which something solid is there? Corners in the GPU's
// arithmetic are those of ours, moved by d: a place p of the triangle then has the depth that ours
// has at p - d' (the same weights of corners; |d'| <= |d|), so room for d across, and for the
// difference of depths, is all that the plane needs. 1/2 and a little more: a tile with the half
// pixel up to its neighbours' middles.
bool TriangleSieve::mark(const Placed& t, int column, int row) {
  const TileRange& range = solid_->range(column, row);
  if (double{range.near} > t.upper || double{range.far} < t.lower) return false;
  if (t.has_plane) {
    const double x = column + 0.5, y = row + 0.5;
    const double half_x = 0.5 + double{room_.x}, half_y = 0.5 + double{room_.y};
    for (int k = 0; k < 3; ++k) {
      const Vec3 &a = t.at[k], &b = t.at[(k + 1) % 3];
      const double side_x = b.x - a.x, side_y = b.y - a.y;
      const double inner = t.turn * (side_x * (y - a.y) - side_y * (x - a.x));
      const double reach = std::abs(side_x) * half_y + std::abs(side_y) * half_x;
      if (inner + reach * (1 + 1e-12) < 0) return false;
    }
    const double away_x = x - t.at[0].x, away_y = y - t.at[0].y;
    const double depth = t.at[0].z + t.slope_x * away_x + t.slope_y * away_y;
    const double reach = std::abs(t.slope_x) * half_x + std::abs(t.slope_y) * half_y +
                         double{room_.z} + t.off * (1 + std::abs(away_x) + std::abs(away_y));
    if (double{range.near} > depth + reach || double{range.far} < depth - reach) return false;
  }
  std::uint32_t& mark = marks_[static_cast<std::size_t>(row * solid_->columns() + column)];
  if (mark != picture_) {
    mark = picture_;
    tiles_.push_back(solid_->place(column, row));
  }
  return true;
}

void TriangleSieve::test(const Vec3f* corners, std::uint32_t triangle) {
  const Vec3f a = place(corners[0]), b = place(corners[1]), c = place(corners[2]);
  const Vec3f lower = min(a, min(b, c)) - room_, upper = max(a, max(b, c)) + room_;
  if (!solid_->may_meet(lower, upper)) return;
  Placed t{.at = {to_double(a), to_double(b), to_double(c)},
           .lower = double{lower.z},
           .upper = double{upper.z}};
  const Vec3 e = t.at[1] - t.at[0], f = t.at[2] - t.at[0];
  const double area = e.x * f.y - e.y * f.x;
  const double sum = std::abs(e.x * f.y) + std::abs(e.y * f.x);
  if (std::abs(area) > 1e-9 * sum) {
    t.has_plane = true;
    t.turn = area > 0 ? 1 : -1;
    t.slope_x = (e.z * f.y - f.z * e.y) / area;
    t.slope_y = (e.x * f.z - f.x * e.z) / area;
    // Products are off by 2^-53 of themselves, and the area by 1e-7 of itself at most.
    const double products = std::abs(e.z * f.y) + std::abs(f.z * e.y) + std::abs(e.x * f.z) +
                            std::abs(f.x * e.z);
    t.off = 1e-15 * products / std::abs(area) +
            1e-6 * (std::abs(t.slope_x) + std::abs(t.slope_y)) + 1e-12;
  }
  const SolidTiles::Span span = solid_->find_span(lower, upper);
  bool found = false;
  for (int row = span.first_row; row <= span.last_row; ++row)
    for (int column = span.first_column; column <= span.last_column; ++column)
      if (mark(t, column, row)) found = true;
  if (found) triangles_.push_back(triangle);
}

bool TriangleSieve::add(const GpuMeshes::State& meshes, const GpuMeshes::State::Element& element,
                        const std::array<float, 12>& clip_from_element) {
  triangles_.clear();
  for (std::size_t axis = 0; axis < 3; ++axis) {
    float greatest = std::abs(clip_from_element[4 * axis + 3]) + 1;
    for (std::size_t k = 0; k < 3; ++k) {
      rows_[4 * axis + k] = clip_from_element[4 * axis + k] * scale_[axis];
      const double far = std::max(std::abs(element.bounds.lower[k]), std::abs(element.bounds.upper[k]));
      greatest += std::abs(clip_from_element[4 * axis + k]) * static_cast<float>(far);
    }
    rows_[4 * axis + 3] = (clip_from_element[4 * axis + 3] + 1) * scale_[axis];
    // Each of some ten roundings, here and there, is 2^-24 of no more than `greatest`. Across, the
    // GPU snaps to 1/4096 of a pixel, and looks 1/64 further.
    room_[axis] = 2e-6F * greatest * scale_[axis] + (axis == 2 ? 2e-6F : 1.0F / 512);
  }
  for (std::uint32_t n = element.first_node; n < element.end_node;) {
    const ClusterNode& node = meshes.nodes[n];
    if (!may_meet(node)) {
      n = node.end;
      continue;
    }
    ++n;
    if (node.count == 0) continue;
    if (bundles_left_ == 0) return false;
    --bundles_left_;
    for (std::uint32_t i = 0; i < node.count; ++i)
      test(&meshes.corners_here[node.first + 3 * std::size_t{i}], node.first / 3 + i);
  }
  return true;
}

}  // namespace isotact::detail
