// Each boundary edge has two ends. Ends are paired where the boundary goes on: with the other end
// of the same fan of triangles, or, where that fan stops at a non-manifold edge, with another such
// end at the same vertex. Paired ends form plain chains and cycles; those that pass a vertex twice
// are cut there.
#include "isotact/geometry/detail/boundary_loops.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace isotact::detail {
namespace {

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

}  // namespace

FlawList<BoundaryLoop> string_boundary_loops(const Topology& topology,
                                             std::span<const HalfEdge> boundary, DisjointSets& fans,
                                             std::size_t max_examples) {
  return LoopBuilder(topology, boundary, fans, max_examples).run();
}

}  // namespace isotact::detail
