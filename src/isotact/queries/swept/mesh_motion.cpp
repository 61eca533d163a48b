// The searches for the first contact and for the closest approach (detail/motion_search.h).
#include "isotact/queries/swept/mesh_motion.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "isotact/base/error.h"
#include "isotact/queries/swept/detail/motion_search.h"

namespace isotact::detail::mesh_motion {
namespace {

// ---- first contact ------------------------------------------------------------------------------

class FirstContactSearch : public MotionSearch {
 public:
  FirstContactSearch(const Ground& a, const Bvh& b, const ShellMotion& motion,
                     const MeshMotionSettings& settings)
      : MotionSearch(a, b, motion, settings.max_tests), s_(settings) {}

  MeshContactResult run() {
    if (a_.is_empty() || b_.nodes().empty()) return result_;
    if (!touches_at_start()) search({});
    result_.tests = tests_;
    if (gave_up_) {
      result_.status = MeshMotionStatus::kGaveUp;
      result_.time = reached_;
    }
    return result_;
  }

 private:
  double cut() const override { return s_.margin; }
  bool can_halve(const Span& span) const override { return span.halvings < kMostHalvings; }
  bool skips_free_times() const override { return true; }

  bool visit(const Span& span, std::size_t begin) override {
    reached_ = span.from;
    if (span.duration() > s_.time_tolerance && can_halve(span)) return false;
    // Parts that are not triangles wait for shorter intervals.
    const Pair* nearest = nullptr;
    double least = kInfinity;
    for (std::size_t i = begin; i < pairs_.size(); ++i) {
      if (!pairs_[i].b.is_triangle) continue;
      ++tests_;
      const double distance = find_nearest(pairs_[i], span.last).distance;
      if (distance < least) {
        least = distance;
        nearest = &pairs_[i];
      }
    }
    if (nearest == nullptr || (least > s_.margin && can_halve(span))) return false;
    set_contact(*nearest, span);
    return true;
  }

  void set_contact(const Pair& pair, const Span& span) {
    result_.status = MeshMotionStatus::kContact;
    result_.time = span.from;
    result_.latest_time = span.to;
    set_places(pair, find_nearest(pair, span.first), span.first);
  }

  void set_places(const Pair& pair, const TriangleDistance& near, const AffineMap& map) {
    result_.triangle_a = number_in_a(pair);
    result_.triangle_b = number_of(b_, pair.b.index);
    result_.point_on_a = near.point_on_a;
    result_.point_on_b = near.point_on_b;
    const Vec3 apart = near.point_on_a - near.point_on_b;
    Vec3 n = normal_of(move(map, corners_of(b_, pair.b.index)));
    if (a_.plane != nullptr)
      n = -a_.plane->normal;
    else if (near.distance > rounding_ && length_sq(apart) > 0)
      n = normalized(apart);
    else if (const Vec3 of_a = normal_of(corners_of(*a_.mesh, pair.a.index)); length_sq(of_a) > 0)
      n = -of_a;  // triangles that share points have no direction of their own
    result_.normal = length_sq(n) > 0 ? n : Vec3{0, 1, 0};
  }

  // Poses at the ends are rotations in all models.
  bool touches_at_start() {
    const AffineMap map = curve_.at(0);
    TriangleDistance near{kInfinity, {}, {}};
    Pair pair{{kRoot, false}, {0, true}, 0};
    if (a_.plane != nullptr) {
      for (std::uint32_t i = 0; i < 4 * b_.blocks().size(); ++i) {
        if (number_of(b_, i) == kNoTriangle) continue;
        const TriangleDistance d = find_lowest(move(map, corners_of(b_, i)));
        if (!(d.distance < near.distance)) continue;
        near = d;
        pair.b.index = i;
      }
    } else {
      const MeshDistance d = compute_mesh_distance(
          *a_.mesh, b_, {to_quat(map.linear), map.offset},
          {.max_distance = s_.margin + 2 * rounding_, .near_enough = s_.margin});
      tests_ += d.tests;
      near = {d.distance, d.point_on_a, d.point_on_b};
      if (near.distance <= s_.margin)
        pair = {{find_lane(*a_.mesh, d.triangle_a), true}, {find_lane(b_, d.triangle_b), true}, 0};
    }
    if (!(near.distance <= s_.margin)) return false;
    result_.status = MeshMotionStatus::kContact;
    result_.time = result_.latest_time = 0;
    set_places(pair, near, map);
    return true;
  }

  static std::uint32_t find_lane(const Bvh& bvh, std::uint32_t triangle) {
    std::uint32_t i = 0;
    while (number_of(bvh, i) != triangle) ++i;
    return i;
  }

  const MeshMotionSettings s_;
  MeshContactResult result_{};
  double reached_ = 0;
};

// ---- closest approach ---------------------------------------------------------------------------

class ApproachSearch : public MotionSearch {
 public:
  ApproachSearch(const Ground& a, const Bvh& b, const ShellMotion& motion,
                 const MeshApproachSettings& settings)
      : MotionSearch(a, b, motion, settings.max_tests),
        tolerance_(settings.tolerance > 0
                       ? settings.tolerance
                       : 0x1p-20 * ((a.mesh != nullptr ? size_of(*a.mesh) : 0) + size_of(b)) +
                             0x1p-30 *
                                 (length(curve_.at(0).offset) + length(curve_.at(1).offset))) {}

  MeshApproachResult run() {
    if (a_.is_empty() || b_.nodes().empty()) {
      result_.lower_bound = kInfinity;
      return result_;
    }
    if (a_.plane == nullptr) find_near_time();
    const Vec3 apart = result_.point_on_b - result_.point_on_a;
    if (result_.distance > 0) search(length_sq(apart) > 0 ? normalized(apart) : Vec3{});
    result_.tests = tests_;
    result_.gave_up = gave_up_;
    result_.lower_bound = std::max(0.0, std::min(lowest_, result_.distance - rounding_));
    return result_;
  }

 private:
  double cut() const override { return result_.distance - tolerance_; }
  bool can_halve(const Span& span) const override { return span.halvings < kMostHalvings; }
  void leave(double gap) override { lowest_ = std::min(lowest_, gap); }

  // A good distance to begin with: the best of equal times, then halving steps about it.
  void find_near_time() {
    constexpr int kFirstTimes = 8, kSteps = 10;
    for (int i = 0; i <= kFirstTimes && result_.distance > 0; ++i)
      try_time(static_cast<double>(i) / kFirstTimes);
    double step = 0.5 / kFirstTimes;
    for (int i = 0; i < kSteps && result_.distance > 0; ++i, step /= 2) {
      const double middle = result_.time;
      try_time(std::max(middle - step, 0.0));
      try_time(std::min(middle + step, 1.0));
    }
  }

  // The model's map is a rotation only at its ends, but for rigid models.
  void try_time(double time) {
    const AffineMap map = curve_.at(time);
    if (bound_shear(map.linear) > 1e-9) return;
    const MeshDistance d = compute_mesh_distance(*a_.mesh, b_, {to_quat(map.linear), map.offset},
                                                 {.max_distance = result_.distance});
    tests_ += d.tests;
    if (!(d.distance < result_.distance)) return;
    result_.distance = d.distance;
    result_.time = time;
    result_.triangle_a = d.triangle_a;
    result_.triangle_b = d.triangle_b;
    result_.point_on_a = d.point_on_a;
    result_.point_on_b = d.point_on_b;
  }

  static double bound_shear(const Mat3& linear) {
    const Mat3 product = transpose(linear) * linear + identity3() * -1.0;
    double most = 0;
    for (const Vec3& row : product.rows) most = std::max(most, length(row));
    return most;
  }

  bool visit(const Span& span, std::size_t begin) override {
    // Of many pairs the most promising one is measured, of few all. The end of one interval is the
    // beginning of the next.
    constexpr std::size_t kFew = 16;
    const Pair* best = find_least(begin);
    if (best == nullptr) return false;
    const bool are_few = pairs_.size() - begin <= kFew;
    for (std::size_t i = begin; i < pairs_.size(); ++i) {
      const Pair& pair = pairs_[i];
      if ((!are_few && &pair != best) || !pair.b.is_triangle || pair.gap > cut()) continue;
      if (span.from == 0) take(pair, span.first, 0);
      take(pair, span.last, span.to);
      if (result_.distance == 0) return true;
    }
    if (!can_halve(span))
      for (std::size_t i = begin; i < pairs_.size(); ++i) leave(pairs_[i].gap);
    return false;
  }

  void take(const Pair& pair, const AffineMap& map, double time) {
    ++tests_;
    const TriangleDistance near = find_nearest(pair, map);
    if (!(near.distance < result_.distance)) return;
    result_.distance = near.distance;
    result_.time = time;
    result_.triangle_a = number_in_a(pair);
    result_.triangle_b = number_of(b_, pair.b.index);
    result_.point_on_a = near.point_on_a;
    result_.point_on_b = near.point_on_b;
  }

  const double tolerance_;
  MeshApproachResult result_{};
  double lowest_ = kInfinity;
};

}  // namespace
}  // namespace isotact::detail::mesh_motion

namespace isotact {
namespace {

void check(const ShellMotion& motion) {
  if (const auto flaw = find_flaw(motion)) throw Error(*flaw);
}

void check(const MeshMotionSettings& settings) {
  if (!(settings.margin >= 0) || !std::isfinite(settings.margin))
    throw Error("the margin of an exact query must not be negative");
  if (!(settings.time_tolerance > 0)) throw Error("the tolerance of times must be positive");
}

void check(const MeshApproachSettings& settings) {
  if (!(settings.tolerance >= 0)) throw Error("the tolerance of a distance must not be negative");
}

}  // namespace

MeshContactResult find_first_contact(const Bvh& a, const Bvh& b, const ShellMotion& motion,
                                     const MeshMotionSettings& settings) {
  check(motion);
  check(settings);
  return detail::mesh_motion::FirstContactSearch({.mesh = &a}, b, motion, settings).run();
}

MeshContactResult find_first_contact(const PlaneField& a, const Bvh& b, const ShellMotion& motion,
                                     const MeshMotionSettings& settings) {
  check(motion);
  check(settings);
  return detail::mesh_motion::FirstContactSearch({.plane = &a}, b, motion, settings).run();
}

MeshApproachResult find_closest_approach(const Bvh& a, const Bvh& b, const ShellMotion& motion,
                                         const MeshApproachSettings& settings) {
  check(motion);
  check(settings);
  return detail::mesh_motion::ApproachSearch({.mesh = &a}, b, motion, settings).run();
}

MeshApproachResult find_closest_approach(const PlaneField& a, const Bvh& b,
                                         const ShellMotion& motion,
                                         const MeshApproachSettings& settings) {
  check(motion);
  check(settings);
  return detail::mesh_motion::ApproachSearch({.plane = &a}, b, motion, settings).run();
}

}  // namespace isotact
