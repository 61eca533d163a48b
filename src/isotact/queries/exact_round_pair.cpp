// The depth of two round solids: spheres, capsules and tori. Each is a core, a point, a segment or
// a circle, grown by a radius that is less than the circle's. Let s(c) be the distance of a point c
// from A's core. Inside of B, a point x is r_B - |x, core of B| deep. From c, A's surface is |s(c)
// - r_A| away. So the deepest point of A's surface in B is
//   r_B - m deep, where m = min over c on B's core of |s(c) - r_A|,
// and since s takes all values between its least value d and its largest value h on the core,
//   m = max(0, d - r_A, r_A - h).
// d is the distance of both cores. h is found by branch and bound over pieces of B's core.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <queue>
#include <utility>
#include <variant>

#include "isotact/queries/detail/exact_depth.h"

namespace isotact::detail {
namespace {

Vec3 any_across(const Vec3& along) {
  const Vec3 some = std::abs(along.x) < 0.5 * length(along) ? Vec3{1, 0, 0} : Vec3{0, 0, 1};
  return normalized(cross(along, some));
}

// A point if its length is 0.
class Core {
 public:
  Core(const ExactSide& side, const Pose& frame_from_body) {
    if (const auto* torus = std::get_if<TorusField>(&side.shape.solid()->primitive())) {
      ring_ = torus->radius;
      from_ = transform_point(frame_from_body, torus->center);
      axis_ = rotate(frame_from_body.rotation, {0, 1, 0});
      across_[0] = rotate(frame_from_body.rotation, {1, 0, 0});
      across_[1] = rotate(frame_from_body.rotation, {0, 0, 1});
      length_ = 2 * std::numbers::pi * ring_;
      return;
    }
    const auto ends = corners(*side.body.mesh, 0);
    from_ = transform_point(frame_from_body, to_double(ends[0]));
    to_ = transform_point(frame_from_body, to_double(ends[1]));
    length_ = length(to_ - from_);
  }

  double size() const { return length_; }
  bool is_ring() const { return ring_ > 0; }

  // At a share of the core from 0 to 1.
  Vec3 point(double share) const {
    if (!is_ring()) return from_ + (to_ - from_) * share;
    const double angle = 2 * std::numbers::pi * share;
    return from_ + (across_[0] * std::cos(angle) + across_[1] * std::sin(angle)) * ring_;
  }
  Vec3 tangent(double share) const {
    if (!is_ring()) return to_ - from_;
    const double angle = 2 * std::numbers::pi * share;
    return across_[1] * std::cos(angle) - across_[0] * std::sin(angle);
  }
  // Of the point that is nearest to x.
  double nearest_share(const Vec3& x) const {
    const Vec3 off = x - from_;
    if (is_ring()) {
      const double angle = std::atan2(dot(off, across_[1]), dot(off, across_[0]));
      return angle / (2 * std::numbers::pi) + (angle < 0 ? 1 : 0);
    }
    const Vec3 along = to_ - from_;
    const double size_sq = length_sq(along);
    return size_sq > 0 ? std::clamp(dot(off, along) / size_sq, 0.0, 1.0) : 0;
  }
  double distance(const Vec3& x) const {
    if (!is_ring()) return length(x - point(nearest_share(x)));
    const Vec3 off = x - from_;
    const double up = dot(off, axis_);
    return std::hypot(length(off - axis_ * up) - ring_, up);
  }

  // How far a piece of the core goes from its chord.
  double sagitta(double share) const {
    return is_ring() ? ring_ * (1 - std::cos(std::numbers::pi * std::min(share, 1.0))) : 0;
  }

  // No point of the chord from p to q is further from the core. The distance from a point or a
  // segment is convex. Let e be the distance from a ring's axis, which is convex, too: then
  // |x|^2 + R^2 - 2 R e is the square of the distance from the ring, and is at most the same with
  // the tangent of e at the middle, which is convex.
  double bound_on_chord(const Vec3& p, const Vec3& q) const {
    if (!is_ring()) return std::max(distance(p), distance(q));
    const Vec3 middle = (p + q) * 0.5 - from_;
    const Vec3 out = middle - axis_ * dot(middle, axis_);
    const double e = length(out);
    double most_sq = 0;
    for (const Vec3& x : {p - from_, q - from_}) {
      const double tangent = e > 0 ? dot(out, x) / e : 0;
      most_sq = std::max(most_sq, length_sq(x) + ring_ * ring_ - 2 * ring_ * tangent);
    }
    return std::sqrt(most_sq);
  }

 private:
  Vec3 from_{}, to_{}, axis_{}, across_[2]{};
  double ring_ = 0, length_ = 0;
};

struct Furthest {
  double distance = 0, bound = 0, share = 0;
};

// The point of a core that is furthest from the other one.
Furthest find_furthest(const Core& core, const Core& from, double tolerance) {
  Furthest best{.distance = -1};
  struct Piece {
    double bound, begin, end;
    bool operator<(const Piece& other) const { return bound < other.bound; }
  };
  std::priority_queue<Piece> pieces;
  const auto push = [&](double begin, double end) {
    for (const double share : {begin, 0.5 * (begin + end)})
      if (const double d = from.distance(core.point(share)); d > best.distance)
        best = {d, d, share};
    const double bound =
        from.bound_on_chord(core.point(begin), core.point(end)) + core.sagitta(end - begin);
    if (bound > best.distance + tolerance) pieces.push({bound, begin, end});
  };
  constexpr int kFirst = 8;
  if (core.size() == 0) {
    best.distance = best.bound = from.distance(core.point(0));
    return best;
  }
  for (int i = 0; i < kFirst; ++i)
    push(i / static_cast<double>(kFirst), (i + 1) / static_cast<double>(kFirst));
  if (const double d = from.distance(core.point(1)); d > best.distance) best = {d, d, 1};
  while (!pieces.empty() && pieces.top().bound > best.distance + tolerance) {
    const Piece piece = pieces.top();
    pieces.pop();
    const double middle = 0.5 * (piece.begin + piece.end);
    push(piece.begin, middle);
    push(middle, piece.end);
  }
  best.bound = best.distance + tolerance;
  return best;
}

// The share between two others at which the distance from the other core is r. It is at most r at
// `low`, and at least r at `high`.
double find_crossing(const Core& core, const Core& from, double r, double low, double high) {
  constexpr int kSteps = 60;
  for (int i = 0; i < kSteps; ++i) {
    const double middle = 0.5 * (low + high);
    (from.distance(core.point(middle)) <= r ? low : high) = middle;
  }
  return low;
}

// The deepest point of the surface around `of` inside of the body around `in`. `nearest`: share of
// the point of in's core that is nearest to of's; both cores are between d and d_bound apart.
Deepest find_deepest_on(const Core& of, double of_radius, const Core& in, double in_radius,
                        double nearest, const MeshDistance& cores, double tolerance) {
  const Furthest far = find_furthest(in, of, tolerance);
  const double m = std::max({0.0, cores.distance - of_radius, of_radius - far.distance});
  Deepest result;
  result.depth = std::max(0.0, in_radius - m);
  result.bound = in_radius - std::max({0.0, cores.lower_bound - of_radius, of_radius - far.bound});
  // c is the point of in's core where the least is reached.
  const double share = cores.distance >= of_radius ? nearest
                       : far.distance <= of_radius
                           ? far.share
                           : find_crossing(in, of, of_radius, nearest, far.share);
  const Vec3 c = in.point(share), on_of = of.point(of.nearest_share(c));
  const Vec3 apart = c - on_of, along = in.tangent(share);
  const Vec3 away = length(apart) > tolerance ? normalized(apart)
                    : length_sq(of.tangent(of.nearest_share(c))) > 0
                        ? any_across(of.tangent(of.nearest_share(c)))
                        : Vec3{0, 1, 0};
  result.point = on_of + away * of_radius;
  // The nearest point of the other surface. On the core itself all directions across serve.
  const Vec3 from_core = result.point - c;
  const Vec3 out = length(from_core) > tolerance ? normalized(from_core)
                   : length_sq(along) > 0        ? any_across(along)
                                                 : away;
  result.nearest = c + out * in_radius;
  return result;
}

}  // namespace

RoundPairDepth compute_depth_of_round_pair(const ExactSide& a, const ExactSide& b,
                                           const MeshDistance& cores) {
  const Core of_a(a, {}), of_b(b, inverse(a.world_from_body) * b.world_from_body);
  const double tolerance = 1e-7 * (a.body.size + b.body.size);
  const Deepest on_a = find_deepest_on(of_a, a.body.radius, of_b, b.body.radius,
                                       of_b.nearest_share(cores.point_on_b), cores, tolerance);
  const Deepest on_b = find_deepest_on(of_b, b.body.radius, of_a, a.body.radius,
                                       of_a.nearest_share(cores.point_on_a), cores, tolerance);
  RoundPairDepth result;
  result.is_on_a = on_a.depth >= on_b.depth;
  result.deepest = result.is_on_a ? on_a : on_b;
  result.deepest.bound = std::max({0.0, on_a.bound, on_b.bound});
  for (Vec3* p : {&result.deepest.point, &result.deepest.nearest})
    *p = transform_point(a.world_from_body, *p);
  return result;
}

}  // namespace isotact::detail
