#include "isotact/field/surface/detail/phase.h"

namespace isotact::surface_detail {
namespace {

constexpr double kFar = 5;  // radii

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
    double area = 0;
    for (const NetEdge& e : rim.edges) {
      const Vec3 from = to_double(mesh.positions[e.from]) - rim.center;
      const Vec3 to = to_double(mesh.positions[e.to]) - rim.center;
      cone.loop.push_back(from / rim.radius);
      const Vec3 half = cross(from, to) / 2;
      cone.area += half;
      cone.middle += (from + to) * (length(half) / 3);
      area += length(half);
    }
    cone.middle = cone.apex + (area > 0 ? cone.middle / area : Vec3{});
    cone.loop.push_back(cone.loop.front());
  }
}

// The point in radii from the apex, at most kFar of them away: so products of a few factors, each
// some lengths cubed, stay far from overflow.
Complex WindingPhase::compute_cone(const Cone& cone, const Vec3& point) {
  const Vec3 apex = -point;
  const double apex_length = length(apex);
  Vec3 from = cone.loop[0] - point;
  double from_length = length(from);
  Complex product{};
  for (std::size_t i = 1; i < cone.loop.size(); ++i) {
    const Vec3 to = cone.loop[i] - point;
    const double to_length = length(to);
    product =
        product * Complex{from_length * to_length * apex_length + dot(from, to) * apex_length +
                              dot(to, apex) * from_length + dot(apex, from) * to_length,
                          dot(apex, cross(from, to))};
    if (i % 8 == 0) product = normalized(product);
    from = to;
    from_length = to_length;
  }
  return normalized(product);
}

Complex WindingPhase::at(const Vec3& point) const {
  Complex product{};
  for (const Cone& cone : cones_) {
    const Vec3 r = point - cone.apex;
    if (length_sq(r) <= kFar * kFar * cone.radius * cone.radius) {
      product = product * compute_cone(cone, r / cone.radius);
      continue;
    }
    const Vec3 m = cone.middle - point;
    const double l = length(m);
    product = normalized(product * Complex{1, dot(cone.area, m) / (2 * l * l * l)});
  }
  return normalized(product);
}

}  // namespace isotact::surface_detail
