// Triangles in a box, and pairs of triangles whose boxes overlap. These are templates over a
// visitor, which returns void, or a bool that says whether to continue.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "isotact/export.h"
#include "isotact/geometry/bvh/bvh.h"

namespace ISOTACT_PUBLIC isotact {
namespace detail {

template <typename Visitor, typename... Arguments>
bool visit_and_go_on(Visitor& visitor, const Arguments&... arguments) {
  if constexpr (std::is_convertible_v<std::invoke_result_t<Visitor&, const Arguments&...>, bool>) {
    return visitor(arguments...);
  } else {
    visitor(arguments...);
    return true;
  }
}

// Returns the used children whose boxes overlap the box, one bit per child; touching boxes overlap.
inline unsigned children_overlapping(const BvhNode& node, const Aabbf& box) {
  unsigned bits = 0;
  for (int i = 0; i < kNodeWidth; ++i) {
    const bool apart = (node.lower[0][i] > box.upper.x) | (node.upper[0][i] < box.lower.x) |
                       (node.lower[1][i] > box.upper.y) | (node.upper[1][i] < box.lower.y) |
                       (node.lower[2][i] > box.upper.z) | (node.upper[2][i] < box.lower.z);
    bits |= (apart ? 0U : 1U) << static_cast<unsigned>(i);
  }
  return bits & ((1U << node.child_count) - 1);
}

// Returns the box of one triangle of a block.
inline Aabbf lane_bounds(const TriangleBlock& block, std::size_t lane) {
  Aabbf box;
  for (const auto& corner : block.corner)
    extend(box, Vec3f{corner[0][lane], corner[1][lane], corner[2][lane]});
  return box;
}

// Calls visit(block index) for blocks numbered first_block or higher whose node boxes overlap the
// box, until it returns false. Returns true if no call returned false.
template <typename Visit>
bool visit_blocks_in_box(const Bvh& bvh, const Aabbf& box, std::uint32_t first_block,
                         Visit&& visit) {
  if (bvh.nodes().empty()) return true;
  std::array<std::uint32_t, kStackSize> stack;
  std::size_t size = 0;
  stack[size++] = 0;
  while (size > 0) {
    const BvhNode& node = bvh.nodes()[stack[--size]];
    if (node.end_block <= first_block) continue;
    unsigned bits = children_overlapping(node, box);
    for (; bits != 0; bits &= bits - 1) {
      const std::uint32_t child = node.child[__builtin_ctz(bits)];
      if ((child & kBlockBit) == 0) {
        stack[size++] = child;
      } else if (const std::uint32_t block = child & ~kBlockBit; block >= first_block) {
        if (!visit(block)) return false;
      }
    }
  }
  return true;
}

}  // namespace detail

// Calls visitor(triangle) once for every triangle whose axis-aligned box overlaps the given one;
// touching boxes overlap. The order depends on the hierarchy alone. The triangles are a superset of
// those that meet the box.
template <typename Visitor>
void visit_triangles_in_box(const Bvh& bvh, const Aabbf& box, Visitor&& visitor) {
  detail::visit_blocks_in_box(bvh, box, 0, [&](std::uint32_t index) {
    const detail::TriangleBlock& block = bvh.blocks()[index];
    for (std::size_t lane = 0; lane < detail::kBlockWidth; ++lane) {
      if (block.triangle[lane] == kNoTriangle) break;
      if (overlaps(detail::lane_bounds(block, lane), box) &&
          !detail::visit_and_go_on(visitor, block.triangle[lane]))
        return false;
    }
    return true;
  });
}

// Calls visitor(a, b), with a < b, for every pair of triangles that belongs to blocks [begin_block,
// end_block) and whose axis-aligned boxes overlap, touching included. Each pair belongs to one
// block of the hierarchy: calls over ranges that cover [0, bvh.blocks().size()) give each
// pair once, and may run on different threads.
template <typename Visitor>
void for_each_overlapping_pair(const Bvh& bvh, std::size_t begin_block, std::size_t end_block,
                               Visitor&& visitor) {
  using detail::kBlockWidth;
  const auto visit = [&visitor](std::uint32_t a, std::uint32_t b) {
    return a < b ? detail::visit_and_go_on(visitor, a, b) : detail::visit_and_go_on(visitor, b, a);
  };
  assert(end_block <= bvh.blocks().size());
  for (std::size_t i = begin_block; i < end_block; ++i) {
    const detail::TriangleBlock& mine = bvh.blocks()[i];
    std::array<Aabbf, kBlockWidth> boxes;
    Aabbf all;
    std::size_t count = 0;
    for (; count < kBlockWidth && mine.triangle[count] != kNoTriangle; ++count) {
      boxes[count] = detail::lane_bounds(mine, count);
      extend(all, boxes[count]);
    }
    const bool go_on = detail::visit_blocks_in_box(
        bvh, all, static_cast<std::uint32_t>(i), [&](std::uint32_t other_index) {
          const detail::TriangleBlock& other = bvh.blocks()[other_index];
          for (std::size_t j = 0; j < kBlockWidth && other.triangle[j] != kNoTriangle; ++j) {
            const Aabbf box = detail::lane_bounds(other, j);
            // Inside a block, each pair once.
            const std::size_t end = other_index == i ? j : count;
            for (std::size_t k = 0; k < end; ++k)
              if (overlaps(boxes[k], box) && !visit(mine.triangle[k], other.triangle[j]))
                return false;
          }
          return true;
        });
    if (!go_on) return;
  }
}

// Visits every pair of the mesh, including pairs that share an edge or a corner.
template <typename Visitor>
void for_each_overlapping_pair(const Bvh& bvh, Visitor&& visitor) {
  for_each_overlapping_pair(bvh, 0, bvh.blocks().size(), visitor);
}

}  // namespace isotact
