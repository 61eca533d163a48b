// What a part of a sampled field holds: its least and its largest value.
#pragma once

namespace isotact {

// The smallest and the largest value that a sampled field takes in a cell, a brick or a node of a
// tree. Exact: both are samples.
struct ValueRange {
  float min, max;

  friend constexpr bool operator==(const ValueRange&, const ValueRange&) = default;
};

constexpr ValueRange unite(const ValueRange& a, const ValueRange& b) {
  return {b.min < a.min ? b.min : a.min, b.max > a.max ? b.max : a.max};
}

}  // namespace isotact
