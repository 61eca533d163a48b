// A place where two bodies touch or nearly do, before it becomes one of Bullet's contacts. And the
// choice of a few among many. Private to the plug-in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "isotact/base/vec.h"

namespace isotact::bullet_detail {

// Who found a contact: the upper bits of a key. The lower ones are a point or an edge.
enum class Finder : std::uint64_t { kPointsOf0 = 1, kPointsOf1 = 2, kEdges = 3 };
constexpr std::uint64_t make_key(Finder finder, std::uint64_t id) {
  return (static_cast<std::uint64_t>(finder) << 60U) | id;
}

// Which manifold it belongs to, where shapes are cut into segments.
constexpr std::uint32_t kSlotOf0 = 0, kSlotOf1 = 0x40000000U, kSlotOfEdges = 0x80000000U;

// In the world's frame, metres.
struct Candidate {
  std::uint64_t key = 0;  // the same from step to step
  std::uint32_t slot = 0;
  Vec3 on_0{}, on_1{};  // on the surfaces of Bullet's bodies 0 and 1
  Vec3 normal{};        // unit, from body 1 to body 0
  double distance = 0;  // negative where they overlap
  int part_0 = -1, index_0 = -1, part_1 = -1, index_1 = -1;
};

inline constexpr std::size_t kMostChosen = 4;
struct Choice {
  std::size_t count = 0;
  std::size_t index[kMostChosen]{};
};

// SSL14 3.2: the deepest, then those that enlarge the area: the furthest from it, and the furthest
// to both sides of the line through the two, seen along `normal`. Candidates are numbers below
// `count`; place(i) and depth(i) (negative for gaps) tell about them. Those in `last` (of the step
// before, where they still are) are taken before others that are nearly as good, so that contacts
// stay while a body rests: nearly as deep is within `slack`, nearly as far is within a tenth.
// Cost: two passes; place(i) is the only thing asked for in them.
template <typename Place>
Choice choose_spread(std::size_t count, std::size_t deepest, std::span<const std::size_t> last,
                     const Vec3& normal, std::size_t most, const Place& place) {
  constexpr double kNearly = 0.9;
  Choice choice;
  if (count == 0 || most == 0) return choice;
  const auto add = [&choice](std::size_t i) {
    for (std::size_t k = 0; k < choice.count; ++k)
      if (choice.index[k] == i) return;
    choice.index[choice.count++] = i;
  };
  add(deepest);
  if (most == 1 || count == 1) return choice;
  const Vec3 a = place(deepest);

  std::size_t far = deepest;
  double far_sq = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (const double d = length_sq(place(i) - a); d > far_sq) far_sq = d, far = i;
  for (const std::size_t i : last)
    if (length_sq(place(i) - a) >= kNearly * kNearly * far_sq) {
      far = i;
      break;
    }
  if (!(far_sq > 0)) return choice;
  add(far);
  if (most == 2) return choice;

  const Vec3 side = cross(normal, place(far) - a);
  std::size_t left = deepest, right = deepest;
  double most_left = 0, most_right = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double s = dot(side, place(i) - a);
    if (s > most_left) most_left = s, left = i;
    if (s < most_right) most_right = s, right = i;
  }
  for (const std::size_t i : last) {
    const double s = dot(side, place(i) - a);
    if (s > 0 && s >= kNearly * most_left && i != far) left = i;
    if (s < 0 && s <= kNearly * most_right && i != far) right = i;
  }
  // Slivers do not hold a body.
  const double least = 0.001 * far_sq;
  const bool left_first = most_left >= -most_right;
  for (const bool is_left : {left_first, !left_first}) {
    if ((is_left ? most_left : -most_right) <= least || choice.count == most) continue;
    add(is_left ? left : right);
  }
  return choice;
}

// choose_spread of candidates: `last_keys` are those of the step before.
Choice choose_contacts(std::span<const Candidate> all, std::span<const std::uint64_t> last_keys,
                       double slack, std::size_t most);

}  // namespace isotact::bullet_detail
