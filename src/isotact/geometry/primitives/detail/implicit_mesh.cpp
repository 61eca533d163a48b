#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include "isotact/base/parallel.h"
#include "isotact/geometry/primitives/detail/implicit.h"

namespace isotact::detail {
namespace {

using Cell = std::array<std::size_t, 3>;

// Lattice points: the corners of the cells, then their centres.
class Lattice {
 public:
  Lattice(const ImplicitSolid& solid, double cell) : cell_(cell) {
    const Vec3 size = extent(solid.bounds);
    for (std::size_t axis = 0; axis < 3; ++axis)
      cells_[axis] = static_cast<std::size_t>(std::ceil(size[axis] / cell)) + 2;
    // Centred, so that symmetric solids get symmetric lattices.
    const Vec3 whole{static_cast<double>(cells_[0]), static_cast<double>(cells_[1]),
                     static_cast<double>(cells_[2])};
    lower_ = center(solid.bounds) - whole * (cell / 2);
    corners_ = (cells_[0] + 1) * (cells_[1] + 1) * (cells_[2] + 1);
    values_.resize(corners_ + cells_[0] * cells_[1] * cells_[2]);
    parallel_for(values_.size(), 1024, {}, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) values_[i] = solid.value(position(i));
    });
  }

  const Cell& cells() const { return cells_; }
  double value(std::size_t point) const { return values_[point]; }

  std::size_t corner(const Cell& c) const {
    return (c[2] * (cells_[1] + 1) + c[1]) * (cells_[0] + 1) + c[0];
  }
  std::size_t middle(const Cell& c) const {
    return corners_ + (c[2] * cells_[1] + c[1]) * cells_[0] + c[0];
  }

  Vec3 position(std::size_t point) const {
    const bool is_corner = point < corners_;
    const std::size_t extra = is_corner ? 1 : 0, i = is_corner ? point : point - corners_;
    const std::size_t nx = cells_[0] + extra, ny = cells_[1] + extra;
    const double shift = is_corner ? 0 : 0.5;
    return lower_ + Vec3{static_cast<double>(i % nx) + shift,
                         static_cast<double>(i / nx % ny) + shift,
                         static_cast<double>(i / nx / ny) + shift} *
                        cell_;
  }

 private:
  double cell_;
  Cell cells_{};
  Vec3 lower_;
  std::size_t corners_ = 0;
  std::vector<double> values_;
};

class Marcher {
 public:
  explicit Marcher(const Lattice& lattice) : lattice_(lattice) {}

  void add_tetrahedron(const std::array<std::size_t, 4>& points) {
    std::array<std::size_t, 4> in{}, out{};
    std::size_t in_count = 0, out_count = 0;
    for (const std::size_t p : points)
      (lattice_.value(p) < 0 ? in[in_count++] : out[out_count++]) = p;
    if (in_count == 0 || out_count == 0) return;
    const Vec3 outward = mean(out, out_count) - mean(in, in_count);
    if (in_count == 1)
      add({cut(in[0], out[0]), cut(in[0], out[1]), cut(in[0], out[2])}, outward);
    else if (out_count == 1)
      add({cut(in[0], out[0]), cut(in[1], out[0]), cut(in[2], out[0])}, outward);
    else
      add_quad({cut(in[0], out[0]), cut(in[0], out[1]), cut(in[1], out[1]), cut(in[1], out[0])},
               outward);
  }

  WorkMesh take() { return std::move(mesh_); }

 private:
  Vec3 mean(const std::array<std::size_t, 4>& points, std::size_t count) const {
    Vec3 sum;
    for (std::size_t i = 0; i < count; ++i) sum += lattice_.position(points[i]);
    return sum / static_cast<double>(count);
  }

  std::uint32_t cut(std::size_t in, std::size_t out) {
    const std::uint64_t key = (static_cast<std::uint64_t>(std::min(in, out)) << 32U) |
                              static_cast<std::uint64_t>(std::max(in, out));
    const auto [found, is_new] =
        vertices_.try_emplace(key, static_cast<std::uint32_t>(mesh_.points.size()));
    if (is_new) {
      const double a = lattice_.value(in), b = lattice_.value(out);
      const double t = std::clamp(a / (a - b), 0.2, 0.8);
      mesh_.points.push_back(lerp(lattice_.position(in), lattice_.position(out), t));
    }
    return found->second;
  }

  void add(Triangle t, const Vec3& outward) {
    const auto& p = mesh_.points;
    if (dot(cross(p[t[1]] - p[t[0]], p[t[2]] - p[t[0]]), outward) < 0) std::swap(t[1], t[2]);
    mesh_.triangles.push_back(t);
  }

  void add_quad(const std::array<std::uint32_t, 4>& q, const Vec3& outward) {
    const auto& p = mesh_.points;
    const bool first = length_sq(p[q[2]] - p[q[0]]) <= length_sq(p[q[3]] - p[q[1]]);
    add({q[0], q[1], first ? q[2] : q[3]}, outward);
    add({first ? q[0] : q[1], q[2], q[3]}, outward);
  }

  const Lattice& lattice_;
  WorkMesh mesh_;
  std::unordered_map<std::uint64_t, std::uint32_t> vertices_;
};

}  // namespace

WorkMesh march_tetrahedra(const ImplicitSolid& solid, double cell) {
  const Lattice lattice(solid, cell);
  Marcher marcher(lattice);
  const Cell& n = lattice.cells();
  // Each face between two cells, with an edge of the face, spans a tetrahedron with the two
  // centres.
  for (std::size_t z = 0; z < n[2]; ++z)
    for (std::size_t y = 0; y < n[1]; ++y)
      for (std::size_t x = 0; x < n[0]; ++x)
        for (std::size_t axis = 0; axis < 3; ++axis) {
          const Cell here{x, y, z};
          Cell next = here;
          if (++next[axis] == n[axis]) continue;
          const std::size_t u = (axis + 1) % 3, v = (axis + 2) % 3;
          std::array<Cell, 4> face{next, next, next, next};
          ++face[1][u], ++face[2][u], ++face[2][v], ++face[3][v];
          for (std::size_t i = 0; i < 4; ++i)
            marcher.add_tetrahedron({lattice.middle(here), lattice.middle(next),
                                     lattice.corner(face[i]), lattice.corner(face[(i + 1) % 4])});
        }
  return marcher.take();
}

TriangleMesh polygonise(const ImplicitSolid& solid, std::size_t triangles) {
  constexpr double kFiner = 3;  // triangles to march for each one wished for
  const double wished = static_cast<double>(triangles / 2 * 2);
  // The count goes with the inverse square of the cell.
  WorkMesh mesh = march_tetrahedra(solid, solid.detail);
  const double ratio = static_cast<double>(mesh.triangles.size()) / (kFiner * wished);
  if (ratio < 1) mesh = march_tetrahedra(solid, solid.detail * std::sqrt(ratio));
  remesh(mesh, solid, triangles / 2 * 2);
  TriangleMesh result;
  for (const Vec3& p : mesh.points) result.positions.push_back(to_float(p));
  result.triangles = std::move(mesh.triangles);
  return result;
}

}  // namespace isotact::detail
