// The search for the closest point, over the widths that a processor offers.
//
// Why culling by boxes never loses the answer. Let d be the true distance of a triangle, S the
// largest extent of the mesh and e = 2^-24.
//   * find_nearest computes in double the distance of a point that lies on the triangle but for
//     rounding, so its result is at least d (1 - 2^-48) - 2^-48 S.
//   * The axes of a node are unit vectors rounded to float: their matrix stretches no vector by more
//     than 1 + 2^-22. The sides of its boxes, as the kernel computes them, enclose the triangles'
//     exact local coordinates (orient_nodes.h). So the exact distance to a box, in exact local
//     coordinates of the point, is at most d (1 + 2^-22).
//   * The point's computed local coordinates y are off by at most 4.1 e |p - origin|, and |p -
//     origin| is at most 1.001 (|y0| + |y1| + |y2|): both sides of every box are therefore moved
//     outwards by 8 e times that sum, plus 2^-126 where products underflow.
//   * Then each side's distance is off by a factor of at most 1 + e, and squares and sums by 1 + 4e
//     together: the computed square is at most d^2 (1 + 2^-20), plus 2^-148 where squares underflow.
// A triangle whose computed distance reaches the best one, b, thus has d <= b (1 + 2^-47) + 2^-47 S
// and a box whose computed square is below (b (1 + 2^-19) + margin)^2 + kTiny with margin = 2^-44 S,
// even after that is rounded to float. Only boxes beyond it are culled. Where p - origin overflows,
// the moved sides are NaN and greater() makes the distance 0; where a box's square overflows to
// infinity, so does the bound, or d is truly beyond it.
#pragma once

#include "isotact/geometry/detail/bvh_kernels.h"

namespace isotact::detail {

inline constexpr double kClosestMargin = 0x1p-44;  // in extents of the mesh

struct ClosestEntry {
  float distance_sq;
  std::uint32_t child;
};

ISOTACT_INLINE float cull_bound(double best_sq, double margin) {
  constexpr double kTiny = 0x1p-120;
  const double reach = __builtin_sqrt(best_sq) * (1 + 0x1p-19) + margin;
  return static_cast<float>(reach * reach + kTiny);
}

// F: float lanes for boxes, D: double lanes for triangles.
template <typename F, typename D>
struct ClosestKernel {
  // Squared distances to the boxes of a node's children; returns which are within the bound.
  static ISOTACT_INLINE unsigned test_children(const OrientedNode& node, const float* p, F bound,
                                               float* distances_sq) {
    const float x = p[0] - node.origin[0], y = p[1] - node.origin[1], z = p[2] - node.origin[2];
    float local[3], sum = 0;
    for (int axis = 0; axis < 3; ++axis) {
      const float* row = node.axes[axis];
      local[axis] = row[0] * x + row[1] * y + row[2] * z;
      sum += __builtin_fabsf(local[axis]);
    }
    const float slack = sum * 0x1p-21F + 0x1p-126F;
    unsigned within = 0;
    for (int i = 0; i < kNodeWidth; i += F::kWidth) {
      F square(0.0F);
      for (int axis = 0; axis < 3; ++axis) {
        const F step(node.step[axis]);
        const F below = load_bytes<F>(node.lower[axis] + i) * step - F(local[axis] + slack);
        const F above = F(local[axis] - slack) - load_bytes<F>(node.upper[axis] + i) * step;
        const F outside = greater(greater(below, above), F(0.0F));
        square = square + outside * outside;
      }
      store(square, distances_sq + i);
      within |= bits_of(square <= bound) << i;
    }
    return within & ((1U << node.child_count) - 1);
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

  // Nearest child last, so that it is taken first.
  static ISOTACT_INLINE int push_sorted(const OrientedNode& node, unsigned within,
                                        const float* distances_sq, ClosestEntry* stack, int size) {
    const int first = size;
    for (; within != 0; within &= within - 1) {
      const int i = __builtin_ctz(within);
      const ClosestEntry entry{distances_sq[i], node.child[i]};
      int at = size++;
      for (; at > first && stack[at - 1].distance_sq < entry.distance_sq; --at)
        stack[at] = stack[at - 1];
      stack[at] = entry;
    }
    return size;
  }

  static void find(const ClosestSearch& search, ClosestFound& best) {
    const Point3<D> p{D(double{search.point[0]}), D(double{search.point[1]}),
                           D(double{search.point[2]})};
    ClosestEntry stack[kStackSize];
    stack[0] = {0.0F, 0};
    int size = 1;
    float bound = cull_bound(best.distance_sq, search.margin);
    while (size > 0) {
      const ClosestEntry entry = stack[--size];
      if (entry.distance_sq > bound) continue;
      if ((entry.child & kBlockBit) != 0) {
        const std::uint32_t block = entry.child & ~kBlockBit;
        if (test_block(search.blocks[block], block, p, best))
          bound = cull_bound(best.distance_sq, search.margin);
      } else {
        const OrientedNode& node = search.nodes[entry.child];
        alignas(32) float distances_sq[kNodeWidth];
        const unsigned within = test_children(node, search.point, F(bound), distances_sq);
        size = push_sorted(node, within, distances_sq, stack, size);
      }
    }
  }
};

}  // namespace isotact::detail
