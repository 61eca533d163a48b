#include "isotact/pointshell/detail/point_blocks.h"

#include <algorithm>
#include <numeric>

namespace isotact::detail {

PointBlocks::PointBlocks(std::span<const Vec3f> points, Threads threads)
    : order_(points.size()),
      blocks_((points.size() + kSize - 1) / kSize),
      boxes_(blocks_.empty() ? 0 : 2 * blocks_.size() - 1) {
  if (blocks_.empty()) return;
  std::iota(order_.begin(), order_.end(), 0U);
  split(points, root(), threads);
  std::vector<Vec3f> ordered(points.size());
  for (std::size_t i = 0; i < ordered.size(); ++i) ordered[i] = points[order_[i]];
  move(ordered, threads);
}

void PointBlocks::split(std::span<const Vec3f> points, const Node& node, Threads threads) {
  const auto at = [&](std::size_t block) {
    return order_.begin() + static_cast<std::ptrdiff_t>(std::min(block * kSize, order_.size()));
  };
  if (node.is_block()) {
    std::sort(at(node.begin), at(node.end));  // The set is certain, its order is not.
    return;
  }
  Aabbf box;
  for (auto i = at(node.begin); i != at(node.end); ++i) extend(box, points[*i]);
  const Vec3f size = extent(box);
  const std::size_t axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
  std::nth_element(at(node.begin), at(node.middle()), at(node.end),
                   [&](std::uint32_t a, std::uint32_t b) {
                     const float x = points[a][axis], y = points[b][axis];
                     return x != y ? x < y : a < b;
                   });
  constexpr std::size_t kAlone = 256;
  if (node.end - node.begin < kAlone) {
    split(points, node.first(), threads);
    split(points, node.second(), threads);
    return;
  }
  parallel_for(2, 1, threads, [&](std::size_t half, std::size_t) {
    split(points, half == 0 ? node.first() : node.second(), threads);
  });
}

void PointBlocks::move(std::span<const Vec3f> points, Threads threads) {
  parallel_for(blocks_.size(), 1024, threads, [&](std::size_t first, std::size_t last) {
    for (std::size_t b = first; b < last; ++b)
      for (std::size_t k = 0; k < kSize; ++k) {
        constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
        const std::size_t i = begin(b) + k;
        const Vec3f p = i < end(b) ? points[i] : Vec3f{kNone, kNone, kNone};
        blocks_[b].x[k] = p.x;
        blocks_[b].y[k] = p.y;
        blocks_[b].z[k] = p.z;
      }
  });
  if (!blocks_.empty()) bound(root());
}

void PointBlocks::bound(const Node& node) {
  Box& box = boxes_[node.index];
  if (node.is_block()) {
    const Block& block = blocks_[node.begin];
    const std::size_t points = end(node.begin) - begin(node.begin);
    const float* const columns[3] = {block.x, block.y, block.z};
    box = {};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      box.lower[axis] = *std::min_element(columns[axis], columns[axis] + points);
      box.minus_upper[axis] = -*std::max_element(columns[axis], columns[axis] + points);
    }
    return;
  }
  bound(node.first());
  bound(node.second());
  const Box &a = boxes_[node.first().index], &b = boxes_[node.second().index];
  for (std::size_t axis = 0; axis < 4; ++axis) {
    box.lower[axis] = std::min(a.lower[axis], b.lower[axis]);
    box.minus_upper[axis] = std::min(a.minus_upper[axis], b.minus_upper[axis]);
  }
}

bool PointBlocks::list_near(std::size_t block, double reach, std::vector<std::uint32_t>& out,
                            std::size_t most) const {
  using L = Lanes<float, 4>;
  out.clear();
  Node at = root();
  while (!at.is_block()) at = block < at.middle() ? at.first() : at.second();
  const L lower = load<L>(boxes_[at.index].lower);
  const L minus_upper = load<L>(boxes_[at.index].minus_upper);
  // The gap between boxes along each axis, and therefore the square of their distance, is rounded
  // by less than 2^-20 of itself. Squares may underflow.
  const float limit = static_cast<float>(reach * reach * (1 + 0x1p-20)) + 0x1p-126F;
  Node stack[33];  // The second half of each of 32 levels may wait, and the root.
  int waiting = 0;
  stack[waiting++] = root();
  while (waiting > 0) {
    const Node node = stack[--waiting];
    const L gap = greater(L(0.0F), greater(lower + load<L>(boxes_[node.index].minus_upper),
                                           minus_upper + load<L>(boxes_[node.index].lower)));
    const L square = gap * gap;
    if (square.v[0] + square.v[1] + square.v[2] > limit) continue;
    if (node.is_block()) {
      if (out.size() == most) return false;
      out.push_back(static_cast<std::uint32_t>(node.begin));
      continue;
    }
    stack[waiting++] = node.second();
    stack[waiting++] = node.first();
  }
  return true;
}

}  // namespace isotact::detail
