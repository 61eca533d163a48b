// A smallest enclosing ball is determined by at most four balls that touch it from inside (its
// support). We proceed as Gaertner (1999) does for points: find the ball that sticks out furthest,
// add it to the support, and find the smallest ball of these at most five. The radius grows each
// time. With balls instead of points, Welzl's recursion is wrong (Fischer and Gaertner 2004), so we
// try all subsets of the five.
#include "isotact/pointshell/detail/enclosing_ball.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>

namespace isotact::detail {
namespace {

constexpr int kMostSupport = 4;
// Fraction of the radius: tolerance of inside tests while solving.
constexpr double kSlack = 1e-10;

struct Support {
  std::array<Sphere, kMostSupport + 1> balls{};
  int count = 0;
};

struct Solution {
  Sphere ball;
  // Its centre is a convex combination of theirs: then it is their smallest ball.
  bool in_hull = false;
};

// Solves the symmetric positive system g x = b of n <= 3 unknowns for two right sides, by Cholesky.
// Returns false if g is singular to rounding.
using Row = std::array<double, 3>;
bool solve(std::array<Row, 3> g, int count, Row& b, Row& c) {
  const auto n = static_cast<std::size_t>(count);
  for (std::size_t j = 0; j < n; ++j) {
    const double before = g[j][j];
    for (std::size_t k = 0; k < j; ++k) g[j][j] -= g[j][k] * g[j][k];
    if (!(g[j][j] > 1e-13 * before)) return false;
    g[j][j] = std::sqrt(g[j][j]);
    for (std::size_t i = j + 1; i < n; ++i) {
      for (std::size_t k = 0; k < j; ++k) g[i][j] -= g[i][k] * g[j][k];
      g[i][j] /= g[j][j];
    }
  }
  for (Row* x : {&b, &c}) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < i; ++k) (*x)[i] -= g[i][k] * (*x)[k];
      (*x)[i] /= g[i][i];
    }
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t k = i + 1; k < n; ++k) (*x)[i] -= g[k][i] * (*x)[k];
      (*x)[i] /= g[i][i];
    }
  }
  return true;
}

// Returns the least s >= 0 with |u + s v| = s, from (v.v - 1) s^2 + 2 u.v s + u.u = 0.
std::optional<double> compute_smallest_length(const Vec3& u, const Vec3& v) {
  const double a = length_sq(v) - 1, b = dot(u, v), c = length_sq(u);
  const double square = b * b - a * c;
  if (a < 0) return (b + std::sqrt(square)) / -a;  // c >= 0: the roots have different signs.
  if (!(b < 0) || square < 0) return std::nullopt;
  return c / (-b + std::sqrt(square));
}

// Returns the ball that all given ones touch from inside, with its centre in the span of theirs.
// Let d be the vector from the first centre, q_i the vectors to the others, and s = R - r_0. Then
// |d| = s and |d - q_i| = s - (r_i - r_0) give
//   q_i . d = (|q_i|^2 - e_i^2) / 2 + s e_i,   e_i = r_i - r_0,
// hence d = u + s v, and |u + s v| = s is a quadratic in s.
std::optional<Solution> find_touching_ball(const Support& of) {
  const Sphere& first = of.balls[0];
  if (of.count == 1) return Solution{first, true};
  const int n = of.count - 1;
  std::array<Vec3, 3> q{};
  std::array<Row, 3> gram{};
  Row a{}, b{};
  double most = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    q[i] = of.balls[i + 1].center - first.center;
    const double e = of.balls[i + 1].radius - first.radius;
    a[i] = (length_sq(q[i]) - e * e) / 2;
    b[i] = e;
    most = std::max(most, e);
    for (std::size_t k = 0; k <= i; ++k) gram[i][k] = dot(q[i], q[k]);
  }
  if (!solve(gram, n, a, b)) return std::nullopt;
  Vec3 u{}, v{};
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    u += q[i] * a[i];
    v += q[i] * b[i];
  }
  const std::optional<double> root = compute_smallest_length(u, v);
  if (!root) return std::nullopt;
  const double s = *root;
  if (!(s >= most)) return std::nullopt;
  double rest = 1;
  bool in_hull = true;
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    const double weight = a[i] + s * b[i];
    rest -= weight;
    in_hull = in_hull && weight >= 0;
  }
  return Solution{{first.center + u + v * s, s + first.radius}, in_hull && rest >= 0};
}

bool encloses(const Sphere& ball, const Support& all) {
  const double limit = ball.radius * (1 + kSlack);
  for (int i = 0; i < all.count; ++i) {
    const Sphere& b = all.balls[static_cast<std::size_t>(i)];
    if (!(length(b.center - ball.center) + b.radius <= limit)) return false;
  }
  return true;
}

// Subsets of all other balls, by increasing size.
constexpr std::array<int, 15> kSubsets = {0b0000, 0b0001, 0b0010, 0b0100, 0b1000,
                                          0b0011, 0b0101, 0b0110, 0b1001, 0b1010,
                                          0b1100, 0b0111, 0b1011, 0b1101, 0b1110};

// Returns the smallest ball of all, which touches the last one. Its support replaces `all`.
std::optional<Sphere> reduce(Support& all) {
  std::optional<Sphere> best;
  Support best_support;
  const int others = all.count - 1;
  for (const int subset : kSubsets) {
    if (subset >> others != 0) continue;
    Support some;
    some.balls[0] = all.balls[static_cast<std::size_t>(others)];
    some.count = 1;
    for (int i = 0; i < others; ++i)
      if ((subset >> i & 1) != 0)
        some.balls[static_cast<std::size_t>(some.count++)] = all.balls[static_cast<std::size_t>(i)];
    const auto found = find_touching_ball(some);
    if (!found || !encloses(found->ball, all)) continue;
    if (!best || found->ball.radius < best->radius) {
      best = found->ball;
      best_support = some;
    }
    // The smallest ball of a subset that contains all balls is the smallest of all.
    if (found->in_hull) break;
  }
  if (best) all = best_support;
  return best;
}

struct Furthest {
  std::size_t index = 0;
  double distance = 0;
};

Furthest find_furthest(const PointColumns& p, const Vec3& from) {
  Furthest best{0, -1};
  for (std::size_t i = 0; i < p.x.size(); ++i) {
    const Vec3 d = Vec3{p.x[i], p.y[i], p.z[i]} - from;
    const double sq = length_sq(d);
    if (sq > best.distance) best = {i, sq};
  }
  best.distance = std::sqrt(best.distance);
  return best;
}

Furthest find_furthest(std::span<const Sphere> balls, const Vec3& from) {
  Furthest best{0, -1};
  for (std::size_t i = 0; i < balls.size(); ++i) {
    const double d = length(balls[i].center - from) + balls[i].radius;
    if (d > best.distance) best = {i, d};
  }
  return best;
}

Sphere ball_at(const PointColumns& p, std::size_t i) { return {{p.x[i], p.y[i], p.z[i]}, 0}; }
Sphere ball_at(std::span<const Sphere> balls, std::size_t i) { return balls[i]; }

template <typename Source>
Sphere compute_ball(const Source& source) {
  // Never more than 30 in tests. Guards against rounding in circles.
  constexpr int kMostRounds = 1000;
  Sphere ball = ball_at(source, 0);
  Support support{{ball}, 1};
  for (int round = 0; round < kMostRounds; ++round) {
    const Furthest far = find_furthest(source, ball.center);
    if (far.distance <= ball.radius * (1 + 1e-9)) break;
    support.balls[static_cast<std::size_t>(support.count++)] = ball_at(source, far.index);
    const auto grown = reduce(support);
    if (!grown || !(grown->radius > ball.radius)) break;
    ball = *grown;
  }
  return ball;
}

}  // namespace

Sphere compute_enclosing_ball(const PointColumns& points) { return compute_ball(points); }
Sphere compute_enclosing_ball(std::span<const Sphere> balls) { return compute_ball(balls); }

double distance_to_furthest(const PointColumns& points, const Vec3& from) {
  return find_furthest(points, from).distance;
}
double distance_to_furthest(std::span<const Sphere> balls, const Vec3& from) {
  return find_furthest(balls, from).distance;
}

}  // namespace isotact::detail
