// The least and the largest value of a part of a sampled field.
#pragma once

#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {

// The smallest and the largest value that a sampled field takes in a cell, a brick or a node of a
// tree. It is exact: both are samples.
struct ValueRange {
  float min, max;

  friend constexpr bool operator==(const ValueRange&, const ValueRange&) = default;
};

constexpr ValueRange unite(const ValueRange& a, const ValueRange& b) {
  return {b.min < a.min ? b.min : a.min, b.max > a.max ? b.max : a.max};
}

}  // namespace isotact
