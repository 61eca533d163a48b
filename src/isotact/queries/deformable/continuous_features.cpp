// Conservative advancement along the direction between nearest points (B. Mirtich, Impulse-based
// Dynamic Simulation of Rigid Body Systems, thesis, 1996), made a proof for straight paths.
//
// Points of the first feature less points of the second are weighted means of D_i, the differences
// of their vertices: three for a vertex and a face, four for two edges. Each D_i moves straight.
// Let n be any vector. Suppose n . D_i > separation * |n| for all i at time t and at time s. Then
// this also holds at all times between, since n . D_i is linear in time, and for all means of them.
// So the features are further apart than the separation all the while. The origin of n does not
// matter: a bad one proves less, never something wrong.
//
// Rounding. Let e = 2^-53, L_k the largest |D_i| along axis k at both ends as computed, and B = sum
// |n_k| L_k. A computed D_i is off by e L_k, its product with n_k and two sums by 3 e each: g = n .
// D_i is off by less than 4.1 e B. At a time between, g0 + t (g1 - g0) is off by the errors of both
// g, weighted (4.1 e B), and by its own three roundings: 2 e B, 2 e B and e B. That is less than 10
// e B; we take 16. Products that underflow are off by 2^-1075, and we have nine.
#include "isotact/queries/deformable/continuous_features.h"

#include <algorithm>
#include <cmath>

#include "isotact/queries/deformable/detail/feature_differences.h"
#include "isotact/queries/deformable/detail/nearest_features.h"

namespace isotact {
namespace {

using detail::DifferencesOf;
using detail::NearestFeatures;

constexpr double kRounding = 16 * 0x1p-53;
constexpr double kUnderflow = 0x1p-1060;
// Features within the tolerance may still pass each other, or separate: so many further steps are
// spent on a proof. The reported time is that of the first step that came near.
constexpr int kNearSteps = 8;

double largest_of(const Vec3& v) { return std::max({std::abs(v.x), std::abs(v.y), std::abs(v.z)}); }

// The differences between a vertex and a face, and a direction to try if their nearest points are
// too near to give one.
NearestFeatures find_nearest_of(const std::array<Vec3, 3>& d) {
  return detail::find_nearest_on_face(d[0], d[1], d[2]);
}
Vec3 normal_of(const std::array<Vec3, 3>& d) { return cross(d[1] - d[0], d[2] - d[0]); }

// Between edges: start less start, end less start, start less end, end less end.
NearestFeatures find_nearest_of(const std::array<Vec3, 4>& d) {
  return detail::find_nearest_on_edges(d[0], d[1] - d[0], d[0] - d[2]);
}
Vec3 normal_of(const std::array<Vec3, 4>& d) { return cross(d[1] - d[0], d[2] - d[0]); }

template <std::size_t N>
class Advance {
 public:
  Advance(const DifferencesOf<N>& differences, const MeetingSettings& settings)
      : d_(differences), settings_(settings) {
    for (std::size_t i = 0; i < N; ++i)
      for (std::size_t k = 0; k < 3; ++k)
        largest_[k] = std::max({largest_[k], std::abs(d_.at_t0[i][k]), std::abs(d_.at_t1[i][k])});
  }

  Meeting run() const {
    double t = 0;
    Meeting meeting{MeetingStatus::kApart, 1, 0};  // Their first near state.
    for (int step = 1, near_steps = 0; step <= settings_.max_steps; ++step) {
      const std::array<Vec3, N> now = d_.at(t);
      const NearestFeatures nearest = find_nearest_of(now);
      const double distance = std::sqrt(nearest.distance_sq);
      double until = apart_until(nearest.to_first, t);
      if (until >= 1) return {MeetingStatus::kApart, 1, step};
      const bool is_near = !(distance > settings_.separation + settings_.tolerance);
      if (is_near || !(until > t)) {
        // Nearest points may have no digits left for a direction. The features themselves have.
        const Vec3 normal = normal_of(now);
        until = std::max({until, apart_until(normal, t), apart_until(-normal, t)});
        if (until >= 1) return {MeetingStatus::kApart, 1, step};
        if (!std::isfinite(distance)) return {MeetingStatus::kGaveUp, t, step};
        if (meeting.status == MeetingStatus::kApart && (is_near || !(until > t)))
          meeting = {MeetingStatus::kMeet, t, step};
        if (!(until > t) || (is_near && ++near_steps > kNearSteps)) return meeting;
      }
      t = until;
    }
    if (meeting.status == MeetingStatus::kMeet) return meeting;
    return {MeetingStatus::kGaveUp, t, settings_.max_steps};
  }

 private:
  // Returns the latest time up to which n is known to separate the features from t on; t if it does
  // not.
  double apart_until(Vec3 n, double t) const {
    const double scale = largest_of(n);
    if (!(scale > 0) || !std::isfinite(scale)) return t;
    n = n / scale;  // Avoids relevant underflow.
    const double error = kRounding * (std::abs(n.x) * largest_.x + std::abs(n.y) * largest_.y +
                                      std::abs(n.z) * largest_.z) +
                         kUnderflow;
    // The length and its product are off by less than 5 roundings.
    const double least = settings_.separation * length(n) * (1 + 0x1p-50) + error;
    double until = 1;
    for (std::size_t i = 0; i < N; ++i) {
      const double begin = dot(n, d_.at_t0[i]), end = dot(n, d_.at_t1[i]);
      if (!(begin + t * (end - begin) > least)) return t;
      if (end > least) continue;
      // The difference decreases. A time a little before it is too small; the check is the proof.
      const double root = (begin - least - error) / (begin - end);
      if (!(begin + root * (end - begin) > least)) return t;
      until = std::min(until, root);
    }
    return std::max(until, t);
  }

  const DifferencesOf<N>& d_;
  const MeetingSettings& settings_;
  Vec3 largest_{};
};

bool are_usable(const MeetingSettings& settings) {
  return settings.separation >= 0 && settings.tolerance >= 0 && std::isfinite(settings.separation);
}

// A separation on an axis is exact: rounding does not change the order of two numbers.
template <std::size_t N>
Meeting find_meeting(const DifferencesOf<N>& differences, const MeetingSettings& settings) {
  if (!are_usable(settings)) return {MeetingStatus::kGaveUp, 0, 0};
  if (are_apart_on_an_axis(differences, settings.separation)) return {};
  if (!differences.is_finite()) return {MeetingStatus::kGaveUp, 0, 0};
  return Advance<N>(differences, settings).run();
}

}  // namespace

Meeting find_meeting_vertex_face(const FeatureMotion& motion, const MeetingSettings& settings) {
  return find_meeting(detail::differences_vertex_face(motion), settings);
}

Meeting find_meeting_edge_edge(const FeatureMotion& motion, const MeetingSettings& settings) {
  return find_meeting(detail::differences_edge_edge(motion), settings);
}

}  // namespace isotact
