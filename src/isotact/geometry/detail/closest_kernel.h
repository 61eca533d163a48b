// The search for the closest point, over the widths that a processor offers.
//
// Why culling by boxes never loses the answer. Let d be the true distance of a triangle, S the
// largest extent of the mesh and e = 2^-24.
//   * find_nearest computes in double the distance of a point that lies on the triangle but for
//     rounding, so its result is at least d (1 - 2^-48) - 2^-48 S.
//   * The axes of a node are unit vectors rounded to float: their matrix stretches no vector by
//   more
//     than 1 + 2^-22. The sides of its boxes, as the kernel computes them, enclose the triangles'
//     exact local coordinates (orient_nodes.h). So the exact distance to a box, in exact local
//     coordinates of the point, is at most d (1 + 2^-22).
//   * The point's computed local coordinates y are off by at most 4.1 e |p - origin|, and |p -
//     origin| is at most 1.001 (|y0| + |y1| + |y2|): both sides of every box are therefore moved
//     outwards by 8 e times that sum, plus 2^-126 where products underflow.
//   * Then each side's distance is off by a factor of at most 1 + e, and squares and sums by 1 + 4e
//     together: the computed square is at most d^2 (1 + 2^-20), plus 2^-148 where squares
//     underflow.
// A triangle whose computed distance reaches the best one, b, thus has d <= b (1 + 2^-47) + 2^-47 S
// and a box whose computed square is below (b (1 + 2^-19) + margin)^2 + kTiny with margin = 2^-44
// S, even after that is rounded to float. Only boxes beyond it are culled. Where p - origin
// overflows, the moved sides are NaN and greater() makes the distance 0; where a box's square
// overflows to infinity, so does the bound, or d is truly beyond it.
#pragma once

#include "isotact/geometry/detail/bvh_kernels.h"

namespace isotact::detail {

inline constexpr double kClosestMargin = 0x1p-44;  // in extents of the mesh

struct ClosestEntry {
  std::int32_t key;
  std::uint32_t child;
};

ISOTACT_INLINE float cull_bound(double best_sq, double margin) {
  constexpr double kTiny = 0x1p-120;
  const double reach = __builtin_sqrt(best_sq) * (1 + 0x1p-19) + margin;
  return static_cast<float>(reach * reach + kTiny);
}

// The highest key of a distance within the bound.
ISOTACT_INLINE std::int32_t key_of(float bound) {
  std::int32_t bits;
  __builtin_memcpy(&bits, &bound, sizeof(bits));
  return bits | 7;
}

// F: float lanes for boxes, D: double lanes for triangles.
template <typename F, typename D>
struct ClosestKernel {
  using Integers = decltype(F(0.0F) < F(0.0F));  // as many lanes as F
  static constexpr unsigned kParts = kNodeWidth / F::kWidth;

  static ISOTACT_INLINE Integers numbers_from(int first) {
    Integers numbers;
    for (int i = 0; i < F::kWidth; ++i) numbers[i] = first + i;
    return numbers;
  }

  // What a node's children are sorted by: the squared distances to their boxes, which order like
  // integers, with the child's number in the lowest bits so that all differ. -1: out of reach.
  struct Keys {
    Integers part[kParts];
    unsigned within;  // which children are in reach
  };

  static ISOTACT_INLINE Keys test_children(const OrientedNode& node, const float* p, float bound) {
    const float x = p[0] - node.origin[0], y = p[1] - node.origin[1], z = p[2] - node.origin[2];
    float local[3], sum = 0;
    for (int axis = 0; axis < 3; ++axis) {
      const float* row = node.axes[axis];
      local[axis] = row[0] * x + row[1] * y + row[2] * z;
      sum += __builtin_fabsf(local[axis]);
    }
    const float slack = sum * 0x1p-21F + 0x1p-126F;
    Keys keys;
    keys.within = 0;
    for (unsigned part = 0; part < kParts; ++part) {
      const int i = static_cast<int>(part) * F::kWidth;
      F square(0.0F);
      for (int axis = 0; axis < 3; ++axis) {
        const F step(node.step[axis]);
        const F below = load_bytes<F>(node.lower[axis] + i) * step - F(local[axis] + slack);
        const F above = F(local[axis] - slack) - load_bytes<F>(node.upper[axis] + i) * step;
        const F outside = greater(greater(below, above), F(0.0F));
        square = square + outside * outside;
      }
      const Integers numbers = numbers_from(i);
      const Integers within = (square <= F(bound)) & (numbers < static_cast<int>(node.child_count));
      keys.part[part] = ((reinterpret_cast<Integers>(square.v) & ~7) | numbers) | ~within;
      keys.within |= bits_of(within) << i;
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

  // Most of a search is waiting for memory: what may be looked at soon is called for at once.
  static ISOTACT_INLINE void prefetch(const ClosestSearch& search, std::uint32_t child) {
    const char* node = reinterpret_cast<const char*>(search.nodes + child);
    const char* block = reinterpret_cast<const char*>(search.blocks + (child & ~kBlockBit));
    const char* address = (child & kBlockBit) != 0 ? block : node;
    __builtin_prefetch(address);
    __builtin_prefetch(address + 64);
    __builtin_prefetch(address + 128);
  }

  // Nearest child last, so that it is taken first. Each child's place is the number of children
  // that are further away, found without the branches of a sort.
  static ISOTACT_INLINE int push_sorted(const ClosestSearch& search, const OrientedNode& node,
                                        const Keys& keys, ClosestEntry* stack, int size) {
    alignas(32) std::int32_t plain[kNodeWidth];
    __builtin_memcpy(plain, keys.part, sizeof(plain));
    for (unsigned within = keys.within; within != 0; within &= within - 1) {
      const int i = __builtin_ctz(within);
      unsigned further = 0;
      for (unsigned part = 0; part < kParts; ++part)
        further |= bits_of(keys.part[part] > plain[i]) << (part * unsigned{F::kWidth});
      const std::uint32_t child = node.child[i];
      prefetch(search, child);
      stack[size + __builtin_popcount(further)] = {plain[i], child};
    }
    return size + __builtin_popcount(keys.within);
  }

  static void find(const ClosestSearch& search, ClosestFound& best) {
    const Point3<D> p{D(double{search.point[0]}), D(double{search.point[1]}),
                      D(double{search.point[2]})};
    ClosestEntry stack[kStackSize];
    stack[0] = {0, 0};
    int size = 1;
    float bound = cull_bound(best.distance_sq, search.margin);
    std::int32_t last_key = key_of(bound);
    while (size > 0) {
      const ClosestEntry entry = stack[--size];
      if (entry.key > last_key) continue;
      if ((entry.child & kBlockBit) != 0) {
        const std::uint32_t block = entry.child & ~kBlockBit;
        if (test_block(search.blocks[block], block, p, best)) {
          bound = cull_bound(best.distance_sq, search.margin);
          last_key = key_of(bound);
        }
      } else {
        const OrientedNode& node = search.nodes[entry.child];
        size = push_sorted(search, node, test_children(node, search.point, bound), stack, size);
      }
    }
  }
};

}  // namespace isotact::detail
