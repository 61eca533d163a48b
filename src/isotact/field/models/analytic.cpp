#include "isotact/field/models/analytic.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace isotact {
namespace {

// No formula here loses more than eight roundings of its largest intermediate number.
constexpr double kRounding = 8 * std::numeric_limits<double>::epsilon();

double size_of(const Vec3& v) { return std::abs(v.x) + std::abs(v.y) + std::abs(v.z); }

Interval around(double value, double largest) {
  return {value - kRounding * largest, value + kRounding * largest};
}

double sign_of(double x) { return x < 0 ? -1 : 1; }

// The absolute values of all numbers from lower to upper.
Interval absolute(double lower, double upper) {
  const double a = std::abs(lower), b = std::abs(upper);
  return {lower <= 0 && upper >= 0 ? 0 : std::min(a, b), std::max(a, b)};
}

// |x|, |y|, |z| in a box about a middle: the smallest ones and the largest ones.
struct Corners {
  Vec3 nearest, farthest;
};
Corners find_corners(const Aabb& box, const Vec3& middle) {
  Corners c;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const Interval range = absolute(box.lower[axis] - middle[axis], box.upper[axis] - middle[axis]);
    c.nearest[axis] = range.lower;
    c.farthest[axis] = range.upper;
  }
  return c;
}

// Distance from the box that reaches to `half` on every axis; p holds absolute values.
double box_value(const Vec3& p, const Vec3& half) {
  const Vec3 q = p - half;
  const double most = std::max(q.x, std::max(q.y, q.z));
  return most <= 0 ? most : length(max(q, Vec3{}));
}

// The same in the plane: distance from the axis and height above the middle.
double cylinder_value(double from_axis, double height, const CylinderField& c) {
  const double out = from_axis - c.radius, up = height - c.height / 2;
  if (out <= 0 || up <= 0) return std::max(out, up);
  return std::sqrt(out * out + up * up);
}

double torus_value(double from_circle, double height, const TorusField& t) {
  return std::sqrt(from_circle * from_circle + height * height) - t.tube_radius;
}

double from_axis(const Vec3& p) { return std::sqrt(p.x * p.x + p.z * p.z); }

Vec3 away_from_axis(const Vec3& p, double distance) {
  return distance > 0 ? Vec3{p.x / distance, 0, p.z / distance} : Vec3{1, 0, 0};
}

// The distance from a convex body is a convex function. So its largest value in a box is at a
// corner, and it lies above its tangent planes: f(y) >= f(c) + g . (y - c) for the gradient g at c,
// also where that is of one side of a crease. (This bound is never worse than Lipschitz's.) No
// value is less than `least`; `size` is about that of the largest number in the formula.
template <typename F>
Interval range_of_convex(const F& field, const Aabb& box, double least, double size) {
  if (!is_finite(box.lower) || !is_finite(box.upper))
    return {least, std::numeric_limits<double>::infinity()};
  const Vec3 middle = isotact::center(box), half = extent(box) * 0.5;
  const FieldSample at = field.sample(middle);
  const double drop = std::abs(at.gradient.x) * half.x + std::abs(at.gradient.y) * half.y +
                      std::abs(at.gradient.z) * half.z;
  double most = least;
  for (unsigned corner = 0; corner < 8; ++corner) {
    most = std::max(most, field.value({(corner & 1U) != 0 ? box.upper.x : box.lower.x,
                                       (corner & 2U) != 0 ? box.upper.y : box.lower.y,
                                       (corner & 4U) != 0 ? box.upper.z : box.lower.z}));
  }
  const double slack = 2 * kRounding * (size_of(middle) + size_of(half) + size);
  return {std::max(at.distance - drop - slack, least), most + slack};
}

std::optional<std::string> check_positive(const char* what, double x) {
  if (std::isfinite(x) && x > 0) return std::nullopt;
  return fmt::format("{} is {}, must be positive", what, x);
}

std::optional<std::string> check_finite(const char* what, const Vec3& v) {
  if (is_finite(v)) return std::nullopt;
  return fmt::format("{} is ({}, {}, {}), must be finite", what, v.x, v.y, v.z);
}

}  // namespace

Interval PlaneField::range(const Aabb& box) const {
  Vec3 low{}, high{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (normal[axis] == 0) continue;  // even an infinite side does not matter then
    low[axis] = normal[axis] > 0 ? box.lower[axis] : box.upper[axis];
    high[axis] = normal[axis] > 0 ? box.upper[axis] : box.lower[axis];
  }
  return {value(low), value(high)};
}

Interval PlaneField::distance_bounds(const Vec3& point) const {
  return around(value(point), size_of(point) + std::abs(offset));
}

FieldSample SphereField::sample(const Vec3& point) const {
  const Vec3 away = point - center;
  const double distance = length(away);
  return {distance - radius, distance > 0 ? away / distance : Vec3{0, 1, 0}};
}

Interval SphereField::range(const Aabb& box) const {
  const Corners c = find_corners(box, center);
  return {length(c.nearest) - radius, length(c.farthest) - radius};
}

Interval SphereField::distance_bounds(const Vec3& point) const {
  return around(value(point), size_of(point) + size_of(center) + radius);
}

double BoxField::value(const Vec3& point) const {
  const Vec3 p = point - center;
  return box_value({std::abs(p.x), std::abs(p.y), std::abs(p.z)}, half_size);
}

FieldSample BoxField::sample(const Vec3& point) const {
  const Vec3 p = point - center;
  const Vec3 a{std::abs(p.x), std::abs(p.y), std::abs(p.z)}, q = a - half_size;
  const double distance = box_value(a, half_size);
  Vec3 gradient{};
  if (distance > 0) {
    for (std::size_t axis = 0; axis < 3; ++axis)
      gradient[axis] = sign_of(p[axis]) * std::max(q[axis], 0.0) / distance;
  } else {
    std::size_t nearest = 0;
    for (std::size_t axis = 1; axis < 3; ++axis)
      if (q[axis] > q[nearest]) nearest = axis;
    gradient[nearest] = sign_of(p[nearest]);
  }
  return {distance, gradient};
}

Interval BoxField::range(const Aabb& box) const {
  const Corners c = find_corners(box, center);
  return {box_value(c.nearest, half_size), box_value(c.farthest, half_size)};
}

Interval BoxField::distance_bounds(const Vec3& point) const {
  return around(value(point), size_of(point) + size_of(center) + size_of(half_size));
}

FieldSample CapsuleField::sample(const Vec3& point) const {
  const Vec3 along = b - a;
  const double length_squared = length_sq(along);
  double t = length_squared > 0 ? dot(point - a, along) / length_squared : 0;
  t = t > 0 ? t : 0;
  t = t < 1 ? t : 1;
  const Vec3 away = point - lerp(a, b, t);
  const double distance = length(away);
  if (distance > 0) return {distance - radius, away / distance};
  // On the segment: any direction across it is that of one side.
  const Vec3 across = normalized(
      cross(along, std::abs(along.x) < std::abs(along.y) ? Vec3{1, 0, 0} : Vec3{0, 1, 0}));
  return {-radius, across == Vec3{} ? Vec3{0, 1, 0} : across};
}

Interval CapsuleField::range(const Aabb& box) const {
  return range_of_convex(*this, box, -radius, size_of(a) + size_of(b) + radius);
}

Interval CapsuleField::distance_bounds(const Vec3& point) const {
  return around(value(point), 2 * (size_of(point) + size_of(a) + size_of(b) + radius));
}

double CylinderField::value(const Vec3& point) const {
  const Vec3 p = point - center;
  return cylinder_value(from_axis(p), std::abs(p.y), *this);
}

FieldSample CylinderField::sample(const Vec3& point) const {
  const Vec3 p = point - center;
  const double rho = from_axis(p);
  const double out = rho - radius, up = std::abs(p.y) - height / 2;
  const double distance = cylinder_value(rho, std::abs(p.y), *this);
  const Vec3 outwards = away_from_axis(p, rho), upwards{0, sign_of(p.y), 0};
  if (out > 0 && up > 0) return {distance, outwards * (out / distance) + upwards * (up / distance)};
  return {distance, out > up ? outwards : upwards};
}

Interval CylinderField::range(const Aabb& box) const {
  const Corners c = find_corners(box, center);
  return {cylinder_value(from_axis(c.nearest), c.nearest.y, *this),
          cylinder_value(from_axis(c.farthest), c.farthest.y, *this)};
}

Interval CylinderField::distance_bounds(const Vec3& point) const {
  return around(value(point), size_of(point) + size_of(center) + radius + height);
}

// In the half-plane of radius and height: inside of base and side the nearer of both, else the
// nearer of the two segments.
FieldSample ConeField::sample(const Vec3& point) const {
  const Vec3 p = point - center;
  const double side = std::sqrt(radius * radius + height * height);
  const double normal_r = height / side, normal_y = radius / side;
  const double r = from_axis(p);
  const Vec3 outward = away_from_axis(p, r);
  const double out = r - radius, up = p.y + height / 2;
  const double from_side = out * normal_r + up * normal_y;
  if (std::max(from_side, -up) <= 0) {
    if (from_side > -up) return {from_side, normal_r * outward + Vec3{0, normal_y, 0}};
    return {-up, {0, -1, 0}};
  }
  const double t = std::clamp(-out * normal_y + up * normal_r, 0.0, side);
  const double sx = out + t * normal_y, sy = up - t * normal_r, bx = std::max(out, 0.0);
  const bool by_side = sx * sx + sy * sy < bx * bx + up * up;
  const Vec3 away = by_side ? sx * outward + Vec3{0, sy, 0} : bx * outward + Vec3{0, up, 0};
  const double distance = length(away);
  if (distance > 0) return {distance, normalized(away)};
  return {0, up > 0 ? normal_r * outward + Vec3{0, normal_y, 0} : Vec3{0, -1, 0}};
}

// Nothing is deeper inside than the middle of the circle inscribed in the profile.
Interval ConeField::range(const Aabb& box) const {
  const double side = std::sqrt(radius * radius + height * height);
  const double size = size_of(center) + radius + height;
  const double deepest = -radius * height / (radius + side);
  return range_of_convex(*this, box, deepest - kRounding * size, size);
}

Interval ConeField::distance_bounds(const Vec3& point) const {
  return around(value(point), 2 * (size_of(point) + size_of(center) + radius + height));
}

double TorusField::value(const Vec3& point) const {
  const Vec3 p = point - center;
  return torus_value(from_axis(p) - radius, p.y, *this);
}

FieldSample TorusField::sample(const Vec3& point) const {
  const Vec3 p = point - center;
  const double rho = from_axis(p), out = rho - radius;
  const double distance = torus_value(out, p.y, *this);
  const double from_circle = std::sqrt(out * out + p.y * p.y);
  if (!(from_circle > 0)) return {distance, {0, 1, 0}};
  const Vec3 outwards = away_from_axis(p, rho);
  return {distance, outwards * (out / from_circle) + Vec3{0, p.y / from_circle, 0}};
}

Interval TorusField::range(const Aabb& box) const {
  const Corners c = find_corners(box, center);
  const Interval out = absolute(from_axis(c.nearest) - radius, from_axis(c.farthest) - radius);
  return {torus_value(out.lower, c.nearest.y, *this), torus_value(out.upper, c.farthest.y, *this)};
}

Interval TorusField::distance_bounds(const Vec3& point) const {
  return around(value(point), size_of(point) + size_of(center) + radius + tube_radius);
}

std::optional<std::string> find_flaw(const PlaneField& field) {
  if (auto flaw = check_finite("normal", field.normal)) return flaw;
  if (std::abs(length(field.normal) - 1) > 1e-12)
    return fmt::format("normal has length {}, must have 1", length(field.normal));
  if (!std::isfinite(field.offset))
    return fmt::format("offset is {}, must be finite", field.offset);
  return std::nullopt;
}

std::optional<std::string> find_flaw(const SphereField& field) {
  if (auto flaw = check_finite("center", field.center)) return flaw;
  return check_positive("radius", field.radius);
}

std::optional<std::string> find_flaw(const BoxField& field) {
  if (auto flaw = check_finite("center", field.center)) return flaw;
  if (auto flaw = check_positive("half_size.x", field.half_size.x)) return flaw;
  if (auto flaw = check_positive("half_size.y", field.half_size.y)) return flaw;
  return check_positive("half_size.z", field.half_size.z);
}

std::optional<std::string> find_flaw(const CapsuleField& field) {
  if (auto flaw = check_finite("a", field.a)) return flaw;
  if (auto flaw = check_finite("b", field.b)) return flaw;
  return check_positive("radius", field.radius);
}

std::optional<std::string> find_flaw(const CylinderField& field) {
  if (auto flaw = check_finite("center", field.center)) return flaw;
  if (auto flaw = check_positive("radius", field.radius)) return flaw;
  return check_positive("height", field.height);
}

std::optional<std::string> find_flaw(const ConeField& field) {
  if (auto flaw = check_finite("center", field.center)) return flaw;
  if (auto flaw = check_positive("radius", field.radius)) return flaw;
  return check_positive("height", field.height);
}

std::optional<std::string> find_flaw(const TorusField& field) {
  if (auto flaw = check_finite("center", field.center)) return flaw;
  if (auto flaw = check_positive("radius", field.radius)) return flaw;
  if (auto flaw = check_positive("tube_radius", field.tube_radius)) return flaw;
  if (field.tube_radius < field.radius) return std::nullopt;
  return fmt::format("tube_radius is {}, must be less than radius, {}", field.tube_radius,
                     field.radius);
}

}  // namespace isotact
