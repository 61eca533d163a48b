// Triangles that are not coplanar can only meet on the line where their planes do. Each triangle
// cuts an interval out of that line, and orient3d alone orders the ends of one interval against
// those of the other: the idea of O. Devillers and P. Guigue, "Faster Triangle-Triangle
// Intersection Tests", INRIA report 4488, 2002, here with all the ways to touch kept apart.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <tuple>
#include <utility>

#include "isotact/geometry/mesh/predicates.h"
#include "isotact/geometry/repair/self_intersection.h"

namespace isotact {
namespace {

using Sides = std::array<int, 3>;
template <typename T>
using Corners = std::array<Vector3<T>, 3>;

Vec3 in_double(const Vec3f& p) { return to_double(p); }
const Vec3& in_double(const Vec3& p) { return p; }

std::size_t count_shared(const TriangleCorners& a, const TriangleCorners& b) {
  std::size_t count = 0;
  for (const Vec3f& p : a) count += std::find(b.begin(), b.end(), p) != b.end() ? 1U : 0U;
  return count;
}

// On which side of the plane the points lie. A filter for all three at once decides nearly always:
// three differences, and in each of the six products of three of them a product, a difference, a
// product and two sums, are rounded, each by 2^-53 of its size: by less than 2^-49 altogether.
// Corners that the two share lie in the plane: no need to find that out the long way.
template <typename T>
Sides sides_of(const Corners<T>& plane, const Corners<T>& points) {
  const Vec3 at = in_double(plane[0]), u = in_double(plane[1]) - at, v = in_double(plane[2]) - at;
  const Vec3 left{u.y * v.z, u.z * v.x, u.x * v.y}, right{u.z * v.y, u.x * v.z, u.y * v.x};
  const Vec3 normal = left - right;
  const Vec3 size{std::abs(left.x) + std::abs(right.x), std::abs(left.y) + std::abs(right.y),
                  std::abs(left.z) + std::abs(right.z)};
  Sides s{};
  for (std::size_t k = 0; k < 3; ++k) {
    const Vec3 w = in_double(points[k]) - at;
    const double height = dot(normal, w);
    const double error =
        0x1p-49 * (size.x * std::abs(w.x) + size.y * std::abs(w.y) + size.z * std::abs(w.z));
    if (height > error)
      s[k] = 1;
    else if (height < -error)
      s[k] = -1;
    else if (std::find(plane.begin(), plane.end(), points[k]) == plane.end())
      s[k] = orient3d(plane[0], plane[1], plane[2], points[k]);
  }
  return s;
}

bool are_apart(const Sides& s) {
  return (s[0] > 0 && s[1] > 0 && s[2] > 0) || (s[0] < 0 && s[1] < 0 && s[2] < 0);
}

std::size_t count_zeros(const Sides& s) {
  return static_cast<std::size_t>(std::count(s.begin(), s.end(), 0));
}

// An end of a triangle's interval: where the line from `below` to `above` passes the other plane.
// `below` is not above that plane, `above` not below it, and one of them is off it.
template <typename T>
struct IntervalEnd {
  const Vector3<T>* below = nullptr;
  const Vector3<T>* above = nullptr;
};

template <typename T>
struct Interval {
  IntervalEnd<T> left,
      right;  // seen from the front of the triangle, with the other's front side up
  bool is_point = false;
};

// What triangle t has in common with the other's plane, given the sides of its corners: neither all
// off it on one side nor all in it.
template <typename T>
Interval<T> cut(const Corners<T>& t, const Sides& s) {
  for (std::size_t k = 0; k < 3; ++k) {
    const std::size_t next = (k + 1) % 3, last = (k + 2) % 3;
    // One corner at the top: counter-clockwise from there the next one is left of it.
    if (s[k] > 0 && s[next] <= 0 && s[last] <= 0) return {{&t[next], &t[k]}, {&t[last], &t[k]}};
    // One at the bottom: the next one is right of it.
    if (s[k] < 0 && s[next] >= 0 && s[last] >= 0) return {{&t[k], &t[last]}, {&t[k], &t[next]}};
  }
  // What is left are two corners on one side and one in the plane, the common point.
  const std::size_t k = s[0] == 0 ? 0 : s[1] == 0 ? 1 : 2, next = (k + 1) % 3;
  const IntervalEnd<T> end =
      s[next] > 0 ? IntervalEnd<T>{&t[k], &t[next]} : IntervalEnd<T>{&t[next], &t[k]};
  return {end, end, true};
}

// +1, 0, -1: the end e of the first triangle comes before, at, after the end f of the second.
// With w the way from below to above, orient3d is det(w_e, f - e, w_f) for the points e and f on
// the line. Let x be the direction of the line with det(w_e, x, w_f) > 0, which all ends agree on,
// since w_e always points to the front of the second plane and w_f to that of the first. Then x
// points left in the view of the first triangle and right in that of the second.
template <typename T>
int compare(const IntervalEnd<T>& e, const IntervalEnd<T>& f) {
  return orient3d(*e.below, *e.above, *f.below, *f.above);
}

template <typename T>
TriangleContact find_contact_across(const Corners<T>& a, const Sides& a_sides, const Corners<T>& b,
                                    const Sides& b_sides, std::size_t shared) {
  const Interval<T> ia = cut(a, a_sides), ib = cut(b, b_sides);
  const int a_starts = compare(ia.right, ib.right);  // against the end of b
  const int a_ends = compare(ia.left, ib.left);      // against the start of b
  if (a_starts < 0 || a_ends > 0) return TriangleContact::kNone;
  if (ia.is_point || ib.is_point || a_starts == 0 || a_ends == 0)
    return shared > 0 ? TriangleContact::kNone : TriangleContact::kTouch;  // in one point
  if (count_zeros(a_sides) < 2 && count_zeros(b_sides) < 2) return TriangleContact::kCross;
  // Along an edge of one of them, or of both: the one that they share, if they share one.
  return shared == 2 ? TriangleContact::kNone : TriangleContact::kTouch;
}

template <typename T>
using FlatTriangle = std::array<Point2Of<T>, 3>;  // counter-clockwise

// Both seen along an axis along which the first does not vanish; then neither does the second.
template <typename T>
std::pair<FlatTriangle<T>, FlatTriangle<T>> flatten(const Corners<T>& a, const Corners<T>& b) {
  for (const int axis : {0, 1, 2}) {
    FlatTriangle<T> fa{}, fb{};
    for (std::size_t k = 0; k < 3; ++k) {
      fa[k] = drop_axis(a[k], axis);
      fb[k] = drop_axis(b[k], axis);
    }
    const int turn = orient2d(fa[0], fa[1], fa[2]);
    if (turn == 0) continue;
    if (turn < 0) std::swap(fa[1], fa[2]);
    if (orient2d(fb[0], fb[1], fb[2]) < 0) std::swap(fb[1], fb[2]);
    return {fa, fb};
  }
  return {};
}

template <typename T>
bool is_before(const Point2Of<T>& a, const Point2Of<T>& b) {  // an order along any line
  return std::tie(a.x, a.y) < std::tie(b.x, b.y);
}

// All of b lies outside of or on the edge pq of a, which is therefore the only part of a that it
// can meet.
template <typename T>
TriangleContact find_contact_at_edge(Point2Of<T> p, Point2Of<T> q, const FlatTriangle<T>& b,
                                     const Sides& s, std::size_t shared) {
  FlatTriangle<T> on{};
  std::size_t count = 0;
  for (std::size_t k = 0; k < 3; ++k)
    if (s[k] == 0) on[count++] = b[k];
  if (count == 0) return TriangleContact::kNone;
  if (count == 1) on[1] = on[0];
  if (is_before(q, p)) std::swap(p, q);
  if (is_before(on[1], on[0])) std::swap(on[0], on[1]);
  const Point2Of<T> start = is_before(p, on[0]) ? on[0] : p, end = is_before(q, on[1]) ? q : on[1];
  if (is_before(end, start)) return TriangleContact::kNone;
  // A common point or edge that the triangles share is no contact.
  const std::size_t common = start == end ? 1 : 2;
  return shared >= common ? TriangleContact::kNone : TriangleContact::kTouch;
}

template <typename T>
TriangleContact find_contact_in_plane(const Corners<T>& a, const Corners<T>& b,
                                      std::size_t shared) {
  auto [first, second] = flatten(a, b);
  // Convex shapes whose insides do not meet are parted by the line of an edge of one of them.
  for (int turn = 0; turn < 2; ++turn, std::swap(first, second))
    for (std::size_t k = 0; k < 3; ++k) {
      const Point2Of<T> p = first[k], q = first[(k + 1) % 3];
      Sides s{};
      for (std::size_t j = 0; j < 3; ++j) s[j] = orient2d(p, q, second[j]);
      if (s[0] <= 0 && s[1] <= 0 && s[2] <= 0) return find_contact_at_edge(p, q, second, s, shared);
    }
  return TriangleContact::kOverlap;
}

template <typename T>
bool are_finite(const Corners<T>& t) {
  return is_finite(t[0]) && is_finite(t[1]) && is_finite(t[2]);
}
template <typename T>
bool has_area(const Corners<T>& t) {
  return !are_collinear(t[0], t[1], t[2]);
}

bool is_in_range(const Corners<double>& t) {
  for (const Vec3& p : t)
    for (std::size_t k = 0; k < 3; ++k)
      if (p[k] != 0 && !(std::abs(p[k]) >= kLeastExact && std::abs(p[k]) <= kMostExact))
        return false;
  return true;
}

// `count_corners` tells how many the two share; asked only where it matters.
template <typename T, typename Count>
TriangleContact find_contact(const Corners<T>& a, const Corners<T>& b, Count count_corners) {
  const Sides b_sides = sides_of(a, b);
  if (are_apart(b_sides)) return TriangleContact::kNone;
  const Sides a_sides = sides_of(b, a);
  if (are_apart(a_sides)) return TriangleContact::kNone;
  const std::size_t shared = count_corners();
  if (count_zeros(b_sides) == 3) {
    if (!has_area(a) || !has_area(b)) return TriangleContact::kNone;
    return find_contact_in_plane(a, b, shared);
  }
  // Something is off the plane of a, which therefore has an area. If nothing is off that of b, b is
  // not in the plane of a either, and has none.
  if (count_zeros(a_sides) == 3) return TriangleContact::kNone;
  return find_contact_across(a, a_sides, b, b_sides, shared);
}

}  // namespace

TriangleContact find_contact_triangle_triangle(const TriangleCorners& a, const TriangleCorners& b) {
  if (!are_finite(a) || !are_finite(b)) return TriangleContact::kNone;
  std::size_t shared = 0;
  const TriangleContact contact = find_contact(a, b, [&] { return shared = count_shared(a, b); });
  return shared == 3 ? TriangleContact::kNone : contact;
}

TriangleContact find_contact_triangle_triangle(const std::array<Vec3, 3>& a,
                                               const std::array<Vec3, 3>& b, std::size_t shared) {
  if (!is_in_range(a) || !is_in_range(b)) return TriangleContact::kNone;
  return find_contact(a, b, [&] { return shared; });
}

}  // namespace isotact
