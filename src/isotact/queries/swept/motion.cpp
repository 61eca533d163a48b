#include "isotact/queries/swept/motion.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

#include <fmt/format.h>

#include "isotact/queries/swept/detail/motion_curve.h"

namespace isotact {
namespace {

using detail::FieldFromShell;
using detail::kMostDegree;
using detail::Places;
using detail::Rates;
using detail::Screw;

constexpr double kFurthest = 1e15;  // Metres.

// ---- rotations ----------------------------------------------------------------------------------

// Returns the shorter of the two rotations of a quaternion: axis times angle.
Vec3 compute_turn(const Quat& rotation) {
  const Quat q =
      rotation.w < 0 ? Quat{-rotation.w, -rotation.x, -rotation.y, -rotation.z} : rotation;
  const Vec3 v{q.x, q.y, q.z};
  const double sine = length(v);
  if (sine < 1e-100) return {};
  return v * (2 * angle_of(sine, q.w) / sine);
}

Quat to_quat(const Vec3& turn) { return rotation_about(turn, length(turn)); }

// ---- constant rates -----------------------------------------------------------------------------

Pose with_unit_rotation(const Pose& pose) { return {normalized(pose.rotation), pose.translation}; }

Vec3 pivot_place(const BodyMotion& body, const Pose& pose) {
  return transform_point(with_unit_rotation(pose), body.pivot);
}

Rates compute_rates(const BodyMotion& body) {
  const Pose from = with_unit_rotation(body.from), to = with_unit_rotation(body.to);
  return {from,
          to,
          compute_turn(conjugate(from.rotation) * to.rotation),
          body.pivot,
          transform_point(from, body.pivot),
          transform_point(to, body.pivot)};
}

Pose compute_pose(const Rates& rates, double time) {
  if (time <= 0) return rates.from;
  if (time >= 1) return rates.to;
  const Quat turned = normalized(rates.from.rotation * to_quat(rates.turn * time));
  const Vec3 pivot = lerp(rates.pivot_from, rates.pivot_to, time);
  return {turned, pivot - rotate(turned, rates.pivot)};
}

double turn_rate(const BodyMotion& body) {
  return length(
      compute_turn(conjugate(normalized(body.from.rotation)) * normalized(body.to.rotation)));
}

// Let y be the position of a shell's point relative to the field's pivot, without the field's
// rotation B. The path is x = B^T y + const, and
//   x'' = B^T (y'' - 2 w_b x y' + w_b x (w_b x y)),
// with y = A p + c, a rotation A of rate w_a, p from the shell's pivot and c straight at speed v.
double bound_rates(const ShellMotion& motion, const Sphere& ball) {
  const double wa = turn_rate(motion.shell), wb = turn_rate(motion.field);
  const double p = length(ball.center - motion.shell.pivot) + ball.radius;
  const Vec3 first =
      pivot_place(motion.shell, motion.shell.from) - pivot_place(motion.field, motion.field.from);
  const Vec3 last =
      pivot_place(motion.shell, motion.shell.to) - pivot_place(motion.field, motion.field.to);
  // A straight line is furthest away at one of its ends.
  const double c = std::max(length(first), length(last)), v = length(last - first);
  return wa * wa * p + 2 * wb * (wa * p + v) + wb * wb * (p + c);
}

// ---- screws -------------------------------------------------------------------------------------

// (1 - cos a) / a^2 and (a - sin a) / a^3: Taylor series if they cancel.
struct ScrewFactors {
  double first, second;
};
ScrewFactors compute_factors(double a) {
  const double z = a * a;
  if (a < 0.25)
    return {0.5 - z / 24 * (1 - z / 30 * (1 - z / 56 * (1 - z / 90))),
            1.0 / 6 - z / 120 * (1 - z / 42 * (1 - z / 72 * (1 - z / 110)))};
  const double half = sin_cos(a / 2).sin;
  return {2 * half * half / z, (a - sin_cos(a).sin) / (z * a)};
}

Pose compute_pose(const Screw& screw, double time) {
  const Vec3 turn = screw.turn * time, shift = screw.shift * time;
  const ScrewFactors f = compute_factors(length(turn));
  const Vec3 once = cross(turn, shift);
  return {to_quat(turn), shift + once * f.first + cross(turn, once) * f.second};
}

// The inverse: shift = t - w x t / 2 + k w x (w x t), with k = (1 - (a / 2) cot(a / 2)) / a^2.
Screw compute_screw(const Pose& motion) {
  const Vec3 turn = compute_turn(motion.rotation), t = motion.translation;
  const double a = length(turn), z = a * a;
  double k = 1.0 / 12 + z / 720 + z * z / 30240 + z * z * z / 1209600;
  if (a >= 0.25) {
    const SinCos half = sin_cos(a / 2);
    k = (1 - a / 2 * half.cos / half.sin) / z;
  }
  const Vec3 once = cross(turn, t);
  return {turn, t - once * 0.5 + cross(turn, once) * k};
}

FieldFromShell compute_ends(const ShellMotion& m) {
  return {inverse(with_unit_rotation(m.field.from)) * with_unit_rotation(m.shell.from),
          inverse(with_unit_rotation(m.field.to)) * with_unit_rotation(m.shell.to)};
}

// A point's acceleration is w x (w x x + shift). Its length is constant, since the point's distance
// from the axis does not change.
double bound_screw(const Screw& screw, const Pose& from, const Sphere& ball) {
  const Vec3 x = transform_point(from, ball.center), w = screw.turn;
  return length(cross(w, cross(w, x) + screw.shift)) + length_sq(w) * ball.radius;
}

// ---- polynomials --------------------------------------------------------------------------------

int degree_of(const ShellMotion& motion) {
  return motion.through.empty() ? motion.degree : static_cast<int>(motion.through.size()) - 1;
}

Places find_places(const ShellMotion& motion) {
  Places places;
  const Rates field = compute_rates(motion.field), shell = compute_rates(motion.shell);
  places.degree = degree_of(motion);
  for (int k = 0; k <= places.degree; ++k) {
    const double time = static_cast<double>(k) / places.degree;
    const auto i = static_cast<std::size_t>(k);
    places.map[i] = to_affine(motion.through.empty()
                                  ? inverse(compute_pose(field, time)) * compute_pose(shell, time)
                                  : with_unit_rotation(motion.through[i]));
  }
  return places;
}

using Weights = std::array<double, kMostDegree + 1>;

AffineMap combine(const Places& places, const Weights& weights) {
  AffineMap sum{Mat3{}, {}};
  for (std::size_t k = 0; k <= static_cast<std::size_t>(places.degree); ++k) {
    sum.linear = sum.linear + places.map[k].linear * weights[k];
    sum.offset += places.map[k].offset * weights[k];
  }
  return sum;
}

// Lagrange's: the polynomial through the positions is their weighted sum.
AffineMap compute_map(const Places& places, double time) {
  Weights weights{};
  for (int k = 0; k <= places.degree; ++k) {
    double w = 1;
    for (int i = 0; i <= places.degree; ++i)
      if (i != k) w *= (time * places.degree - i) / (k - i);
    weights[static_cast<std::size_t>(k)] = w;
  }
  return combine(places, weights);
}

// Coefficients of powers of time of the weight of position k.
Weights expand_weight(int degree, int k) {
  Weights c{1};
  for (int i = 0; i <= degree; ++i) {
    if (i == k) continue;
    Weights next{};
    for (std::size_t j = 0; j <= kMostDegree; ++j) {
      next[j] -= c[j] * i / (k - i);
      if (j > 0) next[j] += c[j - 1] * degree / (k - i);
    }
    c = next;
  }
  return c;
}

// A polynomial stays within the hull of its Bernstein coefficients. Those of the second derivative
// are maps of positions as well. A map takes a ball into one around the image of its centre, whose
// radius grows by at most the Frobenius norm.
double bound_polynomial(const Places& places, const Sphere& ball) {
  const int n = places.degree - 2;
  if (n < 0) return 0;
  std::array<Weights, kMostDegree + 1> second{};  // [power][position]
  for (int k = 0; k <= places.degree; ++k) {
    const Weights c = expand_weight(places.degree, k);
    for (int j = 0; j <= n; ++j)
      second[static_cast<std::size_t>(j)][static_cast<std::size_t>(k)] =
          c[static_cast<std::size_t>(j + 2)] * (j + 2) * (j + 1);
  }
  double most = 0;
  for (int i = 0; i <= n; ++i) {
    Weights bernstein{};
    double share = 1;  // binomial(i, j) / binomial(n, j)
    for (int j = 0; j <= i; ++j) {
      for (std::size_t k = 0; k < bernstein.size(); ++k)
        bernstein[k] += share * second[static_cast<std::size_t>(j)][k];
      if (j < i) share *= static_cast<double>(i - j) / (n - j);
    }
    const AffineMap map = combine(places, bernstein);
    double norm = 0;
    for (const Vec3& row : map.linear.rows) norm += length_sq(row);
    most = std::max(most, length(map * ball.center) + std::sqrt(norm) * ball.radius);
  }
  return most;
}

// L v|^2 <= |v|^2 + |v . (L^T L - 1) v|, and the Frobenius norm bounds the last term.
double bound_stretch(const Mat3& linear) {
  const Mat3 product = transpose(linear) * linear + identity3() * -1.0;
  double norm = 0;
  for (const Vec3& row : product.rows) norm += length_sq(row);
  return std::sqrt(1 + std::sqrt(norm));
}

// Rounding of a position in the field's frame that results from differences between positions of
// the world: a few operations on numbers as large as these.
double compute_rounding(const ShellMotion& motion) {
  double sum = 0;
  for (const BodyMotion* body : {&motion.shell, &motion.field})
    sum += length(body->from.translation) + length(body->to.translation) + length(body->pivot);
  for (const Pose& pose : motion.through) sum += length(pose.translation);
  return 4e-15 * sum;
}

int count_pieces(double acceleration, double tolerance) {
  int pieces = 1;
  while (pieces < kMostPieces && acceleration / (8.0 * pieces * pieces) > tolerance) pieces *= 2;
  return pieces;
}

}  // namespace

std::string_view name(MotionModel model) {
  switch (model) {
    case MotionModel::kStraight:
      return "straight";
    case MotionModel::kConstantRates:
      return "rates";
    case MotionModel::kScrew:
      return "screw";
    case MotionModel::kPolynomial:
      return "polynomial";
  }
  return "";
}

std::optional<MotionModel> find_motion_model(std::string_view text) {
  for (const auto model : {MotionModel::kStraight, MotionModel::kConstantRates, MotionModel::kScrew,
                           MotionModel::kPolynomial})
    if (name(model) == text) return model;
  return std::nullopt;
}

std::optional<std::string> find_flaw(const ShellMotion& motion) {
  const auto look_at = [](const Pose& pose, std::string_view what) -> std::optional<std::string> {
    const Quat& q = pose.rotation;
    if (!is_finite(pose.translation) || !std::isfinite(length_sq(q)))
      return fmt::format("{} is not finite", what);
    if (length(pose.translation) > kFurthest)
      return fmt::format("{} is {:.3g} metres away, which is more than {:.0e}", what,
                         length(pose.translation), kFurthest);
    if (std::abs(length_sq(q) - 1) > 1e-5)
      return fmt::format("{} has a quaternion of length {:.6g}, which should be 1", what,
                         std::sqrt(length_sq(q)));
    return std::nullopt;
  };
  if (!motion.through.empty()) {
    if (motion.model != MotionModel::kPolynomial)
      return "poses to go through are for polynomial motion alone";
    if (motion.through.size() < 2 || motion.through.size() > kMostDegree + 1)
      return fmt::format("{} poses to go through, which should be 2 to {}", motion.through.size(),
                         kMostDegree + 1);
    for (const Pose& pose : motion.through)
      if (auto flaw = look_at(pose, "a pose to go through")) return flaw;
    return std::nullopt;
  }
  if (motion.model == MotionModel::kPolynomial &&
      (motion.degree < 1 || motion.degree > kMostDegree))
    return fmt::format("a polynomial of degree {}, which should be 1 to {}", motion.degree,
                       kMostDegree);
  const auto look_at_body = [&](const BodyMotion& body, bool shell) -> std::optional<std::string> {
    if (auto flaw = look_at(body.from,
                            shell ? "the first pose of the shell" : "the first pose of the field"))
      return flaw;
    if (auto flaw =
            look_at(body.to, shell ? "the last pose of the shell" : "the last pose of the field"))
      return flaw;
    if (!is_finite(body.pivot) || length(body.pivot) > kFurthest)
      return fmt::format("the pivot of the {} is not finite, or too far away",
                         shell ? "shell" : "field");
    return std::nullopt;
  };
  if (auto flaw = look_at_body(motion.shell, true)) return flaw;
  return look_at_body(motion.field, false);
}

Pose compute_pose(const BodyMotion& body, double time) {
  return compute_pose(compute_rates(body), time);
}

Vec3 place_on(const ShellPath& path, const Vec3& point, double time) {
  const double at = std::clamp(time, 0.0, 1.0) * path.piece_count();
  const int piece = std::min(static_cast<int>(at), path.piece_count() - 1);
  const auto i = static_cast<std::size_t>(piece);
  return lerp(path.maps[i] * point, path.maps[i + 1] * point, at - piece);
}

AffineMap compute_map(const ShellMotion& motion, double time) {
  return detail::MotionCurve(motion).at(time);
}

namespace detail {

MotionCurve::MotionCurve(const ShellMotion& motion)
    : parts_{.model = motion.model}, rounding_(compute_rounding(motion)) {
  assert(!find_flaw(motion));
  Parts& parts = parts_;
  parts.ends = compute_ends(motion);
  const auto bend_of = [this](auto bound) {
    constant_ = bound(0);
    per_metre_ = bound(1) - constant_;
  };
  switch (motion.model) {
    case MotionModel::kStraight:
      break;
    case MotionModel::kConstantRates:
      parts.field = compute_rates(motion.field);
      parts.shell = compute_rates(motion.shell);
      pivot_ = motion.shell.pivot;
      bend_of([&](double radius) { return bound_rates(motion, {pivot_, radius}); });
      break;
    case MotionModel::kScrew:
      parts.screw = compute_screw(parts.ends.to * inverse(parts.ends.from));
      bend_of([&](double radius) {
        return bound_screw(parts.screw, parts.ends.from, {pivot_, radius});
      });
      break;
    case MotionModel::kPolynomial: {
      // Each coefficient's bound grows linearly with the radius, at a rate of its own: the largest
      // of them is at most the largest constant part and the largest rate together.
      parts.places = find_places(motion);
      constant_ = bound_polynomial(parts.places, {pivot_, 0});
      constexpr double kHuge = 1e9;  // metres, beside which the constant parts vanish
      per_metre_ = bound_polynomial(parts.places, {pivot_, kHuge}) / kHuge;
      break;
    }
  }
  // Both bounds were rounded.
  constant_ *= 1 + 1e-12;
  per_metre_ = std::max(per_metre_, 0.0) * (1 + 1e-12) + 1e-12 * constant_;
}

AffineMap MotionCurve::at(double time) const {
  const Parts& parts = parts_;
  switch (parts.model) {
    case MotionModel::kStraight: {
      const AffineMap a = to_affine(parts.ends.from), b = to_affine(parts.ends.to);
      return {a.linear * (1 - time) + b.linear * time, lerp(a.offset, b.offset, time)};
    }
    case MotionModel::kConstantRates:
      return to_affine(inverse(compute_pose(parts.field, time)) * compute_pose(parts.shell, time));
    case MotionModel::kScrew:
      if (time >= 1) return to_affine(parts.ends.to);
      return to_affine(compute_pose(parts.screw, time) * parts.ends.from);
    case MotionModel::kPolynomial:
      return compute_map(parts.places, time);
  }
  return {};
}

}  // namespace detail

// A chord of a curve with |x''| <= a over a time T is at most a T^2 / 8 away from it.
void compute_shell_path(const ShellMotion& motion, const Sphere& ball, double tolerance,
                        ShellPath& path) {
  assert(!find_flaw(motion));
  const FieldFromShell ends = compute_ends(motion);
  Screw screw;
  Places places;
  Rates field, shell;
  path.acceleration = 0;
  if (motion.model == MotionModel::kConstantRates) {
    field = compute_rates(motion.field);
    shell = compute_rates(motion.shell);
    path.acceleration = bound_rates(motion, ball);
  } else if (motion.model == MotionModel::kScrew) {
    screw = compute_screw(ends.to * inverse(ends.from));
    path.acceleration = bound_screw(screw, ends.from, ball);
  } else if (motion.model == MotionModel::kPolynomial) {
    places = find_places(motion);
    path.acceleration = bound_polynomial(places, ball);
  }
  const int pieces = count_pieces(path.acceleration, tolerance);
  path.rounding = compute_rounding(motion);
  path.error = path.acceleration / (8.0 * pieces * pieces) + path.rounding;
  path.stretch = 1 + 1e-9;
  path.maps.resize(static_cast<std::size_t>(pieces) + 1);
  for (int k = 0; k <= pieces; ++k) {
    const double time = static_cast<double>(k) / pieces;
    AffineMap& map = path.maps[static_cast<std::size_t>(k)];
    if (motion.model == MotionModel::kPolynomial) {
      map = compute_map(places, time);
      // Between two maps the linear part is their weighted mean, which is no longer.
      path.stretch = std::max(path.stretch, bound_stretch(map.linear));
    } else if (k == 0) {
      map = to_affine(ends.from);
    } else if (k == pieces) {
      map = to_affine(ends.to);
    } else if (motion.model == MotionModel::kConstantRates) {
      map = to_affine(inverse(compute_pose(field, time)) * compute_pose(shell, time));
    } else {
      map = to_affine(compute_pose(screw, time) * ends.from);
    }
  }
}

}  // namespace isotact
