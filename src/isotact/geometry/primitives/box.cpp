#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include "isotact/geometry/primitives/detail/surface_builder.h"
#include "isotact/geometry/primitives/detail/tables.h"
#include "isotact/geometry/primitives/primitives.h"

namespace isotact {
namespace {

using Cell = std::array<std::uint64_t, 3>;

// The vertices of a box lie on an integer lattice; each is made when it is first asked for.
class BoxLattice {
 public:
  BoxLattice(const Vec3& size, const Cell& cells) : size_(size), cells_(cells) {}

  std::uint32_t vertex(const Cell& at) {
    const std::uint64_t key = (at[2] * (cells_[1] + 1) + at[1]) * (cells_[0] + 1) + at[0];
    const auto [found, is_new] = vertices_.try_emplace(key, 0);
    if (is_new) {
      Vec3 p;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const auto n = static_cast<double>(cells_[axis]), i = static_cast<double>(at[axis]);
        p[axis] = size_[axis] * ((2 * i - n) / (2 * n));
      }
      found->second = builder_.add(p);
    }
    return found->second;
  }

  // The side whose outside normal is along axis w, in the positive or negative sense.
  void add_side(std::size_t w, bool positive) {
    const std::size_t u = (w + 1) % 3, v = (w + 2) % 3;
    for (std::uint64_t j = 0; j < cells_[v]; ++j)
      for (std::uint64_t i = 0; i < cells_[u]; ++i) {
        std::array<std::uint32_t, 4> corner{};
        for (std::size_t k = 0; k < 4; ++k) {
          Cell at{};
          at[u] = i + (k == 1 || k == 2 ? 1 : 0);
          at[v] = j + (k >= 2 ? 1 : 0);
          at[w] = positive ? cells_[w] : 0;
          corner[k] = vertex(at);
        }
        if (positive)
          builder_.quad(corner[0], corner[1], corner[2], corner[3]);
        else
          builder_.quad(corner[0], corner[3], corner[2], corner[1]);
      }
  }

  TriangleMesh finish(const detail::FinestParameter& finest) const {
    return builder_.finish(finest);
  }

 private:
  Vec3 size_;
  Cell cells_;
  detail::SurfaceBuilder builder_;
  std::unordered_map<std::uint64_t, std::uint32_t> vertices_;
};

}  // namespace

TriangleMesh make_box(const BoxShape& shape) {
  detail::check(shape);
  const Vec3 size{shape.size_x, shape.size_y, shape.size_z};
  const double longest = std::max({size.x, size.y, size.z});
  Cell cells{};
  std::array<double, 3> n{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    n[axis] = std::max(1.0, std::floor(size[axis] / longest * shape.segments + 0.5));
    cells[axis] = static_cast<std::uint64_t>(n[axis]);
  }
  detail::check_triangles("box", "segments", shape.segments,
                          4 * (n[0] * n[1] + n[1] * n[2] + n[2] * n[0]));
  BoxLattice lattice(size, cells);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    lattice.add_side(axis, false);
    lattice.add_side(axis, true);
  }
  return lattice.finish({"box", "size_x", shape.size_x});
}

}  // namespace isotact
