// The passes that make a layered voxelmap.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/base/vec.h"
#include "isotact/field/lattice.h"
#include "isotact/field/voxmap/voxmap.h"
#include "isotact/geometry/mesh/mesh.h"

namespace isotact::detail {

// 1 where a triangle meets the closed voxel, which is taken larger by 1e-9 of its side so that
// rounding never opens a gap. Triangles that are not finite are left out.
std::vector<std::uint8_t> find_surface_voxels(const TriangleMesh& mesh, const Lattice& lattice,
                                              Threads threads);

// Stretches of voxels along x without surface.
struct Run {
  std::int32_t begin = 0, end = 0;
};
enum class Side : std::uint8_t { kEnclosed, kOutside, kInside };  // enclosed: not known yet
struct Runs {
  std::vector<std::size_t> row_start;  // first run of each row, and one more at the end
  std::vector<Run> runs;
  std::vector<Side> sides;  // one a run
};
// Their number, before memory is taken for them.
std::size_t count_runs(std::span<const std::uint8_t> surface, const Index3& cells, Threads threads);
// Scan-line filling. A run is outside if it touches a face of the grid, or lies beside an outer run
// in one of the four neighbouring rows. Surface voxels hold the whole surface, so two voxels
// without surface that share as much as a corner lie on the same side. All other runs stay
// enclosed.
Runs fill_outside(std::span<const std::uint8_t> surface, const Index3& cells, Threads threads);

// Asks whether each region of enclosed voxels that share faces is inside, in the order of their
// first voxels. It calls is_inside(place) of one of the deepest voxels, always the same one.
// `depths` are the chessboard distances, of either sign.
void decide_enclosed(Runs& all, const Index3& cells, std::span<const std::int16_t> depths,
                     const std::function<bool(std::size_t place)>& is_inside);

// Chessboard distance of every voxel to the nearest one with mask 1; kNoLayer where there is none.
inline constexpr std::int16_t kNoLayer = 32767;
void compute_chessboard_distances(std::span<const std::uint8_t> mask, const Index3& cells,
                                  std::span<std::int16_t> distances, Threads threads);

// The paper's sign: outer runs turn negative, the others stay positive.
void apply_signs(const Runs& runs, const Index3& cells, std::span<std::int16_t> layers,
                 Threads threads);

struct LayerCounts {
  std::uint64_t surface = 0, inner = 0, outer = 0;
  int deepest = 0, furthest = 0;
};
LayerCounts count_layers(std::span<const std::int16_t> layers);

std::optional<std::string> find_flaw_in_counts(std::span<const std::int16_t> layers,
                                               const VoxmapHeader& header);
// Layers follow from the surface voxels and the sides of enclosed regions: this fills them again
// and compares.
std::optional<std::string> find_flaw_in_layers(std::span<const std::int16_t> layers,
                                               const Index3& cells);

// The first surface voxel from a voxel along the layers' gradient.
struct LayerWalk {
  std::size_t voxel = 0;  // flat index, of value 0
  bool strayed = false;
};
LayerWalk walk_to_surface(std::span<const std::int16_t> layers, const Index3& cells,
                          const Index3& from);

// Shared by builder, validator and decoder.
std::optional<std::string> find_flaw_in_voxmap_lattice(const Lattice& lattice);
std::size_t bytes_a_voxel(VoxmapEncoding encoding);
double power_of_ten(int exponent);  // -12 to 12, the nearest double

}  // namespace isotact::detail

namespace isotact {

// The door for those who have made a buffer themselves and need no check.
struct VoxmapAccess {
  static Voxmap adopt(std::span<const std::byte> buffer, std::shared_ptr<const void> owner) {
    return Voxmap::adopt(buffer, std::move(owner));
  }
};

}  // namespace isotact

namespace isotact::detail {

// Whether a triangle meets a box: the separating-axis test (SSL14 section 2.1.1; Akenine-Moeller
// 2001 gives the 13 axes).

// Closed sets: touching counts. Segments and points are welcome as degenerate triangles.
inline bool overlaps_triangle_box(const std::array<Vec3, 3>& triangle, const Vec3& middle,
                                  const Vec3& half) {
  const std::array<Vec3, 3> p{triangle[0] - middle, triangle[1] - middle, triangle[2] - middle};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto [lower, upper] = std::minmax({p[0][axis], p[1][axis], p[2][axis]});
    if (lower > half[axis] || upper < -half[axis]) return false;
  }
  const auto is_separating = [&](const Vec3& axis) {
    const auto [lower, upper] = std::minmax({dot(axis, p[0]), dot(axis, p[1]), dot(axis, p[2])});
    const double reach =
        std::fabs(axis.x) * half.x + std::fabs(axis.y) * half.y + std::fabs(axis.z) * half.z;
    return lower > reach || upper < -reach;
  };
  const std::array<Vec3, 3> edges{p[1] - p[0], p[2] - p[1], p[0] - p[2]};
  if (is_separating(cross(edges[0], edges[1]))) return false;
  for (const Vec3& e : edges)
    if (is_separating({0, -e.z, e.y}) || is_separating({e.z, 0, -e.x}) ||
        is_separating({-e.y, e.x, 0}))
      return false;
  return true;
}

}  // namespace isotact::detail
