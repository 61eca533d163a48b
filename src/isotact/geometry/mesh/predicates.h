// Which side of a line or plane a point lies on, answered exactly: signs, never estimates. Every
// function needs finite coordinates (others give some sign, and still return); those in double need
// coordinates that are zero or of a magnitude between kLeastExact and kMostExact. Cost: a few
// nanoseconds; points that are nearly or exactly on the line or plane cost up to a microsecond,
// more where the magnitudes of the coordinates differ by more than 2^29. Safe from many threads.
#pragma once

#include "isotact/base/vec.h"

namespace isotact {

template <typename T>
struct Point2Of {
  T x{}, y{};

  friend constexpr bool operator==(const Point2Of&, const Point2Of&) = default;
};

using Point2 = Point2Of<double>;
using Point2f = Point2Of<float>;

// Between these, no product of three differences of doubles overflows or loses bits at the bottom.
inline constexpr double kLeastExact = 0x1p-300, kMostExact = 0x1p300;

// +1 where a, b, c run counter-clockwise, -1 where clockwise, 0 where they are collinear.
int orient2d(const Point2f& a, const Point2f& b, const Point2f& c);
int orient2d(const Point2& a, const Point2& b, const Point2& c);

// +1 where d lies on the side of the plane abc from which a, b, c run counter-clockwise (the sign
// of dot(cross(b - a, c - a), d - a); Shewchuk's is the opposite), -1 on the other, 0 in the plane.
int orient3d(const Vec3f& a, const Vec3f& b, const Vec3f& c, const Vec3f& d);
int orient3d(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d);

// The point without the coordinate `axis`, so that orientation is kept when the triangle is seen
// from the positive end of that axis.
template <typename T>
constexpr Point2Of<T> drop_axis(const Vector3<T>& p, int axis) {
  return axis == 0   ? Point2Of<T>{p.y, p.z}
         : axis == 1 ? Point2Of<T>{p.z, p.x}
                     : Point2Of<T>{p.x, p.y};
}

// Whether the three points lie on one line, coinciding points included.
bool are_collinear(const Vec3f& a, const Vec3f& b, const Vec3f& c);
bool are_collinear(const Vec3& a, const Vec3& b, const Vec3& c);

}  // namespace isotact
