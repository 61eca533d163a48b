// Sphere, capsule, cylinder, torus and bowl.
#include <algorithm>
#include <cmath>
#include <map>

#include "isotact/geometry/primitives/detail/surface_builder.h"
#include "isotact/geometry/primitives/detail/tables.h"
#include "isotact/geometry/primitives/primitives.h"

namespace isotact {
namespace {

using detail::ProfilePoint;
using detail::SurfaceBuilder;

constexpr std::array<Triangle, 20> kIcosahedron{
    {{0, 11, 5},  {0, 5, 1},  {0, 1, 7},  {0, 7, 10}, {0, 10, 11}, {1, 5, 9}, {5, 11, 4},
     {11, 10, 2}, {10, 7, 6}, {7, 1, 8},  {3, 9, 4},  {3, 4, 2},   {3, 2, 6}, {3, 6, 8},
     {3, 8, 9},   {4, 9, 5},  {2, 4, 11}, {6, 2, 10}, {8, 6, 7},   {9, 8, 1}}};

std::array<Vec3, 12> icosahedron_corners() {
  const double g = (1 + std::sqrt(5.0)) / 2;
  return {{{-1, g, 0},
           {1, g, 0},
           {-1, -g, 0},
           {1, -g, 0},
           {0, -1, g},
           {0, 1, g},
           {0, -1, -g},
           {0, 1, -g},
           {g, 0, -1},
           {g, 0, 1},
           {-g, 0, -1},
           {-g, 0, 1}}};
}

// The point of a face with integer weights (a, b, c) that add up to the frequency. Points on shared
// edges come out in the same bits from both faces, since the third weight is 0.
class GeodesicSphere {
 public:
  GeodesicSphere(double radius, int frequency)
      : radius_(radius), frequency_(frequency), corners_(icosahedron_corners()) {
    for (std::uint32_t i = 0; i < 12; ++i) add(corners_[i]);
  }

  void add_face(const Triangle& face) {
    const auto n = static_cast<std::uint32_t>(frequency_);
    std::vector<std::uint32_t> previous, row;
    for (std::uint32_t i = 0; i <= n; ++i) {
      row.clear();
      for (std::uint32_t j = 0; j <= i; ++j) row.push_back(vertex(face, {n - i, i - j, j}));
      for (std::uint32_t j = 0; j < i; ++j) {
        builder_.triangle(previous[j], row[j], row[j + 1]);
        if (j + 1 < i) builder_.triangle(previous[j], row[j + 1], previous[j + 1]);
      }
      previous = row;
    }
  }

  TriangleMesh finish() const { return builder_.finish({"sphere", "radius", radius_}); }

 private:
  std::uint32_t add(const Vec3& direction) { return builder_.add(normalized(direction) * radius_); }

  std::uint32_t vertex(const Triangle& face, const std::array<std::uint32_t, 3>& weights) {
    Vec3 p;
    std::array<std::uint32_t, 4> key{};  // of an edge point: corners in order, weight of the first
    std::size_t used = 0;
    std::array<std::size_t, 3> order{0, 1, 2};
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return face[a] < face[b]; });
    for (const std::size_t k : order) {
      if (weights[k] == 0) continue;
      p += corners_[face[k]] * static_cast<double>(weights[k]);
      if (used < 2) key[2 * used] = face[k], key[2 * used + 1] = weights[k];
      ++used;
    }
    if (used == 1) return key[0];
    if (used == 3) return add(p);
    const auto [found, is_new] = edge_points_.try_emplace(key, 0);
    if (is_new) found->second = add(p);
    return found->second;
  }

  double radius_;
  int frequency_;
  std::array<Vec3, 12> corners_;
  SurfaceBuilder builder_;
  std::map<std::array<std::uint32_t, 4>, std::uint32_t> edge_points_;
};

// Points of an arc from one angle to another (counted from -y towards the outside), both ends
// included.
void append_arc(std::vector<ProfilePoint>& profile, const ProfilePoint& center, double radius,
                double from, double to, int steps) {
  for (int i = 0; i <= steps; ++i) {
    const SinCos t = sin_cos(from + (to - from) * i / steps);
    profile.push_back({center.radius + radius * t.sin, center.y - radius * t.cos});
  }
}

int steps_for(double length, double step) {
  return std::max(1, static_cast<int>(std::min(1e6, length / step + 0.5)));
}

}  // namespace

TriangleMesh make_sphere(const SphereShape& shape) {
  detail::check(shape);
  detail::check_triangles("sphere", "frequency", shape.frequency,
                          20.0 * shape.frequency * shape.frequency);
  GeodesicSphere sphere(shape.radius, shape.frequency);
  for (const Triangle& face : kIcosahedron) sphere.add_face(face);
  return sphere.finish();
}

TriangleMesh make_capsule(const CapsuleShape& shape) {
  detail::check(shape);
  const double edge = 2 * kPi * shape.radius / shape.segments;
  const double rows = shape.segments / 2.0 + shape.length / edge;
  detail::check_triangles("capsule", "segments", shape.segments, 2 * rows * shape.segments);
  const int quarter = std::max(2, (shape.segments + 2) / 4);
  const double half = shape.length / 2;
  std::vector<ProfilePoint> profile;
  append_arc(profile, {0, -half}, shape.radius, 0, kPi / 2, quarter);
  const int straight = steps_for(shape.length, edge);
  for (int i = 1; i < straight; ++i)
    profile.push_back({shape.radius, -half + shape.length * i / straight});
  append_arc(profile, {0, half}, shape.radius, kPi / 2, kPi, quarter);
  profile.front().radius = profile.back().radius = 0;
  return detail::revolve(profile, false, shape.segments, {"capsule", "radius", shape.radius});
}

TriangleMesh make_cylinder(const CylinderShape& shape) {
  detail::check(shape);
  const double edge = 2 * kPi * shape.radius / shape.segments;
  detail::check_triangles("cylinder", "segments", shape.segments,
                          2.0 * shape.segments * (shape.height / edge + 4));
  SurfaceBuilder builder;
  const auto turn = detail::full_turn(shape.segments);
  const int rows = steps_for(shape.height, edge);
  std::vector<detail::Ring> rings;
  for (int i = 0; i <= rows; ++i)
    rings.push_back(
        builder.add_ring(shape.radius, -shape.height / 2 + shape.height * i / rows, turn));
  builder.skin(rings, false);
  builder.fill_disc(rings.front(), {0, -shape.height / 2, 0}, false);
  builder.fill_disc(rings.back(), {0, shape.height / 2, 0}, true);
  return builder.finish({"cylinder", "radius", shape.radius});
}

TriangleMesh make_torus(const TorusShape& shape) {
  detail::check(shape);
  if (!(shape.tube_radius < shape.radius))
    detail::throw_parameter("torus", "tube_radius", shape.tube_radius,
                            "less than radius (" + detail::number_text(shape.radius) + ")");
  detail::check_triangles("torus", "segments", shape.segments,
                          2.0 * shape.segments * shape.tube_segments);
  std::vector<ProfilePoint> profile;
  for (const SinCos& t : detail::full_turn(shape.tube_segments))
    profile.push_back({shape.radius + shape.tube_radius * t.cos, shape.tube_radius * t.sin});
  return detail::revolve(profile, true, shape.segments,
                         {"torus", "tube_radius", shape.tube_radius});
}

TriangleMesh make_bowl(const BowlShape& shape) {
  detail::check(shape);
  const double t = shape.thickness, outer = shape.radius, inner = outer - t,
               foot = shape.foot_radius;
  if (!(t < outer / 2))
    detail::throw_parameter("bowl", "thickness", t,
                            "less than half the radius (" + detail::number_text(outer / 2) + ")");
  const double rim = shape.rim_degrees * (kPi / 180);
  // The foot must leave a fifth of the wall below the inside, and lie below the rim.
  const double lift = 0.8 * t;
  const double widest = std::min(std::sqrt(outer * outer - (outer - lift) * (outer - lift)),
                                 0.9 * outer * (rim < kPi / 2 ? sin_cos(rim).sin : 1.0));
  if (!(foot <= widest))
    detail::throw_parameter(
        "bowl", "foot_radius", foot,
        "from 0 to " + detail::number_text(widest) + " for this radius, thickness and rim");
  detail::check_triangles("bowl", "segments", shape.segments,
                          2.0 * shape.segments * shape.segments);
  const double start = angle_of(foot, std::sqrt(outer * outer - foot * foot));
  const ProfilePoint center{0, std::sqrt(outer * outer - foot * foot)};
  const double edge = 2 * kPi * outer / shape.segments;
  const int outer_steps = steps_for((rim - start) * outer, edge);
  // The facets of the outside reach this far into the wall, half of it along the profile and half
  // around the axis; a margin for the bands between rings of different size.
  const double into_wall =
      1.5 * outer *
      (2 - sin_cos((rim - start) / (2 * outer_steps)).cos - sin_cos(kPi / shape.segments).cos);
  if (!(t >= into_wall))
    detail::throw_parameter("bowl", "thickness", t,
                            "at least " + detail::number_text(into_wall) +
                                " for this radius and segments, so that the facets of the outside "
                                "stay clear of the inside");
  const ProfilePoint rim_center{(outer - t / 2) * sin_cos(rim).sin,
                                center.y - (outer - t / 2) * sin_cos(rim).cos};

  std::vector<ProfilePoint> profile;
  profile.push_back({0, 0});
  for (int i = 1, n = steps_for(foot, edge); foot > 0 && i < n; ++i)
    profile.push_back({foot * i / n, 0});
  append_arc(profile, center, outer, start, rim, outer_steps);
  if (foot == 0) profile.erase(profile.begin() + 1);
  profile.pop_back();
  append_arc(profile, rim_center, t / 2, rim, rim + kPi, 8);
  profile.pop_back();
  append_arc(profile, center, inner, rim, 0, steps_for(rim * inner, edge));
  profile.back().radius = 0;
  return detail::revolve(profile, false, shape.segments, {"bowl", "thickness", t});
}

}  // namespace isotact
