// Memory layout of a Bvh: plain arrays, no pointers. Kernels compiled for several processors read
// it, so nothing here has code.
#pragma once

#include <cstddef>
#include <cstdint>

#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {
namespace detail {

inline constexpr int kNodeWidth = 8;
inline constexpr int kBlockWidth = 4;

// The child of a node is another node (its index) or a block of triangles (its index and this bit).
inline constexpr std::uint32_t kBlockBit = 0x80000000U;

// Boxes of up to eight children. The axis comes first, then the child: eight lower.x are
// contiguous. Unused children have lower = +infinity and upper = -infinity.
struct alignas(64) BvhNode {
  float lower[3][kNodeWidth];
  float upper[3][kNodeWidth];
  std::uint32_t child[kNodeWidth];
  std::uint32_t child_count;
  std::uint32_t begin_block, end_block;  // The blocks below this node, and no others.
  std::uint32_t unused[5];
};
static_assert(sizeof(BvhNode) == 256);
static_assert(offsetof(BvhNode, child) == 192 && offsetof(BvhNode, child_count) == 224);

// The same node for closest points, with boxes rotated to lie along the surface. An oblique patch
// fills its axis-aligned box badly. A search from a distant point then has to visit dozens of boxes
// that protrude towards it. Rotated boxes are as thin as the patch. They are also small: eight bits
// per side, rounded outwards, so a node fits into three cache lines.
//   local coordinate i of p:  axes[i] . (p - origin)
//   side of a child:          lower[i][child] * step[i], in float
struct alignas(64) OrientedNode {
  float origin[3];
  float axes[3][3];  // Rows, orthonormal except for rounding.
  float step[3];
  std::int8_t lower[3][kNodeWidth];
  std::int8_t upper[3][kNodeWidth];
  std::uint32_t child[kNodeWidth];
  std::uint32_t child_count;
  std::uint32_t unused[12];
};
static_assert(sizeof(OrientedNode) == 192 && offsetof(OrientedNode, child) == 108);

// Up to four triangles with their corners side by side. Unused lanes have NaN corners, which every
// test rejects, and triangle = 0xffffffff.
struct alignas(32) TriangleBlock {
  float corner[3][3][kBlockWidth];  // Corner, axis, triangle.
  std::uint32_t triangle[kBlockWidth];
};
static_assert(sizeof(TriangleBlock) == 160 && offsetof(TriangleBlock, triangle) == 144);

// Moments for winding numbers. They describe the triangles below each child of a node, integrated
// over their area with normal n and offset d from the center. The moments are n and the symmetric
// part of d n (xx yy zz xy xz yz). The last one is the symmetric part of d d n (xxx yyy zzz xxy xxz
// xyy yyz xzz yzz xyz).
struct alignas(64) WindingNode {
  double center[3][kNodeWidth];
  double radius_sq[kNodeWidth];  // No corner is further from the center.
  double normal[3][kNodeWidth];
  double first[6][kNodeWidth];
  double second[10][kNodeWidth];
};
static_assert(sizeof(WindingNode) == 23 * 64);

// The builder splits by surface area down to this depth and in halves below it. Halving ends after
// at most 32 steps, since triangles are counted in 32 bits. No chain of children is longer:
inline constexpr int kMaxAreaDepth = 64;
inline constexpr int kMaxDepth = kMaxAreaDepth + 32;

// Taking a node off the stack puts at most eight children on it. Each level but the last therefore
// leaves at most seven entries waiting.
inline constexpr int kStackSize = 7 * kMaxDepth + 1;

}  // namespace detail
}  // namespace isotact
