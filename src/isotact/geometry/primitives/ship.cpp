// A small spaceship, as one implicit solid of unit length: nose towards +x, mirrored about z = 0.
#include <algorithm>
#include <array>
#include <cmath>

#include "isotact/geometry/primitives/detail/implicit.h"
#include "isotact/geometry/primitives/detail/tables.h"
#include "isotact/geometry/primitives/primitives.h"

namespace isotact {
namespace {

using namespace detail;

double fuselage(const Vec3& p) {
  const Vec3 q{p.x, p.y * 1.15, p.z};
  double hull = implicit_cone(q, {0.465, -0.012, 0}, {0.20, 0, 0}, 0.018, 0.058);
  hull =
      implicit_union(hull, implicit_cone(q, {0.20, 0, 0}, {-0.15, 0.005, 0}, 0.058, 0.075), 0.03);
  hull = implicit_union(hull, implicit_cone(q, {-0.15, 0.005, 0}, {-0.40, 0.01, 0}, 0.075, 0.05),
                        0.03);
  const double canopy = implicit_ellipsoid(p, {0.13, 0.05, 0}, {0.13, 0.036, 0.036});
  return implicit_union(hull, canopy, 0.02);
}

// A plate that follows an outline in (x, |z|), thinner towards the tip, with hanging tips.
double wing(const Vec3& p) {
  static constexpr std::array<Vec2, 7> kOutline{{{0.22, 0.02},
                                                 {0.02, 0.13},
                                                 {-0.20, 0.40},
                                                 {-0.33, 0.40},
                                                 {-0.29, 0.25},
                                                 {-0.36, 0.15},
                                                 {-0.30, 0.02}}};
  const double out = std::min(std::max(p.z / 0.4, 0.0), 1.0);
  const double half = 0.024 - 0.009 * out;
  const double middle = -0.012 - 0.06 * out * out;
  return implicit_corner(implicit_polygon({p.x, p.z}, kOutline), std::abs(p.y - middle) - half,
                         0.9 * half);
}

double wing_cannon(const Vec3& p) {
  const double barrel =
      implicit_cone(p, {-0.37, -0.072, 0.405}, {-0.06, -0.072, 0.405}, 0.026, 0.018);
  const double collar = implicit_cylinder_x(p, {-0.16, -0.072, 0.405}, 0.05, 0.030, 0.012);
  return implicit_union(barrel, collar, 0.015);
}

// A barrel with an intake in front and a hollow nozzle behind.
double engine(const Vec3& p) {
  const double y = 0.022, z = 0.105;
  double pod = implicit_cylinder_x(p, {-0.27, y, z}, 0.20, 0.058, 0.02);
  const double nozzle = implicit_cone(p, {-0.50, y, z}, {-0.36, y, z}, 0.047, 0.028);
  const double intake = implicit_cone(p, {-0.05, y, z}, {-0.14, y, z}, 0.042, 0.024);
  pod = implicit_difference(pod, nozzle, 0.012);
  return implicit_difference(pod, intake, 0.012);
}

double fin(const Vec3& p) {
  static constexpr std::array<Vec2, 4> kOutline{
      {{-0.20, 0.0}, {-0.37, 0.19}, {-0.46, 0.19}, {-0.43, 0.0}}};
  // Up along a line that leans outward.
  constexpr double kLeanCos = 0.9285, kLeanSin = 0.3714;
  const double y = p.y - 0.04, z = p.z - 0.125;
  const double up = y * kLeanCos + z * kLeanSin, across = z * kLeanCos - y * kLeanSin;
  const double half = 0.019 - 0.03 * std::min(std::max(up, 0.0), 0.19);
  return implicit_corner(implicit_polygon({p.x, up}, kOutline), std::abs(across) - half,
                         0.9 * half);
}

double ship_value(const Vec3& point) {
  const Vec3 p{point.x, point.y, std::abs(point.z)};
  double ship = implicit_union(fuselage(p), wing(p), 0.035);
  ship = implicit_union(ship, engine(p), 0.02);
  ship = implicit_union(ship, fin(p), 0.02);
  return implicit_union(ship, wing_cannon(p), 0.015);
}

}  // namespace

TriangleMesh make_ship(const ShipShape& shape) {
  check(shape);
  const ImplicitSolid solid{ship_value, {{-0.52, -0.13, -0.45}, {0.52, 0.26, 0.45}}, 0.016};
  TriangleMesh mesh = polygonise(solid, static_cast<std::size_t>(shape.triangles));
  const Aabbf box = bounds(mesh);
  const double scale = shape.length / (static_cast<double>(box.upper.x) - box.lower.x);
  const Vec3 middle{center(to_double(box)).x, 0, 0};
  for (Vec3f& p : mesh.positions) p = to_float((to_double(p) - middle) * scale);
  return mesh;
}

}  // namespace isotact
