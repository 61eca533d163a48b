// Which side of a line or plane a point lies on, answered exactly: signs, never estimates. Every
// function needs finite coordinates (others give some sign, and still return). Cost: a few
// nanoseconds; points that are nearly or exactly on the line or plane cost up to a microsecond,
// more where the magnitudes of the coordinates differ by more than 2^29. Safe from many threads.
#pragma once

#include "isotact/base/vec.h"

namespace isotact {

struct Point2f {
  float x{}, y{};

  friend constexpr bool operator==(const Point2f&, const Point2f&) = default;
};

// +1 where a, b, c run counter-clockwise, -1 where clockwise, 0 where they are collinear.
int orient2d(const Point2f& a, const Point2f& b, const Point2f& c);

// +1 where d lies on the side of the plane abc from which a, b, c run counter-clockwise (the sign
// of dot(cross(b - a, c - a), d - a); Shewchuk's is the opposite), -1 on the other, 0 in the plane.
int orient3d(const Vec3f& a, const Vec3f& b, const Vec3f& c, const Vec3f& d);

// The point without the coordinate `axis`, so that orientation is kept when the triangle is seen
// from the positive end of that axis.
constexpr Point2f drop_axis(const Vec3f& p, int axis) {
  return axis == 0 ? Point2f{p.y, p.z} : axis == 1 ? Point2f{p.z, p.x} : Point2f{p.x, p.y};
}

// Whether the three points lie on one line, coinciding points included.
bool are_collinear(const Vec3f& a, const Vec3f& b, const Vec3f& c);

}  // namespace isotact
