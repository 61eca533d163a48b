// Distances of triangles in long double, by other formulas than the library's: the oracle of exact
// distances, for tests and benchmarks.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "isotact/base/pose.h"
#include "isotact/geometry/mesh/mesh.h"

namespace isotact::triangle_oracle {

using Real = long double;
struct Point {
  Real x, y, z;
  friend Point operator-(const Point& a, const Point& b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
  }
  friend Point operator+(const Point& a, const Point& b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
  }
  friend Point operator*(const Point& a, Real s) { return {a.x * s, a.y * s, a.z * s}; }
};
inline Real dot(const Point& a, const Point& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline Point cross(const Point& a, const Point& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
using Corners = std::array<Point, 3>;

inline Real unit(Real t) { return std::min<Real>(1, std::max<Real>(0, t)); }

inline Real point_segment_sq(const Point& p, const Point& a, const Point& b) {
  const Real l = dot(b - a, b - a);
  const Point d = p - (a + (b - a) * (l > 0 ? unit(dot(p - a, b - a) / l) : 0));
  return dot(d, d);
}

// Inside the prism over the face, the plane; else the nearest edge.
inline Real point_triangle_sq(const Point& p, const Corners& t) {
  Real best = std::numeric_limits<Real>::infinity();
  const Point n = cross(t[1] - t[0], t[2] - t[0]);
  bool inside = dot(n, n) > 0;
  for (std::size_t k = 0; k < 3; ++k) {
    const Point &a = t[k], &b = t[(k + 1) % 3];
    best = std::min(best, point_segment_sq(p, a, b));
    inside = inside && dot(cross(n, b - a), p - a) >= 0;
  }
  if (!inside) return best;
  const Real h = dot(n, p - t[0]);
  return std::min(best, h * h / dot(n, n));
}

// The four ends, and the foot of the common perpendicular if it is on both.
inline Real segment_segment_sq(const Point& p, const Point& q, const Point& a, const Point& b) {
  Real best = std::min({point_segment_sq(p, a, b), point_segment_sq(q, a, b),
                        point_segment_sq(a, p, q), point_segment_sq(b, p, q)});
  const Point u = q - p, v = b - a, n = cross(u, v), r = a - p;
  const Real nn = dot(n, n);
  if (!(nn > 0)) return best;
  const Real s = dot(cross(r, v), n) / nn, t = dot(cross(r, u), n) / nn;
  if (s < 0 || s > 1 || t < 0 || t > 1) return best;
  const Real h = dot(r, n);
  return std::min(best, h * h / nn);
}

inline bool passes(const Point& p, const Point& q, const Corners& t) {
  const Point n = cross(t[1] - t[0], t[2] - t[0]);
  const Real from = dot(n, p - t[0]), to = dot(n, q - t[0]);
  if ((from > 0 && to > 0) || (from < 0 && to < 0) || from == to) return false;
  const Point at = p + (q - p) * (from / (from - to));
  for (std::size_t k = 0; k < 3; ++k)
    if (dot(cross(n, t[(k + 1) % 3] - t[k]), at - t[k]) < 0) return false;
  return true;
}

inline Real triangle_distance_sq(const Corners& a, const Corners& b) {
  Real best = std::numeric_limits<Real>::infinity();
  for (std::size_t i = 0; i < 3; ++i) {
    if (passes(a[i], a[(i + 1) % 3], b) || passes(b[i], b[(i + 1) % 3], a)) return 0;
    best = std::min({best, point_triangle_sq(a[i], b), point_triangle_sq(b[i], a)});
    for (std::size_t k = 0; k < 3; ++k)
      best = std::min(best, segment_segment_sq(a[i], a[(i + 1) % 3], b[k], b[(k + 1) % 3]));
  }
  return best;
}

inline Corners corners_of(const TriangleMesh& mesh, std::size_t i, const Pose& pose) {
  // The rotation matrix in double is the pose; what follows is exact enough to be the truth.
  const Mat3 m = to_matrix(pose.rotation);
  Corners out;
  const auto c = isotact::corners(mesh, i);
  for (std::size_t k = 0; k < 3; ++k) {
    const auto row = [&](std::size_t r) {
      return Real{m.rows[r].x} * Real{c[k].x} + Real{m.rows[r].y} * Real{c[k].y} +
             Real{m.rows[r].z} * Real{c[k].z} + Real{pose.translation[r]};
    };
    out[k] = {row(0), row(1), row(2)};
  }
  return out;
}

// A mesh in place, and a ball around each of its triangles.
struct PlacedMesh {
  std::vector<Corners> triangles;
  std::vector<std::array<double, 4>> balls;  // center and radius, enclosing in spite of rounding

  PlacedMesh(const TriangleMesh& mesh, const Pose& pose) {
    for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
      const Corners c = corners_of(mesh, i, pose);
      const Point m = (c[0] + c[1] + c[2]) * (Real{1} / 3);
      Real radius_sq = 0;
      for (const Point& p : c) radius_sq = std::max(radius_sq, dot(p - m, p - m));
      if (!std::isfinite(static_cast<double>(radius_sq))) continue;
      const auto x = static_cast<double>(m.x), y = static_cast<double>(m.y),
                 z = static_cast<double>(m.z);
      const double rounding = 0x1p-48 * (std::abs(x) + std::abs(y) + std::abs(z));
      triangles.push_back(c);
      balls.push_back({x, y, z, static_cast<double>(std::sqrt(radius_sq)) + rounding});
    }
  }
};

// The least of all pairs' distances. A pair is computed unless its balls are further apart.
inline Real find_distance(const PlacedMesh& a, const PlacedMesh& b) {
  Real best_sq = std::numeric_limits<Real>::infinity();
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < a.triangles.size(); ++i)
    for (std::size_t k = 0; k < b.triangles.size(); ++k) {
      const auto &p = a.balls[i], &q = b.balls[k];
      const double x = p[0] - q[0], y = p[1] - q[1], z = p[2] - q[2], r = p[3] + q[3] + best;
      if (x * x + y * y + z * z > r * r * (1 + 1e-12)) continue;
      const Real d = triangle_distance_sq(a.triangles[i], b.triangles[k]);
      if (!(d < best_sq)) continue;
      best_sq = d;
      best = static_cast<double>(std::sqrt(d));
    }
  return std::sqrt(best_sq);
}

inline double find_distance(const TriangleMesh& a, const TriangleMesh& b, const Pose& a_from_b) {
  return static_cast<double>(find_distance(PlacedMesh(a, {}), PlacedMesh(b, a_from_b)));
}

}  // namespace isotact::triangle_oracle
