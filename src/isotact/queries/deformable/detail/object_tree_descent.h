// Two trees descended together, level by level: Figure 4 of MDL06.
#pragma once

#include "isotact/queries/deformable/detail/object_tree_kernel.h"

namespace isotact::detail {

enum class TreeEnds : std::uint8_t { kParts, kLeaves, kTriangles };

template <typename L>
struct TreeDescentKernel {
  static constexpr unsigned kWidth = L::kWidth;
  // A step removes a pair and adds at most 64, each a level deeper in at least one tree.
  static constexpr unsigned kStackSize = 2 * kMostTreeLevels * kTreeLanes * kTreeLanes + 1;

  using Query = LaneBox;

  static ISOTACT_INLINE float size_of(float value) { return greater(value, -value); }

  // Enlarges a box by the margin, and by more than possible rounding. If two boxes are no further
  // apart than the margin in doubles, then lower_a <= upper_b + margin, rounded. Then upper_b is no
  // larger than lower_a and the margin together, and kTreeEase of the larger of these exceeds the
  // sum of all rounding errors.
  static ISOTACT_INLINE Query widen(Query box, float reach) {
    if (reach == 0) return box;
    for (int k = 0; k < 3; ++k) {
      const float l = box.lower[k], h = box.upper[k];
      box.lower[k] = (l - reach) - (greater(size_of(l), reach) * kTreeEase + kTreeSlack);
      box.upper[k] = (h + reach) + (greater(size_of(h), reach) * kTreeEase + kTreeSlack);
    }
    return box;
  }
  // A widened box, reduced so that boxes that overlap it also do so in doubles. `box`: before
  // widening.
  static ISOTACT_INLINE Query narrow(const Query& box, Query widened, float reach) {
    for (int k = 0; k < 3; ++k) {
      widened.lower[k] += greater(size_of(box.lower[k]), reach) * kTreeSure + 8 * kTreeSlack;
      widened.upper[k] -= greater(size_of(box.upper[k]), reach) * kTreeSure + 8 * kTreeSlack;
    }
    return widened;
  }

  static ISOTACT_INLINE Query query_of(const TreeVolume& volume) {
    Query query;
    for (int k = 0; k < 3; ++k) {
      query.lower[k] = volume.lower[k];
      query.upper[k] = volume.upper[k];
    }
    return query;
  }
  // The same sums for either order of the spheres.
  template <typename T>
  static ISOTACT_INLINE auto are_near(T dx, T dy, T dz, T radius_a, T radius_b, T reach) {
    const T most = (radius_a + radius_b) + reach;
    return (dx * dx + dy * dy) + dz * dz <= most * most;
  }
  static ISOTACT_INLINE unsigned sphere_bits(const TreeBlock& block, const Query& ball,
                                             float reach) {
    unsigned bits = 0;
    for (unsigned i = 0; i < kTreeLanes; i += kWidth)
      bits |= bits_of(are_near(load<L>(block.lower[0] + i) - L(ball.lower[0]),
                               load<L>(block.lower[1] + i) - L(ball.lower[1]),
                               load<L>(block.lower[2] + i) - L(ball.lower[2]),
                               load<L>(block.upper[0] + i), L(ball.upper[0]), L(reach)))
              << i;
    return bits;
  }

  // Children of a node that are near a volume of the other tree.
  static ISOTACT_INLINE unsigned near_children(const TreeView& tree, std::uint32_t node,
                                               const Query& volume, float reach, TreeSink& sink) {
    const TreeBlock& block = tree.node_blocks[node];
    const unsigned count = tree.nodes[node].count;
    sink.tests += count;
    const unsigned bits = tree.has_spheres ? sphere_bits(block, volume, reach)
                                           : overlap_bits<L>(block, widen(volume, reach));
    return bits & ((1U << count) - 1U);
  }

  static ISOTACT_INLINE bool are_near(const TreeView& tree, const TreeVolume& a,
                                      const TreeVolume& b, float reach) {
    if (tree.has_spheres)
      return are_near(a.lower[0] - b.lower[0], a.lower[1] - b.lower[1], a.lower[2] - b.lower[2],
                      a.upper[0], b.upper[0], reach);
    const Query wide = widen(query_of(a), reach);
    bool near = true;
    for (int k = 0; k < 3; ++k)
      near = near && b.lower[k] <= wide.upper[k] && b.upper[k] >= wide.lower[k];
    return near;
  }

  // The box of the triangle in a lane of leaf_blocks.
  static ISOTACT_INLINE void compute_box(const TreeView& tree, std::size_t lane, double (&lower)[3],
                                         double (&upper)[3]) {
    for (int k = 0; k < 3; ++k) {
      lower[k] = __builtin_inf();
      upper[k] = -__builtin_inf();
    }
    for (int end = 0; end < 2; ++end) {
      const double* positions = end == 0 ? tree.places.t0 : tree.places.t1;
      if (positions == nullptr) continue;
      for (unsigned corner = 0; corner < 3; ++corner) {
        const double* p = positions + std::size_t{3} * tree.corners[3 * lane + corner];
        for (int k = 0; k < 3; ++k) {
          lower[k] = lesser(p[k], lower[k]);
          upper[k] = greater(p[k], upper[k]);
        }
      }
    }
  }
  static bool are_near_by_doubles(const TreeTask& task, std::size_t lane_a, std::size_t lane_b) {
    double la[3], ua[3], lb[3], ub[3];
    compute_box(*task.a, lane_a, la, ua);
    compute_box(*task.b, lane_b, lb, ub);
    bool near = true;
    for (int k = 0; k < 3; ++k)
      near = near && la[k] <= ub[k] + task.margin && lb[k] <= ua[k] + task.margin;
    return near;
  }

  static ISOTACT_INLINE void emit(const TreeTask& task, std::size_t lane_a, std::size_t first_b,
                                  unsigned bits, unsigned sure, TreeSink& sink) {
    if (sink.capacity - sink.count < kTreeLanes) sink.flush(sink);
    for (; bits != 0; bits &= bits - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(bits));
      const std::size_t lane_b = first_b + lane;
      if ((sure >> lane & 1U) == 0 && !are_near_by_doubles(task, lane_a, lane_b)) continue;
      const std::uint32_t a = task.a->triangles[lane_a], b = task.b->triangles[lane_b];
      const bool swaps = task.is_self && a > b;
      sink.pairs[sink.count++] = {swaps ? b : a, swaps ? a : b};
    }
  }

  static ISOTACT_INLINE void find_in_leaves(const TreeTask& task, std::uint32_t a, std::uint32_t b,
                                            TreeSink& sink) {
    const TreeLeaf leaf_a = task.a->leaves[a], leaf_b = task.b->leaves[b];
    const bool within = task.is_self && a == b;
    const Query around_b = widen(query_of(task.b->leaf_boxes[b]), task.reach);
    for (std::uint32_t i = 0; i < leaf_a.count; i += kTreeLanes) {
      const TreeBlock& block_a = task.a->leaf_blocks[leaf_a.first_block + i / kTreeLanes];
      const std::size_t first_a = std::size_t{leaf_a.first_block} * kTreeLanes + i;
      unsigned near = overlap_bits<L>(block_a, around_b) & first_lanes(leaf_a.count - i);
      for (; near != 0; near &= near - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctz(near));
        const Query box = lane_of(block_a, lane), wide = widen(box, task.reach);
        for (std::uint32_t j = within ? i : 0; j < leaf_b.count; j += kTreeLanes) {
          const TreeBlock& block_b = task.b->leaf_blocks[leaf_b.first_block + j / kTreeLanes];
          unsigned hits = overlap_bits<L>(block_b, wide) & first_lanes(leaf_b.count - j);
          if (within && i == j) hits &= 0xfeU << lane;
          if (hits == 0) continue;
          const unsigned sure =
              task.reach < kTreeHuge ? overlap_bits<L>(block_b, narrow(box, wide, task.reach)) : 0U;
          emit(task, first_a + lane, std::size_t{leaf_b.first_block} * kTreeLanes + j, hits, sure,
               sink);
        }
      }
      sink.tests += kTreeLanes;
    }
  }

  static ISOTACT_INLINE unsigned first_lanes(std::uint32_t count) {
    return count < kTreeLanes ? (1U << count) - 1U : 0xffU;
  }

  template <TreeEnds ends>
  static ISOTACT_INLINE void arrive(const TreeTask& task, std::uint32_t a, std::uint32_t b,
                                    TreeSink& sink) {
    if constexpr (ends == TreeEnds::kTriangles) {
      find_in_leaves(task, a & ~kTreeEnd, b & ~kTreeEnd, sink);
    } else {
      if (sink.capacity == sink.count) sink.flush(sink);
      sink.pairs[sink.count++] = {a & ~kTreeEnd, b & ~kTreeEnd};
    }
  }

  template <TreeEnds ends>
  static ISOTACT_INLINE const TreeVolume& volume_of(const TreeView& tree, std::uint32_t child) {
    if ((child & kTreeEnd) == 0) return tree.node_volumes[child];
    return (ends == TreeEnds::kParts ? tree.part_volumes : tree.leaf_volumes)[child & ~kTreeEnd];
  }

  template <TreeEnds ends>
  struct Walk {
    const TreeTask& task;
    TreeSink& sink;
    unsigned size;
    TreePairKey stack[kStackSize];  // Uninitialised: it is large.

    ISOTACT_INLINE Walk(const TreeTask& the_task, TreeSink& the_sink)
        : task(the_task), sink(the_sink), size(0) {}
    ISOTACT_INLINE void put(std::uint32_t a, std::uint32_t b) {
      if ((a & b & kTreeEnd) != 0)
        arrive<ends>(task, a, b, sink);
      else
        stack[size++] = {a, b};
    }
    ISOTACT_INLINE void put_children_of_b(std::uint32_t a, const Query& volume, std::uint32_t b) {
      unsigned bits = near_children(*task.b, b, volume, task.reach, sink);
      for (; bits != 0; bits &= bits - 1) put(a, task.b->nodes[b].children[__builtin_ctz(bits)]);
    }
    ISOTACT_INLINE void put_children(std::uint32_t a, std::uint32_t b) {
      const Query around_b = query_of(volume_of<ends>(*task.b, b));
      unsigned bits = near_children(*task.a, a, around_b, task.reach, sink);
      for (; bits != 0; bits &= bits - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctz(bits));
        const std::uint32_t child = task.a->nodes[a].children[lane];
        if ((b & kTreeEnd) != 0)
          put(child, b);
        else
          put_children_of_b(child, lane_of(task.a->node_blocks[a], lane), b);
      }
    }
    // For a node with itself: each child with itself, and with those after it.
    ISOTACT_INLINE void put_children_within(std::uint32_t node) {
      const TreeNode& n = task.a->nodes[node];
      for (unsigned i = 0; i < n.count; ++i) {
        put(n.children[i], n.children[i]);
        const Query volume = lane_of(task.a->node_blocks[node], i);
        unsigned bits = near_children(*task.a, node, volume, task.reach, sink) & (0xfeU << i);
        for (; bits != 0; bits &= bits - 1) put(n.children[i], n.children[__builtin_ctz(bits)]);
      }
    }
  };

  template <TreeEnds ends>
  static void find(const TreeTask& task, TreePairKey roots, TreeSink& sink) {
    if (!are_near(*task.a, volume_of<ends>(*task.a, roots.a), volume_of<ends>(*task.b, roots.b),
                  task.reach))
      return;
    Walk<ends> walk(task, sink);
    walk.put(roots.a, roots.b);
    while (walk.size > 0) {
      const TreePairKey pair = walk.stack[--walk.size];
      if (task.is_self && pair.a == pair.b)
        walk.put_children_within(pair.a);
      else if ((pair.a & kTreeEnd) != 0)
        walk.put_children_of_b(pair.a, query_of(volume_of<ends>(*task.a, pair.a)), pair.b);
      else
        walk.put_children(pair.a, pair.b);
    }
  }
};

}  // namespace isotact::detail
