// Positions along a motion as a certificate's checker computes them, with derived bounds of their
// errors. Written for the checker alone; the search has its own (swept/motion.cpp).
//
// How far positions are off. Let u = 2^-53, the relative error of one operation, and count in first
// order. p is the distance of a point from the divided body's origin, W = T_d + T_f + 2 P_d + P_f
// with T a body's larger distance of both places from the world's origin and P that of its pivot
// from its own. d is the divided body, f the fixed one.
//   a  A unit quaternion from normalized(): 4 squares, 3 sums, a root, a quotient: 4u.
//   b  A product of two: sums of four products, so 4u per component, 8u in all, and both errors.
//   c  The relative rotation of two poses: 4u + 4u + 8u = 16u. Its logarithm changes by at most pi
//      per change of the quaternion (pi: axis of half a turn), 51u; its own operations, with
//      angle_of right to 4u, add 25u: a turn is off by 76u radians.
//   d  A rotation at a time: 76u, the product with the time 4u, the sine and cosine of half of it
//      (each to 2u, with the axis and products) 24u, the product with the first rotation 24u, its
//      normalization 8u: 136u radians.
//   e  rotate() of a vector v: two cross products, sums and |q|^2 off by 8u: 48u |v|. A matrix of
//      three such columns: 84u.
//   f  Constant rates. The linear part is one product of two such rotations as a matrix: (2 * 136 +
//      16 + 84) u p, and 6u p for its product with a point. Pivots in the world are off by 65u P +
//      10u T each; differences of them, rotated twice: 195u (T_d + T_f) + 623u P_d + 253u P_f. With
//      the last sum: less than 384u (p + W).
//   g  Straight paths: a mean of two such maps with weights of sum 1, less than f.
//   h  Screws. Relative poses are off by 32u radians and 60u W, their quotient by 80u and 252u W,
//      its turn by 151u. The shift along the screw is V^-1 t with |V^-1| <= pi/2 and a change of at
//      most 2 |t| per radian, |t| <= 2 W: 1144u W. The position at a time is V shift with |V| <= 1
//      and the shift at most pi W: 537u W more. The first pose, rotated: 300u W + 320u p. In sum
//      less than 2048u (p + W).
//   i  Polynomials of degree up to 8 through maps as in f: the sum of the weights' magnitudes is
//      less than 11, so 11 * 384u. A weight's factor (8 t - i) is off by 8u where it is near zero,
//      as a time would be; weights change by at most 176 per unit of 8 t, so 8 * 176u; their
//      products and sums add 20u * 11 + 9u * 11. In sum less than 6000u (p + W).
// The bounds below are the next larger power of two: the rest pays for terms of higher order.
#include <algorithm>
#include <cmath>

#include "isotact/queries/certificate/detail/certificate_proof.h"

namespace isotact::detail {
namespace {

constexpr double kRigidError = 512 * kRoundoff, kScrewError = 4096 * kRoundoff,
                 kPolynomialError = 8192 * kRoundoff;
// Radians: turns are off by 151u at most, by c and h above.
constexpr double kTurnError = 160 * kRoundoff;
// Bounds are computed by less than 2^7 operations on numbers without cancellation.
constexpr double kUpwards = 1 + 0x1p-45;

// Axis times angle of the rotation, by the smaller angle. Of two equal ones the quaternion's sign
// decides, as it was rounded: this is how half a turn is understood everywhere in the library.
Vec3 log_of(const Quat& rotation) {
  const double sign = rotation.w < 0 ? -1 : 1;
  const Vec3 v = Vec3{rotation.x, rotation.y, rotation.z} * sign;
  const double sine = length(v);
  if (sine < 1e-100) return {};
  return v * (2 * angle_of(sine, rotation.w * sign) / sine);
}

Quat exp_of(const Vec3& turn) { return rotation_about(turn, length(turn)); }

// 1/2! - z/4! + z^2/6! ... if first = 2, 1/3! - z/5! + z^2/7! ... if first = 3. For z up to 1 the
// terms that are left out are below 1e-20.
double series(double z, int first) {
  double sum = 1;
  for (int i = first + 18; i > first; i -= 2) sum = 1 - z / (i * (i - 1)) * sum;
  return sum / (first == 2 ? 2 : 6);
}

double frobenius(const Mat3& m) {
  double sum = 0;
  for (const Vec3& row : m.rows) sum += length_sq(row);
  return std::sqrt(sum);
}

}  // namespace

CertificatePath::Body CertificatePath::body_of(const BodyMotion& motion) {
  Body body;
  body.from = normalized(motion.from.rotation);
  body.to = normalized(motion.to.rotation);
  body.turn = log_of(conjugate(body.from) * body.to);
  body.pivot = motion.pivot;
  body.place_from = motion.from.translation;
  body.place_to = motion.to.translation;
  body.pivot_from = rotate(body.from, body.pivot) + body.place_from;
  body.pivot_to = rotate(body.to, body.pivot) + body.place_to;
  return body;
}

CertificatePath::CertificatePath(const CertificateMotion& motion, isotact::Body divided)
    : model_(motion.model),
      divided_(body_of(divided == isotact::Body::kA ? motion.a : motion.b)),
      fixed_(body_of(divided == isotact::Body::kA ? motion.b : motion.a)) {
  const auto furthest = [](const Body& b) {
    return std::max(length(b.place_from), length(b.place_to));
  };
  scale_ =
      (furthest(divided_) + furthest(fixed_) + 2 * length(divided_.pivot) + length(fixed_.pivot)) *
      kUpwards;
  const auto relative = [](const Quat& of_fixed, const Quat& of_divided, const Vec3& from,
                           const Vec3& to) {
    const Quat back = conjugate(of_fixed);
    return Rigid{back * of_divided, rotate(back, to - from)};
  };
  first_ = relative(fixed_.from, divided_.from, fixed_.place_from, divided_.place_from);
  last_ = relative(fixed_.to, divided_.to, fixed_.place_to, divided_.place_to);
  unit_error_ = kRigidError;
  switch (model_) {
    case MotionModel::kStraight:
      break;  // no path bends
    case MotionModel::kConstantRates:
      set_rates();
      break;
    case MotionModel::kScrew:
      set_screw();
      break;
    case MotionModel::kPolynomial:
      set_polynomial(motion.degree);
      break;
  }
  constant_ *= kUpwards;
  per_metre_ *= kUpwards;
}

AffineMap CertificatePath::at(double time) const {
  const auto map_of = [](const Rigid& m) { return AffineMap{to_matrix(m.rotation), m.offset}; };
  switch (model_) {
    case MotionModel::kStraight: {
      const AffineMap from = map_of(first_), to = map_of(last_);
      return {from.linear * (1 - time) + to.linear * time,
              from.offset * (1 - time) + to.offset * time};
    }
    case MotionModel::kConstantRates:
      return map_of(rates_at(time));
    case MotionModel::kScrew:
      return map_of(screw_at(time));
    case MotionModel::kPolynomial:
      return polynomial_at(time);
  }
  return {};
}

// ---- constant rates -----------------------------------------------------------------------------

Quat CertificatePath::rotation_at(const Body& body, double time) {
  return normalized(body.from * exp_of(body.turn * time));
}

CertificatePath::Rigid CertificatePath::rates_at(double time) const {
  const Quat d = rotation_at(divided_, time), back = conjugate(rotation_at(fixed_, time));
  const Vec3 pivot_d = lerp(divided_.pivot_from, divided_.pivot_to, time),
             pivot_f = lerp(fixed_.pivot_from, fixed_.pivot_to, time);
  const Vec3 origin = (pivot_d - pivot_f) - rotate(d, divided_.pivot);
  return {back * d, rotate(back, origin) + fixed_.pivot};
}

// With world-frame rates w_d and w_f, both constant, c the way from the fixed body's pivot to the
// divided one's at a constant speed v, and r the point's place about its own pivot, a path in the
// fixed frame is x = F^T (r + c) + const. Its first derivative is F^T (e x r + v - w_f x c), with e
// = w_d - w_f, and its second one
//   F^T (-w_f x (e x r + v - w_f x c) + e x (w_d x r) - w_f x v),
// whose length is at most |e| (|w_d| + |w_f|) |r| + 2 |w_f| |v| + |w_f|^2 |c|.
void CertificatePath::set_rates() {
  pivot_ = divided_.pivot;
  const double rate_d = length(divided_.turn) + kTurnError,
               rate_f = length(fixed_.turn) + kTurnError;
  const Vec3 turn_d = rotate(divided_.from, divided_.turn),
             turn_f = rotate(fixed_.from, fixed_.turn);
  // Each turn in the world is off by 4u + 48u of its length, at most pi, and by its own error.
  const double apart = length(turn_d - turn_f) + 2 * (kTurnError + 60 * kPi * kRoundoff);
  const Vec3 first = divided_.pivot_from - fixed_.pivot_from,
             last = divided_.pivot_to - fixed_.pivot_to;
  const double off = kRigidError * scale_;
  const double speed = length(last - first) + 2 * off;
  const double furthest = std::max(length(first), length(last)) + off;
  per_metre_ = apart * (rate_d + rate_f);
  constant_ = 2 * rate_f * speed + rate_f * rate_f * furthest;
}

// ---- screws -------------------------------------------------------------------------------------

// The motion exp(t (w, s)) of the first relative pose, which is at the last one at t = 1.
void CertificatePath::set_screw() {
  unit_error_ = kScrewError;
  const Quat rotation = last_.rotation * conjugate(first_.rotation);
  const Vec3 t = last_.offset - rotate(rotation, first_.offset);
  turn_ = log_of(rotation);
  const double a = length(turn_), z = a * a;
  // V^-1 t = t - w x t / 2 + k w x (w x t), with k = (1 - h cot h) / a^2 and h = a / 2. With the
  // series S2 and S3 of h^2, cos h = 1 - h^2 S2 and sin h = h (1 - h^2 S3), which gives a quotient
  // in which nothing cancels.
  const double half_z = z / 4;
  double k;
  if (half_z <= 1) {
    const double s3 = series(half_z, 3);
    k = (series(half_z, 2) - s3) / (4 * (1 - half_z * s3));
  } else {
    const SinCos half = sin_cos(a / 2);
    k = (1 - a / 2 * half.cos / half.sin) / z;
  }
  const Vec3 once = cross(turn_, t);
  shift_ = t - once * 0.5 + cross(turn_, once) * k;
  // |x''| = |w x (w x x + s)| is constant along the path of a point, since its distance from the
  // axis and its speed are. Rounding as in h, each product with w, at most pi, four times as much.
  pivot_ = {};
  const double rate = a + kTurnError;
  constant_ = length(cross(turn_, cross(turn_, first_.offset) + shift_)) +
              4 * kPi * kPi * kScrewError * scale_;
  per_metre_ = rate * rate;
}

CertificatePath::Rigid CertificatePath::screw_at(double time) const {
  const Vec3 turn = turn_ * time, shift = shift_ * time;
  const double a = length(turn), z = a * a;
  double second, third;  // (1 - cos a) / a^2, (a - sin a) / a^3
  if (z <= 1) {
    second = series(z, 2);
    third = series(z, 3);
  } else {
    const SinCos half = sin_cos(a / 2);
    second = 2 * half.sin * half.sin / z;
    third = (a - 2 * half.sin * half.cos) / (z * a);
  }
  const Quat rotation = exp_of(turn);
  const Vec3 once = cross(turn, shift);
  const Vec3 moved = shift + once * second + cross(turn, once) * third;
  return {rotation * first_.rotation, moved + rotate(rotation, first_.offset)};
}

// ---- polynomials --------------------------------------------------------------------------------

AffineMap CertificatePath::polynomial_at(double time) const {
  AffineMap sum{Mat3{}, {}};
  for (int k = 0; k <= degree_; ++k) {
    double weight = 1;
    for (int i = 0; i <= degree_; ++i)
      if (i != k) weight *= (time * degree_ - i) / (k - i);
    const AffineMap& map = through_[static_cast<std::size_t>(k)];
    sum.linear = sum.linear + map.linear * weight;
    sum.offset += map.offset * weight;
  }
  return sum;
}

// The second derivative is a polynomial, which stays in the hull of its Bernstein coefficients.
// These are sums of the maps with weights that depend on the degree alone. A map takes a point to
// at most its image of the origin, plus its Frobenius norm times the radius.
void CertificatePath::set_polynomial(int degree) {
  unit_error_ = kPolynomialError;
  degree_ = degree;
  using Powers = std::array<double, kMostDegree + 1>;
  std::array<Powers, kMostDegree + 1> weights{};  // [node][power of the time]
  for (int k = 0; k <= degree; ++k) {
    const auto at = static_cast<std::size_t>(k);
    const Rigid pose = rates_at(static_cast<double>(k) / degree);
    through_[at] = {to_matrix(pose.rotation), pose.offset};
    Powers& c = weights[at];
    c[0] = 1;
    for (int i = 0; i <= degree; ++i) {
      if (i == k) continue;
      for (std::size_t j = kMostDegree; j > 0; --j) c[j] = (c[j - 1] * degree - c[j] * i) / (k - i);
      c[0] = -c[0] * i / (k - i);
    }
  }
  const int n = degree - 2;
  for (int i = 0; i <= n; ++i) {
    AffineMap coefficient{Mat3{}, {}};
    double magnitude = 0;  // what rounding is relative to
    for (std::size_t k = 0; k <= static_cast<std::size_t>(degree); ++k) {
      double weight = 0, share = 1;  // share: binomial(i, j) / binomial(n, j)
      for (int j = 0; j <= i; ++j) {
        const double part = share * weights[k][static_cast<std::size_t>(j + 2)] * (j + 2) * (j + 1);
        weight += part;
        magnitude += std::abs(part);
        if (j < i) share *= static_cast<double>(i - j) / (n - j);
      }
      coefficient.linear = coefficient.linear + through_[k].linear * weight;
      coefficient.offset += through_[k].offset * weight;
    }
    // Maps are off as in f; a weight's parts are made of less than 64 operations whose terms have
    // one sign but for the sums over j, and powers of the product over i of (x degree - i), whose
    // coefficients have alternating signs and never cancel.
    const double off = magnitude * (kRigidError + 128 * kRoundoff);
    constant_ = std::max(constant_, length(coefficient.offset) + off * scale_);
    per_metre_ = std::max(per_metre_, frobenius(coefficient.linear) + 2 * off);
  }
}

}  // namespace isotact::detail
