// Floating-point expansions after J. R. Shewchuk, "Adaptive Precision Floating-Point Arithmetic and
// Fast Robust Geometric Predicates", Discrete & Computational Geometry 18, 1997. A filter in double
// decides nearly all cases; the rest is evaluated without any rounding.
//
// Nothing may overflow or underflow in double. Coordinates in float are multiples of 2^-149 below
// 2^128, hence products of three differences are multiples of 2^-447 below 2^390. Those in double
// are multiples of 2^-352 up to 2^300 (kLeastExact, kMostExact), also after a difference is
// rounded; products of three are then multiples of 2^-1056 below 2^903, and above 2^-1074, the
// least there is.
#include "isotact/geometry/mesh/predicates.h"

#include <array>
#include <cmath>

namespace isotact {
namespace {

constexpr double kEpsilon = 0x1p-53;  // largest relative error of one rounding

struct TwoDoubles {
  double high, low;  // high + low is exact, low at most half a unit in the last place of high
};

TwoDoubles two_sum(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a, a_part = sum - b_part;
  return {sum, (a - a_part) + (b - b_part)};
}

TwoDoubles two_product(double a, double b) {
  constexpr double kSplitter = 0x1p27 + 1;  // Veltkamp: halves of 26 bits multiply exactly
  const double ca = kSplitter * a, cb = kSplitter * b;
  const double a_high = ca - (ca - a), b_high = cb - (cb - b);
  const double a_low = a - a_high, b_low = b - b_high;
  const double product = a * b;
  return {product,
          a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)};
}

// An exact sum of doubles that do not overlap, smallest first, zeros left out. Shewchuk's
// Grow-Expansion keeps that order, so the last one has the sign of the whole.
template <std::size_t Capacity>
class Expansion {
 public:
  void grow(double b) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      const TwoDoubles s = two_sum(b, parts_[i]);
      if (s.low != 0) parts_[kept++] = s.low;
      b = s.high;
    }
    if (b != 0) parts_[kept++] = b;
    size_ = kept;
  }
  template <std::size_t N>
  void add(const Expansion<N>& other) {
    for (std::size_t i = 0; i < other.size(); ++i) grow(other[i]);
  }
  template <std::size_t M, std::size_t N>
  void add_product(const Expansion<M>& a, const Expansion<N>& b, double sign) {
    for (std::size_t j = 0; j < b.size(); ++j)
      for (std::size_t i = 0; i < a.size(); ++i) {
        const TwoDoubles p = two_product(a[i], sign * b[j]);
        grow(p.low);
        grow(p.high);
      }
  }
  std::size_t size() const { return size_; }
  double operator[](std::size_t i) const { return parts_[i]; }
  int sign() const {
    if (size_ == 0) return 0;
    return parts_[size_ - 1] > 0 ? 1 : parts_[size_ - 1] < 0 ? -1 : 0;
  }

 private:
  std::array<double, Capacity> parts_{};
  std::size_t size_ = 0;
};

Expansion<2> exact_difference(double a, double b) {
  Expansion<2> e;
  const TwoDoubles d = two_sum(a, -b);
  e.grow(d.low);
  e.grow(d.high);
  return e;
}

// a * d - b * c
Expansion<16> exact_minor(const Expansion<2>& a, const Expansion<2>& b, const Expansion<2>& c,
                          const Expansion<2>& d) {
  Expansion<16> e;
  e.add_product(a, d, 1);
  e.add_product(b, c, -1);
  return e;
}

int exact_orient2d(const Point2& a, const Point2& b, const Point2& c) {
  return exact_minor(exact_difference(a.x, c.x), exact_difference(a.y, c.y),
                     exact_difference(b.x, c.x), exact_difference(b.y, c.y))
      .sign();
}

int exact_orient3d(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
  const auto abx = exact_difference(b.x, a.x), aby = exact_difference(b.y, a.y);
  const auto abz = exact_difference(b.z, a.z), acx = exact_difference(c.x, a.x);
  const auto acy = exact_difference(c.y, a.y), acz = exact_difference(c.z, a.z);
  Expansion<192> e;  // three minors of 16 parts times 2 parts, each product two parts
  e.add_product(exact_minor(aby, abz, acy, acz), exact_difference(d.x, a.x), 1);
  e.add_product(exact_minor(abz, abx, acz, acx), exact_difference(d.y, a.y), 1);
  e.add_product(exact_minor(abx, aby, acx, acy), exact_difference(d.z, a.z), 1);
  return e.sign();
}

template <typename T>
bool lie_on_a_line(const Vector3<T>& a, const Vector3<T>& b, const Vector3<T>& c) {
  for (const int axis : {2, 1, 0})
    if (orient2d(drop_axis(a, axis), drop_axis(b, axis), drop_axis(c, axis)) != 0) return false;
  return true;
}

Point2 to_double(const Point2f& p) { return {p.x, p.y}; }

}  // namespace

int orient2d(const Point2& a, const Point2& b, const Point2& c) {
  const double acx = a.x - c.x, acy = a.y - c.y, bcx = b.x - c.x, bcy = b.y - c.y;
  const double left = acx * bcy, right = acy * bcx;
  const double det = left - right;
  // Shewchuk's bound is (3 + 16 epsilon) epsilon.
  const double error = 4 * kEpsilon * (std::abs(left) + std::abs(right));
  if (det > error) return 1;
  if (det < -error) return -1;
  if (left == 0 && right == 0) return 0;  // no underflow: each product has a factor that is zero
  return exact_orient2d(a, b, c);
}

int orient2d(const Point2f& a, const Point2f& b, const Point2f& c) {
  return orient2d(to_double(a), to_double(b), to_double(c));
}

int orient3d(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
  const Vec3 ab = b - a, ac = c - a, ad = d - a;
  const double yz = ab.y * ac.z, zy = ab.z * ac.y;
  const double zx = ab.z * ac.x, xz = ab.x * ac.z;
  const double xy = ab.x * ac.y, yx = ab.y * ac.x;
  const double det = (yz - zy) * ad.x + (zx - xz) * ad.y + (xy - yx) * ad.z;
  const double permanent = (std::abs(yz) + std::abs(zy)) * std::abs(ad.x) +
                           (std::abs(zx) + std::abs(xz)) * std::abs(ad.y) +
                           (std::abs(xy) + std::abs(yx)) * std::abs(ad.z);
  const double error = 8 * kEpsilon * permanent;  // Shewchuk's bound is (7 + 56 epsilon) epsilon
  if (det > error) return 1;
  if (det < -error) return -1;
  if (permanent == 0) return 0;
  return exact_orient3d(a, b, c, d);
}

int orient3d(const Vec3f& a, const Vec3f& b, const Vec3f& c, const Vec3f& d) {
  return orient3d(to_double(a), to_double(b), to_double(c), to_double(d));
}

bool are_collinear(const Vec3f& a, const Vec3f& b, const Vec3f& c) {
  return lie_on_a_line(a, b, c);
}
bool are_collinear(const Vec3& a, const Vec3& b, const Vec3& c) { return lie_on_a_line(a, b, c); }

}  // namespace isotact
