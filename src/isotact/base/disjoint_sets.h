// Parts of a graph, found by joining its elements two by two (union-find).
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {

// Disjoint sets of the numbers below a count. The lowest member names its set, so names do not
// depend on the order in which sets were joined. Cost: O(log n) per call, amortised. Several
// threads must not use one object at once.
class DisjointSets {
 public:
  explicit DisjointSets(std::size_t count) : parents_(count) {
    std::iota(parents_.begin(), parents_.end(), 0U);
  }
  std::size_t size() const { return parents_.size(); }
  std::uint32_t find(std::uint32_t i) {
    while (parents_[i] != i) i = parents_[i] = parents_[parents_[i]];
    return i;
  }
  void join(std::uint32_t a, std::uint32_t b) {
    a = find(a);
    b = find(b);
    if (a < b) parents_[b] = a;
    if (b < a) parents_[a] = b;
  }

 private:
  std::vector<std::uint32_t> parents_;
};

}  // namespace isotact
