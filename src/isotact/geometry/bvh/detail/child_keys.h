// Which children of a node to visit, and in which order, over a lane type.
#pragma once

#include "isotact/base/detail/lanes.h"
#include "isotact/geometry/bvh/bvh_layout.h"

namespace isotact::detail {

// An entry on the stack of a search.
struct ChildEntry {
  std::int32_t key;
  std::uint32_t child;
};

// An integer that orders like the float.
ISOTACT_INLINE std::int32_t ordered_bits(float x) {
  std::int32_t bits;
  __builtin_memcpy(&bits, &x, sizeof(bits));
  return bits ^ ((bits >> 31) & 0x7fffffff);
}

// The highest key that a child at this distance may have.
ISOTACT_INLINE std::int32_t last_key_at(float distance) { return ordered_bits(distance) | 7; }

// Children are sorted by a float, made an integer that orders alike, with the child's number in the
// lowest three bits so that all differ.
template <typename F>
class ChildKeys {
 public:
  using Integers = decltype(F(0.0F) < F(0.0F));  // as many lanes as F
  static constexpr unsigned kParts = kNodeWidth / F::kWidth;

  // Children [part * width, (part + 1) * width), where the mask says so and the node has them.
  ISOTACT_INLINE void set(unsigned part, F order, Integers mask, std::uint32_t child_count) {
    const int first = static_cast<int>(part) * F::kWidth;
    Integers numbers{};
    for (int i = 0; i < F::kWidth; ++i) numbers[i] = first + i;
    mask &= numbers < static_cast<int>(child_count);
    const Integers bits = reinterpret_cast<Integers>(order.v);
    const Integers ordered = bits ^ ((bits >> 31) & 0x7fffffff);
    constexpr std::int32_t kLowest = -0x7fffffff - 1;
    keys_[part] = mask ? (ordered & ~7) | numbers : numbers * 0 + kLowest;
    chosen_ |= bits_of(mask) << first;
  }

  // Puts the chosen children on the stack, the first in order last, so that it is taken first. A
  // child's place is the number of children that come after it, found without the branches of a
  // sort. Most of a search is waiting for memory: nodes that may be read soon are prefetched at
  // once.
  template <typename Node>
  ISOTACT_INLINE int push(const Node& node, const Node* nodes, const TriangleBlock* blocks,
                          ChildEntry* stack, int size) const {
    alignas(32) std::int32_t plain[kNodeWidth];
    __builtin_memcpy(plain, keys_, sizeof(plain));
    for (unsigned left = chosen_; left != 0; left &= left - 1) {
      const int i = __builtin_ctz(left);
      unsigned after = 0;
      for (unsigned part = 0; part < kParts; ++part)
        after |= bits_of(keys_[part] > plain[i]) << (part * unsigned{F::kWidth});
      const std::uint32_t child = node.child[i];
      prefetch(nodes, blocks, child);
      stack[size + __builtin_popcount(after)] = {plain[i], child};
    }
    return size + __builtin_popcount(chosen_);
  }

 private:
  template <typename Node>
  static ISOTACT_INLINE void prefetch(const Node* nodes, const TriangleBlock* blocks,
                                      std::uint32_t child) {
    const void* place;
    if ((child & kBlockBit) != 0)
      place = blocks + (child & ~kBlockBit);
    else
      place = nodes + child;
    const char* address = static_cast<const char*>(place);
    __builtin_prefetch(address);
    __builtin_prefetch(address + 64);
    __builtin_prefetch(address + 128);
  }

  Integers keys_[kParts];
  unsigned chosen_ = 0;
};

}  // namespace isotact::detail
