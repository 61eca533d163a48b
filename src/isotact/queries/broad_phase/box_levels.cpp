#include "isotact/queries/broad_phase/detail/box_levels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "isotact/queries/broad_phase/detail/hilbert.h"

namespace isotact::detail {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr unsigned kAxisBits = kHilbertAxisBits, kClassBits = 6, kDigitBits = 12;
constexpr std::size_t kGrain = 4096;               // Objects.
constexpr std::size_t kBlockGrain = 1024;          // Blocks, a multiple of eight.
constexpr double kMostGrowth = 0.4 * (1U << 23U);  // Mean growth of the blocks' log_area_of.

void clear(BoxBlock& block) {
  for (int k = 0; k < 3; ++k)
    for (unsigned j = 0; j < kBlockSize; ++j) {
      block.lower[k][j] = kInfinity;
      block.upper[k][j] = -kInfinity;
    }
}

void set_lane(BoxBlock& block, unsigned lane, const FloatBox& box) {
  for (std::size_t k = 0; k < 3; ++k) {
    block.lower[k][lane] = box.lower[k];
    block.upper[k][lane] = box.upper[k];
  }
}

// The union of eight lanes.
FloatBox union_of(const BoxBlock& block) {
  FloatBox box;
  for (std::size_t k = 0; k < 3; ++k) {
    using Four = Lanes<float, 4>;
    const Four low = lesser(load<Four>(block.lower[k]), load<Four>(block.lower[k] + 4));
    const Four high = greater(load<Four>(block.upper[k]), load<Four>(block.upper[k] + 4));
    box.lower[k] = std::min(std::min(low.v[0], low.v[1]), std::min(low.v[2], low.v[3]));
    box.upper[k] = std::max(std::max(high.v[0], high.v[1]), std::max(high.v[2], high.v[3]));
  }
  return box;
}

// Returns the logarithm of a box's area, as given by the bits of a float, in steps of 2^-23 of a
// factor of two; 0 for empty ones.
std::uint32_t log_area_of(const FloatBox& box) {
  const float x = box.upper[0] - box.lower[0], y = box.upper[1] - box.lower[1];
  const float z = box.upper[2] - box.lower[2];
  if (!(x >= 0)) return 0;
  return std::bit_cast<std::uint32_t>(std::clamp(x * y + y * z + z * x, 1e-30F, 1e30F));
}

// The region of most centres. A few that are far away would spoil the curve for all others.
struct Frame {
  std::array<float, 3> origin{}, scale{};

  Frame(std::span<const std::uint32_t> handles, std::span<const FloatBox> boxes) {
    constexpr std::size_t kSamples = 1024;
    const std::size_t step = handles.size() / kSamples + 1;
    for (std::size_t k = 0; k < 3; ++k) {
      std::vector<float> middles;
      for (std::size_t i = 0; i < handles.size(); i += step) {
        const FloatBox& box = boxes[handles[i]];
        const float middle = 0.5F * box.lower[k] + 0.5F * box.upper[k];
        if (std::isfinite(middle)) middles.push_back(middle);
      }
      if (middles.empty()) continue;
      std::sort(middles.begin(), middles.end());
      const std::size_t cut = middles.size() / 64;
      const float low = middles[cut], high = middles[middles.size() - 1 - cut];
      const float length = (high - low) * 1.1F;
      origin[k] = low - 0.05F * (high - low);
      scale[k] =
          length > 0 && length < kInfinity ? static_cast<float>(1U << kAxisBits) / length : 0;
    }
  }

  std::uint64_t key_of(const FloatBox& box) const {
    std::array<std::uint32_t, 3> cells{};
    float size = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const float at = (0.5F * box.lower[k] + 0.5F * box.upper[k] - origin[k]) * scale[k];
      const float most = static_cast<float>((1U << kAxisBits) - 1);
      cells[k] = at > 0 ? static_cast<std::uint32_t>(std::min(at, most)) : 0U;
      size = std::max(size, box.upper[k] - box.lower[k]);
    }
    // Every fourfold size is a class; bits 24 and up of a float are half of its exponent.
    const std::uint64_t size_class = std::bit_cast<std::uint32_t>(size) >> 24U;
    const std::uint64_t few =
        std::min<std::uint64_t>(size_class < 40 ? 0 : size_class - 40, (1U << kClassBits) - 1);
    return few << (3 * kAxisBits) | hilbert(cells);
  }
};

}  // namespace

void BoxLevels::add(std::uint32_t handle) {
  if (handle >= slots_.size()) slots_.resize(handle + 1, kNoSlot);
  slots_[handle] = static_cast<std::uint32_t>(slot_count_++);
  ++live_count_;
  ++added_;
  resize();
  const std::uint32_t slot = slots_[handle];
  handles_[slot] = handle;
  live_[slot / kBlockSize] |= static_cast<std::uint8_t>(1U << slot % kBlockSize);
  moved_[slot / kBlockSize] |= static_cast<std::uint8_t>(1U << slot % kBlockSize);
}

void BoxLevels::drop(std::uint32_t handle) {
  const std::uint32_t slot = slots_[handle], block = slot / kBlockSize;
  const auto bit = static_cast<std::uint8_t>(1U << slot % kBlockSize);
  live_[block] &= static_cast<std::uint8_t>(~bit);
  moved_[block] &= static_cast<std::uint8_t>(~bit);
  FloatBox none;
  none.lower.fill(kInfinity);
  none.upper.fill(-kInfinity);
  set_lane(levels_[0][block], slot % kBlockSize, none);
  shrunk_[block] = 1;
  handles_[slot] = kNoSlot;
  slots_[handle] = kNoSlot;
  --live_count_;
}

void BoxLevels::touch(std::uint32_t handle) {
  const std::uint32_t slot = slots_[handle];
  moved_[slot / kBlockSize] |= static_cast<std::uint8_t>(1U << slot % kBlockSize);
}

void BoxLevels::resize() {
  const auto blocks = static_cast<std::uint32_t>((slot_count_ + kBlockSize - 1) / kBlockSize);
  if (blocks == block_count_ && !levels_.empty()) return;
  block_count_ = blocks;
  const std::size_t padded = std::max<std::size_t>((blocks + 7U) / 8U * 8U, 8);
  if (padded == live_.size()) return;
  live_.resize(padded, 0);
  moved_.resize(padded, 0);
  shrunk_.resize(padded, 0);
  areas_.resize(padded, 0);
  handles_.resize(padded * kBlockSize, kNoSlot);
  BoxBlock none;
  clear(none);
  std::size_t count = padded, level = 0;
  for (;; ++level) {
    if (level == levels_.size()) levels_.emplace_back();
    levels_[level].resize(count, none);
    if (count == 1) break;
    count /= kBlockSize;
    if (count > 1) count = (count + 7) / 8 * 8;
  }
  levels_.resize(level + 1);
}

bool BoxLevels::is_stale() const {
  return !fresh_ && (added_ > 64 + live_count_ / 8 || slot_count_ > 128 + 2 * live_count_ ||
                     area_ > built_area_ + kMostGrowth);
}

void BoxLevels::sort_entries() {
  sorted_.resize(entries_.size());
  constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;
  for (unsigned shift = 0; shift < 3 * kAxisBits + kClassBits; shift += kDigitBits) {
    std::array<std::uint32_t, kDigits> starts{};
    for (const Entry& e : entries_) ++starts[e.key >> shift & (kDigits - 1)];
    if (std::find(starts.begin(), starts.end(), entries_.size()) != starts.end()) continue;
    std::uint32_t sum = 0;
    for (std::uint32_t& start : starts) sum += std::exchange(start, sum);
    for (const Entry& e : entries_) sorted_[starts[e.key >> shift & (kDigits - 1)]++] = e;
    entries_.swap(sorted_);
  }
}

void BoxLevels::build(std::span<const FloatBox> boxes, Threads threads) {
  std::vector<std::uint8_t> moved(slots_.size(), 0);
  std::vector<std::uint32_t> handles;
  handles.reserve(live_count_);
  for (std::uint32_t handle = 0; handle < slots_.size(); ++handle) {
    const std::uint32_t slot = slots_[handle];
    if (slot == kNoSlot) continue;
    moved[handle] =
        static_cast<std::uint8_t>(unsigned{moved_[slot / kBlockSize]} >> slot % kBlockSize & 1U);
    handles.push_back(handle);
  }
  entries_.resize(handles.size());
  const Frame frame(handles, boxes);
  parallel_for(handles.size(), kGrain, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      entries_[i] = {frame.key_of(boxes[handles[i]]), handles[i]};
  });
  sort_entries();

  slot_count_ = entries_.size();
  levels_.clear();
  live_.clear();
  moved_.clear();
  shrunk_.clear();
  handles_.clear();
  areas_.clear();
  resize();
  for (std::size_t slot = 0; slot < slot_count_; ++slot) {
    const std::uint32_t handle = entries_[slot].handle;
    handles_[slot] = handle;
    slots_[handle] = static_cast<std::uint32_t>(slot);
    live_[slot / kBlockSize] |= static_cast<std::uint8_t>(1U << slot % kBlockSize);
    moved_[slot / kBlockSize] |=
        static_cast<std::uint8_t>(unsigned{moved[handle]} << slot % kBlockSize);
  }
  added_ = 0;
  fresh_ = true;
}

void BoxLevels::refresh(std::span<const FloatBox> boxes, bool all, Threads threads) {
  if (levels_.empty()) resize();
  all_moved_ = all;
  const bool everything = fresh_;
  parallel_for(padded_blocks(), kBlockGrain, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t block = begin; block < end; ++block) {
      if (!everything && !all && moved_[block] == 0 && shrunk_[block] == 0) continue;
      shrunk_[block] = 0;
      BoxBlock& leaf = levels_[0][block];
      for (auto bits = unsigned{everything ? live_[block] : moved_[block]}; bits != 0;
           bits &= bits - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(bits));
        set_lane(leaf, lane, boxes[handles_[block * kBlockSize + lane]]);
      }
      const FloatBox around = union_of(leaf);
      areas_[block] = log_area_of(around);
      set_lane(levels_[1][block / kBlockSize], block % kBlockSize, around);
      if (all) moved_[block] = live_[block];
    }
  });
  for (std::size_t level = 2; level < levels_.size(); ++level)
    for (std::size_t block = 0; block < levels_[level - 1].size(); ++block)
      set_lane(levels_[level][block / kBlockSize], block % kBlockSize,
               union_of(levels_[level - 1][block]));
  // Each block counts alike: one with an object that flew away must not outweigh all others.
  std::uint64_t sum = 0, count = 0;
  for (const std::uint32_t area : areas_) {
    sum += area;
    count += area != 0 ? 1 : 0;
  }
  area_ = static_cast<double>(sum) / static_cast<double>(std::max<std::uint64_t>(count, 1));
  if (fresh_) built_area_ = area_;
  fresh_ = false;
}

void BoxLevels::settle() {
  std::fill(moved_.begin(), moved_.end(), std::uint8_t{0});
  all_moved_ = false;
}

BoxTreeView BoxLevels::view() const {
  BoxTreeView view{};
  view.level_count = static_cast<int>(levels_.size());
  for (std::size_t i = 0; i < levels_.size(); ++i) view.levels[i] = levels_[i].data();
  view.block_count = block_count_;
  view.handles = handles_.data();
  view.live = live_.data();
  view.moved = moved_.data();
  view.all_moved = all_moved_;
  return view;
}

}  // namespace isotact::detail
