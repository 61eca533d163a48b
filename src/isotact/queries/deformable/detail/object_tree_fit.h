// Boxes around vertices.
#pragma once

#include "isotact/queries/deformable/detail/object_tree_kernel.h"

namespace isotact::detail {

// Four doubles, of which the fourth is ignored.
template <bool wide>
struct TreePoint;

template <>
struct TreePoint<false> {
  Lanes<double, 2> xy, zw;

  static ISOTACT_INLINE TreePoint all(double value) { return {value, value}; }
  // The memory after a point is the next point, or nothing.
  static ISOTACT_INLINE TreePoint at(const double* p, bool is_last) {
    using Two = Lanes<double, 2>;
    return {load<Two>(p), is_last ? Two(p[2]) : load<Two>(p + 2)};
  }
  // NaN in `a` leaves b unchanged.
  static ISOTACT_INLINE TreePoint lower_of(const TreePoint& a, const TreePoint& b) {
    return {lesser(a.xy, b.xy), lesser(a.zw, b.zw)};
  }
  static ISOTACT_INLINE TreePoint upper_of(const TreePoint& a, const TreePoint& b) {
    return {greater(a.xy, b.xy), greater(a.zw, b.zw)};
  }
  ISOTACT_INLINE Lanes<float, 4> nearest() const {
    return Lanes<float, 4>::Raw{static_cast<float>(xy.v[0]), static_cast<float>(xy.v[1]),
                                static_cast<float>(zw.v[0]), static_cast<float>(zw.v[1])};
  }
};

#if defined(__AVX2__)
template <>
struct TreePoint<true> {
  Lanes<double, 4> xyzw;

  static ISOTACT_INLINE TreePoint all(double value) { return {value}; }
  static ISOTACT_INLINE TreePoint at(const double* p, bool is_last) {
    using Four = Lanes<double, 4>;
    return {is_last ? Four(Four::Raw{p[0], p[1], p[2], p[2]}) : load<Four>(p)};
  }
  static ISOTACT_INLINE TreePoint lower_of(const TreePoint& a, const TreePoint& b) {
    return {lesser(a.xyzw, b.xyzw)};
  }
  static ISOTACT_INLINE TreePoint upper_of(const TreePoint& a, const TreePoint& b) {
    return {greater(a.xyzw, b.xyzw)};
  }
  ISOTACT_INLINE Lanes<float, 4> nearest() const { return _mm256_cvtpd_ps(xyzw.v); }
};
#endif

template <typename L>
struct TreeFitKernel {
  using Point = TreePoint<(L::kWidth > 4)>;
  using Four = Lanes<float, 4>;

  struct PointBox {
    Point lower = Point::all(__builtin_inf()), upper = Point::all(-__builtin_inf());
  };
  struct FloatVolume {
    Four lower = Four(kTreeLargest), upper = Four(-kTreeLargest);
  };

  static ISOTACT_INLINE void extend(PointBox& box, const double* positions, std::uint32_t vertex,
                                    std::uint32_t last) {
    const Point p = Point::at(positions + std::size_t{3} * vertex, vertex == last);
    box.lower = Point::lower_of(p, box.lower);
    box.upper = Point::upper_of(p, box.upper);
  }

  // Clamped to finite numbers, which loses no overlap, since all boxes are clamped alike.
  static ISOTACT_INLINE FloatVolume round_outwards(const PointBox& box) {
    const Four most(kTreeLargest), least(-kTreeLargest), slack(kTreeSlack), ulp(0x1p-23F);
    const Four l = lesser(box.lower.nearest(), most), h = greater(box.upper.nearest(), least);
    return {greater(l - (greater(l, -l) * ulp + slack), least),
            lesser(h + (greater(h, -h) * ulp + slack), most)};
  }

  static ISOTACT_INLINE void extend(FloatVolume& box, const FloatVolume& other) {
    box.lower = lesser(box.lower, other.lower);
    box.upper = greater(box.upper, other.upper);
  }

  static ISOTACT_INLINE FloatVolume load_volume(const TreeVolume& from) {
    return {load<Four>(from.lower), load<Four>(from.upper)};
  }
  static ISOTACT_INLINE void store_volume(const FloatVolume& box, TreeVolume& to) {
    store(box.lower, to.lower);
    store(box.upper, to.upper);
  }

  // Stores four boxes to lanes [at, at + 4) of rows.
  static ISOTACT_INLINE void store_four(const Four (&v)[4], float (&to)[3][kTreeLanes],
                                        unsigned at) {
    const auto ab = __builtin_shufflevector(v[0].v, v[1].v, 0, 4, 1, 5);
    const auto cd = __builtin_shufflevector(v[2].v, v[3].v, 0, 4, 1, 5);
    const auto ab_z = __builtin_shufflevector(v[0].v, v[1].v, 2, 6, 3, 7);
    const auto cd_z = __builtin_shufflevector(v[2].v, v[3].v, 2, 6, 3, 7);
    store(Four(__builtin_shufflevector(ab, cd, 0, 1, 4, 5)), to[0] + at);
    store(Four(__builtin_shufflevector(ab, cd, 2, 3, 6, 7)), to[1] + at);
    store(Four(__builtin_shufflevector(ab_z, cd_z, 0, 1, 4, 5)), to[2] + at);
  }

  template <typename BoxOf>
  static ISOTACT_INLINE FloatVolume fill_block(TreeBlock& block, unsigned count, BoxOf&& box_of) {
    FloatVolume all;
    for (unsigned at = 0; at < kTreeLanes; at += 4) {
      Four lower[4], upper[4];
      for (unsigned i = 0; i < 4; ++i) {
        FloatVolume box;  // Empty.
        if (at + i < count) box = box_of(at + i);
        extend(all, box);
        lower[i] = box.lower;
        upper[i] = box.upper;
      }
      store_four(lower, block.lower, at);
      store_four(upper, block.upper, at);
    }
    return all;
  }

  static void fit_part_boxes(const TreeView& tree, std::uint32_t begin, std::uint32_t end) {
    const TreePlaces places = tree.places;
    for (std::uint32_t i = begin; i < end; ++i) {
      const TreePart& part = tree.parts[i];
      const std::uint32_t* vertices = tree.part_vertices + part.first_vertex;
      PointBox box;
      for (std::uint32_t k = 0; k < part.vertex_count; ++k)
        extend(box, places.t0, vertices[k], places.last_vertex);
      if (places.t1 != nullptr)
        for (std::uint32_t k = 0; k < part.vertex_count; ++k)
          extend(box, places.t1, vertices[k], places.last_vertex);
      store_volume(round_outwards(box), tree.part_volumes[i]);
    }
  }

  static ISOTACT_INLINE FloatVolume fit_leaf(const TreeView& tree, const TreeLeaf& leaf) {
    const TreePlaces places = tree.places;
    FloatVolume all;
    std::uint32_t left = leaf.count;
    for (std::uint32_t block = leaf.first_block; left > 0; ++block) {
      const unsigned count = left < kTreeLanes ? left : kTreeLanes;
      const std::uint32_t* corners = tree.corners + std::size_t{3} * kTreeLanes * block;
      extend(all,
             fill_block(
                 tree.leaf_blocks[block], count, [&](unsigned lane) __attribute__((always_inline)) {
                   PointBox box;
                   for (unsigned k = 0; k < 3; ++k)
                     extend(box, places.t0, corners[3 * lane + k], places.last_vertex);
                   if (places.t1 != nullptr)
                     for (unsigned k = 0; k < 3; ++k)
                       extend(box, places.t1, corners[3 * lane + k], places.last_vertex);
                   return round_outwards(box);
                 }));
      left -= count;
    }
    return all;
  }

  static void fit_part(const TreeView& tree, const TreePart& part) {
    for (std::uint32_t i = 0; i < part.leaf_count; ++i) {
      const std::uint32_t leaf = part.first_leaf + i;
      store_volume(fit_leaf(tree, tree.leaves[leaf]), tree.leaf_boxes[leaf]);
    }
    // Nodes come before their children.
    for (std::uint32_t i = part.node_count; i-- > 0;)
      fit_node(tree, part.first_node + i, tree.leaf_boxes);
  }

  // From its children's volumes.
  static ISOTACT_INLINE void fit_node(const TreeView& tree, std::uint32_t index,
                                      const TreeVolume* ends) {
    const TreeNode& node = tree.nodes[index];
    const FloatVolume all = fill_block(
        tree.node_blocks[index], node.count, [&](unsigned lane) __attribute__((always_inline)) {
          const std::uint32_t child = node.children[lane];
          return load_volume((child & kTreeEnd) != 0 ? ends[child & ~kTreeEnd]
                                                     : tree.node_volumes[child]);
        });
    store_volume(all, tree.node_volumes[index]);
  }

  static void fit_top(const TreeView& tree, const std::uint32_t* nodes, std::uint32_t count) {
    for (std::uint32_t i = count; i-- > 0;) fit_node(tree, nodes[i], tree.part_volumes);
  }
};

}  // namespace isotact::detail
