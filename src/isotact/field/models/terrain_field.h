// Ground under a height map: the half-space below y = height(x, z).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "isotact/export.h"
#include "isotact/field/field.h"
#include "isotact/geometry/mesh/mesh.h"

namespace ISOTACT_PUBLIC isotact {

// Heights at the nodes of a regular grid in the plane, x fastest. They are bilinear between nodes,
// and outside those of the nearest point of the grid's boundary.
struct TerrainHeights {
  double origin_x = 0, origin_z = 0;  // Position of node (0, 0), metres.
  double spacing = 1;                 // Metres.
  std::int32_t cells_x = 0, cells_z = 0;
  std::vector<float> heights{};  // (cells_x + 1) * (cells_z + 1), metres.
};

// "heights has 12 numbers, 4 * 4 are needed".
std::optional<std::string> find_flaw(const TerrainHeights& terrain);

// The surface over the grid, facing up: two triangles per cell, one vertex per node in the order of
// heights. For pictures and file formats: it bounds no solid. Throws Error if find_flaw names a
// flaw.
TriangleMesh make_surface(const TerrainHeights& terrain);

// value(p) = (p_y - height) / sqrt(1 + s^2), with s the steepest slope of the map.
//
// It is not the distance, which would need a search, but a bound of it on both sides. Between two
// points the height differs by at most s times their distance in the plane. Hence p_y - height
// differs by at most |dy| + s |dxz| <= sqrt(1 + s^2) |d|: the value is 1-Lipschitz. It is zero on
// the surface alone and has the right sign, so |value| is at most the distance. The surface point
// straight above or below is |p_y - height| away, so the distance is at most sqrt(1 + s^2) |value|.
//
// Immutable; copies share the heights. A value costs some 20 ns.
class TerrainField {
 public:
  explicit TerrainField(TerrainHeights terrain);  // Throws Error if find_flaw names a flaw.

  double value(const Vec3& point) const { return sample(point).distance; }
  FieldSample sample(const Vec3& point) const;
  Aabb bounds() const;
  double lipschitz() const { return 1; }
  // Exact over the cells that the box touches. Cost: one pass over their heights.
  Interval range(const Aabb& box) const;
  Interval distance_bounds(const Vec3& point) const;

  double height(double x, double z) const;
  double max_slope() const { return max_slope_; }  // Metres up per metre; a bound.
  const TerrainHeights& terrain() const { return *terrain_; }

 private:
  std::shared_ptr<const TerrainHeights> terrain_;
  double max_slope_ = 0;
  double scale_ = 1;  // 1 / sqrt(1 + max_slope^2).
};

}  // namespace isotact
