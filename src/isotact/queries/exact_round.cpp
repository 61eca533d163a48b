// The deepest point of a sphere's, capsule's or torus's surface inside of another body, by branch
// and bound over patches of the surface. A patch of a ball or of a capsule's side is the projection
// of a flat triangle or rectangle from the middle onto the surface: no point of it is further from
// its flat part than the bulge. A patch of a torus is over a rectangle of two angles; it is near
// the two triangles of its corners. Distances
// from a triangle T of the other surface are convex, so that the games of exact_depth.cpp bound the
// depth over the flat part. The bulge is added: it shrinks with the square of the patch's size, as
// those bounds do.
//
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
#include <limits>
#include <numbers>
#include <optional>
#include <queue>
#include <utility>
#include <variant>
#include <vector>

#include "isotact/queries/detail/exact_depth.h"
#include "isotact/queries/detail/exact_depth_parts.h"

namespace isotact::detail {
namespace {

class RoundSearch {
 public:
  RoundSearch(const ExactSide& round, const ExactSide& other, const DepthSettings& settings)
      : other_(other.body), sides_(other.shape), radius_(round.body.radius) {
    const Pose other_from_round = inverse(other.world_from_body) * round.world_from_body;
    if (const auto* torus = std::get_if<TorusField>(&round.shape.solid()->primitive())) {
      ring_ = torus->radius;
      from_ = to_ = transform_point(other_from_round, torus->center);
      for (std::size_t k = 0; k < 3; ++k) {
        Vec3 axis{};
        axis[k] = 1;
        axis_[k] = rotate(other_from_round.rotation, axis);
      }
      set_tolerances(round, settings);
      return;
    }
    const auto ends = corners(*round.body.mesh, 0);
    from_ = transform_point(other_from_round, to_double(ends[0]));
    to_ = transform_point(other_from_round, to_double(ends[1]));
    const Vec3 along = to_ - from_;
    is_sphere_ = length_sq(along) == 0;
    axis_[1] = is_sphere_ ? Vec3{0, 1, 0} : normalized(along);
    const Vec3 some = std::abs(axis_[1].x) < 0.5 ? Vec3{1, 0, 0} : Vec3{0, 0, 1};
    axis_[0] = normalized(cross(axis_[1], some));
    axis_[2] = cross(axis_[0], axis_[1]);
    set_tolerances(round, settings);
  }

  Deepest run() {
    begin();
    while (!heap_.empty() && can_improve(heap_.front().bound)) {
      if (max_tests_ > 0 && best_.tests >= max_tests_) {
        best_.gave_up = true;
        best_.bound = heap_.front().bound;
        return best_;
      }
      std::pop_heap(heap_.begin(), heap_.end());
      const Patch patch = heap_.back();
      heap_.pop_back();
      split(patch);
    }
    best_.bound = enough();
    return best_;
  }

 private:
  void set_tolerances(const ExactSide& round, const DepthSettings& settings) {
    const double size = round.body.size + other_.size;
    slack_ = 0x1p-21 * (size + length(from_) + length(to_) +
                        length(center(to_double(other_.triangles.bounds()))));
    tolerance_ = std::max({1e-6 * size, 2 * slack_, settings.absolute_tolerance});
    relative_ = settings.relative_tolerance;
    max_tests_ = settings.max_tests;
    best_.depth = settings.at_least;
  }

  // A patch's bound is off by the square of its size, so that the number of patches along surfaces
  // that run alongside each other goes with 1 / tolerance. That they cost a tolerance each bounds
  // it: about a million for the first tolerance of 1e-6 of the size.
  static constexpr std::uint64_t kTestsPerTolerance = 25'000;
  struct Patch {
    double bound = std::numeric_limits<double>::infinity();
    // Of a ball's surface: three corners. Of the side: angles and heights.
    Vec3 corner[3]{};
    double angle[2]{}, height[2]{};
    bool is_side = false, at_end = false, is_inside = false;
    std::uint32_t near[kMostColumns]{};
    int near_count = 0;

    bool operator<(const Patch& other) const { return bound < other.bound; }
  };

  double enough() const {
    const auto times = static_cast<double>(1 + best_.tests / kTestsPerTolerance);
    return best_.depth + tolerance_ * times + relative_ * best_.depth;
  }
  bool can_improve(double bound) const { return bound > enough(); }
  Vec3 middle_of(const Patch& p) const { return p.at_end ? to_ : from_; }
  Vec3 on_ball(const Vec3& middle, const Vec3& x) const {
    return middle + normalized(x - middle) * radius_;
  }
  // Of a capsule: an angle, and a share of its length. Of a torus: angles along the ring and around
  // the tube.
  Vec3 on_side(double angle, double height) const {
    if (ring_ > 0) {
      const Vec3 out = axis_[0] * std::cos(angle) + axis_[2] * std::sin(angle);
      return from_ + out * (ring_ + radius_ * std::cos(height)) +
             axis_[1] * (radius_ * std::sin(height));
    }
    return from_ + (to_ - from_) * height +
           (axis_[0] * std::cos(angle) + axis_[2] * std::sin(angle)) * radius_;
  }

  void begin_torus() {
    constexpr int kAlong = 8, kAround = 4;
    for (int i = 0; i < kAlong; ++i)
      for (int k = 0; k < kAround; ++k) {
        Patch patch;
        patch.is_side = true;
        for (int end = 0; end < 2; ++end) {
          patch.angle[end] = 2 * std::numbers::pi * (i + end) / kAlong;
          patch.height[end] = 2 * std::numbers::pi * (k + end) / kAround;
        }
        push(patch);
      }
  }

  void begin() {
    if (ring_ > 0) return begin_torus();
    for (int i = 0; i < 8; ++i) {
      const double up = i < 4 ? 1 : -1;
      const bool at_end = !is_sphere_ && i < 4;
      const Vec3 middle = at_end ? to_ : from_;
      const double angle = std::numbers::pi / 2 * (i % 4);
      Patch patch;
      patch.at_end = at_end;
      const auto around = [&](double at) {
        return middle + (axis_[0] * std::cos(at) + axis_[2] * std::sin(at)) * radius_;
      };
      patch.corner[0] = middle + axis_[1] * (up * radius_);
      patch.corner[1] = around(angle);
      patch.corner[2] = around(angle + std::numbers::pi / 2);
      push(patch);
      if (is_sphere_ || i >= 4) continue;
      patch.is_side = true;
      patch.angle[0] = angle;
      patch.angle[1] = angle + std::numbers::pi / 2;
      patch.height[0] = 0;
      patch.height[1] = 1;
      push(patch);
    }
  }

  void split(const Patch& parent) {
    Patch part = parent;
    if (parent.is_side) {
      const double wide = (ring_ + radius_) * (parent.angle[1] - parent.angle[0]);
      const double high =
          (ring_ > 0 ? radius_ : length(to_ - from_)) * (parent.height[1] - parent.height[0]);
      const auto half = [&](double(Patch::*range)[2]) {
        const double middle = 0.5 * ((parent.*range)[0] + (parent.*range)[1]);
        (part.*range)[1] = middle;
        push(part);
        (part.*range)[0] = middle;
        (part.*range)[1] = (parent.*range)[1];
        push(part);
      };
      half(wide > high ? &Patch::angle : &Patch::height);
      return;
    }
    const Vec3 middle = middle_of(parent);
    Vec3 half[3];
    for (std::size_t k = 0; k < 3; ++k)
      half[k] = on_ball(middle, (parent.corner[(k + 1) % 3] + parent.corner[(k + 2) % 3]) * 0.5);
    for (std::size_t k = 0; k < 3; ++k) {
      part = parent;
      part.corner[(k + 1) % 3] = half[(k + 2) % 3];
      part.corner[(k + 2) % 3] = half[(k + 1) % 3];
      push(part);
    }
    part = parent;
    std::copy_n(half, 3, part.corner);
    push(part);
  }

  double distance_from(const Vec3& x, std::uint32_t triangle) const {
    return length(find_near_point(x, corners_of(other_, triangle)) - x);
  }

  // The nearest triangle. Its point is the best one if that is inside and deeper.
  double measure(const Vec3& x, std::uint32_t& triangle) const {
    constexpr float kFar = std::numeric_limits<float>::infinity();
    triangle = find_near_triangle(other_.triangles, to_float(x), kFar, -1);
    return distance_from(x, triangle);
  }

  // Linear interpolation on a triangle is off by at most M / 2 times the square of the radius of
  // its smallest enclosing circle (Waldron 1998), where M bounds the second derivative along all
  // unit directions. Let both angles be scaled so that the sides of the patch are 1: the square is
  // 1/2, and M is at most (R + r) a^2 + r a b + r b^2.
  double bulge_of_torus(double a, double b) const {
    return 0.25 * ((ring_ + radius_) * a * a + radius_ * a * b + radius_ * b * b);
  }

  // On the surface. The bound of the patch is set; it is kept if something deeper may be on it.
  void push(Patch patch) {
    ++best_.tests;
    Corners flat[2];
    int flats = 1;
    double bulge = 0;
    Vec3 x{};
    if (patch.is_side) {
      const double a = patch.angle[0], b = patch.angle[1], l = patch.height[0], h = patch.height[1];
      flat[0] = {on_side(a, l), on_side(b, l), on_side(b, h)};
      flat[1] = {on_side(a, l), on_side(b, h), on_side(a, h)};
      flats = 2;
      bulge = ring_ > 0 ? bulge_of_torus(b - a, h - l) : radius_ * (1 - std::cos(0.5 * (b - a)));
      x = on_side(0.5 * (a + b), 0.5 * (l + h));
    } else {
      for (std::size_t k = 0; k < 3; ++k) flat[0][k] = patch.corner[k];
      const Vec3 middle = middle_of(patch);
      bulge = std::max(0.0, radius_ - length(find_near_point(middle, flat[0]) - middle));
      x = on_ball(middle, flat[0][0] + (flat[0][1] - flat[0][0]) * (1.0 / 3) +
                              (flat[0][2] - flat[0][0]) * (1.0 / 3));
    }
    double reach = 0;
    for (int i = 0; i < flats; ++i)
      for (const Vec3& v : flat[i]) reach = std::max(reach, length(v - x));
    reach += bulge + slack_;
    std::uint32_t triangle = kNoTriangle;
    const double near = measure(x, triangle);
    const double free = std::max(0.0, near - slack_);
    if (!patch.is_inside && (near > reach || near > best_.depth)) {
      const bool inside = sides_.is_inside(x, free);
      if (!inside && near > reach) return;
      patch.is_inside = inside && near > reach;
      take(x, triangle, near, inside);
    } else {
      take(x, triangle, near, patch.is_inside);
    }
    patch.bound = std::min(patch.bound, near + reach);
    add_near(patch, triangle);
    double bound = 0;
    for (int i = 0; i < flats && can_improve(patch.bound); ++i)
      bound = std::max(bound, bound_flat(patch, flat[i]));
    patch.bound = std::min(patch.bound, bound + bulge + slack_);
    if (!can_improve(patch.bound)) return;
    heap_.push_back(patch);
    std::push_heap(heap_.begin(), heap_.end());
  }

  void take(const Vec3& x, std::uint32_t triangle, double near, bool inside) {
    if (!inside || near <= best_.depth) return;
    best_.depth = near;
    best_.point = x;
    best_.nearest = find_near_point(x, corners_of(other_, triangle));
  }

  // The last one first.
  static void add_near(Patch& patch, std::uint32_t triangle) {
    const auto end = patch.near + patch.near_count;
    if (std::find(patch.near, end, triangle) != end) return;
    if (patch.near_count < kMostColumns) ++patch.near_count;
    std::copy_backward(patch.near, patch.near + patch.near_count - 1,
                       patch.near + patch.near_count);
    patch.near[0] = triangle;
  }

  double bound_flat(Patch& patch, const Corners& flat) const {
    constexpr int kMostCuts = 4;
    double least = std::numeric_limits<double>::infinity();
    for (int cut = 0; cut < kMostCuts; ++cut) {
      Game game{};
      game.columns = patch.near_count;
      for (std::size_t k = 0; k < 3; ++k)
        for (int i = 0; i < game.columns; ++i)
          game.value[k][i] = distance_from(flat[k], patch.near[i]);
      const GameResult result = GameSolver(game).solve(0);
      least = std::min(least, result.bound);
      if (!can_improve(least)) break;
      const Vec3 x =
          flat[0] * result.weight[0] + flat[1] * result.weight[1] + flat[2] * result.weight[2];
      std::uint32_t triangle = kNoTriangle;
      measure(x, triangle);
      const auto end = patch.near + patch.near_count;
      if (std::find(patch.near, end, triangle) != end) break;
      add_near(patch, triangle);
    }
    return least;
  }

  const ExactBody& other_;
  SideScratch sides_;
  double radius_, ring_ = 0, slack_ = 0, tolerance_ = 0, relative_ = 0;
  std::uint64_t max_tests_ = 0;
  Vec3 from_{}, to_{}, axis_[3]{};
  bool is_sphere_ = false;
  Deepest best_{};
  std::vector<Patch> heap_{};
};

}  // namespace

Deepest find_deepest_round(const ExactSide& round, const ExactSide& other,
                           const DepthSettings& settings) {
  return RoundSearch(round, other, settings).run();
}

// ---- pairs of round solids ------------------------------------------------------------------

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
