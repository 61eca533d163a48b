#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "isotact/base/trig.h"
#include "isotact/field/surface/detail/level_sheet.h"

namespace isotact::surface_detail {
namespace {

constexpr std::uint32_t kWhole = 0xffffffffU;
constexpr int kPasses = 4;

struct Edge {
  std::uint32_t a, b;
  Vec3 normal{};  // of the triangles beside it, by area
  std::uint32_t middle = kWhole;
  Vec3 point{};
  bool split = false;
};

class Refiner {
 public:
  Refiner(Patch& patch, const TriangleMesh& mesh, const WindingPhase& phase,
          const RefineSettings& settings)
      : patch_(patch), mesh_(mesh), phase_(phase), settings_(settings) {
    for (const NetEdge& e : compute_net(patch.triangles)) place_[key(e.from, e.to)] = kWhole;
  }

  // False when there is nothing more to do.
  bool pass() {
    gather_edges();
    parallel_for(edges_.size(), 64, settings_.threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) measure(edges_[i]);
    });
    std::size_t room =
        settings_.max_triangles - std::min(settings_.max_triangles, patch_.triangles.size());
    bool any = false;
    for (Edge& e : edges_) {
      if (!e.split || room < 2) continue;  // a split adds a triangle on either side
      room -= 2;
      any = true;
      e.middle = static_cast<std::uint32_t>(mesh_.positions.size() + patch_.positions.size());
      patch_.positions.push_back(to_float(e.point));
    }
    if (any) split_triangles();
    return any;
  }

 private:
  static std::uint64_t key(std::uint32_t a, std::uint32_t b) {
    return std::uint64_t{std::min(a, b)} << 32U | std::max(a, b);
  }

  Vec3 position(std::uint32_t v) const {
    return to_double(v < mesh_.positions.size() ? mesh_.positions[v]
                                                : patch_.positions[v - mesh_.positions.size()]);
  }

  // Those of the patch's boundary are left out, and those found good in an earlier pass.
  void gather_edges() {
    edges_.clear();
    for (const Triangle& t : patch_.triangles) {
      const Vec3 p = position(t[0]);
      const Vec3 normal = cross(position(t[1]) - p, position(t[2]) - p);
      for (std::size_t k = 0; k < 3; ++k) {
        const std::uint32_t a = t[k], b = t[(k + 1) % 3];
        const auto [it, is_new] = place_.try_emplace(key(a, b), kWhole);
        if (is_new) {
          it->second = static_cast<std::uint32_t>(edges_.size());
          edges_.push_back({.a = a, .b = b});
        }
        if (it->second < edges_.size() &&
            key(edges_[it->second].a, edges_[it->second].b) == key(a, b))
          edges_[it->second].normal += normal;
      }
    }
  }

  double phase_angle(const Vec3& p) const {
    const Complex z = phase_.at(p);
    return angle_of(-z.im, -z.re);
  }

  // The secant method along the normal, from the middle.
  void measure(Edge& e) const {
    const Vec3 a = position(e.a), b = position(e.b), n = normalized(e.normal);
    const double size = length(b - a);
    if (size < 2 * settings_.tolerance || n == Vec3{}) return;
    const Vec3 middle = (a + b) / 2;
    const double at_middle = phase_angle(middle);
    double s0 = 0, f0 = at_middle, s1 = 0.05 * size, f1 = phase_angle(middle + n * s1);
    constexpr int kSteps = 3;
    for (int i = 0; i < kSteps && f1 != f0; ++i) {
      const double s = s1 - f1 * (s1 - s0) / (f1 - f0);
      if (!(std::abs(s) < size / 4)) return;
      if (i == 0 && std::abs(s) < settings_.tolerance) return;
      s0 = s1;
      f0 = f1;
      s1 = s;
      f1 = phase_angle(middle + n * s);
    }
    e.split = std::abs(f1) < 0.1 * std::abs(at_middle);  // it converges
    e.point = middle + n * s1;
  }

  std::uint32_t middle_of(std::uint32_t a, std::uint32_t b) const {
    const std::uint32_t i = place_.at(key(a, b));
    if (i >= edges_.size() || key(edges_[i].a, edges_[i].b) != key(a, b)) return kWhole;
    return edges_[i].middle;
  }

  void split_triangles() {
    std::vector<Triangle> result;
    for (const Triangle& t : patch_.triangles) {
      const std::array<std::uint32_t, 3> m{middle_of(t[0], t[1]), middle_of(t[1], t[2]),
                                           middle_of(t[2], t[0])};
      // Around the triangle with the middles that there are: cut corners off until a triangle is
      // left.
      std::vector<std::uint32_t> polygon;
      for (std::size_t k = 0; k < 3; ++k) {
        if (m[k] != kWhole && m[(k + 2) % 3] != kWhole) {
          result.push_back({m[(k + 2) % 3], t[k], m[k]});
          polygon.push_back(m[k]);
          continue;
        }
        polygon.push_back(t[k]);
        if (m[k] != kWhole) polygon.push_back(m[k]);
      }
      cut(polygon, result);
    }
    patch_.triangles = std::move(result);
  }

  // Three or four corners.
  static void cut(const std::vector<std::uint32_t>& p, std::vector<Triangle>& result) {
    for (std::size_t i = 2; i < p.size(); ++i) result.push_back({p[0], p[i - 1], p[i]});
  }

  Patch& patch_;
  const TriangleMesh& mesh_;
  const WindingPhase& phase_;
  const RefineSettings& settings_;
  std::vector<Edge> edges_;
  std::unordered_map<std::uint64_t, std::uint32_t> place_;  // of an edge in edges_, in its pass
};

}  // namespace

void refine(Patch& patch, const TriangleMesh& mesh, const WindingPhase& phase,
            const RefineSettings& settings) {
  Refiner refiner(patch, mesh, phase, settings);
  for (int i = 0; i < kPasses && refiner.pass(); ++i) {
  }
}

}  // namespace isotact::surface_detail
