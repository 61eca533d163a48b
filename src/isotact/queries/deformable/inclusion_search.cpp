// Wang et al. 2021, section 5. The difference of two points on the features is linear in time and
// in each of their two coordinates, u and v, one at a time. Over a box of (t, u, v) it is
// therefore, on each axis, between the least and the largest of its values at the box's eight
// corners.
//
// Rounding. Boxes are halved, so that their sides are exact: at most 50 times per axis. Let M be
// the largest difference of vertices on the axis, and e = 2^-53. These differences are off by e M,
// and their positions at a time by 5 e M more. Then follows base + u first + v second, with sides
// up to 2 M long (off by 2 * 6 e M + 2 e M each, and 2 e M for the product), and two sums of up to
// 5 M. The total is below 6 + 2 * 16 + 8 = 46 e M; we take 64.
#include <algorithm>
#include <cmath>
#include <vector>

#include "isotact/queries/deformable/continuous_features.h"
#include "isotact/queries/deformable/detail/feature_differences.h"

namespace isotact {
namespace {

using detail::DifferencesOf;

constexpr double kInclusionRounding = 64 * 0x1p-53;
constexpr int kMostHalvings = 50;

// base + u * first + v * second at both ends.
struct PlaceMap {
  Vec3 base, first, second;
};

PlaceMap map_at(const DifferencesOf<3>& d, double t) {
  const std::array<Vec3, 3> now = d.at(t);
  return {now[0], now[1] - now[0], now[2] - now[0]};
}
PlaceMap map_at(const DifferencesOf<4>& d, double t) {
  const std::array<Vec3, 4> now = d.at(t);
  return {now[0], now[1] - now[0], now[2] - now[0]};
}

// A box of time, u, v: from `lower`, 2^-halvings wide.
struct SearchBox {
  std::array<double, 3> lower{};
  std::array<int, 3> halvings{};

  double upper(std::size_t axis) const { return lower[axis] + std::ldexp(1.0, -halvings[axis]); }
  // The heap's top is the earliest, and the smallest of those, so that one is completed.
  friend bool operator<(const SearchBox& a, const SearchBox& b) {
    if (a.lower[0] != b.lower[0]) return a.lower[0] > b.lower[0];
    return a.halvings[0] + a.halvings[1] + a.halvings[2] <
           b.halvings[0] + b.halvings[1] + b.halvings[2];
  }
};

// The differences at the corners of a box: bit 0 of the index is time, then u, then v.
struct Inclusion {
  std::array<Vec3, 8> corners{};

  template <std::size_t N>
  Inclusion(const DifferencesOf<N>& d, const SearchBox& box) {
    for (std::size_t i = 0; i < 2; ++i) {
      const PlaceMap map = map_at(d, i == 0 ? box.lower[0] : box.upper(0));
      for (std::size_t j = 0; j < 4; ++j) {
        const double u = j % 2 == 0 ? box.lower[1] : box.upper(1);
        const double v = j / 2 == 0 ? box.lower[2] : box.upper(2);
        corners[i + 2 * j] = map.base + map.first * u + map.second * v;
      }
    }
  }
  // Never excludes a box with a NaN.
  bool may_hold(double separation, const Vec3& error) const {
    for (std::size_t k = 0; k < 3; ++k) {
      bool above = true, below = true;
      for (const Vec3& c : corners) {
        above = above && c[k] > separation + error[k];
        below = below && c[k] < -separation - error[k];
      }
      if (above || below) return false;
    }
    return true;
  }
  // Returns a bound of the change of the difference while one of t, u, v goes from end to end.
  double width(std::size_t axis) const {
    double most = 0;
    for (std::size_t i = 0; i < 8; ++i)
      if ((i >> axis & 1U) == 0) {
        const Vec3 d = corners[i | std::size_t{1} << axis] - corners[i];
        most = std::max({most, std::abs(d.x), std::abs(d.y), std::abs(d.z)});
      }
    return most;
  }
};

template <std::size_t N>
Meeting search_boxes(const DifferencesOf<N>& d, const MeetingSettings& settings, bool is_face) {
  if (!(settings.separation >= 0 && settings.tolerance >= 0)) return {MeetingStatus::kGaveUp, 0, 0};
  if (are_apart_on_an_axis(d, settings.separation)) return {};
  if (!d.is_finite()) return {MeetingStatus::kGaveUp, 0, 0};
  Vec3 error{};
  for (std::size_t i = 0; i < N; ++i)
    for (std::size_t k = 0; k < 3; ++k)
      error[k] = std::max({error[k], kInclusionRounding * std::abs(d.at_t0[i][k]),
                           kInclusionRounding * std::abs(d.at_t1[i][k]), 0x1p-1060});
  std::vector<SearchBox> heap{SearchBox{}};
  for (int step = 1; !heap.empty(); ++step) {
    std::pop_heap(heap.begin(), heap.end());
    SearchBox box = heap.back();
    heap.pop_back();
    const Inclusion inclusion(d, box);
    if (!inclusion.may_hold(settings.separation, error)) continue;
    if (step > settings.max_steps) return {MeetingStatus::kGaveUp, box.lower[0], step - 1};
    std::array<double, 3> width{};
    for (std::size_t axis = 0; axis < 3; ++axis) width[axis] = inclusion.width(axis);
    const auto widest =
        static_cast<std::size_t>(std::max_element(width.begin(), width.end()) - width.begin());
    const bool is_small = width[0] + width[1] + width[2] <= settings.tolerance;
    if (is_small || box.halvings[widest] >= kMostHalvings)
      return {MeetingStatus::kMeet, box.lower[0], step};
    ++box.halvings[widest];
    heap.push_back(box);
    std::push_heap(heap.begin(), heap.end());
    box.lower[widest] = box.upper(widest);
    if (is_face && box.lower[1] + box.lower[2] > 1) continue;  // Outside the triangle.
    heap.push_back(box);
    std::push_heap(heap.begin(), heap.end());
  }
  return {};
}

}  // namespace

Meeting find_meeting_vertex_face_by_inclusion(const FeatureMotion& motion,
                                              const MeetingSettings& settings) {
  return search_boxes(detail::differences_vertex_face(motion), settings, true);
}

Meeting find_meeting_edge_edge_by_inclusion(const FeatureMotion& motion,
                                            const MeetingSettings& settings) {
  return search_boxes(detail::differences_edge_edge(motion), settings, false);
}

}  // namespace isotact
