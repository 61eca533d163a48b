#include <algorithm>
#include <cmath>

#include "isotact/gpu/depth/detail/depth_state.h"

namespace isotact::detail {
namespace {

// Bundles of eight triangles each that are tested: more are rarely clear.
constexpr std::size_t kMostBundles = 16;

ISOTACT_INLINE Vec3f to_vec(Lanes<float, 4> lanes) { return {lanes.v[0], lanes.v[1], lanes.v[2]}; }

}  // namespace

void TriangleSieve::begin(const SolidTiles& solid, std::array<std::int32_t, 2> pixels) {
  solid_ = &solid;
  bundles_left_ = kMostBundles;
  scale_ = {static_cast<float>(pixels[0]) / 32, static_cast<float>(pixels[1]) / 32, 0.5F};
}

// A triangle in the picture, and its plane: depth = depth(first) + slope . (position - first), off
// by no more than `off` per tile of distance. An edge-on triangle has no plane.
struct TriangleSieve::Placed {
  Vec3 at[3];
  bool has_plane = false;
  double turn = 0;  // 1: counter-clockwise.
  double slope_x = 0, slope_y = 0, off = 0;
};

// Returns whether the triangle, whose box overlaps, is over the tile at a depth at which something
// is solid there. Corners in the GPU's arithmetic are ours, moved by d. A position p of the
// triangle then has the depth that ours has at p - d' (the same weights of corners; |d'| <= |d|). A
// tolerance of d across, and of the difference of depths, is therefore all that the plane needs.
// 1/2 and a little more: a tile with the half pixel up to the centres of its neighbours.
bool TriangleSieve::is_over(const Placed& t, const Vec3f& room, int column, int row) const {
  if (t.has_plane) {
    const TileRange& range = solid_->range(column, row);
    const double x = column + 0.5, y = row + 0.5;
    const double half_x = 0.5 + double{room.x}, half_y = 0.5 + double{room.y};
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
                         double{room.z} + t.off * (1 + std::abs(away_x) + std::abs(away_y));
    if (double{range.near} > depth + reach || double{range.far} < depth - reach) return false;
  }
  return true;
}

bool TriangleSieve::is_triangle_clear(const Vec3f* corners) const {
  const Vec3f a = to_vec(placing_.place(corners[0])), b = to_vec(placing_.place(corners[1])),
              c = to_vec(placing_.place(corners[2])), room = to_vec(placing_.room);
  const Vec3f lower = min(a, min(b, c)) - room, upper = max(a, max(b, c)) + room;
  if (!solid_->may_meet(lower, upper)) return true;
  Placed t{.at = {to_double(a), to_double(b), to_double(c)}};
  const Vec3 e = t.at[1] - t.at[0], f = t.at[2] - t.at[0];
  const double area = e.x * f.y - e.y * f.x;
  const double sum = std::abs(e.x * f.y) + std::abs(e.y * f.x);
  if (std::abs(area) > 1e-9 * sum) {
    t.has_plane = true;
    t.turn = area > 0 ? 1 : -1;
    t.slope_x = (e.z * f.y - f.z * e.y) / area;
    t.slope_y = (e.x * f.z - f.x * e.z) / area;
    // Products are off by 2^-53 of themselves, and the area by at most 1e-7 of itself.
    const double products =
        std::abs(e.z * f.y) + std::abs(f.z * e.y) + std::abs(e.x * f.z) + std::abs(f.x * e.z);
    t.off = 1e-15 * products / std::abs(area) + 1e-6 * (std::abs(t.slope_x) + std::abs(t.slope_y)) +
            1e-12;
  }
  return solid_->none_met(lower, upper,
                          [&](int column, int row) { return is_over(t, room, column, row); });
}

void TriangleSieve::set_placing(const GpuMeshes::State::Element& element,
                                const glsl::Rows3x4& clip_from_element) {
  placing_ = {};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const float scale = scale_[axis];
    float greatest = std::abs(clip_from_element[4 * axis + 3]) + 1;
    Placing::Column* const columns[] = {&placing_.x, &placing_.y, &placing_.z};
    Placing::Column* const sizes[] = {&placing_.size_x, &placing_.size_y, &placing_.size_z};
    for (std::size_t k = 0; k < 3; ++k) {
      const float row = clip_from_element[4 * axis + k];
      columns[k]->v[axis] = row * scale;
      sizes[k]->v[axis] = std::abs(row * scale);
      const double far =
          std::max(std::abs(element.bounds.lower[k]), std::abs(element.bounds.upper[k]));
      greatest += std::abs(row) * static_cast<float>(far);
    }
    placing_.start.v[axis] = (clip_from_element[4 * axis + 3] + 1) * scale;
    // Each of about ten roundings, here and there, is 2^-24 of at most `greatest`. Across, the GPU
    // snaps to 1/4096 of a pixel, and tests 1/64 further.
    placing_.room.v[axis] = 2e-6F * greatest * scale + (axis == 2 ? 2e-6F : 1.0F / 512);
  }
}

bool TriangleSieve::is_clear(const GpuMeshes::State& meshes,
                             const GpuMeshes::State::Element& element,
                             const glsl::Rows3x4& clip_from_element) {
  set_placing(element, clip_from_element);
  for (std::uint32_t n = element.first_node; n < element.end_node;) {
    const ClusterNode& node = meshes.nodes[n];
    const auto at = placing_.place(node.middle), reach = placing_.compute_reach(node.half);
    if (!solid_->may_meet(to_vec(at - reach), to_vec(at + reach))) {
      n = node.end;
      continue;
    }
    ++n;
    if (node.count == 0) continue;
    if (bundles_left_ == 0) return false;
    --bundles_left_;
    for (std::uint32_t i = 0; i < node.count; ++i)
      if (!is_triangle_clear(&meshes.corners_here[node.first + 3 * std::size_t{i}])) return false;
  }
  return true;
}

}  // namespace isotact::detail
