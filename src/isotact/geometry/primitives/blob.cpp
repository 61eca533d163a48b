// A sitting rabbit, as one implicit solid of about unit height that looks to +z, mirrored about
// x = 0.
#include <algorithm>
#include <cmath>

#include "isotact/geometry/primitives/detail/implicit.h"
#include "isotact/geometry/primitives/detail/tables.h"
#include "isotact/geometry/primitives/primitives.h"

namespace isotact {
namespace {

using namespace detail;

double body(const Vec3& p) {
  double b = implicit_ellipsoid(p, {0, 0.28, -0.06}, {0.235, 0.255, 0.30});
  b = implicit_union(b, implicit_ellipsoid(p, {0.15, 0.17, -0.11}, {0.14, 0.175, 0.19}), 0.05);
  b = implicit_union(b, implicit_ellipsoid(p, {0, 0.33, 0.15}, {0.16, 0.19, 0.14}), 0.10);
  return implicit_union(b, implicit_sphere(p, {0, 0.19, -0.39}, 0.085), 0.04);
}

double paws(const Vec3& p) {
  const double front = implicit_cone(p, {0.085, 0.24, 0.20}, {0.095, 0.045, 0.27}, 0.065, 0.052);
  const double toes = implicit_ellipsoid(p, {0.097, 0.035, 0.31}, {0.055, 0.045, 0.075});
  const double hind = implicit_ellipsoid(p, {0.205, 0.04, 0.06}, {0.065, 0.055, 0.15});
  return std::min(implicit_union(front, toes, 0.03), hind);
}

double head(const Vec3& p) {
  double h = implicit_ellipsoid(p, {0, 0.56, 0.23}, {0.14, 0.145, 0.17});
  h = implicit_union(h, implicit_sphere(p, {0.065, 0.515, 0.315}, 0.07), 0.05);
  h = implicit_union(h, implicit_sphere(p, {0, 0.535, 0.385}, 0.045), 0.04);
  return implicit_union(h, implicit_sphere(p, {0.106, 0.603, 0.312}, 0.027), 0.008);
}

// A flattened, bent horn, hollow in front.
double ear(const Vec3& p) {
  const Vec3 root{0.05, 0.64, 0.18}, middle{0.098, 0.82, 0.10}, tip{0.128, 0.97, 0.015};
  double e = implicit_cone(p, root, middle, 0.045, 0.061);
  e = implicit_union(e, implicit_cone(p, middle, tip, 0.061, 0.030), 0.01);
  const Vec3 low{0.072, 0.70, 0.215}, deep{0.108, 0.83, 0.168}, high{0.140, 0.965, 0.085};
  double hollow = implicit_cone(p, low, deep, 0.028, 0.057);
  hollow = implicit_union(hollow, implicit_cone(p, deep, high, 0.057, 0.040), 0.03);
  return implicit_difference(e, hollow, 0.02);
}

double blob_value(const Vec3& point) {
  const Vec3 p{std::abs(point.x), point.y, point.z};
  double blob = implicit_union(body(p), head(p), 0.08);
  blob = implicit_union(blob, paws(p), 0.045);
  blob = implicit_union(blob, ear(p), 0.04);
  return implicit_intersection(blob, -p.y, 0.02);  // cut flat below, to sit
}

}  // namespace

TriangleMesh make_blob(const BlobShape& shape) {
  check(shape);
  const ImplicitSolid solid{blob_value, {{-0.32, -0.02, -0.53}, {0.32, 1.05, 0.48}}, 0.025};
  TriangleMesh mesh = polygonise(solid, static_cast<std::size_t>(shape.triangles));
  const Aabbf box = bounds(mesh);
  const double scale = shape.height / (static_cast<double>(box.upper.y) - box.lower.y);
  const Vec3 bottom{0, static_cast<double>(box.lower.y), 0};
  for (Vec3f& p : mesh.positions) p = to_float((to_double(p) - bottom) * scale);
  return mesh;
}

}  // namespace isotact
