// A few contacts that support a body as well as all of them do (SSL14, section 3.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "isotact/base/vec.h"
#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {

inline constexpr std::uint32_t kManifoldSize = 4;

struct SpreadChoice {
  std::size_t count = 0;
  std::size_t index[kManifoldSize]{};  // Deepest first, distinct.
};

struct SpreadSettings {
  // Distance that defines the furthest candidate: in the plane of the contact, or in space.
  bool in_plane = true;
  // A side counts if the area that it adds is more than this fraction of the square of the furthest
  // distance. Slivers do not support a body.
  double sliver = 1e-3;
  // True: the side that adds more area is taken first. False: the left side.
  bool larger_side_first = true;
  // Candidates of the step before. They are preferred to others that are nearly as far (within a
  // fifth), so that contacts persist while a body rests. A body that rocks a little brings other
  // candidates near enough in turn; a contact that it stands on must not be replaced by one.
  std::span<const std::size_t> last{};
};

// Candidates of choose_spread are equally deep if nothing is known of their depths.
struct UnknownDepth {
  double operator()(std::size_t) const { return 0; }
};

// Returns the candidate `deepest`, the one furthest from it, and the ones furthest to both sides of
// the line through the two, seen along `normal`. It returns at most `most`, up to kManifoldSize.
// Candidates are numbers below `count`; place(i) returns the position of one, as a Vector3<T>.
// Among candidates that are as far within a thousandth, the deepest is taken. On a box that stands
// on the ground, that is the corner and not a point of the edge above it. Computes in T. Cost: two
// passes over the candidates, which call only place(i), and two more if depths are known.
template <typename T, typename Place, typename Depth = UnknownDepth>
SpreadChoice choose_spread(std::size_t count, std::size_t deepest, const Vector3<T>& normal,
                           std::size_t most, const Place& place,
                           const SpreadSettings& settings = {}, const Depth& depth = {}) {
  constexpr T kNearly = T(0.8), kAlmostEqual = T(0.999);
  constexpr bool kKnowsDepths = !std::is_same_v<Depth, UnknownDepth>;
  SpreadChoice choice;
  if (count == 0 || most == 0) return choice;
  const auto add = [&choice](std::size_t i) {
    for (std::size_t k = 0; k < choice.count; ++k)
      if (choice.index[k] == i) return;
    choice.index[choice.count++] = i;
  };
  add(deepest);
  if (most == 1 || count == 1) return choice;

  const Vector3<T> origin = place(deepest);
  const auto distance_sq = [&](std::size_t i) {
    const Vector3<T> d = place(i) - origin;
    const T along = settings.in_plane ? dot(d, normal) : T(0);
    return length_sq(d) - along * along;
  };
  std::size_t far = deepest;
  T far_sq = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (const T d = distance_sq(i); d > far_sq) far_sq = d, far = i;
  if constexpr (kKnowsDepths)
    for (std::size_t i = 0; i < count; ++i)
      if (distance_sq(i) >= kAlmostEqual * kAlmostEqual * far_sq && depth(i) > depth(far)) far = i;
  for (const std::size_t i : settings.last)
    if (distance_sq(i) >= kNearly * kNearly * far_sq) {
      far = i;
      break;
    }
  if (!(far_sq > 0)) return choice;
  add(far);
  if (most == 2) return choice;

  const Vector3<T> across = cross(normal, place(far) - origin);
  std::size_t left = deepest, right = deepest;
  T most_left = 0, most_right = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const T side = dot(across, place(i) - origin);
    if (side > most_left) most_left = side, left = i;
    if (-side > most_right) most_right = -side, right = i;
  }
  if constexpr (kKnowsDepths)
    for (std::size_t i = 0; i < count; ++i) {
      const T side = dot(across, place(i) - origin);
      if (side > 0 && side >= kAlmostEqual * most_left && depth(i) > depth(left)) left = i;
      if (side < 0 && -side >= kAlmostEqual * most_right && depth(i) > depth(right)) right = i;
    }
  for (const std::size_t i : settings.last) {
    const T side = dot(across, place(i) - origin);
    if (side > 0 && side >= kNearly * most_left && i != far) left = i;
    if (side < 0 && -side >= kNearly * most_right && i != far) right = i;
  }
  const T least = static_cast<T>(settings.sliver) * far_sq;
  const bool left_first = !settings.larger_side_first || most_left >= most_right;
  for (const bool is_left : {left_first, !left_first})
    if ((is_left ? most_left : most_right) > least && choice.count < most)
      add(is_left ? left : right);
  return choice;
}

}  // namespace isotact
