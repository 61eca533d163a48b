// Boxes in blocks of eight, blocks of eight blocks, and the search for overlapping ones. The search
// only compares, so that every width of lanes finds the same pairs, in the same order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "isotact/base/detail/box_lanes.h"
#include "isotact/base/machine.h"

namespace isotact::detail {

inline constexpr unsigned kBlockSize = kBoxLanes;
inline constexpr int kMostLevels = 12;  // 8^11 > 2^32.

// Level 0 has the boxes of objects, eight per block, with finite sides. Lanes without a box have
// lower = infinity, upper = -infinity. Lane j of block i of level l + 1 is the union of block 8 i +
// j of level l. The last level has one block.
struct BoxTreeView {
  const BoxBlock* levels[kMostLevels];
  int level_count;
  std::uint32_t block_count;     // Level 0.
  const std::uint32_t* handles;  // Eight per block.
  const std::uint8_t* live;      // Per block: bit j is set if lane j has a box.
  // Per block: bit j is set if lane j searches for partners; within live.
  const std::uint8_t* moved;
  bool all_moved;  // moved equals live everywhere.
};

// `flush` empties full ones.
struct PairSink {
  std::uint64_t* keys;  // Lower handle << 32 | higher handle.
  std::size_t count, capacity;
  void (*flush)(PairSink& sink);
};

// Finds overlapping pairs of which at least one is a moved one of blocks [begin, end). If both are
// moved, the first, in the order of lanes and blocks, must be there.
using FindTreePairs = void (*)(const BoxTreeView& tree, std::uint32_t begin, std::uint32_t end,
                               PairSink& sink);

template <typename L>
struct BoxTreeKernel {
  static constexpr unsigned kCandidates = 64;
  using Box = LaneBox;

  static ISOTACT_INLINE void emit(const BoxTreeView& tree, std::uint32_t handle,
                                  std::uint32_t block, unsigned bits, PairSink& sink) {
    const std::uint32_t* handles = tree.handles + std::size_t{block} * kBlockSize;
    std::size_t count = sink.count;
    for (; bits != 0; bits &= bits - 1) {
      const std::uint32_t other = handles[__builtin_ctz(bits)];
      const std::uint64_t low = handle < other ? handle : other;
      const std::uint64_t high = handle < other ? other : handle;
      sink.keys[count++] = low << 32U | high;
    }
    sink.count = count;
  }

  // Tests the moved lanes of a block against all lanes of others.
  static ISOTACT_INLINE void test_blocks(const BoxTreeView& tree, std::uint32_t block,
                                         const std::uint32_t* others, unsigned count,
                                         PairSink& sink) {
    const BoxBlock& own = tree.levels[0][block];
    const std::uint32_t* handles = tree.handles + std::size_t{block} * kBlockSize;
    const unsigned moved = tree.moved[block];
    for (unsigned i = 0; i < count; ++i) {
      const std::uint32_t other = others[i];
      // A moved box before the own block has searched itself.
      const unsigned allowed =
          other > block ? tree.live[other] : tree.live[other] & ~unsigned{tree.moved[other]};
      const BoxBlock& boxes = tree.levels[0][other];
      const Box around = lane_of(tree.levels[1][other / kBlockSize], other % kBlockSize);
      if (sink.capacity - sink.count < kBlockSize * kBlockSize) sink.flush(sink);
      for (unsigned near = overlap_bits<L>(own, around) & moved; near != 0; near &= near - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctz(near));
        const unsigned hits = overlap_bits<L>(boxes, lane_of(own, lane)) & allowed;
        emit(tree, handles[lane], other, hits, sink);
      }
    }
  }

  static ISOTACT_INLINE void test_within(const BoxTreeView& tree, std::uint32_t block,
                                         PairSink& sink) {
    const BoxBlock& own = tree.levels[0][block];
    const std::uint32_t* handles = tree.handles + std::size_t{block} * kBlockSize;
    const unsigned moved = tree.moved[block], still = tree.live[block] & ~moved;
    if (sink.capacity - sink.count < kBlockSize * kBlockSize) sink.flush(sink);
    for (unsigned left = moved; left != 0; left &= left - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(left));
      const unsigned later = moved & (0xfeU << lane);
      const unsigned hits = overlap_bits<L>(own, lane_of(own, lane)) & (later | still);
      emit(tree, handles[lane], block, hits, sink);
    }
  }

  // Returns the union of the moved lanes of a block.
  static ISOTACT_INLINE Box box_of_moved(const BoxTreeView& tree, std::uint32_t block) {
    const unsigned moved = tree.moved[block];
    if (moved == tree.live[block])
      return lane_of(tree.levels[1][block / kBlockSize], block % kBlockSize);
    const BoxBlock& own = tree.levels[0][block];
    Box box = lane_of(own, static_cast<unsigned>(__builtin_ctz(moved)));
    for (unsigned left = moved & (moved - 1); left != 0; left &= left - 1) {
      const Box one = lane_of(own, static_cast<unsigned>(__builtin_ctz(left)));
      for (int k = 0; k < 3; ++k) {
        box.lower[k] = lesser(box.lower[k], one.lower[k]);
        box.upper[k] = greater(box.upper[k], one.upper[k]);
      }
    }
    return box;
  }

  static void find_pairs(const BoxTreeView& tree, std::uint32_t begin, std::uint32_t end,
                         PairSink& sink) {
    struct Node {
      std::uint32_t block;
      int level;
    };
    Node nodes[kMostLevels * kBlockSize];
    std::uint32_t others[kCandidates];
    for (std::uint32_t block = begin; block < end; ++block) {
      if (tree.moved[block] == 0) continue;
      test_within(tree, block, sink);
      if (tree.level_count < 2) continue;
      const Box box = box_of_moved(tree, block);
      unsigned node_count = 1, other_count = 0;
      nodes[0] = {0, tree.level_count - 1};
      while (node_count > 0) {
        const Node node = nodes[--node_count];
        unsigned bits = overlap_bits<L>(tree.levels[node.level][node.block], box);
        const std::uint32_t first = node.block * kBlockSize;
        if (tree.all_moved) {
          // Only blocks that are not before the own block.
          const std::uint32_t own = block >> (3U * static_cast<unsigned>(node.level - 1));
          if (own > first) bits &= 0xffU << (own - first);
        }
        if (node.level > 1) {
          for (; bits != 0; bits &= bits - 1)
            nodes[node_count++] = {first + static_cast<std::uint32_t>(__builtin_ctz(bits)),
                                   node.level - 1};
          continue;
        }
        if (first == (block & ~(kBlockSize - 1))) bits &= ~(1U << (block % kBlockSize));
        for (; bits != 0; bits &= bits - 1)
          others[other_count++] = first + static_cast<std::uint32_t>(__builtin_ctz(bits));
        if (other_count > kCandidates - kBlockSize) {
          test_blocks(tree, block, others, other_count, sink);
          other_count = 0;
        }
      }
      test_blocks(tree, block, others, other_count, sink);
    }
  }
};

FindTreePairs find_tree_pairs_baseline();
FindTreePairs find_tree_pairs_avx2();
FindTreePairs choose_find_tree_pairs(SimdLevel level);

}  // namespace isotact::detail
