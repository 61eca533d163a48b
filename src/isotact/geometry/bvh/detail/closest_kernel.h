// The search for the closest point, over the widths that a processor offers.
//
// Why culling by boxes never loses the answer. Let d be the true distance of a triangle, S the
// largest extent of the mesh and e = 2^-24.
//   * find_nearest computes in double the distance of a point that lies on the triangle but for
//     rounding. So its result is at least d (1 - 2^-48) - 2^-48 S.
//   * The axes of a node are unit vectors rounded to float: their matrix stretches no vector by
//   more
//     than 1 + 2^-22. The sides of its boxes, as the kernel computes them, enclose the triangles'
//     exact local coordinates (orient_nodes.h). So the exact distance to a box, in exact local
//     coordinates of the point, is at most d (1 + 2^-22).
//   * The point's computed local coordinates y are off by at most 4.1 e |p - origin|. Here |p -
//     origin| is at most 1.001 (|y0| + |y1| + |y2|). Both sides of every box are therefore moved
//     outwards by 8 e times that sum, plus 2^-126 where products underflow.
//   * Then each side's distance is off by a factor of at most 1 + e, and squares and sums by 1 + 4e
//     together. The computed square is at most d^2 (1 + 2^-20), plus 2^-148 where squares
//     underflow.
// A triangle whose computed distance reaches the best one, b, thus has d <= b (1 + 2^-47) + 2^-47
// S. Its box has a computed square below (b (1 + 2^-19) + margin)^2 + kTiny with margin = 2^-44 S.
// This holds even after that bound is rounded to float. Only boxes beyond it are culled. If p -
// origin overflows, the moved sides are NaN and greater() makes the distance 0. If a box's square
// overflows to infinity, so does the bound, or d is truly beyond it.
#pragma once

#include "isotact/geometry/bvh/detail/bvh_kernels.h"
#include "isotact/geometry/bvh/detail/child_keys.h"

namespace isotact::detail {

inline constexpr double kClosestMargin = 0x1p-44;  // in extents of the mesh

ISOTACT_INLINE float cull_bound(double best_sq, double margin) {
  constexpr double kTiny = 0x1p-120;
  const double reach = __builtin_sqrt(best_sq) * (1 + 0x1p-19) + margin;
  return static_cast<float>(reach * reach + kTiny);
}

// F: float lanes for boxes, D: double lanes for triangles.
template <typename F, typename D>
struct ClosestKernel {
  // Squared distances to the boxes of a node's children choose and order them.
  static ISOTACT_INLINE ChildKeys<F> test_children(const OrientedNode& node, const float* p,
                                                   float bound) {
    const float x = p[0] - node.origin[0], y = p[1] - node.origin[1], z = p[2] - node.origin[2];
    float local[3], sum = 0;
    for (int axis = 0; axis < 3; ++axis) {
      const float* row = node.axes[axis];
      local[axis] = row[0] * x + row[1] * y + row[2] * z;
      sum += __builtin_fabsf(local[axis]);
    }
    const float slack = sum * 0x1p-21F + 0x1p-126F;
    ChildKeys<F> keys;
    for (unsigned part = 0; part < ChildKeys<F>::kParts; ++part) {
      const int i = static_cast<int>(part) * F::kWidth;
      F square(0.0F);
      for (int axis = 0; axis < 3; ++axis) {
        const F step(node.step[axis]);
        const F below = load_bytes<F>(node.lower[axis] + i) * step - F(local[axis] + slack);
        const F above = F(local[axis] - slack) - load_bytes<F>(node.upper[axis] + i) * step;
        const F outside = greater(greater(below, above), F(0.0F));
        square = square + outside * outside;
      }
      keys.set(part, square, square <= F(bound), node.child_count);
    }
    return keys;
  }

  static ISOTACT_INLINE bool test_block(const TriangleBlock& block, std::uint32_t block_index,
                                        const Point3<D>& p, ClosestFound& best) {
    bool improved = false;
    for (int i = 0; i < kBlockWidth; i += D::kWidth) {
      const auto corner = [&](int k) __attribute__((always_inline)) {
        return Point3<D>{load_wide<D>(block.corner[k][0] + i), load_wide<D>(block.corner[k][1] + i),
                         load_wide<D>(block.corner[k][2] + i)};
      };
      const D d = find_nearest(p, corner(0), corner(1), corner(2)).distance_sq;
      unsigned candidates = bits_of(d <= D(best.distance_sq));
      if (candidates == 0) continue;
      double distances_sq[D::kWidth];
      store(d, distances_sq);
      for (; candidates != 0; candidates &= candidates - 1) {
        const int lane = __builtin_ctz(candidates);
        const std::uint32_t triangle = block.triangle[i + lane];
        const double distance_sq = distances_sq[lane];
        if (distance_sq < best.distance_sq ||
            (distance_sq == best.distance_sq && triangle < best.triangle)) {
          best = {distance_sq, triangle, block_index, static_cast<std::uint32_t>(i + lane)};
          improved = true;
        }
      }
    }
    return improved;
  }

  static void find(const ClosestSearch& search, ClosestFound& best) {
    const Point3<D> p{D(double{search.point[0]}), D(double{search.point[1]}),
                      D(double{search.point[2]})};
    ChildEntry stack[kStackSize];
    stack[0] = {0, 0};
    int size = 1;
    float bound = cull_bound(best.distance_sq, search.margin);
    std::int32_t last_key = last_key_at(bound);
    while (size > 0) {
      const ChildEntry entry = stack[--size];
      if (entry.key > last_key) continue;
      if ((entry.child & kBlockBit) != 0) {
        const std::uint32_t block = entry.child & ~kBlockBit;
        if (test_block(search.blocks[block], block, p, best)) {
          if (best.distance_sq <= search.stop_sq) return;
          bound = cull_bound(best.distance_sq, search.margin);
          last_key = last_key_at(bound);
        }
      } else {
        const OrientedNode& node = search.nodes[entry.child];
        size = test_children(node, search.point, bound)
                   .push(node, search.nodes, search.blocks, stack, size);
      }
    }
  }
};

}  // namespace isotact::detail
