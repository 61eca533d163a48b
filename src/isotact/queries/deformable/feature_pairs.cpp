#include "isotact/queries/deformable/detail/feature_pairs.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

#include "isotact/base/error.h"
#include "isotact/queries/deformable/features.h"

namespace isotact::detail {
namespace {

using Points = std::array<Vec3, 4>;

// The vertex first, then the face; for edges in the given order.
FeatureDistance measure(FeatureKind kind, const Points& points) {
  return kind == FeatureKind::kEdgeEdge ? compute_distance_edge_edge(points)
                                        : compute_distance_vertex_face(points);
}

Points points_at(const FeatureMotion& motion, double time) {
  if (time == 0) return motion.at_t0;
  Points points{};
  for (std::size_t i = 0; i < 4; ++i) points[i] = lerp(motion.at_t0[i], motion.at_t1[i], time);
  return points;
}

// Returns a vector perpendicular to the span of the features; if that is a line, to the line;
// otherwise any.
Vec3 normal_of_features(FeatureKind kind, const Points& p) {
  const bool is_edges = kind == FeatureKind::kEdgeEdge;
  const Vec3 first = is_edges ? p[1] - p[0] : p[2] - p[1];
  const Vec3 second = is_edges ? p[3] - p[2] : p[3] - p[1];
  const Vec3 normal = cross(first, second);
  const double size = length(first) * length(second);
  if (length(normal) > 1e-12 * size) return normalized(normal);
  const Vec3 along = length_sq(first) > length_sq(second) ? first : second;
  const Vec3 size_on{std::abs(along.x), std::abs(along.y), std::abs(along.z)};
  const Vec3 axis = size_on.x <= size_on.y && size_on.x <= size_on.z ? Vec3{1, 0, 0}
                    : size_on.y <= size_on.z                         ? Vec3{0, 1, 0}
                                                                     : Vec3{0, 0, 1};
  const Vec3 across = normalized(cross(along, axis));
  return across == Vec3{} ? Vec3{0, 1, 0} : across;
}

Vec3 mean_of(const Points& points, const std::array<double, 4>& weights, std::size_t begin,
             std::size_t end) {
  Vec3 mean{};
  for (std::size_t i = begin; i < end; ++i) mean += points[i] * weights[i];
  return mean;
}

double size_of(const Points& p) {
  double most = 0;
  for (std::size_t i = 1; i < 4; ++i)
    for (std::size_t k = 0; k < 3; ++k) most = std::max(most, std::abs(p[i][k] - p[0][k]));
  return most;
}

// From the second feature to the first.
Vec3 direction_between(const FeaturePair& pair, const Points& points, const FeatureDistance& near,
                       const FeatureMotion& motion, bool is_crossing) {
  if (near.distance > 1e-12 * size_of(points)) return near.to_first / near.distance;
  const Vec3 normal = normal_of_features(pair.kind, points);
  if (!is_crossing) return normal;
  // The positions of the same two points at t0; if they coincided, the opposite of their motion.
  const std::size_t split = pair.kind == FeatureKind::kEdgeEdge ? 2 : 1;
  const auto apart = [&](const Points& p) {
    return dot(normal, mean_of(p, near.weights, 0, split) - mean_of(p, near.weights, split, 4));
  };
  const double before = apart(motion.at_t0), after = apart(motion.at_t1);
  const bool was_together = std::abs(before) <= 1e-12 * size_of(motion.at_t0);
  return (was_together ? after > 0 : before < 0) ? -normal : normal;
}

void check_vertex(const SurfaceView& surface, std::uint32_t vertex) {
  const auto is_near = [](const Vec3& p) {
    return std::abs(p.x) <= kFarthest && std::abs(p.y) <= kFarthest && std::abs(p.z) <= kFarthest;
  };
  const bool at_t0 = is_near(surface.positions[vertex]);
  if (at_t0 && (surface.positions_t1.empty() || is_near(surface.positions_t1[vertex]))) return;
  throw Error("vertex " + std::to_string(vertex) + " of a surface is " +
              (at_t0 ? "at t1 " : "at t0 ") +
              "not a number or farther out than 1e60 metres; did the body burst?");
}

auto sort_key(const FeatureContact& c) { return std::tie(c.kind, c.feature_a, c.feature_b); }

}  // namespace

void check_surface(const SurfaceView& surface, const char* name) {
  if (surface.topology == nullptr)
    throw Error(std::string(name) + " has no topology: see make_topology");
  const std::size_t count = surface.topology->vertex_count;
  const auto check = [&](std::span<const Vec3> positions, const char* when) {
    if (positions.size() != count)
      throw Error(std::string(name) + " has " + std::to_string(positions.size()) +
                  " positions at " + when + ", but its topology has " + std::to_string(count) +
                  " vertices");
  };
  check(surface.positions, "t0");
  if (!surface.positions_t1.empty()) check(surface.positions_t1, "t1");
}

void check_margin(double margin) {
  if (!(margin >= 0) || std::isinf(margin))
    throw Error("the margin is " + std::to_string(margin) + "; zero or more metres were expected");
}

void check_candidate(const SurfaceView& a, const SurfaceView& b, const TrianglePair& candidate) {
  const auto check = [](const SurfaceView& surface, std::uint32_t triangle) {
    const std::size_t count = surface.topology->triangles.size();
    if (triangle >= count)
      throw Error("a candidate names triangle " + std::to_string(triangle) +
                  ", but the surface has " + std::to_string(count) + " triangles");
    for (const std::uint32_t v : surface.topology->triangles[triangle]) check_vertex(surface, v);
  };
  check(a, candidate.a);
  check(b, candidate.b);
}

void sort_contacts(std::vector<FeatureContact>& contacts, std::size_t kept) {
  const auto begin = contacts.begin() + static_cast<std::ptrdiff_t>(kept);
  std::sort(begin, contacts.end(), [](const FeatureContact& x, const FeatureContact& y) {
    return sort_key(x) < sort_key(y);
  });
  contacts.erase(std::unique(begin, contacts.end(),
                             [](const FeatureContact& x, const FeatureContact& y) {
                               return sort_key(x) == sort_key(y);
                             }),
                 contacts.end());
}

FeatureMotion motion_of(const SurfaceView& a, const SurfaceView& b, const FeaturePair& pair) {
  const std::array<std::uint32_t, 4>& v = pair.vertices;
  const auto gather = [&](std::span<const Vec3> pa, std::span<const Vec3> pb) -> Points {
    switch (pair.kind) {
      case FeatureKind::kVertexFace:
        return {pa[v[0]], pb[v[1]], pb[v[2]], pb[v[3]]};
      case FeatureKind::kFaceVertex:
        return {pb[v[3]], pa[v[0]], pa[v[1]], pa[v[2]]};
      case FeatureKind::kEdgeEdge:
        break;
    }
    return {pa[v[0]], pa[v[1]], pb[v[2]], pb[v[3]]};
  };
  FeatureMotion motion{.at_t0 = gather(a.positions, b.positions)};
  const bool a_rests = a.positions_t1.empty(), b_rests = b.positions_t1.empty();
  motion.at_t1 = a_rests && b_rests ? motion.at_t0
                                    : gather(a_rests ? a.positions : a.positions_t1,
                                             b_rests ? b.positions : b.positions_t1);
  return motion;
}

void append_contact(const FeaturePair& pair, const FeatureMotion& motion, double time,
                    bool is_crossing, std::vector<FeatureContact>& contacts) {
  const Points points = points_at(motion, time);
  const FeatureDistance near = measure(pair.kind, points);
  const std::size_t split = pair.kind == FeatureKind::kEdgeEdge ? 2 : 1;
  FeatureContact c{.kind = pair.kind,
                   .feature_a = pair.feature_a,
                   .feature_b = pair.feature_b,
                   .vertices = pair.vertices,
                   .weights = near.weights,
                   .point_on_a = mean_of(points, near.weights, 0, split),
                   .point_on_b = mean_of(points, near.weights, split, 4),
                   .normal = direction_between(pair, points, near, motion, is_crossing),
                   .distance = near.distance,
                   .time = time};
  if (pair.kind == FeatureKind::kFaceVertex) {  // The vertex came first, but is B's.
    c.weights = {near.weights[1], near.weights[2], near.weights[3], near.weights[0]};
    std::swap(c.point_on_a, c.point_on_b);
    c.normal = -c.normal;
  }
  contacts.push_back(c);
}

void append_if_near(const SurfaceView& a, const SurfaceView& b, const FeaturePair& pair,
                    double margin, std::vector<FeatureContact>& contacts) {
  const FeatureMotion motion =
      motion_of({a.topology, a.positions}, {b.topology, b.positions}, pair);
  if (measure(pair.kind, motion.at_t0).distance <= margin)
    append_contact(pair, motion, 0, false, contacts);
}

void append_if_crossing(const SurfaceView& a, const SurfaceView& b, const FeaturePair& pair,
                        const MeetingSettings& settings, std::vector<FeatureContact>& contacts) {
  const FeatureMotion motion = motion_of(a, b, pair);
  const Meeting meeting = pair.kind == FeatureKind::kEdgeEdge
                              ? find_meeting_edge_edge(motion, settings)
                              : find_meeting_vertex_face(motion, settings);
  if (meeting.status == MeetingStatus::kApart) return;
  append_contact(pair, motion, meeting.time, true, contacts);
  contacts.back().gave_up = meeting.status == MeetingStatus::kGaveUp;
}

}  // namespace isotact::detail
