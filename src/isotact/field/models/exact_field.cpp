#include "isotact/field/models/exact_field.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

#include "isotact/base/trig.h"

namespace isotact {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

ExactField::ExactField(const Surface& surface, Threads threads)
    : mesh_(surface.mesh),
      tree_(surface.mesh, {.threads = threads}),
      method_(surface.report.method),
      nested_(surface.nested),
      shell_offset_(surface.report.shell_offset) {
  assert(method_ != SignMethod::kAuto);
  if (method_ == SignMethod::kPseudonormal) compute_pseudonormals();
}

ExactField::Nearest ExactField::find_nearest(const Vec3f& point, float most_distance) const {
  const ClosestPoint closest = find_closest_point(tree_.bvh(), point, most_distance);
  if (closest.triangle == kNoTriangle) return {.distance = kInfinity};
  // Again in double: the search rounds its answer to float.
  const auto [a, b, c] = corners(mesh_, closest.triangle);
  const TrianglePoint exact = find_closest_point_on_triangle(point, a, b, c);
  return {.triangle = closest.triangle,
          .feature = exact.feature,
          .offset = to_double(point) - exact.point,
          .distance = std::sqrt(exact.distance_sq)};
}

bool ExactField::is_inside(const Vec3f& point, const Nearest& nearest) const {
  if (method_ == SignMethod::kPseudonormal) return dot(nearest.offset, pseudonormal(nearest)) < 0;
  const long winding = std::lround(compute_winding_number(tree_, point));
  return nested_ == NestedRule::kEvenOdd ? winding % 2 != 0 : winding >= 1;
}

double ExactField::value(const Vec3& point) const {
  const Vec3f p = to_float(point);
  const Nearest nearest = find_nearest(p);
  if (method_ == SignMethod::kUnsigned) return nearest.distance - shell_offset_;
  return is_inside(p, nearest) ? -nearest.distance : nearest.distance;
}

FieldSample ExactField::sample_by(const Vec3f& point, const Nearest& nearest,
                                  std::optional<bool> inside) const {
  if (nearest.distance == kInfinity) return {.distance = kInfinity};
  // On the surface there is no offset to tell a direction by.
  const Vec3 direction =
      nearest.distance > 0 ? normalized(nearest.offset) : face_normal(nearest.triangle);
  if (method_ == SignMethod::kUnsigned)
    return {.distance = nearest.distance - shell_offset_, .gradient = direction};
  if (nearest.distance > 0 && (inside ? *inside : is_inside(point, nearest)))
    return {.distance = -nearest.distance, .gradient = -direction};
  return {.distance = nearest.distance, .gradient = direction};
}

FieldSample ExactField::sample(const Vec3& point) const {
  const Vec3f p = to_float(point);
  return sample_by(p, find_nearest(p), std::nullopt);
}

FieldSample ExactField::sample(const Vec3& point, const Known& known) const {
  const Vec3f p = to_float(point);
  // Of the point as it is rounded.
  const double most = known.most_distance + 0x1p-22 * length(point) + 0x1p-148;
  Nearest nearest = find_nearest(p, static_cast<float>(most * (1 + 0x1p-22)));
  if (nearest.distance == kInfinity) nearest = find_nearest(p);
  return sample_by(p, nearest, known.inside);
}

Aabb ExactField::bounds() const { return {Vec3{1, 1, 1} * -kInfinity, Vec3{1, 1, 1} * kInfinity}; }

Interval ExactField::range(const Aabb& box) const {
  const Vec3 middle = center(box);
  const double reach = length(extent(box)) / 2;
  if (!is_finite(middle) || !std::isfinite(reach)) return {-kInfinity, kInfinity};
  // Two roundings to float: of the middle, and of the point in the box that is asked for.
  const Interval at_middle = distance_bounds(middle);
  const double rounding = at_middle.upper - at_middle.lower + 0x1p-22 * reach;
  return {at_middle.lower - reach - rounding, at_middle.upper + reach + rounding};
}

Interval ExactField::distance_bounds(const Vec3& point) const {
  return distance_bounds(point, value(point));
}

Interval ExactField::distance_bounds(const Vec3& point, double distance) const {
  // Rounding moves a coordinate by 2^-24 of it at most (or by the least float), and the search may
  // take any of the triangles whose distances are the same float.
  const double moved = 0x1p-23 * length(point) + 0x1p-148;
  const double error = moved + 0x1p-23 * (std::abs(distance) + shell_offset_);
  return {distance - error, distance + error};
}

Vec3 ExactField::face_normal(std::uint32_t triangle) const {
  const auto [a, b, c] = corners(mesh_, triangle);
  return normalized(cross(to_double(b) - to_double(a), to_double(c) - to_double(a)));
}

const Vec3& ExactField::pseudonormal(const Nearest& nearest) const {
  const auto feature = static_cast<std::uint32_t>(nearest.feature);
  if (feature == 0) return face_normals_[nearest.triangle];
  if (feature <= 3) return edge_normals_[3 * std::size_t{nearest.triangle} + feature - 1];
  return vertex_normals_[mesh_.triangles[nearest.triangle][feature - 4]];
}

void ExactField::compute_pseudonormals() {
  const std::size_t count = mesh_.triangles.size();
  face_normals_.resize(count);
  edge_normals_.resize(3 * count);
  vertex_normals_.resize(mesh_.positions.size());
  using Edge = std::pair<std::pair<std::uint32_t, std::uint32_t>, std::size_t>;
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < count; ++i) {
    face_normals_[i] = face_normal(static_cast<std::uint32_t>(i));
    const Triangle& t = mesh_.triangles[i];
    const std::array<Vec3f, 3> p = corners(mesh_, i);
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t next = (k + 1) % 3, last = (k + 2) % 3;
      const Vec3 u = to_double(p[next]) - to_double(p[k]), v = to_double(p[last]) - to_double(p[k]);
      vertex_normals_[t[k]] += face_normals_[i] * angle_of(length(cross(u, v)), dot(u, v));
      edges.push_back({std::minmax(t[k], t[next]), 3 * i + k});
    }
  }
  // Every edge has two triangles here.
  std::sort(edges.begin(), edges.end());
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    if (edges[i].first != edges[i + 1].first) continue;
    const std::size_t a = edges[i].second, b = edges[i + 1].second;
    edge_normals_[a] = edge_normals_[b] = face_normals_[a / 3] + face_normals_[b / 3];
  }
}

void compute_signed_distances(const ExactField& field, std::span<const Vec3> points,
                              std::span<double> results, Threads threads) {
  assert(points.size() == results.size());
  parallel_for(points.size(), 64, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) results[i] = field.value(points[i]);
  });
}

}  // namespace isotact
