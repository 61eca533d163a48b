// From the candidates of one step of BoxTree to those of the next, and to the pairs.
#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "isotact/queries/broad_phase/detail/box_tree_state.h"

namespace isotact {
namespace {

using detail::BoxCandidate;
using detail::FloatBox;
using Four = detail::Lanes<float, 4>;

constexpr unsigned kAllAxes = 7;
constexpr std::uint32_t kPairBit = std::uint32_t{1} << 31U;
constexpr std::uint64_t kNoKey = ~std::uint64_t{0};

struct MergeVerdict {
  unsigned overlap;     // Overlap of the rounded boxes.
  unsigned is_sure;     // The boxes themselves overlap: by more than rounding can cause.
  unsigned is_settled;  // Neither was searched again.
};

ISOTACT_INLINE Four magnitude(Four x) { return detail::greater(x, -x); }

// Sides are off by at most two ulps and 2^-100 each (round_outwards), hence 2^-21 and 2^-96 of the
// compared numbers. (No smaller: arithmetic with denormal numbers takes a hundred times as long.)
ISOTACT_INLINE MergeVerdict compare(const FloatBox& a, const FloatBox& b) {
  const Four a_lower = detail::load<Four>(a.lower.data()),
             a_upper = detail::load<Four>(a.upper.data());
  const Four b_lower = detail::load<Four>(b.lower.data()),
             b_upper = detail::load<Four>(b.upper.data());
  const unsigned overlap = detail::bits_of((a_lower <= b_upper) & (b_lower <= a_upper));
  const Four sizes =
      magnitude(a_lower) + magnitude(b_upper) + magnitude(b_lower) + magnitude(a_upper);
  const Four off = sizes * Four(0x1p-21F) + Four(0x1p-96F);
  const unsigned sure = detail::bits_of(((a_upper - b_lower) > off) & ((b_upper - a_lower) > off));
  // 1 if all three bits are set, without a branch.
  return {((overlap & kAllAxes) + 1) >> 3U, ((sure & kAllAxes) + 1) >> 3U, overlap >> 3U};
}

// Sorts keys of one bucket, of handles below handle_count: by digits, lowest first.
void sort_found(std::vector<std::uint64_t>& keys, std::vector<std::uint64_t>& scratch,
                std::size_t handle_count) {
  constexpr std::size_t kFew = 512;
  if (keys.size() < kFew) {
    std::sort(keys.begin(), keys.end());
    return;
  }
  constexpr unsigned kDigitBits = 10;
  // The other bits of the lower handles are the same.
  static_assert(kDigitBits == detail::kBucketBits);
  constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;
  scratch.resize(keys.size());
  const auto sort_by_digit = [&](unsigned shift) {
    std::array<std::uint32_t, kDigits> starts{};
    for (const std::uint64_t key : keys) ++starts[key >> shift & (kDigits - 1)];
    std::uint32_t sum = 0;
    for (std::uint32_t& start : starts) sum += std::exchange(start, sum);
    for (const std::uint64_t key : keys) scratch[starts[key >> shift & (kDigits - 1)]++] = key;
    keys.swap(scratch);
  };
  for (unsigned shift = 0; handle_count > std::size_t{1} << shift; shift += kDigitBits)
    sort_by_digit(shift);
  sort_by_digit(32);
}

std::uint64_t key_of(const BoxCandidate& c) {
  return std::uint64_t{c.a} << 32U | (c.b_and_pair & ~kPairBit);
}

}  // namespace

void BoxTree::merge_bucket(std::size_t bucket) {
  State& s = *state_;
  detail::PairBucket& here = s.buckets[bucket];
  here.found.clear();
  for (std::size_t i = 0; i < s.part_count; ++i) {
    const detail::FoundPart& part = s.parts[i];
    here.found.insert(here.found.end(), part.sorted.begin() + part.starts[bucket],
                      part.sorted.begin() + part.starts[bucket + 1]);
  }
  thread_local std::vector<std::uint64_t> scratch;
  sort_found(here.found, scratch, handle_count());
  here.found.push_back(kNoKey);

  // One more than the maximum: entries are written first, counted afterwards.
  const std::size_t most = here.count + here.found.size();
  if (here.next.size() < most) here.next.resize(most + most / 4);
  if (here.pairs.size() < most) here.pairs.resize(most + most / 4);
  here.begun.clear();
  here.ended.clear();
  BoxCandidate* next = here.next.data();
  ObjectPair* pairs = here.pairs.data();
  const FloatBox* const tight = s.tight.data();
  const unsigned has_spheres = this->has_spheres() ? 1 : 0;
  // Few branches: entries are always written, and counted or not.
  const auto take = [&](ObjectHandle a, ObjectHandle b, unsigned was_pair, unsigned is_found) {
    const MergeVerdict verdict = compare(tight[a], tight[b]);
    unsigned is_now = verdict.is_sure;
    if ((verdict.overlap & (has_spheres | (verdict.is_sure ^ 1U))) != 0)
      is_now = is_pair(a, b) ? 1U : 0U;
    const unsigned is_kept = verdict.is_settled | is_found;
    is_now &= is_kept;
    *next = {a, b | is_now << 31U};
    next += is_kept;
    *pairs = {a, b};
    pairs += is_now;
    if (is_now != was_pair) (is_now != 0 ? here.begun : here.ended).push_back({a, b});
  };
  const std::uint64_t* found = here.found.data();
  const auto take_found = [&] {
    take(static_cast<std::uint32_t>(*found >> 32U), static_cast<std::uint32_t>(*found), 0, 1);
    ++found;
  };
  for (std::size_t i = 0; i < here.count; ++i) {
    const BoxCandidate& c = here.candidates[i];
    constexpr std::size_t kAhead = 12;
    if (i + kAhead < here.count)
      __builtin_prefetch(tight + (here.candidates[i + kAhead].b_and_pair & ~kPairBit));
    const std::uint64_t key = key_of(c);
    unsigned is_found = 0;
    if (key >= *found) {
      while (*found < key) take_found();
      is_found = key == *found ? 1 : 0;
      found += is_found;
    }
    take(c.a, c.b_and_pair & ~kPairBit, c.b_and_pair >> 31U, is_found);
  }
  while (*found != kNoKey) take_found();
  here.pair_count = static_cast<std::size_t>(pairs - here.pairs.data());
  here.count = static_cast<std::size_t>(next - here.next.data());
  here.candidates.swap(here.next);
}

void BoxTree::merge(Threads threads) {
  State& s = *state_;
  parallel_for(s.buckets.size(), 1, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) merge_bucket(i);
  });
  pairs_.clear();
  begun_.clear();
  ended_.clear();
  for (const detail::PairBucket& bucket : s.buckets) {
    pairs_.insert(pairs_.end(), bucket.pairs.begin(),
                  bucket.pairs.begin() + static_cast<std::ptrdiff_t>(bucket.pair_count));
    begun_.insert(begun_.end(), bucket.begun.begin(), bucket.begun.end());
    ended_.insert(ended_.end(), bucket.ended.begin(), bucket.ended.end());
    s.work.candidates += bucket.count;
  }
  for (std::size_t i = 0; i < changed().size(); ++i)
    if (s.changes[i] == detail::Change::kLeft) s.tight[changed()[i]].upper[3] = 0;
}

}  // namespace isotact
