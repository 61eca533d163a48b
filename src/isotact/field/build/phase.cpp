#include "isotact/field/build/detail/phase.h"

namespace isotact::surface_detail {
namespace {

constexpr double kFar = 10;  // radii

Complex normalized(const Complex& z) {
  const double l = magnitude(z);
  return l > 0 ? Complex{z.re / l, z.im / l} : Complex{};
}

}  // namespace

WindingPhase::WindingPhase(const TriangleMesh& mesh, std::span<const Rim> rims) {
  for (const Rim& rim : rims) {
    Cone& cone = cones_.emplace_back();
    cone.apex = rim.center;
    cone.radius = rim.radius;
    for (const NetEdge& e : rim.edges) {
      const Vec3 from = to_double(mesh.positions[e.from]), to = to_double(mesh.positions[e.to]);
      cone.edges.push_back({from, to, e.excess});
      cone.area += cross(from - rim.center, to - rim.center) * (0.5 * e.excess);
    }
  }
}

Complex WindingPhase::times_cone(Complex product, const Cone& cone, const Vec3& point) {
  const Vec3 apex = isotact::normalized(cone.apex - point);
  // Edges mostly follow each other, so that one direction serves twice.
  Vec3 last_corner = cone.edges[0].from;
  Vec3 last = isotact::normalized(last_corner - point);
  int factors = 0;
  for (const Edge& e : cone.edges) {
    const Vec3 from = e.from == last_corner ? last : isotact::normalized(e.from - point);
    const Vec3 to = isotact::normalized(e.to - point);
    const Complex z = half_solid_angle(from, to, apex);
    for (std::uint32_t i = 0; i < e.excess; ++i) {
      product = product * z;
      // Factors of length 4 at most, and seldom tiny: far from overflow and underflow.
      if (++factors % 8 == 0) product = normalized(product);
    }
    last_corner = e.to;
    last = to;
  }
  return normalized(product);
}

Complex WindingPhase::at(const Vec3& point) const {
  Complex product{};
  for (const Cone& cone : cones_) {
    const Vec3 r = cone.apex - point;
    const double distance_sq = length_sq(r);
    if (distance_sq > kFar * kFar * cone.radius * cone.radius)
      product =
          product * Complex{1, dot(cone.area, r) / (2 * distance_sq * std::sqrt(distance_sq))};
    else
      product = times_cone(product, cone, point);
  }
  return normalized(product);
}

}  // namespace isotact::surface_detail
