#include "isotact/field/surface/detail/rims.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>
#include <utility>

namespace isotact::surface_detail {
namespace {

Vec3 position(const TriangleMesh& mesh, std::uint32_t v) { return to_double(mesh.positions[v]); }

void measure(Rim& rim, const TriangleMesh& mesh) {
  for (const NetEdge& e : rim.edges) {
    const Vec3 a = position(mesh, e.from), b = position(mesh, e.to);
    const double weight = length(b - a);
    rim.center += (a + b) * (weight / 2);
    rim.perimeter += weight;
  }
  rim.center = rim.perimeter > 0 ? rim.center / rim.perimeter : position(mesh, rim.edges[0].from);
  for (const NetEdge& e : rim.edges) {
    const Vec3 a = position(mesh, e.from) - rim.center, b = position(mesh, e.to) - rim.center;
    rim.radius = std::max(rim.radius, length(a));
    rim.fan_area += length(cross(a, b)) / 2;
  }
}

// Cuts net edges into loops that pass no vertex twice, as they are walked. At a vertex with several
// edges onwards, one back to the walk is taken first, then the sharpest turn: so the two sides of a
// slit that neighbouring triangles leave open become one narrow loop, and not two wide ones.
class LoopCutter {
 public:
  LoopCutter(const TriangleMesh& mesh, std::span<const NetEdge> net) : mesh_(mesh) {
    for (const NetEdge& e : net)
      for (std::uint32_t i = 0; i < e.excess; ++i) edges_.push_back({e.from, e.to, false});
    std::stable_sort(edges_.begin(), edges_.end(),
                     [](const DirectedEdge& a, const DirectedEdge& b) { return a.from < b.from; });
  }

  std::vector<Rim> run() {
    for (std::size_t first = 0; first < edges_.size(); ++first)
      if (!edges_[first].used) walk_from(first);
    return std::move(rims_);
  }

 private:
  struct DirectedEdge {
    std::uint32_t from, to;
    bool used;
  };

  void walk_from(std::size_t first) {
    step(first);
    while (!walk_.empty()) {
      const std::uint32_t here = edges_[walk_.back()].to;
      if (const auto at = place_.find(here); at != place_.end())
        cut_loop(at->second);
      else
        step(choose(here));
    }
  }

  void step(std::size_t edge) {
    edges_[edge].used = true;
    place_[edges_[edge].from] = walk_.size();
    walk_.push_back(edge);
  }

  // There is an edge onwards: edges come and go equally often at every vertex. Only the first few
  // are looked at, since a vertex may have very many.
  std::size_t choose(std::uint32_t here) {
    constexpr std::size_t kLooks = 64;
    std::size_t& first = first_unused_.try_emplace(here, first_edge_from(here)).first->second;
    while (edges_[first].used) ++first;
    const Vec3 back = -direction(edges_[walk_.back()]);
    std::size_t best = first;
    double best_score = -2;
    const std::size_t end = std::min(first + kLooks, edges_.size());
    for (std::size_t i = first; i < end && edges_[i].from == here; ++i) {
      if (edges_[i].used) continue;
      const double score = place_.contains(edges_[i].to) ? 2 : dot(direction(edges_[i]), back);
      if (score <= best_score) continue;
      best = i;
      best_score = score;
    }
    return best;
  }

  std::size_t first_edge_from(std::uint32_t vertex) const {
    const auto it =
        std::lower_bound(edges_.begin(), edges_.end(), vertex,
                         [](const DirectedEdge& a, std::uint32_t v) { return a.from < v; });
    return static_cast<std::size_t>(it - edges_.begin());
  }

  Vec3 direction(const DirectedEdge& edge) const {
    return normalized(position(mesh_, edge.to) - position(mesh_, edge.from));
  }

  void cut_loop(std::size_t start) {
    Rim& rim = rims_.emplace_back();
    for (std::size_t i = start; i < walk_.size(); ++i) {
      const DirectedEdge& edge = edges_[walk_[i]];
      rim.edges.push_back({edge.from, edge.to, 1});
      place_.erase(edge.from);
    }
    walk_.resize(start);
    measure(rim, mesh_);
  }

  const TriangleMesh& mesh_;
  std::vector<DirectedEdge> edges_;                              // by where they start
  std::vector<std::size_t> walk_;                                // edges
  std::unordered_map<std::uint32_t, std::size_t> place_;         // of a vertex in the walk
  std::unordered_map<std::uint32_t, std::size_t> first_unused_;  // edge from a vertex, or earlier
  std::vector<Rim> rims_;
};

}  // namespace

std::vector<Rim> gather_rims(const TriangleMesh& mesh, std::span<const NetEdge> net) {
  return LoopCutter(mesh, net).run();
}

std::vector<NetEdge> sum_edges(std::vector<NetEdge> edges) {
  const auto name = [](const NetEdge& e) {
    return std::pair(std::min(e.from, e.to), std::max(e.from, e.to));
  };
  std::sort(edges.begin(), edges.end(),
            [&](const NetEdge& a, const NetEdge& b) { return name(a) < name(b); });
  std::vector<NetEdge> net;
  for (std::size_t i = 0; i < edges.size();) {
    const auto [lower, upper] = name(edges[i]);
    std::int64_t excess = 0;
    for (; i < edges.size() && name(edges[i]) == std::pair(lower, upper); ++i)
      excess +=
          edges[i].from == lower ? std::int64_t{edges[i].excess} : -std::int64_t{edges[i].excess};
    if (excess > 0) net.push_back({lower, upper, static_cast<std::uint32_t>(excess)});
    if (excess < 0) net.push_back({upper, lower, static_cast<std::uint32_t>(-excess)});
  }
  return net;
}

std::vector<NetEdge> compute_net(std::span<const Triangle> triangles) {
  std::vector<NetEdge> edges;
  edges.reserve(3 * triangles.size());
  for (const auto& [a, b, c] : triangles)
    edges.insert(edges.end(), {{a, b, 1}, {b, c, 1}, {c, a, 1}});
  return sum_edges(std::move(edges));
}

NarrowFill compute_narrow_fill(const TriangleMesh& mesh, const Rim& rim) {
  const std::size_t n = rim.edges.size();
  std::vector<std::size_t> previous(n), next(n);
  for (std::size_t i = 0; i < n; ++i) {
    next[i] = (i + 1) % n;
    previous[next[i]] = i;
  }
  const auto vertex = [&](std::size_t i) { return rim.edges[i].from; };
  const auto at = [&](std::size_t i) { return position(mesh, vertex(i)); };
  using Corner = std::pair<double, std::size_t>;  // squared length of the edge that would cut it
  const auto corner = [&](std::size_t i) {
    return Corner{length_sq(at(previous[i]) - at(next[i])), i};
  };
  std::set<Corner> corners;
  for (std::size_t i = 0; i < n; ++i) corners.insert(corner(i));

  NarrowFill fill;
  while (corners.size() > 2) {
    const std::size_t i = corners.begin()->second, a = previous[i], b = next[i];
    for (const std::size_t k : {a, i, b}) corners.erase(corner(k));
    next[a] = b;
    previous[b] = a;
    for (const std::size_t k : {a, b}) corners.insert(corner(k));
    fill.triangles.push_back({vertex(b), vertex(i), vertex(a)});
    fill.area += length(cross(at(i) - at(a), at(b) - at(a))) / 2;
  }
  fill.width = rim.perimeter > 0 ? 2 * fill.area / rim.perimeter : 0;
  return fill;
}

void add_fan(TriangleMesh& mesh, const Rim& rim) {
  if (rim.edges.size() == 3) {
    mesh.triangles.push_back({rim.edges[0].to, rim.edges[0].from, rim.edges[1].to});
    return;
  }
  const auto center = static_cast<std::uint32_t>(mesh.positions.size());
  mesh.positions.push_back(to_float(rim.center));
  for (const NetEdge& e : rim.edges) mesh.triangles.push_back({e.to, e.from, center});
}

}  // namespace isotact::surface_detail
