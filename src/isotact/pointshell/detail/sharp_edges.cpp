#include <algorithm>
#include <cmath>

#include "isotact/base/trig.h"
#include "isotact/pointshell/detail/shell_passes.h"

namespace isotact::detail {
namespace {

struct SharpEdge {
  std::uint32_t ends[2];
  std::uint32_t triangle;  // One of its faces.
  Vec3f normal;            // Mean of the normals of its faces.
};

double cosine_of(double degrees) {
  constexpr double kRadians = 3.14159265358979323846 / 180;
  return sin_cos(degrees * kRadians).cos;
}

// An edge of a triangle, seen from its end with the lower number.
struct Side {
  std::uint32_t high;  // The other end.
  std::uint32_t triangle;
  bool forward;  // The triangle runs towards the other end.
};

void list_sides(const ShellSurface& surface, std::uint32_t low, std::vector<Side>& sides) {
  sides.clear();
  for (const std::uint32_t t : surface.triangles_at(low))
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t a = surface.mesh.triangles[t][k];
      const std::uint32_t b = surface.mesh.triangles[t][(k + 1) % 3];
      if (a == low && low < b) sides.push_back({b, t, true});
      if (b == low && low < a) sides.push_back({a, t, false});
    }
  std::sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) {
    return a.high != b.high ? a.high < b.high : a.triangle < b.triangle;
  });
}

void add_sharp_edges_at(const ShellSurface& surface, std::uint32_t low, std::span<const Side> sides,
                        double cosine, std::vector<SharpEdge>& edges) {
  for (std::size_t begin = 0, end = 0; begin < sides.size(); begin = end) {
    Vec3f sum{};
    for (end = begin; end < sides.size() && sides[end].high == sides[begin].high; ++end)
      sum += surface.face_normals[sides[end].triangle];
    if (end - begin == 2) {
      const Side &a = sides[begin], &b = sides[begin + 1];
      const float turn = dot(surface.face_normals[a.triangle], surface.face_normals[b.triangle]);
      // If the faces disagree about the outside, one of their normals is reversed.
      const double agreed = static_cast<double>(a.forward == b.forward ? -turn : turn);
      if (agreed >= cosine) continue;
    }
    edges.push_back({{low, sides[begin].high},
                     sides[begin].triangle,
                     length(sum) > 1e-6F ? normalized(sum) : Vec3f{}});
  }
}

// Sorted by their ends.
std::vector<SharpEdge> find_sharp_edges(const ShellSurface& surface, double cosine,
                                        Threads threads) {
  using Edges = std::vector<SharpEdge>;
  return parallel_reduce(
      surface.mesh.positions.size(), 4096, threads, Edges{},
      [&](std::size_t begin, std::size_t end) {
        Edges edges;
        std::vector<Side> sides;
        for (std::size_t v = begin; v < end; ++v) {
          const auto low = static_cast<std::uint32_t>(v);
          list_sides(surface, low, sides);
          add_sharp_edges_at(surface, low, sides, cosine, edges);
        }
        return edges;
      },
      [](Edges a, const Edges& b) {
        a.insert(a.end(), b.begin(), b.end());
        return a;
      });
}

// Sharp edges with, for each vertex, those that meet there.
struct EdgeNet {
  std::vector<SharpEdge> edges;
  std::vector<std::uint32_t> begin{}, meeting{};

  std::span<const std::uint32_t> at(std::uint32_t vertex) const {
    return std::span(meeting).subspan(begin[vertex], begin[vertex + 1] - begin[vertex]);
  }
  std::uint32_t other_end(std::uint32_t edge, std::uint32_t vertex) const {
    return edges[edge].ends[edges[edge].ends[0] == vertex ? 1 : 0];
  }
};

EdgeNet make_net(std::vector<SharpEdge> edges, std::size_t vertices) {
  EdgeNet net{.edges = std::move(edges), .begin = std::vector<std::uint32_t>(vertices + 1, 0)};
  for (const SharpEdge& e : net.edges)
    for (const std::uint32_t v : e.ends) ++net.begin[v + 1];
  for (std::size_t v = 0; v < vertices; ++v) net.begin[v + 1] += net.begin[v];
  net.meeting.resize(net.edges.size() * 2);
  std::vector<std::uint32_t> next(net.begin.begin(), net.begin.end() - 1);
  for (std::uint32_t e = 0; e < net.edges.size(); ++e)
    for (const std::uint32_t v : net.edges[e].ends) net.meeting[next[v]++] = e;
  return net;
}

bool is_corner(const EdgeNet& net, const TriangleMesh& mesh, std::uint32_t v, double cosine) {
  const auto meeting = net.at(v);
  if (meeting.size() != 2) return !meeting.empty();
  const Vec3 at = to_double(mesh.positions[v]);
  const Vec3 in = at - to_double(mesh.positions[net.other_end(meeting[0], v)]);
  const Vec3 out = to_double(mesh.positions[net.other_end(meeting[1], v)]) - at;
  return dot(normalized(in), normalized(out)) < cosine;
}

// Walks along edges from `start` to a corner or back to the start.
struct Chain {
  std::vector<std::uint32_t> vertices, edges;
};

class Walker {
 public:
  Walker(const EdgeNet& net, const std::vector<bool>& corners)
      : net_(net), corners_(corners), done_(net.edges.size(), false) {}

  bool is_done(std::uint32_t edge) const { return done_[edge]; }
  Chain walk(std::uint32_t start, std::uint32_t edge) {
    Chain chain{{start}, {}};
    for (std::uint32_t at = start;;) {
      done_[edge] = true;
      at = net_.other_end(edge, at);
      chain.edges.push_back(edge);
      chain.vertices.push_back(at);
      if (corners_[at] || at == start) return chain;
      const auto meeting = net_.at(at);  // Two edges, since it is not a corner.
      edge = meeting[0] == edge ? meeting[1] : meeting[0];
    }
  }

 private:
  const EdgeNet& net_;
  const std::vector<bool>& corners_;
  std::vector<bool> done_;
};

void add_sample(EdgeSamples& out, const Vec3& point, const SharpEdge& edge) {
  out.points.push_back(to_float(point));
  out.normals.push_back(edge.normal);
  out.triangles.push_back(edge.triangle);
}

void sample_chain(EdgeSamples& out, const Chain& chain, const EdgeNet& net,
                  const TriangleMesh& mesh, double spacing, bool is_loop) {
  const auto at = [&](std::size_t i) { return to_double(mesh.positions[chain.vertices[i]]); };
  double total = 0;
  for (std::size_t i = 0; i < chain.edges.size(); ++i) total += length(at(i + 1) - at(i));
  const double pieces = std::max(is_loop ? 3.0 : 1.0, std::ceil(total / spacing));
  const double step = total / pieces;
  if (is_loop) add_sample(out, at(0), net.edges[chain.edges[0]]);
  double walked = 0, next = 1;
  for (std::size_t i = 0; i < chain.edges.size(); ++i) {
    const double here = length(at(i + 1) - at(i));
    for (; next < pieces && next * step <= walked + here; ++next)
      add_sample(out, lerp(at(i), at(i + 1), (next * step - walked) / here),
                 net.edges[chain.edges[i]]);
    walked += here;
  }
}

}  // namespace

EdgeSamples sample_sharp_edges(const ShellSurface& surface, double sharp_degrees, double spacing,
                               Threads threads) {
  const double cosine = cosine_of(sharp_degrees);
  const TriangleMesh& mesh = surface.mesh;
  const EdgeNet net = make_net(find_sharp_edges(surface, cosine, threads), mesh.positions.size());
  EdgeSamples out;
  std::vector<bool> corners(mesh.positions.size(), false);
  for (std::uint32_t v = 0; v < mesh.positions.size(); ++v) {
    if (!is_corner(net, mesh, v, cosine)) continue;
    corners[v] = true;
    out.points.push_back(mesh.positions[v]);
    out.normals.push_back(surface.compute_vertex_normal(v));
    out.triangles.push_back(net.edges[net.at(v)[0]].triangle);
  }
  out.corner_count = out.points.size();
  Walker walker(net, corners);
  for (std::uint32_t v = 0; v < mesh.positions.size(); ++v) {
    if (!corners[v]) continue;
    for (const std::uint32_t e : net.at(v))
      if (!walker.is_done(e)) sample_chain(out, walker.walk(v, e), net, mesh, spacing, false);
  }
  for (std::uint32_t e = 0; e < net.edges.size(); ++e)
    if (!walker.is_done(e))
      sample_chain(out, walker.walk(net.edges[e].ends[0], e), net, mesh, spacing, true);
  return out;
}

EdgeSamples sample_long_edges(const ShellSurface& surface, double sharp_degrees, double spacing,
                              Threads threads) {
  EdgeSamples out;
  for (const SharpEdge& edge : find_sharp_edges(surface, cosine_of(sharp_degrees), threads)) {
    const Vec3 a = to_double(surface.mesh.positions[edge.ends[0]]);
    const Vec3 b = to_double(surface.mesh.positions[edge.ends[1]]);
    const double pieces = std::ceil(length(b - a) / spacing);
    for (double k = 1; k < pieces; ++k) add_sample(out, lerp(a, b, k / pieces), edge);
  }
  return out;
}

EdgeSamples sample_edges_for_shell(const ShellSurface& surface, double sharp_degrees,
                                   double spacing, std::size_t most, Threads threads) {
  const EdgeSamples all = sample_sharp_edges(surface, sharp_degrees, spacing, threads);
  std::vector<std::uint32_t> stay;
  double apart = spacing / 2;
  do {
    stay = thin(all.points, apart);
    apart *= 1.25;
  } while (stay.size() > most);
  EdgeSamples out;
  for (const std::uint32_t i : stay) {
    out.points.push_back(all.points[i]);
    out.normals.push_back(all.normals[i]);
    out.triangles.push_back(all.triangles[i]);
    if (i < all.corner_count) ++out.corner_count;
  }
  return out;
}

}  // namespace isotact::detail
