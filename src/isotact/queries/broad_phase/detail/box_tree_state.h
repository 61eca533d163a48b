#pragma once

#include <cstdint>
#include <vector>

#include "isotact/queries/broad_phase/box_tree.h"
#include "isotact/queries/broad_phase/detail/box_levels.h"

namespace isotact::detail {

// Pairs are kept in buckets of so many lower handles, which threads share out. (A power of two.)
inline constexpr std::uint32_t kBucketBits = 10;

// Two objects whose wider boxes overlap.
struct Candidate {
  std::uint32_t a = 0;
  std::uint32_t b_and_pair = 0;  // the highest bit: whether it was a pair in the last step
};

struct PairBucket {
  std::vector<Candidate> candidates, next;  // the first `count` are valid
  std::size_t count = 0, pair_count = 0;
  std::vector<std::uint64_t> found;  // new ones, in keys of PairSink
  std::vector<ObjectPair> pairs, begun, ended;
};

// What a part of the tree has found: keys, sorted by bucket.
struct FoundPart {
  std::vector<std::uint64_t> keys, sorted;
  std::vector<std::uint32_t> starts;  // of buckets, and one more
};

// When its wider box was made.
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
  std::vector<detail::FloatBox> tight, wide;  // by handle
  std::vector<detail::WideningNote> notes;
  std::vector<detail::Change> changes;  // of changed()
  detail::BoxLevels levels;
  std::vector<detail::FoundPart> parts;  // the first part_count are of this step
  std::size_t part_count = 0;
  std::vector<detail::PairBucket> buckets;
};

}  // namespace isotact
