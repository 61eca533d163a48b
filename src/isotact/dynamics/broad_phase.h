// Which bodies may come near each other in a step: boxes that overlap, by sort and sweep in
// columns.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isotact/base/aabb.h"

namespace isotact {

struct BodyPair {
  std::uint32_t a = 0, b = 0;  // a < b

  friend auto operator<=>(const BodyPair&, const BodyPair&) = default;
};

// What a body fills in the whole of a step.
struct SweptBox {
  Aabb box{};         // may be infinite
  bool moves = true;  // of two that do not, no pair is made
};

// All pairs of overlapping boxes, touching included, sorted. Empty boxes are left out. Keeps the
// memory of pairs. Cost: n log n and the pairs, where boxes are about equally large; n for each
// that is several times as wide as the mean.
void find_box_pairs(std::span<const SweptBox> boxes, std::vector<BodyPair>& pairs);

namespace brute_force {
void find_box_pairs(std::span<const SweptBox> boxes, std::vector<BodyPair>& pairs);
}

}  // namespace isotact
