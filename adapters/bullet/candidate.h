// A position at which two bodies touch or nearly touch, before it becomes one of Bullet's contacts.
// Also the choice of a few among many. Private to the plug-in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "isotact/base/vec.h"
#include "isotact/queries/contact/spread.h"

namespace isotact::bullet_detail {

// The query that found a contact: the upper bits of a key. The lower ones are a point or an edge.
enum class Finder : std::uint64_t { kPointsOf0 = 1, kPointsOf1 = 2, kEdges = 3 };
constexpr std::uint64_t make_key(Finder finder, std::uint64_t id) {
  return (static_cast<std::uint64_t>(finder) << 60U) | id;
}

// The manifold of a candidate, if shapes are cut into patches.
constexpr std::uint32_t kSlotOf0 = 0, kSlotOf1 = 0x40000000U, kSlotOfEdges = 0x80000000U;

// Metres, world frame.
struct Candidate {
  std::uint64_t key = 0;  // The same from step to step.
  std::uint32_t slot = 0;
  Vec3 on_0{}, on_1{};     // On the surfaces of Bullet's bodies 0 and 1.
  Vec3 normal{};           // Unit vector, from body 1 to body 0.
  double distance = 0;     // Negative if they overlap.
  double torsion_arm = 0;  // Metres: torsional friction is friction times this, beside the pair's.
  // m^2 of the patch that it stands for; 0: none. Patches of a pair share its load by area.
  double area = 0;
  int part_0 = -1, index_0 = -1, part_1 = -1, index_1 = -1;
};

inline constexpr std::size_t kMostChosen = kManifoldSize;
using Choice = SpreadChoice;

// choose_spread of candidates. `last_keys` are those of the step before: the deepest is one of them
// if that is within `slack` of the deepest of all.
Choice choose_contacts(std::span<const Candidate> all, std::span<const std::uint64_t> last_keys,
                       double slack, std::size_t most);

}  // namespace isotact::bullet_detail
