// Checking arrays that claim to be a hierarchy. Each pass relies only on what those before it have
// checked.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "isotact/base/detail/lanes.h"
#include "isotact/geometry/bvh/bvh.h"
#include "isotact/geometry/bvh/detail/orient_nodes.h"

namespace isotact {
namespace {

using detail::BvhNode;
using detail::kBlockBit;
using detail::kBlockWidth;
using detail::kNodeWidth;
using detail::OrientedNode;
using detail::TriangleBlock;
using Flaw = std::optional<std::string>;
using D = detail::Lanes<double, 2>;

constexpr auto kNan = std::bit_cast<std::uint32_t>(std::numeric_limits<float>::quiet_NaN());
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr std::uint32_t kMostNodes = 1U << 28U;  // a kernel numbers children in 32 bits

template <typename Range>
bool all_zero(const Range& range) {
  return std::all_of(std::begin(range), std::end(range), [](auto x) { return x == 0; });
}

Vec3f corner_of(const TriangleBlock& block, std::size_t k, std::size_t lane) {
  return {block.corner[k][0][lane], block.corner[k][1][lane], block.corner[k][2][lane]};
}

Aabbf child_box(const BvhNode& node, std::uint32_t i) {
  return {{node.lower[0][i], node.lower[1][i], node.lower[2][i]},
          {node.upper[0][i], node.upper[1][i], node.upper[2][i]}};
}

class FlawSearch {
 public:
  FlawSearch(const BvhArrays& arrays, std::span<const Vec3f> positions,
             std::span<const Triangle> triangles)
      : nodes_(arrays.nodes),
        oriented_(arrays.oriented_nodes),
        blocks_(arrays.blocks),
        positions_(positions),
        triangles_(triangles) {}

  Flaw run() {
    if (nodes_.size() != oriented_.size()) return "nodes and oriented nodes differ in number";
    if (triangles_.empty()) return nodes_.empty() && blocks_.empty() ? Flaw{} : "has no triangles";
    if (nodes_.empty()) return "has triangles and no node";
    // Every node but the root and every block has a parent of its own.
    if (blocks_.size() > triangles_.size() || nodes_.size() > triangles_.size() ||
        triangles_.size() >= kBlockBit || nodes_.size() > kMostNodes)
      return "has more nodes or blocks than its triangles need";
    if (Flaw flaw = check_blocks()) return flaw;
    if (Flaw flaw = check_links()) return flaw;
    if (Flaw flaw = check_boxes()) return flaw;
    for (std::size_t i = 0; i < oriented_.size(); ++i)
      if (const char* const what = find_oriented_flaw(nodes_[i], oriented_[i]))
        return fmt::format("oriented node {}: {}", i, what);
    return std::nullopt;
  }

 private:
  // Each triangle lies in one lane, with its own corners.
  Flaw check_blocks() {
    std::vector<bool> seen(triangles_.size(), false);
    std::size_t count = 0;
    for (std::size_t b = 0; b < blocks_.size(); ++b)
      for (std::size_t lane = 0; lane < kBlockWidth; ++lane) {
        if (const char* const what = find_lane_flaw(blocks_[b], lane))
          return fmt::format("block {}, lane {}: {}", b, lane, what);
        const std::uint32_t t = blocks_[b].triangle[lane];
        if (t == kNoTriangle) continue;
        if (seen[t]) return fmt::format("block {}: triangle {} occurs twice", b, t);
        seen[t] = true;
        ++count;
      }
    if (count != triangles_.size())
      return fmt::format("has {} triangles, expected {}", count, triangles_.size());
    return std::nullopt;
  }

  const char* find_lane_flaw(const TriangleBlock& block, std::size_t lane) const {
    const std::uint32_t t = block.triangle[lane];
    if (t == kNoTriangle) {
      if (lane == 0) return "an empty block";
      for (std::size_t k = 0; k < 3; ++k)
        for (std::size_t axis = 0; axis < 3; ++axis)
          if (std::bit_cast<std::uint32_t>(block.corner[k][axis][lane]) != kNan)
            return "an unused lane has a corner";
      return nullptr;
    }
    if (t >= triangles_.size()) return "its triangle does not exist";
    if (lane > 0 && block.triangle[lane - 1] >= t) return "triangles do not ascend";
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec3f corner = corner_of(block, k, lane);
      if (!is_finite(corner)) return "a corner is not finite";
      // Bits, since signs of zeros count. NOLINTNEXTLINE(bugprone-suspicious-memory-comparison)
      if (std::memcmp(&corner, &positions_[triangles_[t][k]], sizeof corner) != 0)
        return "a corner is not that of the triangle";
    }
    return nullptr;
  }

  // Children lie behind their parents: there is no cycle. Each has one parent: there is one way to
  // everything.
  Flaw check_links() {
    std::vector<bool> node_seen(nodes_.size(), false), block_seen(blocks_.size(), false);
    std::vector<std::uint8_t> depths(nodes_.size(), 1);
    std::size_t links = 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const auto flaw = [&](const char* what) { return fmt::format("node {}: {}", i, what); };
      const BvhNode& node = nodes_[i];
      if (node.child_count < 1 || node.child_count > kNodeWidth)
        return flaw("it has no child, or more than eight");
      if (!all_zero(node.unused)) return flaw("unused bytes are not zero");
      if (depths[i] > detail::kMaxDepth) return flaw("it is too deep");
      for (std::uint32_t c = 0; c < kNodeWidth; ++c) {
        const std::uint32_t child = node.child[c];
        if (c >= node.child_count) {
          if (child != 0) return flaw("an unused child is not zero");
          continue;
        }
        ++links;
        const bool is_block = (child & kBlockBit) != 0;
        const std::uint32_t index = child & ~kBlockBit;
        if (index >= (is_block ? blocks_.size() : nodes_.size()))
          return flaw("a child does not exist");
        if (!is_block && index <= i) return flaw("a child lies before it");
        std::vector<bool>& seen = is_block ? block_seen : node_seen;
        if (seen[index]) return flaw("a child has two parents");
        seen[index] = true;
        if (!is_block) depths[index] = static_cast<std::uint8_t>(depths[i] + 1);
      }
    }
    if (links != nodes_.size() - 1 + blocks_.size()) return "a node or a block has no parent";
    return std::nullopt;
  }

  // From the leaves to the root: each box is the smallest one, and so are the ranges of blocks.
  Flaw check_boxes() {
    struct Below {
      Aabbf box{};
      std::uint32_t begin = ~kBlockBit, end = 0, count = 0;
    };
    std::vector<Below> below(nodes_.size());
    for (std::size_t i = nodes_.size(); i-- > 0;) {
      const auto flaw = [&](const char* what) { return fmt::format("node {}: {}", i, what); };
      const BvhNode& node = nodes_[i];
      Below& sum = below[i];
      for (std::uint32_t c = 0; c < kNodeWidth; ++c) {
        const Aabbf box = child_box(node, c);
        if (c >= node.child_count) {
          if (!(box.lower == Vec3f{kInfinity, kInfinity, kInfinity} &&
                box.upper == Vec3f{-kInfinity, -kInfinity, -kInfinity}))
            return flaw("the box of an unused child is not empty");
          continue;
        }
        const std::uint32_t index = node.child[c] & ~kBlockBit;
        const Below child = (node.child[c] & kBlockBit) != 0
                                ? Below{box_of(blocks_[index]), index, index + 1, 1}
                                : below[index];
        if (!(box.lower == child.box.lower && box.upper == child.box.upper))
          return flaw("the box of a child is not that of its triangles");
        extend(sum.box, box);
        sum.begin = std::min(sum.begin, child.begin);
        sum.end = std::max(sum.end, child.end);
        sum.count += child.count;
      }
      if (node.begin_block != sum.begin || node.end_block != sum.end ||
          sum.end - sum.begin != sum.count)
        return flaw("its range is not that of the blocks below it");
    }
    return std::nullopt;
  }

  static Aabbf box_of(const TriangleBlock& block) {
    Aabbf box;
    for (std::size_t lane = 0; lane < kBlockWidth && block.triangle[lane] != kNoTriangle; ++lane)
      for (std::size_t k = 0; k < 3; ++k) extend(box, corner_of(block, k, lane));
    return box;
  }

  // The builder adds what rounding may amount to in these sums, and computes them alike
  // (bvh_orient.cpp): they are compared without a margin.
  const char* find_oriented_flaw(const BvhNode& node, const OrientedNode& turned) const {
    if (turned.child_count != node.child_count ||
        !std::equal(std::begin(node.child), std::end(node.child), std::begin(turned.child)))
      return "its children are not those of the node";
    if (!all_zero(turned.unused)) return "unused bytes are not zero";
    bool is_straight = true;
    for (std::size_t i = 0; i < 3; ++i) {
      if (!std::isfinite(turned.origin[i]) || !(turned.step[i] >= 0 && turned.step[i] < kInfinity))
        return "a number is not finite, or a step is negative";
      for (std::uint32_t c = turned.child_count; c < kNodeWidth; ++c)
        if (turned.lower[i][c] != 0 || turned.upper[i][c] != 0)
          return "an unused child is not zero";
      for (std::size_t k = 0; k < 3; ++k) {
        double product = 0;
        for (std::size_t m = 0; m < 3; ++m)
          product += double{turned.axes[i][m]} * double{turned.axes[k][m]};
        if (!(std::abs(product - (i == k ? 1 : 0)) <= 0x1p-21))
          return "its axes are not orthonormal";
        is_straight = is_straight && turned.axes[i][k] == (i == k ? 1.0F : 0.0F);
      }
    }
    if (!is_straight && node.end_block - node.begin_block > detail::kMaxTurnedBlocks)
      return "it has too many blocks to be turned";
    for (std::uint32_t c = 0; c < node.child_count; ++c)
      if (!(is_straight ? encloses_box(turned, c, child_box(node, c))
                        : encloses_blocks(turned, c, node.child[c])))
        return "the box of a child does not enclose its triangles";
    return nullptr;
  }

  static bool encloses(const OrientedNode& node, std::uint32_t c, std::size_t axis, double lower,
                       double upper) {
    const float step = node.step[axis];
    return double{static_cast<float>(node.lower[axis][c]) * step} <= lower &&
           double{static_cast<float>(node.upper[axis][c]) * step} >= upper;
  }

  static bool encloses_box(const OrientedNode& node, std::uint32_t c, const Aabbf& box) {
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (!encloses(node, c, axis, double{box.lower[axis]} - double{node.origin[axis]},
                    double{box.upper[axis]} - double{node.origin[axis]}))
        return false;
    return true;
  }

  bool encloses_blocks(const OrientedNode& node, std::uint32_t c, std::uint32_t child) const {
    const bool is_block = (child & kBlockBit) != 0;
    const std::size_t begin = is_block ? child & ~kBlockBit : nodes_[child].begin_block;
    const std::size_t end = is_block ? begin + 1 : nodes_[child].end_block;
    // Unused lanes have NaN corners, which lesser and greater pass over.
    D lower[3], upper[3];
    for (std::size_t axis = 0; axis < 3; ++axis) {
      lower[axis] = std::numeric_limits<double>::infinity();
      upper[axis] = -std::numeric_limits<double>::infinity();
    }
    for (const TriangleBlock& block : blocks_.subspan(begin, end - begin))
      for (const auto& corner : block.corner)
        for (int lane = 0; lane < kBlockWidth; lane += D::kWidth) {
          D d[3];
          for (std::size_t m = 0; m < 3; ++m)
            d[m] = detail::load_wide<D>(corner[m] + lane) - D(double{node.origin[m]});
          for (std::size_t axis = 0; axis < 3; ++axis) {
            const float* const row = node.axes[axis];
            const D x =
                D(double{row[0]}) * d[0] + D(double{row[1]}) * d[1] + D(double{row[2]}) * d[2];
            lower[axis] = detail::lesser(x, lower[axis]);
            upper[axis] = detail::greater(x, upper[axis]);
          }
        }
    for (std::size_t axis = 0; axis < 3; ++axis) {
      double ends[2][D::kWidth];
      detail::store(lower[axis], ends[0]);
      detail::store(upper[axis], ends[1]);
      if (!encloses(node, c, axis, *std::min_element(ends[0], ends[0] + D::kWidth),
                    *std::max_element(ends[1], ends[1] + D::kWidth)))
        return false;
    }
    return true;
  }

  std::span<const BvhNode> nodes_;
  std::span<const OrientedNode> oriented_;
  std::span<const TriangleBlock> blocks_;
  std::span<const Vec3f> positions_;
  std::span<const Triangle> triangles_;
};

}  // namespace

Flaw find_flaw(const BvhArrays& arrays, std::span<const Vec3f> positions,
               std::span<const Triangle> triangles) {
  return FlawSearch(arrays, positions, triangles).run();
}

}  // namespace isotact
