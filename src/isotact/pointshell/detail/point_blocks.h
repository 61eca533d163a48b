// Points in blocks of eight close ones, for visits to all points that are near each other.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "isotact/base/aabb.h"
#include "isotact/base/detail/lanes.h"
#include "isotact/base/parallel.h"
#include "isotact/base/vec.h"

namespace isotact::detail {

// A tree of boxes over the blocks. Unlike a grid, it needs no cell size: a stray part far away or a
// heap of points costs nothing extra. Points may move: the blocks stay, and the boxes follow.
//
// Points are identified by their positions in the blocks, 0 to the number of points. order()
// returns the point at each position.
class PointBlocks {
 public:
  static constexpr std::size_t kSize = 8;

  // Coordinates side by side; NaN in positions without a point.
  struct alignas(16) Block {
    float x[kSize], y[kSize], z[kSize];
  };

  // Needs finite points, fewer than 2^31. The tree is the same for any number of threads.
  explicit PointBlocks(std::span<const Vec3f> points, Threads threads = {});

  std::span<const std::uint32_t> order() const { return order_; }

  // Takes new coordinates, in the order of the blocks. Visits become slower as points of one block
  // move apart.
  void move(std::span<const Vec3f> points, Threads threads = {});

  // Blocks. The points of a block begin at kSize times its number.
  std::size_t count() const { return blocks_.size(); }
  const Block& block(std::size_t block) const { return blocks_[block]; }
  std::size_t begin(std::size_t block) const { return block * kSize; }
  std::size_t end(std::size_t block) const { return std::min((block + 1) * kSize, order_.size()); }

  // Lists, ascending, the blocks that may have a point within reach of a point of this block, which
  // is among them. Replaces the content of `out`. Gives up and returns false if they are more than
  // `most`.
  bool list_near(std::size_t block, double reach, std::vector<std::uint32_t>& out,
                 std::size_t most = std::numeric_limits<std::size_t>::max()) const;

  // The same for all points of the blocks [first, last).
  void list_near_any(std::size_t first, std::size_t last, double reach,
                     std::vector<std::uint32_t>& out) const;

  // Replaces the content of `out` with what list_near(block, reach) lists, given a list that has at
  // least that.
  void narrow(std::size_t block, double reach, std::span<const std::uint32_t> list,
              std::vector<std::uint32_t>& out) const;

  // Calls visit(place), ascending, for points of these blocks (ascending). It visits all points
  // within reach of `at`, and perhaps some that are beyond it by rounding.
  template <typename Visit>
  void for_each_within(const Vec3f& at, double reach, std::span<const std::uint32_t> blocks,
                       Visit&& visit) const;

 private:
  // Blocks [begin, end). Nodes are stored depth first, the first half before the second. A half of
  // k blocks has 2k - 1 nodes.
  struct Node {
    std::size_t index, begin, end;

    bool is_block() const { return end - begin == 1; }
    Node first() const { return {index + 1, begin, middle()}; }
    Node second() const { return {index + 2 * (middle() - begin), middle(), end}; }
    std::size_t middle() const { return begin + (end - begin) / 2; }
  };
  // The lower corner and the negated upper one. The fourth number is 0.
  struct alignas(16) Box {
    float lower[4], minus_upper[4];
  };
  Node root() const { return {0, 0, blocks_.size()}; }

  void split(std::span<const Vec3f> points, const Node& node, Threads threads);
  void bound(const Node& node);
  static float limit_of(double reach);
  static float distance_sq(const Box& a, const Box& b);
  bool list_near(const Box& box, double reach, std::vector<std::uint32_t>& out,
                 std::size_t most) const;

  std::vector<std::uint32_t> order_;
  std::vector<Block> blocks_;
  std::vector<Box> boxes_;        // Boxes of nodes.
  std::vector<Box> block_boxes_;  // Boxes of blocks, once more.
};

template <typename Visit>
void PointBlocks::for_each_within(const Vec3f& at, double reach,
                                  std::span<const std::uint32_t> blocks, Visit&& visit) const {
  using L = Lanes<float, 4>;
  // Differences of floats are rounded by 2^-24 of themselves, and each of five further steps is
  // rounded likewise. Squares may underflow.
  const L limit(static_cast<float>(reach * reach * (1 + 0x1p-20)) + 0x1p-126F);
  const L at_x(at.x), at_y(at.y), at_z(at.z);
  for (const std::uint32_t b : blocks) {
    const Block& block = blocks_[b];
    unsigned hits = 0;
    for (std::size_t k = 0; k < kSize; k += 4) {
      const L x = load<L>(block.x + k) - at_x, y = load<L>(block.y + k) - at_y,
              z = load<L>(block.z + k) - at_z;
      hits |= bits_of(x * x + y * y + z * z <= limit) << k;
    }
    for (; hits != 0; hits &= hits - 1)
      visit(static_cast<std::uint32_t>(b * kSize) +
            static_cast<std::uint32_t>(std::countr_zero(hits)));
  }
}

}  // namespace isotact::detail
