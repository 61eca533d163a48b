// Exact tests of the side of a line or plane on which a point lies: signs, never estimates. Every
// function needs finite coordinates (others give some sign, and still return). Those in double need
// coordinates that are zero or of a magnitude between kLeastExact and kMostExact. Cost: a few
// nanoseconds. Points that are nearly or exactly on the line or plane cost up to a microsecond.
// They cost more if the magnitudes of the coordinates differ by more than 2^29. Safe from many
// threads.
#pragma once

#include "isotact/base/vec.h"
#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {

template <typename T>
struct Point2Of {
  T x{}, y{};

  friend constexpr bool operator==(const Point2Of&, const Point2Of&) = default;
};

using Point2 = Point2Of<double>;
using Point2f = Point2Of<float>;

// Between these, no product of three differences of doubles overflows or loses bits by underflow.
inline constexpr double kLeastExact = 0x1p-300, kMostExact = 0x1p300;

// Returns +1 if a, b, c run counter-clockwise, -1 if clockwise, 0 if they are collinear.
int orient2d(const Point2f& a, const Point2f& b, const Point2f& c);
int orient2d(const Point2& a, const Point2& b, const Point2& c);

// Returns the side of the plane abc on which d lies. It is +1 if a, b, c run counter-clockwise seen
// from that side, -1 for the other side, 0 in the plane. This is the sign of dot(cross(b - a, c -
// a), d - a); Shewchuk's is the opposite.
int orient3d(const Vec3f& a, const Vec3f& b, const Vec3f& c, const Vec3f& d);
int orient3d(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d);

// Returns the point without the coordinate `axis`. This keeps orientation if the triangle is seen
// from the positive end of that axis.
template <typename T>
constexpr Point2Of<T> drop_axis(const Vector3<T>& p, int axis) {
  return axis == 0   ? Point2Of<T>{p.y, p.z}
         : axis == 1 ? Point2Of<T>{p.z, p.x}
                     : Point2Of<T>{p.x, p.y};
}

// Returns whether the three points lie on one line, coinciding points included.
bool are_collinear(const Vec3f& a, const Vec3f& b, const Vec3f& c);
bool are_collinear(const Vec3& a, const Vec3& b, const Vec3& c);

}  // namespace isotact
