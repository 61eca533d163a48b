#include "isotact/geometry/repair/flaws.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <span>
#include <tuple>

#include "isotact/base/disjoint_sets.h"
#include "isotact/geometry/mesh/detail/topology.h"
#include "isotact/geometry/mesh/mass_properties.h"
#include "isotact/geometry/mesh/predicates.h"

namespace isotact::detail {
namespace {

// Strings boundary edges together into loops.

// `boundary` are the half-edges of edges with one triangle, ascending by their edges' vertices;
// `fans` joins the corners around each vertex that hang together over edges with two triangles.
// Cost: O(n log n) in the boundary edges.
FlawList<BoundaryLoop> string_boundary_loops(const Topology& topology,
                                             std::span<const HalfEdge> boundary, DisjointSets& fans,
                                             std::size_t max_examples);

// Each boundary edge has two ends. Ends are paired where the boundary goes on: with the other end
// of the same fan of triangles, or, where that fan stops at a non-manifold edge, with another such
// end at the same vertex. Paired ends form plain chains and cycles; those that pass a vertex twice
// are cut there.

constexpr std::uint32_t kNoEnd = std::numeric_limits<std::uint32_t>::max();

// Of boundary edge e, end 2 e is where its triangle starts it and end 2 e + 1 where it arrives.
using End = std::uint32_t;

bool arrives(End end) { return end % 2 == 1; }
End other_end(End end) { return end ^ 1U; }

struct EndPlace {
  std::uint32_t vertex = 0;
  std::uint32_t fan = 0;
  End end = 0;
};

class LoopBuilder {
 public:
  LoopBuilder(const Topology& topology, std::span<const HalfEdge> boundary, DisjointSets& fans,
              std::size_t max_examples)
      : vertices_(2 * boundary.size()),
        partners_(2 * boundary.size(), kNoEnd),
        edge_used_(boundary.size()),
        max_examples_(max_examples) {
    std::vector<EndPlace> ends;
    ends.reserve(2 * boundary.size());
    for (std::uint32_t e = 0; e < boundary.size(); ++e) {
      const HalfEdge h = boundary[e];
      ends.push_back({from_vertex(topology, h), fans.find(h), 2 * e});
      ends.push_back({to_vertex(topology, h), fans.find(next_in_triangle(h)), 2 * e + 1});
    }
    std::sort(ends.begin(), ends.end(), [](const EndPlace& a, const EndPlace& b) {
      return std::tuple(a.vertex, a.fan, a.end) < std::tuple(b.vertex, b.fan, b.end);
    });
    number_vertices(ends);
    for (std::size_t i = 0; i < ends.size();) {
      std::size_t j = i;
      while (j < ends.size() && ends[j].vertex == ends[i].vertex) ++j;
      pair_at_vertex(std::span(ends).subspan(i, j - i));
      i = j;
    }
  }

  FlawList<BoundaryLoop> run() {
    const auto edges = static_cast<std::uint32_t>(edge_used_.size());
    // Chains first, from their free end, along the triangles where possible; then only cycles are
    // left, which may start anywhere.
    for (const End start : {0U, 1U})
      for (std::uint32_t e = 0; e < edges; ++e)
        if (!edge_used_[e] && partners_[2 * e + start] == kNoEnd) walk(2 * e + start);
    for (std::uint32_t e = 0; e < edges; ++e)
      if (!edge_used_[e]) walk(2 * e);
    return std::move(loops_);
  }

 private:
  // The vertices of the boundary in a dense numbering of their own.
  void number_vertices(std::span<const EndPlace> ends) {
    for (const EndPlace& place : ends) {
      if (names_.empty() || names_.back() != place.vertex) names_.push_back(place.vertex);
      vertices_[place.end] = static_cast<std::uint32_t>(names_.size() - 1);
    }
    places_.assign(names_.size(), kNoEnd);
  }

  void pair(End a, End b) {
    partners_[a] = b;
    partners_[b] = a;
  }

  void pair_at_vertex(std::span<const EndPlace> ends) {
    std::vector<End>& arriving = single_ends_[1];
    std::vector<End>& leaving = single_ends_[0];
    arriving.clear();
    leaving.clear();
    for (std::size_t i = 0; i < ends.size(); ++i) {
      // A fan is a chain of triangles: at most two of its sides are boundary edges.
      if (i + 1 < ends.size() && ends[i + 1].fan == ends[i].fan) {
        pair(ends[i].end, ends[i + 1].end);
        ++i;
      } else {
        (arrives(ends[i].end) ? arriving : leaving).push_back(ends[i].end);
      }
    }
    const std::size_t both = std::min(arriving.size(), leaving.size());
    for (std::size_t i = 0; i < both; ++i) pair(arriving[i], leaving[i]);
    const std::vector<End>& rest = arriving.size() > both ? arriving : leaving;
    for (std::size_t i = both; i + 1 < rest.size(); i += 2) pair(rest[i], rest[i + 1]);
  }

  void walk(End start) {
    path_.clear();
    push(vertices_[start]);
    for (End end = start; end != kNoEnd && !edge_used_[end / 2];) {
      edge_used_[end / 2] = true;
      end = other_end(end);
      const std::uint32_t v = vertices_[end];
      if (places_[v] != kNoEnd)
        close_loop(places_[v]);
      else
        push(v);
      end = partners_[end];
    }
    if (path_.size() > 1) emit(0, false);
    for (const std::uint32_t v : path_) places_[v] = kNoEnd;
  }

  void push(std::uint32_t v) {
    places_[v] = static_cast<std::uint32_t>(path_.size());
    path_.push_back(v);
  }

  // The path came back to the vertex at `begin`: what lies behind it is a loop.
  void close_loop(std::uint32_t begin) {
    emit(begin, true);
    for (std::size_t i = begin + 1; i < path_.size(); ++i) places_[path_[i]] = kNoEnd;
    path_.resize(begin + 1);
  }

  void emit(std::size_t begin, bool closed) {
    ++loops_.count;
    if (loops_.examples.size() >= max_examples_) return;
    BoundaryLoop loop{{}, closed};
    for (std::size_t i = begin; i < path_.size(); ++i) loop.vertices.push_back(names_[path_[i]]);
    if (closed)
      std::rotate(loop.vertices.begin(),
                  std::min_element(loop.vertices.begin(), loop.vertices.end()),
                  loop.vertices.end());
    loops_.examples.push_back(std::move(loop));
  }

  std::vector<std::uint32_t> names_;     // of the dense vertices
  std::vector<std::uint32_t> vertices_;  // dense vertex of each end
  std::vector<End> partners_;
  std::vector<bool> edge_used_;
  std::array<std::vector<End>, 2> single_ends_;
  std::vector<std::uint32_t> path_, places_;  // dense vertices, and where each stands in the path
  std::size_t max_examples_;
  FlawList<BoundaryLoop> loops_;
};

FlawList<BoundaryLoop> string_boundary_loops(const Topology& topology,
                                             std::span<const HalfEdge> boundary, DisjointSets& fans,
                                             std::size_t max_examples) {
  return LoopBuilder(topology, boundary, fans, max_examples).run();
}

}  // namespace

}  // namespace isotact::detail

namespace isotact {
namespace {

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

bool is_balanced(const TriangleMesh& mesh, Threads threads) {
  assert(!find_flaw(mesh));
  for (const Triangle& t : mesh.triangles)
    for (const std::uint32_t v : t)
      if (!is_finite(mesh.positions[v])) return false;
  const detail::Topology topology =
      detail::build_topology(mesh, detail::merge_equal_positions(mesh.positions, threads), threads);
  bool balanced = !topology.uses.empty();
  detail::for_each_edge(topology, [&](std::uint32_t low, std::uint32_t, Uses uses) {
    if (2 * detail::count_forward(topology, low, uses) != uses.size()) balanced = false;
  });
  return balanced;
}

}  // namespace isotact
