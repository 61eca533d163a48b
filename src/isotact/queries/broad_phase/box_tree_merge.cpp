// How BoxTree goes from the candidates of one step to those of the next, and to the pairs.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "isotact/queries/broad_phase/detail/box_tree_state.h"

namespace isotact {
namespace {

using detail::Candidate;
using detail::FloatBox;
using Four = detail::Lanes<float, 4>;

constexpr unsigned kBoxes = 7, kSettled = 8;  // bits of compare()

// Bits 0 to 2: whether the boxes overlap along an axis; bit 3: whether neither was looked up anew.
unsigned compare(const FloatBox& a, const FloatBox& b) {
  return detail::bits_of(
      (detail::load<Four>(a.lower.data()) <= detail::load<Four>(b.upper.data())) &
      (detail::load<Four>(b.lower.data()) <= detail::load<Four>(a.upper.data())));
}

// Of boxes that overlap: whether they do by so much that rounding cannot have made it. Sides are
// off by three ulps each at most (round_down), hence 2^-21 of both.
bool is_sure(const FloatBox& a, const FloatBox& b) {
  for (std::size_t k = 0; k < 3; ++k) {
    constexpr float kOff = 0x1p-21F, kTiny = 0x1p-120F;
    const float one = a.upper[k] - b.lower[k], other = b.upper[k] - a.lower[k];
    if (!(one > (std::abs(a.upper[k]) + std::abs(b.lower[k])) * kOff + kTiny)) return false;
    if (!(other > (std::abs(b.upper[k]) + std::abs(a.lower[k])) * kOff + kTiny)) return false;
  }
  return true;
}

// All of one bucket: by the lower handle through counting, then each one's few by comparing.
void sort_found(std::vector<std::uint64_t>& keys, std::vector<std::uint64_t>& scratch) {
  constexpr std::size_t kWidth = std::size_t{1} << detail::kBucketBits;
  if (keys.size() < kWidth / 4) {
    std::sort(keys.begin(), keys.end());
    return;
  }
  std::array<std::uint32_t, kWidth + 1> starts{};
  for (const std::uint64_t key : keys) ++starts[(key >> 32U) % kWidth];
  std::uint32_t sum = 0;
  for (std::uint32_t& start : starts) sum += std::exchange(start, sum);
  scratch.resize(keys.size());
  for (const std::uint64_t key : keys) scratch[starts[(key >> 32U) % kWidth]++] = key;
  std::size_t begin = 0;
  for (std::size_t a = 0; a < kWidth; ++a) {
    std::sort(scratch.begin() + static_cast<std::ptrdiff_t>(begin), scratch.begin() + starts[a]);
    begin = starts[a];
  }
  keys.swap(scratch);
}

std::uint64_t key_of(const Candidate& c) { return std::uint64_t{c.a} << 32U | c.b; }

}  // namespace

void BoxTree::merge_bucket(std::size_t bucket) {
  State& s = *state_;
  detail::PairBucket& here = s.buckets[bucket];
  here.found.clear();
  for (const detail::FoundPart& part : s.parts)
    here.found.insert(here.found.end(), part.sorted.begin() + part.starts[bucket],
                      part.sorted.begin() + part.starts[bucket + 1]);
  thread_local std::vector<std::uint64_t> scratch;
  sort_found(here.found, scratch);

  // One more than there can be: written first, counted afterwards.
  const std::size_t most = here.candidates.size() + here.found.size() + 1;
  if (here.next.size() < most) here.next.resize(most);
  if (here.pairs.size() < most) here.pairs.resize(most);
  here.begun.clear();
  here.ended.clear();
  Candidate* next = here.next.data();
  ObjectPair* pairs = here.pairs.data();
  const bool has_spheres = this->has_spheres();
  const auto keep = [&](const ObjectPair& pair, unsigned bits, bool was_pair) {
    bool is_now = (bits & kBoxes) == kBoxes;
    if (is_now && (has_spheres || !is_sure(s.tight[pair.a], s.tight[pair.b])))
      is_now = is_pair(pair.a, pair.b);
    *next++ = {pair.a, pair.b, is_now ? 1U : 0U};
    *pairs = pair;
    pairs += is_now ? 1 : 0;
    if (is_now != was_pair) (is_now ? here.begun : here.ended).push_back(pair);
  };
  const std::uint64_t* found = here.found.data();
  const std::uint64_t* const found_end = found + here.found.size();
  const auto take_found = [&] {
    const ObjectPair pair{static_cast<std::uint32_t>(*found >> 32U),
                          static_cast<std::uint32_t>(*found)};
    ++found;
    keep(pair, compare(s.tight[pair.a], s.tight[pair.b]), false);
  };
  for (const Candidate& c : here.candidates) {
    const std::uint64_t key = key_of(c);
    while (found != found_end && *found < key) take_found();
    const bool is_found = found != found_end && *found == key;
    if (is_found) ++found;
    const unsigned bits = compare(s.tight[c.a], s.tight[c.b]);
    if (is_found || (bits & kSettled) != 0)
      keep({c.a, c.b}, bits, c.is_pair != 0);
    else if (c.is_pair != 0)
      here.ended.push_back({c.a, c.b});
  }
  while (found != found_end) take_found();
  here.pairs.resize(static_cast<std::size_t>(pairs - here.pairs.data()));
  here.next.resize(static_cast<std::size_t>(next - here.next.data()));
  here.candidates.swap(here.next);
}

void BoxTree::merge(Threads threads) {
  State& s = *state_;
  parallel_for(s.buckets.size(), 2, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) merge_bucket(i);
  });
  pairs_.clear();
  begun_.clear();
  ended_.clear();
  for (const detail::PairBucket& bucket : s.buckets) {
    pairs_.insert(pairs_.end(), bucket.pairs.begin(), bucket.pairs.end());
    begun_.insert(begun_.end(), bucket.begun.begin(), bucket.begun.end());
    ended_.insert(ended_.end(), bucket.ended.begin(), bucket.ended.end());
    s.work.candidates += bucket.candidates.size();
  }
  for (std::size_t i = 0; i < changed().size(); ++i)
    if (s.changes[i] == detail::Change::kLeft) s.tight[changed()[i]].upper[3] = 0;
}

}  // namespace isotact
