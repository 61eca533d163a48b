// The winding number of an open mesh modulo 1, from its rims alone.
//
// Closed by cones from its rims to points of their own, the mesh would have whole winding numbers.
// So w = -(solid angle of the cones) / (4 pi) modulo 1, wherever the rest of the mesh is. Hence
// exp(2 pi i w) is a product of one complex number per rim edge. It is smooth everywhere but on the
// rims: neither the mesh nor the cones are seen in it.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "isotact/base/trig.h"
#include "isotact/base/vec.h"
#include "isotact/field/surface/detail/rims.h"

namespace isotact::surface_detail {

// The solid angle of a triangle, as a complex number whose angle is half of it. The formula is by
// van Oosterom and Strackee (The Solid Angle of a Plane Triangle, 1983). Products of such numbers
// add the angles without any arc tangent, and that is all it takes to follow a winding number
// modulo 1.

struct Complex {
  double re = 1, im = 0;

  friend constexpr Complex operator*(const Complex& a, const Complex& b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};
constexpr Complex conjugate(const Complex& z) { return {z.re, -z.im}; }
inline double magnitude(const Complex& z) { return std::sqrt(z.re * z.re + z.im * z.im); }

// The corners of the triangle lie in the directions a, b, c (unit vectors) from the point. The
// angle is positive if its back is seen, so that a closed mesh winds once around a point inside.
// The length is at most 4; it is 0 only if the point lies on an edge.
constexpr Complex half_solid_angle(const Vec3& a, const Vec3& b, const Vec3& c) {
  return {1 + dot(a, b) + dot(b, c) + dot(c, a), dot(a, cross(b, c))};
}

// In radians; 0 in the triangle's plane.
inline double compute_half_solid_angle(const std::array<Vec3f, 3>& t, const Vec3& p) {
  const Complex z =
      half_solid_angle(normalized(to_double(t[0]) - p), normalized(to_double(t[1]) - p),
                       normalized(to_double(t[2]) - p));
  return z.im == 0 ? 0 : angle_of(z.im, z.re);
}

class WindingPhase {
 public:
  WindingPhase(const TriangleMesh& mesh, std::span<const Rim> rims);

  // exp(2 pi i w), a unit number; 1 on the rims. Cost: about 10 ns for each edge of rims nearer
  // than five times their radius; the others enter as dipoles, within 0.001 of w.
  Complex at(const Vec3& point) const;

 private:
  struct Cone {
    std::vector<Vec3> loop;  // around the rim, the first again at the end; in radii from the apex
    Vec3 apex{};
    Vec3 area{};    // vector area, as the mesh's own triangles run
    Vec3 middle{};  // of the cone, by area
    double radius = 0;
  };
  static Complex compute_cone(const Cone& cone, const Vec3& point);

  std::vector<Cone> cones_;
};

}  // namespace isotact::surface_detail
