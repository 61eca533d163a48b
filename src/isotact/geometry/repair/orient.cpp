#include <algorithm>
#include <cmath>
#include <utility>

#include "isotact/geometry/bvh/bvh_visit.h"
#include "isotact/geometry/mesh/detail/topology.h"
#include "isotact/geometry/mesh/predicates.h"
#include "isotact/geometry/repair/repair.h"

namespace isotact {
namespace {

using detail::HalfEdge;
using detail::Topology;

constexpr std::uint32_t kUnset = 0xffffffffU;
constexpr std::size_t kComponentsPerTask = 64;

struct Component {
  std::vector<std::uint32_t> triangles;  // ascending
  bool orientable = true;
  bool closed = true;
  double volume = 0;
  Aabbf box{};
};

// How often, and which way, triangle abc crosses the ray from p towards +x. Sums over a closed
// surface are its winding number around p: 1 inside a surface that faces outward. Exact: edges seen
// along x count as crossed by a half-open rule in y, and an edge that p lies on is on the same side
// of p for both its triangles. 0 if p lies in the triangle's plane.
int count_crossing(const Vec3f& p, const std::array<Vec3f, 3>& t) {
  const Vec3f lower = min(min(t[0], t[1]), t[2]), upper = max(max(t[0], t[1]), t[2]);
  if (upper.x < p.x || upper.y < p.y || lower.y > p.y || upper.z < p.z || lower.z > p.z) return 0;
  int around = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    const Vec3f &a = t[k], &b = t[(k + 1) % 3];
    const bool a_above = a.z > p.z, b_above = b.z > p.z;
    if (a_above == b_above) continue;
    const Vec3f &from = a_above ? b : a, &to = a_above ? a : b;
    // p left of the edge, seen along x with y to the right and z up
    if (orient2d(drop_axis(from, 0), drop_axis(to, 0), drop_axis(p, 0)) > 0)
      around += b_above ? 1 : -1;
  }
  if (around == 0 || lower.x > p.x) return around;
  const int side = orient3d(t[0], t[1], t[2], p);
  // Counter-clockwise around p, seen against x, means a normal towards +x: the surface is ahead of
  // p where p lies behind it.
  return around * side < 0 ? around : 0;
}

// The closed surfaces that a point may lie in: found by their boxes, and the larger ones searched
// by a hierarchy of their own.
class Nesting {
 public:
  // Uses the closed and orientable ones; keeps references to both.
  Nesting(const TriangleMesh& mesh, std::span<const Component> components, Threads threads)
      : mesh_(mesh), components_(components), surfaces_(components.size()) {
    // Any mesh will do whose triangles have the boxes of the components.
    TriangleMesh boxes;
    for (std::uint32_t i = 0; i < components.size(); ++i) {
      const Component& c = components[i];
      if (!c.closed || !c.orientable) continue;
      const auto first = static_cast<std::uint32_t>(boxes.positions.size());
      boxes.positions.insert(boxes.positions.end(), {c.box.lower, c.box.upper});
      boxes.triangles.push_back({first, first + 1, first + 1});
      members_.push_back(i);
    }
    boxes_ = Bvh(boxes, {.threads = threads});
    if (members_.size() < 2) return;
    for (const std::uint32_t i : members_)
      if (components[i].triangles.size() > kSmall) surfaces_[i] = build(components[i], threads);
  }

  // Whether an odd number of surfaces wind around a vertex of this one an odd number of times.
  // Which way they face does not matter for that.
  bool is_inside_odd_number(std::uint32_t inner) const {
    const Vec3f p = mesh_.positions[mesh_.triangles[components_[inner].triangles[0]][0]];
    bool odd = false;
    visit_triangles_in_box(boxes_, {p, p}, [&](std::uint32_t member) {
      if (members_[member] != inner) odd ^= is_odd_around(members_[member], p);
    });
    return odd;
  }

 private:
  static constexpr std::size_t kSmall = 64;  // triangles that are faster tested than searched

  Bvh build(const Component& c, Threads threads) const {
    TriangleMesh part;
    part.positions.reserve(3 * c.triangles.size());
    for (const std::uint32_t t : c.triangles) {
      const auto first = static_cast<std::uint32_t>(part.positions.size());
      for (const Vec3f& p : corners(mesh_, t)) part.positions.push_back(p);
      part.triangles.push_back({first, first + 1, first + 2});
    }
    return Bvh(part, {.threads = threads});
  }

  bool is_odd_around(std::uint32_t outer, const Vec3f& p) const {
    const Component& c = components_[outer];
    int crossings = 0;
    if (c.triangles.size() <= kSmall) {
      for (const std::uint32_t t : c.triangles) crossings += count_crossing(p, corners(mesh_, t));
    } else {
      const Aabbf ray{p, {c.box.upper.x, p.y, p.z}};
      visit_triangles_in_box(surfaces_[outer], ray, [&](std::uint32_t i) {
        crossings += count_crossing(p, corners(mesh_, c.triangles[i]));
      });
    }
    return crossings % 2 != 0;
  }

  const TriangleMesh& mesh_;
  std::span<const Component> components_;
  std::vector<std::uint32_t> members_;  // by number of their box
  Bvh boxes_;
  std::vector<Bvh> surfaces_;  // by component; empty for small ones
};

class Orienter {
 public:
  Orienter(const TriangleMesh& mesh, const OrientSettings& settings)
      : mesh_(mesh),
        settings_(settings),
        topology_(detail::build_topology(
            mesh, detail::merge_equal_positions(mesh.positions, settings.threads),
            settings.threads)),
        neighbours_(3 * mesh.triangles.size(), kUnset),
        component_of_(mesh.triangles.size(), kUnset),
        flip_(mesh.triangles.size()) {}

  OrientResult run() {
    detail::for_each_edge(topology_, [&](std::uint32_t, std::uint32_t, auto uses) {
      if (uses.size() != 2) return;
      neighbours_[uses[0].half_edge] = uses[1].half_edge;
      neighbours_[uses[1].half_edge] = uses[0].half_edge;
    });
    for (std::uint32_t i = 0; i < mesh_.triangles.size(); ++i)
      if (!topology_.collapsed[i] && component_of_[i] == kUnset) flood(i);
    result_.components = components_.size();
    if (settings_.outward != Outward::kLeave) turn_outward();
    result_.mesh = mesh_;
    for (std::uint32_t i = 0; i < flip_.size(); ++i) {
      if (!flip_[i]) continue;
      std::swap(result_.mesh.triangles[i][1], result_.mesh.triangles[i][2]);
      ++result_.flipped_triangles;
    }
    return std::move(result_);
  }

 private:
  // Gathers the component of a first triangle, breadth first, and makes it agree with the majority.
  void flood(std::uint32_t first) {
    Component c;
    const auto number = static_cast<std::uint32_t>(components_.size());
    component_of_[first] = number;
    c.triangles.push_back(first);
    std::size_t flips = 0;
    for (std::size_t i = 0; i < c.triangles.size(); ++i) {
      const std::uint32_t t = c.triangles[i];
      flips += flip_[t];
      for (HalfEdge h = 3 * t; h < 3 * t + 3; ++h) {
        const HalfEdge n = neighbours_[h];
        if (n == kUnset) {
          c.closed = false;
          continue;
        }
        const bool disagree =
            detail::from_vertex(topology_, h) == detail::from_vertex(topology_, n);
        const bool flip = (flip_[t] != 0) != disagree;
        if (component_of_[n / 3] == kUnset) {
          component_of_[n / 3] = number;
          flip_[n / 3] = flip;
          c.triangles.push_back(n / 3);
        } else if ((flip_[n / 3] != 0) != flip) {
          c.orientable = false;
        }
      }
    }
    std::sort(c.triangles.begin(), c.triangles.end());
    settle(c, flips);
    components_.push_back(std::move(c));
  }

  void settle(Component& c, std::size_t flips) {
    if (!c.orientable) {
      ++result_.non_orientable;
      for (const std::uint32_t t : c.triangles) flip_[t] = 0;
      return;
    }
    if (flips == 0) return;
    ++result_.made_consistent;
    if (2 * flips > c.triangles.size()) turn_over(c);
  }

  void turn_over(const Component& c) {
    for (const std::uint32_t t : c.triangles) flip_[t] ^= 1U;
  }

  void turn_outward() {
    for (Component& c : components_) measure(c);
    const std::vector<std::uint8_t> cavity = find_cavities();
    for (std::size_t i = 0; i < components_.size(); ++i) {
      const Component& c = components_[i];
      if (!c.closed || !c.orientable) continue;
      if (cavity[i] ? c.volume <= 0 : c.volume >= 0) continue;
      turn_over(c);
      ++result_.turned;
    }
  }

  // Volume and box, with the flips that were decided so far.
  void measure(Component& c) const {
    const Vec3 origin = to_double(mesh_.positions[mesh_.triangles[c.triangles[0]][0]]);
    for (const std::uint32_t t : c.triangles) {
      const auto [a, b, d] = corners(mesh_, t);
      const double volume =
          dot(to_double(a) - origin, cross(to_double(b) - origin, to_double(d) - origin)) / 6;
      c.volume += flip_[t] ? -volume : volume;
      for (const Vec3f& p : {a, b, d}) extend(c.box, p);
    }
    if (!std::isfinite(c.volume)) c.closed = false;
  }

  std::vector<std::uint8_t> find_cavities() const {
    std::vector<std::uint8_t> cavity(components_.size());
    if (settings_.outward != Outward::kByNesting) return cavity;
    const Nesting nesting(mesh_, components_, settings_.threads);
    parallel_for(cavity.size(), kComponentsPerTask, settings_.threads,
                 [&](std::size_t begin, std::size_t end) {
                   for (std::size_t i = begin; i < end; ++i)
                     if (components_[i].closed && components_[i].orientable)
                       cavity[i] = nesting.is_inside_odd_number(static_cast<std::uint32_t>(i));
                 });
    return cavity;
  }

  const TriangleMesh& mesh_;
  const OrientSettings& settings_;
  Topology topology_;
  std::vector<HalfEdge> neighbours_;  // across each half-edge, where it has one
  std::vector<std::uint32_t> component_of_;
  std::vector<std::uint8_t> flip_;
  std::vector<Component> components_;
  OrientResult result_;
};

}  // namespace

OrientResult orient(const TriangleMesh& mesh, const OrientSettings& settings) {
  return Orienter(mesh, settings).run();
}

}  // namespace isotact
