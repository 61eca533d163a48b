#include "isotact/geometry/flaws.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "isotact/geometry/detail/boundary_loops.h"
#include "isotact/geometry/detail/topology.h"
#include "isotact/geometry/mass_properties.h"
#include "isotact/geometry/predicates.h"

namespace isotact {
namespace {

using detail::DisjointSets;
using detail::EdgeUse;
using detail::HalfEdge;
using detail::Topology;
using Uses = std::span<const EdgeUse>;

constexpr std::size_t kFlawGrain = 1 << 13;
constexpr double kVolumeRounding = 1e-12;  // relative to the sizes of what it is summed from

class FlawFinder {
 public:
  FlawFinder(const TriangleMesh& mesh, const FlawSettings& settings)
      : mesh_(mesh),
        settings_(settings),
        topology_(detail::build_topology(
            mesh,
            settings.merge_equal_positions
                ? detail::merge_equal_positions(mesh.positions, settings.threads)
                : std::vector<std::uint32_t>{},
            settings.threads)),
        fans_(3 * mesh.triangles.size()),
        parts_(mesh.triangles.size()) {}

  MeshFlaws run() {
    flaws_.vertices = mesh_.positions.size();
    flaws_.triangles = mesh_.triangles.size();
    flaws_.bounds = bounds(mesh_);
    flaws_.merged_vertices = topology_.merged_vertices;
    check_vertices();
    check_triangles();
    check_edges();
    check_fans();
    check_shells();
    judge();
    if (settings_.self_intersections)
      flaws_.self_intersections =
          find_self_intersections(mesh_, {.max_pairs = settings_.max_examples,
                                          .threads = settings_.threads,
                                          .monitor = settings_.monitor});
    return std::move(flaws_);
  }

 private:
  template <typename T>
  void note(FlawList<T>& list, const T& example) {
    if (list.count++ < settings_.max_examples) list.examples.push_back(example);
  }

  void check_vertices() {
    std::vector<std::uint8_t> used(mesh_.positions.size());
    for (const Triangle& t : mesh_.triangles)
      for (const std::uint32_t v : t) used[v] = 1;
    for (std::uint32_t v = 0; v < used.size(); ++v) {
      if (!used[v]) note(flaws_.unreferenced_vertices, v);
      if (!is_finite(mesh_.positions[v])) note(flaws_.non_finite_vertices, v);
    }
  }

  void check_triangles() {
    enum : std::uint8_t { kFine, kCollinear, kNonFinite };
    std::vector<std::uint8_t> states(mesh_.triangles.size());
    parallel_for(states.size(), kFlawGrain, settings_.threads,
                 [&](std::size_t begin, std::size_t end) {
                   for (std::size_t i = begin; i < end; ++i) {
                     const auto [a, b, c] = corners(mesh_, i);
                     if (!is_finite(a) || !is_finite(b) || !is_finite(c))
                       states[i] = kNonFinite;
                     else if (are_collinear(a, b, c))
                       states[i] = kCollinear;
                   }
                 });
    for (std::uint32_t i = 0; i < states.size(); ++i) {
      const auto [a, b, c] = corners(mesh_, i);
      if (states[i] == kNonFinite) ++flaws_.non_finite_triangles;
      if (topology_.collapsed[i] || a == b || b == c || c == a)
        note(flaws_.collapsed_triangles, i);
      else if (states[i] == kCollinear)
        note(flaws_.collinear_triangles, i);
    }
    flaws_.degenerate = flaws_.collapsed_triangles.count + flaws_.collinear_triangles.count;
  }

  void check_edges() {
    detail::for_each_edge(topology_, [&](std::uint32_t low, std::uint32_t high, Uses uses) {
      const MeshEdge edge{low, high};
      const std::size_t forward = detail::count_forward(topology_, low, uses);
      if (2 * forward != uses.size()) unbalanced_.push_back(uses[0].half_edge / 3);
      for (const EdgeUse& use : uses) parts_.join(uses[0].half_edge / 3, use.half_edge / 3);
      check_duplicates(low, high, uses);
      if (uses.size() == 1) {
        note(flaws_.boundary_edges, edge);
        boundary_.push_back(uses[0].half_edge);
      } else if (uses.size() == 2) {
        if (forward != 1) note(flaws_.inconsistent_edges, edge);
        join_corners(low, uses[0].half_edge, uses[1].half_edge, fans_);
      } else {
        note(flaws_.non_manifold_edges, edge);
        non_manifold_.push_back(uses);
      }
    });
  }

  // Joins the corners of two triangles at both ends of the edge that they share.
  void join_corners(std::uint32_t low, HalfEdge a, HalfEdge b, DisjointSets& fans) const {
    std::uint32_t a_low = a, a_high = detail::next_in_triangle(a);
    std::uint32_t b_low = b, b_high = detail::next_in_triangle(b);
    if (detail::from_vertex(topology_, a) != low) std::swap(a_low, a_high);
    if (detail::from_vertex(topology_, b) != low) std::swap(b_low, b_high);
    fans.join(a_low, b_low);
    fans.join(a_high, b_high);
  }

  // Equal triangles meet at the edge of their two lowest vertices, each once.
  void check_duplicates(std::uint32_t low, std::uint32_t high, Uses uses) {
    if (uses.size() < 2) return;
    twins_.clear();
    for (const EdgeUse& use : uses) {
      const std::uint32_t opposite =
          detail::to_vertex(topology_, detail::next_in_triangle(use.half_edge));
      if (opposite > high) twins_.push_back({opposite, use.half_edge});
    }
    std::sort(twins_.begin(), twins_.end(), [](const EdgeUse& a, const EdgeUse& b) {
      return a.high != b.high ? a.high < b.high : a.half_edge < b.half_edge;
    });
    for (std::size_t i = 1, first = 0; i < twins_.size(); ++i) {
      if (twins_[i].high != twins_[first].high) {
        first = i;
        continue;
      }
      const HalfEdge a = twins_[first].half_edge, b = twins_[i].half_edge;
      const bool a_up = detail::from_vertex(topology_, a) == low;
      const bool b_up = detail::from_vertex(topology_, b) == low;
      duplicates_.push_back({b / 3, a / 3, a_up != b_up});
    }
  }

  void check_fans() {
    flaws_.boundary_loops =
        detail::string_boundary_loops(topology_, boundary_, fans_, settings_.max_examples);
    count_split_vertices(flaws_.non_manifold_vertices);
    // A bow-tie stays in parts even if the sheets of non-manifold edges count as one.
    for (const Uses uses : non_manifold_) {
      const std::uint32_t low = std::min(detail::from_vertex(topology_, uses[0].half_edge),
                                         detail::to_vertex(topology_, uses[0].half_edge));
      for (const EdgeUse& use : uses.subspan(1))
        join_corners(low, uses[0].half_edge, use.half_edge, fans_);
    }
    if (non_manifold_.empty())
      flaws_.bow_tie_vertices = flaws_.non_manifold_vertices;
    else
      count_split_vertices(flaws_.bow_tie_vertices);
  }

  // Vertices whose corners are in more than one set.
  void count_split_vertices(FlawList<std::uint32_t>& list) {
    std::vector<std::uint8_t> sets(mesh_.positions.size());  // counted up to two
    for (std::uint32_t corner = 0; corner < 3 * mesh_.triangles.size(); ++corner) {
      if (topology_.collapsed[corner / 3] || fans_.find(corner) != corner) continue;
      std::uint8_t& count = sets[detail::from_vertex(topology_, corner)];
      if (count < 2) ++count;
    }
    for (std::uint32_t v = 0; v < sets.size(); ++v)
      if (sets[v] > 1) note(list, v);
  }

  void check_shells() {
    std::vector<std::uint32_t> numbers(mesh_.triangles.size());  // of the shell, at its root
    std::vector<MeshShell> all;
    DisjointSets by_vertices(mesh_.positions.size());
    const Vec3 origin = is_empty(flaws_.bounds) ? Vec3{} : center(to_double(flaws_.bounds));
    for (std::uint32_t i = 0; i < numbers.size(); ++i) {
      if (topology_.collapsed[i]) continue;
      const std::uint32_t root = parts_.find(i);
      if (root == i) {
        numbers[i] = static_cast<std::uint32_t>(all.size());
        all.push_back({.first_triangle = i});
      }
      MeshShell& shell = all[numbers[root]];
      ++shell.triangles;
      const Triangle& t = topology_.triangles[i];
      by_vertices.join(t[0], t[1]);
      by_vertices.join(t[1], t[2]);
      const auto [a, b, c] = corners(mesh_, i);
      const Vec3 pa = to_double(a) - origin, pb = to_double(b) - origin;
      const double volume = dot(pa, cross(pb, to_double(c) - origin)) / 6;
      if (std::isfinite(volume))
        shell.volume += volume;
      else
        shell.closed = false;
    }
    for (const std::uint32_t triangle : unbalanced_)
      all[numbers[parts_.find(triangle)]].closed = false;
    std::vector<std::uint32_t> roots;
    for (const MeshShell& shell : all) {
      if (shell.closed && shell.volume < 0) ++flaws_.inward_shells;
      note(flaws_.shells, shell);
      roots.push_back(by_vertices.find(topology_.triangles[shell.first_triangle][0]));
    }
    std::sort(roots.begin(), roots.end());
    flaws_.components =
        static_cast<std::size_t>(std::unique(roots.begin(), roots.end()) - roots.begin());
  }

  void judge() {
    std::sort(duplicates_.begin(), duplicates_.end(),
              [](const DuplicateTriangle& a, const DuplicateTriangle& b) {
                return a.triangle < b.triangle;
              });
    for (const DuplicateTriangle& d : duplicates_) {
      note(flaws_.duplicate_triangles, d);
      if (d.opposite) ++flaws_.opposite_duplicates;
    }
    const bool usable = flaws_.shells.count > 0 && flaws_.non_finite_triangles == 0;
    flaws_.watertight =
        usable && flaws_.boundary_edges.count == 0 && flaws_.non_manifold_edges.count == 0;
    flaws_.watertight_as_stored =
        topology_.merged_vertices == 0 ? flaws_.watertight : usable && is_watertight_as_stored();
    flaws_.manifold =
        flaws_.non_manifold_edges.count == 0 && flaws_.non_manifold_vertices.count == 0;
    flaws_.oriented = flaws_.inconsistent_edges.count == 0;
    flaws_.balanced = usable && unbalanced_.empty();
    const SurfaceIntegrals integrals = integrate_surface(mesh_, settings_.threads);
    flaws_.area = integrals.area;
    if (flaws_.balanced) flaws_.volume = integrals.volume;
    flaws_.inward = flaws_.balanced && integrals.volume < -kVolumeRounding * integrals.volume_size;
  }

  bool is_watertight_as_stored() const {
    bool watertight = true;
    const Topology stored = detail::build_topology(mesh_, {}, settings_.threads);
    detail::for_each_edge(
        stored, [&](std::uint32_t, std::uint32_t, Uses uses) { watertight &= uses.size() == 2; });
    return watertight;
  }

  const TriangleMesh& mesh_;
  const FlawSettings& settings_;
  Topology topology_;
  DisjointSets fans_;   // of corners
  DisjointSets parts_;  // of triangles
  std::vector<HalfEdge> boundary_;
  std::vector<Uses> non_manifold_;
  std::vector<std::uint32_t> unbalanced_;  // a triangle at each edge that is not balanced
  std::vector<EdgeUse> twins_;
  std::vector<DuplicateTriangle> duplicates_;
  MeshFlaws flaws_;
};

}  // namespace

MeshFlaws find_flaws(const TriangleMesh& mesh, const FlawSettings& settings) {
  assert(!find_flaw(mesh));
  return FlawFinder(mesh, settings).run();
}

}  // namespace isotact
