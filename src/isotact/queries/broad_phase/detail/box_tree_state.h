#pragma once

#include <cstdint>
#include <vector>

#include "isotact/queries/broad_phase/box_tree.h"
#include "isotact/queries/broad_phase/detail/box_levels.h"

namespace isotact::detail {

// Pairs are kept in buckets of so many lower handles, which are distributed to threads. (A power of
// two.)
inline constexpr std::uint32_t kBucketBits = 10;

// Two objects whose wider boxes overlap.
struct BoxCandidate {
  std::uint32_t a = 0;
  std::uint32_t b_and_pair = 0;  // The highest bit: it was a pair in the last step.
};

struct PairBucket {
  std::vector<BoxCandidate> candidates, next;  // The first `count` are valid.
  std::size_t count = 0, pair_count = 0;
  std::vector<std::uint64_t> found;  // New ones, in keys of PairSink.
  std::vector<ObjectPair> pairs, begun, ended;
};

// Result of a part of the tree: keys, sorted by bucket.
struct FoundPart {
  std::vector<std::uint64_t> keys, sorted;
  std::vector<std::uint32_t> starts;  // Starts of buckets, and one more.
};

// State of an object when its wider box was made.
struct WideningNote {
  std::array<float, 3> lower{}, upper{};
  std::uint32_t step = 0;
};

enum class Change : std::uint8_t { kNone, kLeft, kEmpty };

}  // namespace isotact::detail

namespace isotact {

struct BoxTree::State {
  BoxTreeSettings settings;
  BoxTreeWork work;
  detail::FindTreePairs find_tree_pairs = nullptr;
  std::uint32_t step = 0;
  std::vector<detail::FloatBox> tight, wide;  // By handle.
  std::vector<detail::WideningNote> notes;
  std::vector<detail::Change> changes;  // For changed().
  detail::BoxLevels levels;
  std::vector<detail::FoundPart> parts;  // The first part_count are of this step.
  std::size_t part_count = 0;
  std::vector<detail::PairBucket> buckets;
};

}  // namespace isotact
