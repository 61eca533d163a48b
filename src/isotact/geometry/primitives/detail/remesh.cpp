#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <span>
#include <tuple>

#include "isotact/geometry/primitives/detail/implicit.h"

namespace isotact::detail {
namespace {

// The triangles around each vertex.
class Neighbourhoods {
 public:
  explicit Neighbourhoods(const WorkMesh& mesh) : starts_(mesh.points.size() + 1, 0) {
    for (const Triangle& t : mesh.triangles)
      for (const std::uint32_t v : t) ++starts_[v + 1];
    for (std::size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
    triangles_.resize(mesh.triangles.size() * 3);
    std::vector<std::uint32_t> next(starts_.begin(), starts_.end() - 1);
    for (std::uint32_t i = 0; i < mesh.triangles.size(); ++i)
      for (const std::uint32_t v : mesh.triangles[i]) triangles_[next[v]++] = i;
  }
  std::span<const std::uint32_t> around(std::uint32_t vertex) const {
    return std::span(triangles_).subspan(starts_[vertex], starts_[vertex + 1] - starts_[vertex]);
  }

 private:
  std::vector<std::uint32_t> starts_, triangles_;
};

Vec3 area_normal(const WorkMesh& mesh, const Triangle& t) {
  const Vec3& a = mesh.points[t[0]];
  return cross(mesh.points[t[1]] - a, mesh.points[t[2]] - a);
}

// The same after one of its corners has moved.
Vec3 area_normal_moved(const WorkMesh& mesh, const Triangle& t, std::uint32_t moved,
                       const Vec3& to) {
  std::array<Vec3, 3> p{};
  for (std::size_t i = 0; i < 3; ++i) p[i] = t[i] == moved ? to : mesh.points[t[i]];
  return cross(p[1] - p[0], p[2] - p[0]);
}

bool same_side(const Vec3& before, const Vec3& after, double least_cosine) {
  return dot(before, after) > least_cosine * std::sqrt(length_sq(before) * length_sq(after));
}

Vec3 gradient(const ImplicitSolid& solid, const Vec3& p, double step) {
  // Four values at the corners of a tetrahedron.
  constexpr std::array<Vec3, 4> kCorners{Vec3{1, -1, -1}, Vec3{-1, -1, 1}, Vec3{-1, 1, -1},
                                         Vec3{1, 1, 1}};
  Vec3 sum;
  for (const Vec3& c : kCorners) sum += c * solid.value(p + c * step);
  return sum / (4 * step);
}

// Onto the surface, along the gradient at p, by at most `reach`.
Vec3 project(const ImplicitSolid& solid, const Vec3& p, double step, double reach) {
  const Vec3 g = gradient(solid, p, step);
  const double steepness = length_sq(g);
  if (!(steepness > 1e-6)) return p;
  double along = 0;
  for (int i = 0; i < 3; ++i) along -= solid.value(p + g * along) / steepness;
  const double limit = reach / std::sqrt(steepness);
  return p + g * std::clamp(along, -limit, limit);
}

class Remesher {
 public:
  Remesher(WorkMesh& mesh, const ImplicitSolid& solid) : mesh_(mesh), solid_(solid) {
    for (const Triangle& t : mesh.triangles) area_ += length(area_normal(mesh, t)) / 2;
    flattest_ = kFlattest / length(extent(solid.bounds));
    measure_sizes();
  }

  // How long edges should be at each vertex, against others: short where the surface bends.
  void measure_sizes() {
    std::vector<Vec3> normals;
    for (const Vec3& p : mesh_.points)
      normals.push_back(normalized(gradient(solid_, p, 1e-3 * even_edge())));
    std::vector<double> bend(mesh_.points.size(), 0);
    for_each_edge([&](std::uint32_t a, std::uint32_t b) {
      const double turn =
          length(normals[a] - normals[b]) / length(mesh_.points[a] - mesh_.points[b]);
      bend[a] = std::max(bend[a], turn);
      bend[b] = std::max(bend[b], turn);
    });
    sizes_.resize(bend.size());
    for (std::size_t v = 0; v < bend.size(); ++v) sizes_[v] = 1 / (bend[v] + flattest_);
    // Small sizes spread a little, so that triangles grow gradually.
    for (int round = 0; round < 3; ++round)
      for_each_edge([&](std::uint32_t a, std::uint32_t b) {
        sizes_[a] = std::min(sizes_[a], 1.3 * sizes_[b]);
        sizes_[b] = std::min(sizes_[b], 1.3 * sizes_[a]);
      });
    double sum = 0;
    for (const double size : sizes_) sum += size;
    for (double& size : sizes_) size *= static_cast<double>(sizes_.size()) / sum;
  }

  // Every vertex to the middle of its triangles, weighted by their area against the wished one, and
  // back onto the surface.
  void relax(int rounds) {
    const Neighbourhoods near(mesh_);
    const double edge = even_edge();
    for (int round = 0; round < rounds; ++round)
      for (std::uint32_t v = 0; v < mesh_.points.size(); ++v) {
        Vec3 middle;
        double weight = 0;
        for (const std::uint32_t t : near.around(v)) {
          const auto [a, b, c] = mesh_.triangles[t];
          const double size = sizes_[a] + sizes_[b] + sizes_[c];
          const double area = length(area_normal(mesh_, mesh_.triangles[t])) / (size * size);
          middle += (mesh_.points[a] + mesh_.points[b] + mesh_.points[c]) * (area / 3);
          weight += area;
        }
        if (!(weight > 0)) continue;
        const Vec3 wish = project(solid_, middle / weight, 1e-3 * edge, 0.5 * edge);
        for (const double share : {1.0, 0.25})
          if (move_if_sound(near, v, lerp(mesh_.points[v], wish, share))) break;
      }
  }

  // Collapses up to `most` of the edges shorter than `longest` (against their wished length), the
  // shortest first, no two next to each other.
  void collapse(std::size_t most, double longest) {
    const Neighbourhoods near(mesh_);
    struct Edge {
      double length_sq;
      std::uint32_t a, b;
    };
    std::vector<Edge> edges;
    for_each_edge([&](std::uint32_t a, std::uint32_t b) {
      const double wished = even_edge() * (sizes_[a] + sizes_[b]) / 2;
      const double l = length_sq(mesh_.points[b] - mesh_.points[a]) / (wished * wished);
      if (l < longest * longest) edges.push_back({l, a, b});
    });
    std::sort(edges.begin(), edges.end(), [](const Edge& x, const Edge& y) {
      return std::tie(x.length_sq, x.a, x.b) < std::tie(y.length_sq, y.a, y.b);
    });
    std::vector<char> touched(mesh_.points.size(), 0);
    std::size_t done = 0;
    for (const Edge& e : edges) {
      if (done == most) break;
      if (collapse_edge(near, e.a, e.b, touched)) ++done;
    }
    if (done > 0) drop_unused();
  }

  void flip_edges() {
    const Neighbourhoods near(mesh_);
    std::vector<char> touched(mesh_.points.size(), 0);
    for (std::uint32_t i = 0; i < mesh_.triangles.size(); ++i)
      for (std::size_t k = 0; k < 3; ++k) flip_edge(near, i, k, touched);
  }

  // Of equilateral triangles as many as these.
  double even_edge() const {
    return std::sqrt(4 / std::sqrt(3.0) * area_ / static_cast<double>(mesh_.triangles.size()));
  }

 private:
  // Each edge of the closed mesh once.
  template <typename Visit>
  void for_each_edge(Visit visit) const {
    for (const Triangle& t : mesh_.triangles)
      for (std::size_t i = 0; i < 3; ++i)
        if (t[i] < t[(i + 1) % 3]) visit(t[i], t[(i + 1) % 3]);
  }

  bool move_if_sound(const Neighbourhoods& near, std::uint32_t v, const Vec3& to) {
    for (const std::uint32_t t : near.around(v))
      if (!same_side(area_normal(mesh_, mesh_.triangles[t]),
                     area_normal_moved(mesh_, mesh_.triangles[t], v, to), 0.5))
        return false;
    mesh_.points[v] = to;
    return true;
  }

  std::vector<std::uint32_t> ring(const Neighbourhoods& near, std::uint32_t v) const {
    std::vector<std::uint32_t> vertices;
    for (const std::uint32_t t : near.around(v))
      for (const std::uint32_t u : mesh_.triangles[t])
        if (u != v) vertices.push_back(u);
    std::sort(vertices.begin(), vertices.end());
    vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
    return vertices;
  }

  bool collapse_edge(const Neighbourhoods& near, std::uint32_t a, std::uint32_t b,
                     std::vector<char>& touched) {
    if (touched[a] || touched[b]) return false;
    const auto ring_a = ring(near, a), ring_b = ring(near, b);
    std::vector<std::uint32_t> common;
    std::set_intersection(ring_a.begin(), ring_a.end(), ring_b.begin(), ring_b.end(),
                          std::back_inserter(common));
    // The link condition, and no vertex with less than four or very many neighbours.
    if (common.size() != 2 || ring_a.size() + ring_b.size() > 12) return false;
    for (const std::uint32_t c : common)
      if (near.around(c).size() < 5) return false;
    for (const auto* r : {&ring_a, &ring_b})
      for (const std::uint32_t u : *r)
        if (touched[u]) return false;
    const double edge = even_edge();
    const Vec3 middle =
        project(solid_, lerp(mesh_.points[a], mesh_.points[b], 0.5), 1e-3 * edge, 0.5 * edge);
    for (const std::uint32_t v : {a, b})
      for (const std::uint32_t i : near.around(v)) {
        const Triangle& t = mesh_.triangles[i];
        const bool has_both =
            std::count(t.begin(), t.end(), a) && std::count(t.begin(), t.end(), b);
        if (!has_both &&
            !same_side(area_normal(mesh_, t), area_normal_moved(mesh_, t, v, middle), 0.7))
          return false;
      }
    for (const auto* r : {&ring_a, &ring_b})
      for (const std::uint32_t u : *r) touched[u] = 1;
    mesh_.points[a] = middle;
    for (const std::uint32_t i : near.around(b))
      std::replace(mesh_.triangles[i].begin(), mesh_.triangles[i].end(), b, a);
    return true;
  }

  // Triangles with two equal corners, and vertices of no triangle.
  void drop_unused() {
    std::erase_if(mesh_.triangles,
                  [](const Triangle& t) { return t[0] == t[1] || t[1] == t[2] || t[2] == t[0]; });
    std::vector<std::uint32_t> place(mesh_.points.size(), 0);
    for (const Triangle& t : mesh_.triangles)
      for (const std::uint32_t v : t) place[v] = 1;
    std::uint32_t count = 0;
    for (std::size_t v = 0; v < place.size(); ++v)
      if (place[v] != 0) {
        mesh_.points[count] = mesh_.points[v];
        sizes_[count] = sizes_[v];
        place[v] = count++;
      }
    mesh_.points.resize(count);
    sizes_.resize(count);
    for (Triangle& t : mesh_.triangles)
      for (std::uint32_t& v : t) v = place[v];
  }

  // The edge from corner k of triangle i, where it would make the smaller angles larger.
  void flip_edge(const Neighbourhoods& near, std::uint32_t i, std::size_t k,
                 std::vector<char>& touched) {
    const std::uint32_t a = mesh_.triangles[i][k], b = mesh_.triangles[i][(k + 1) % 3],
                        c = mesh_.triangles[i][(k + 2) % 3];
    if (a > b || touched[a] || touched[b] || touched[c]) return;
    std::uint32_t other = i, d = c;
    for (const std::uint32_t j : near.around(a)) {
      if (j == i) continue;
      const Triangle& t = mesh_.triangles[j];
      for (std::size_t m = 0; m < 3; ++m)
        if (t[m] == b && t[(m + 1) % 3] == a) other = j, d = t[(m + 2) % 3];
    }
    if (other == i || touched[d]) return;
    if (near.around(a).size() < 5 || near.around(b).size() < 5) return;
    if (near.around(c).size() > 8 || near.around(d).size() > 8) return;
    const auto &pa = mesh_.points[a], &pb = mesh_.points[b], &pc = mesh_.points[c],
               &pd = mesh_.points[d];
    // Not Delaunay: the angles at c and d add up to more than a half turn.
    const double cos_c = dot(pa - pc, pb - pc), sin_c = length(cross(pa - pc, pb - pc));
    const double cos_d = dot(pa - pd, pb - pd), sin_d = length(cross(pa - pd, pb - pd));
    if (!(cos_c * sin_d + sin_c * cos_d < -1e-6 * (sin_c * sin_d))) return;
    const auto ring_c = ring(near, c);
    if (std::binary_search(ring_c.begin(), ring_c.end(), d)) return;
    const Triangle first{c, a, d}, second{d, b, c};
    const Vec3 before =
        area_normal(mesh_, mesh_.triangles[i]) + area_normal(mesh_, mesh_.triangles[other]);
    if (!same_side(before, area_normal(mesh_, first), 0.8) ||
        !same_side(before, area_normal(mesh_, second), 0.8))
      return;
    mesh_.triangles[i] = first;
    mesh_.triangles[other] = second;
    touched[a] = touched[b] = touched[c] = touched[d] = 1;
  }

  WorkMesh& mesh_;
  const ImplicitSolid& solid_;
  // The curvature below which all is as good as flat, over that of a sphere around the solid.
  static constexpr double kFlattest = 12;
  double area_ = 0, flattest_ = 0;
  std::vector<double> sizes_;  // of each vertex; 1 on average
};

}  // namespace

void remesh(WorkMesh& mesh, const ImplicitSolid& solid, std::size_t triangles) {
  constexpr int kRounds = 40;
  Remesher remesher(mesh, solid);
  remesher.relax(1);
  for (int round = 0; round < kRounds && mesh.triangles.size() > triangles; ++round) {
    const std::size_t left = (mesh.triangles.size() - triangles) / 2;
    // Late rounds take longer edges, so that the count is reached.
    remesher.collapse(left, 0.8 + 0.05 * round);
    remesher.flip_edges();
    if (round % 3 != 2) continue;
    remesher.relax(1);
    remesher.measure_sizes();
  }
  for (int round = 0; round < 4; ++round) {
    remesher.flip_edges();
    remesher.relax(2);
  }
}

}  // namespace isotact::detail
