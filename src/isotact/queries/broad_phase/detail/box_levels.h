// The tree that BoxTree searches: boxes in blocks of eight along a space-filling curve, with boxes
// of similar size together.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/queries/broad_phase/detail/box_tree_kernel.h"

namespace isotact::detail {

inline constexpr std::uint32_t kNoSlot = ~std::uint32_t{0};

// Four lanes, so that two boxes are compared at once. The fourth has lower 0. Its upper is 0, or -1
// while the box is to be searched again or is removed, so that a comparison also shows this. (0
// within 1e-37.)
struct alignas(32) FloatBox {
  std::array<float, 4> lower{}, upper{};
};

class BoxLevels {
 public:
  // Objects have boxes in `boxes`, by handle. Added and removed objects, and those with changed
  // boxes, are reported here. refresh() then updates the tree.
  void add(std::uint32_t handle);
  void drop(std::uint32_t handle);
  void touch(std::uint32_t handle);
  bool has(std::uint32_t handle) const {
    return handle < slots_.size() && slots_[handle] != kNoSlot;
  }

  // Returns whether build() would pay: much was added or dropped, or blocks have grown by motion.
  bool is_stale() const;
  // Sorts everything. Reported changes stay reported.
  void build(std::span<const FloatBox> boxes, Threads threads);
  // All reported objects search for partners; or all objects do.
  void refresh(std::span<const FloatBox> boxes, bool all, Threads threads);
  // Ends all searches for partners.
  void settle();

  std::size_t size() const { return live_count_; }
  std::uint32_t block_count() const { return block_count_; }
  BoxTreeView view() const;

 private:
  struct Entry {
    std::uint64_t key;
    std::uint32_t handle;
  };

  void resize();
  void sort_entries();
  std::uint32_t padded_blocks() const { return static_cast<std::uint32_t>(live_.size()); }

  std::vector<std::vector<BoxBlock>> levels_;  // Each filled up to whole blocks of eight blocks.
  std::vector<std::uint32_t> handles_, slots_;
  std::vector<std::uint8_t> live_, moved_, shrunk_;  // Per block. Shrunk: by dropped objects.
  std::vector<std::uint32_t> areas_;                 // Per block: log_area_of.
  std::vector<Entry> entries_, sorted_;
  std::size_t live_count_ = 0, slot_count_ = 0, added_ = 0;
  std::uint32_t block_count_ = 0;
  double area_ = 0, built_area_ = 0;  // The mean of areas_, now and when built.
  bool all_moved_ = false, fresh_ = false;
};

}  // namespace isotact::detail
