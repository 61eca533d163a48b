// Small meshes whose every flaw is known.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "isotact/base/pose.h"
#include "isotact/base/random.h"
#include "isotact/geometry/mesh/mesh.h"

namespace isotact::test {

// A closed box of 8 vertices and 12 triangles that faces outward. Triangles 2 k and 2 k + 1 are one
// side: -z, +z, -y, +y, -x, +x.
inline TriangleMesh make_box(const Vec3f& lower = {0, 0, 0}, const Vec3f& upper = {1, 1, 1}) {
  TriangleMesh m;
  for (std::uint32_t i = 0; i < 8; ++i)
    m.positions.push_back({(i & 1U) != 0 ? upper.x : lower.x, (i & 2U) != 0 ? upper.y : lower.y,
                           (i & 4U) != 0 ? upper.z : lower.z});
  m.triangles = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                 {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
  return m;
}

inline void append(TriangleMesh& mesh, const TriangleMesh& other) {
  const auto offset = static_cast<std::uint32_t>(mesh.positions.size());
  mesh.positions.insert(mesh.positions.end(), other.positions.begin(), other.positions.end());
  for (const Triangle& t : other.triangles)
    mesh.triangles.push_back({t[0] + offset, t[1] + offset, t[2] + offset});
}

inline void flip(Triangle& t) { std::swap(t[1], t[2]); }

inline TriangleMesh flipped(TriangleMesh mesh) {
  for (Triangle& t : mesh.triangles) flip(t);
  return mesh;
}

// Every triangle with three vertices of its own, as STL files have them.
inline TriangleMesh exploded(const TriangleMesh& mesh) {
  TriangleMesh m;
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    const auto first = static_cast<std::uint32_t>(m.positions.size());
    for (const Vec3f& p : corners(mesh, i)) m.positions.push_back(p);
    m.triangles.push_back({first, first + 1, first + 2});
  }
  return m;
}

// A band of `segments` quads with a half turn: one side, one boundary loop.
inline TriangleMesh make_moebius_strip(std::uint32_t segments) {
  TriangleMesh m;
  for (std::uint32_t i = 0; i < segments; ++i) {
    const double turn = 6.283185307179586 * i / segments;
    for (const double side : {-0.3, 0.3}) {
      const double r = 1 + side * std::cos(turn / 2);
      m.positions.push_back(
          to_float({r * std::cos(turn), r * std::sin(turn), side * std::sin(turn / 2)}));
    }
  }
  for (std::uint32_t i = 0; i < segments; ++i) {
    const bool last = i + 1 == segments;
    const std::uint32_t a = 2 * i, b = a + 1, c = last ? 1 : a + 2, d = last ? 0 : a + 3;
    m.triangles.push_back({a, b, c});
    m.triangles.push_back({c, b, d});
  }
  return m;
}

// A closed ball of 8 * 4^levels triangles, facing outward.
inline TriangleMesh make_ball(int levels, double radius) {
  TriangleMesh m;
  const auto add = [&](const Vec3& a, const Vec3& b, const Vec3& c) {
    const auto first = static_cast<std::uint32_t>(m.positions.size());
    for (const Vec3& p : {a, b, c}) m.positions.push_back(to_float(normalized(p) * radius));
    m.triangles.push_back({first, first + 1, first + 2});
  };
  const double n = std::pow(2, levels);
  for (const double sx : {-1.0, 1.0})
    for (const double sy : {-1.0, 1.0})
      for (const double sz : {-1.0, 1.0})
        for (double i = 0; i < n; ++i)
          for (double j = 0; i + j < n; ++j) {
            const auto at = [&](double u, double v) {
              return Vec3{sx * u, sy * v, sz * (n - u - v)};
            };
            const bool mirrored = sx * sy * sz < 0;
            const auto add_facing_out = [&](const Vec3& a, const Vec3& b, const Vec3& c) {
              if (mirrored)
                add(a, c, b);
              else
                add(a, b, c);
            };
            add_facing_out(at(i, j), at(i + 1, j), at(i, j + 1));
            if (i + j + 2 <= n) add_facing_out(at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
          }
  return m;
}

inline TriangleMesh transformed(TriangleMesh mesh, const Pose& pose) {
  for (Vec3f& p : mesh.positions) p = to_float(transform_point(pose, to_double(p)));
  return mesh;
}

// Triangles of a given size at random places in the unit cube, each with its own vertices.
inline TriangleMesh make_soup(Random& random, std::uint32_t count, double size) {
  TriangleMesh m;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Vec3 center = random.in_box({0, 0, 0}, {1, 1, 1});
    for (int k = 0; k < 3; ++k)
      m.positions.push_back(to_float(center + random.in_unit_ball() * size));
    m.triangles.push_back({3 * i, 3 * i + 1, 3 * i + 2});
  }
  return m;
}

}  // namespace isotact::test
