#include "isotact/pointshell/detail/point_blocks.h"

#include <algorithm>
#include <numeric>

namespace isotact::detail {

PointBlocks::PointBlocks(std::span<const Vec3f> points, Threads threads)
    : order_(points.size()),
      blocks_((points.size() + kSize - 1) / kSize),
      boxes_(blocks_.empty() ? 0 : 2 * blocks_.size() - 1),
      block_boxes_(blocks_.size()) {
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
    block_boxes_[node.begin] = box;
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

// The gap between boxes along each axis, and therefore the square of their distance, is rounded by
// less than 2^-20 of itself. Squares may underflow.
float PointBlocks::limit_of(double reach) {
  return static_cast<float>(reach * reach * (1 + 0x1p-20)) + 0x1p-126F;
}

float PointBlocks::distance_sq(const Box& a, const Box& b) {
  using L = Lanes<float, 4>;
  const L gap = greater(L(0.0F), greater(load<L>(a.lower) + load<L>(b.minus_upper),
                                         load<L>(a.minus_upper) + load<L>(b.lower)));
  const L square = gap * gap;
  return square.v[0] + square.v[1] + square.v[2];
}

bool PointBlocks::list_near(const Box& box, double reach, std::vector<std::uint32_t>& out,
                            std::size_t most) const {
  out.clear();
  const float limit = limit_of(reach);
  Node stack[33];  // The second half of each of 32 levels may wait, and the root.
  int waiting = 0;
  stack[waiting++] = root();
  while (waiting > 0) {
    const Node node = stack[--waiting];
    if (distance_sq(box, boxes_[node.index]) > limit) continue;
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

bool PointBlocks::list_near(std::size_t block, double reach, std::vector<std::uint32_t>& out,
                            std::size_t most) const {
  return list_near(block_boxes_[block], reach, out, most);
}

void PointBlocks::list_near_any(std::size_t first, std::size_t last, double reach,
                                std::vector<std::uint32_t>& out) const {
  Box box = block_boxes_[first];
  for (std::size_t b = first + 1; b < last; ++b)
    for (std::size_t axis = 0; axis < 4; ++axis) {
      box.lower[axis] = std::min(box.lower[axis], block_boxes_[b].lower[axis]);
      box.minus_upper[axis] = std::min(box.minus_upper[axis], block_boxes_[b].minus_upper[axis]);
    }
  list_near(box, reach, out, std::numeric_limits<std::size_t>::max());
}

void PointBlocks::narrow(std::size_t block, double reach, std::span<const std::uint32_t> list,
                         std::vector<std::uint32_t>& out) const {
  const float limit = limit_of(reach);
  out.resize(list.size());
  std::size_t count = 0;
  for (const std::uint32_t b : list) {
    out[count] = b;  // The next one replaces it if it is too far: no branch to guess wrong.
    count += static_cast<std::size_t>(distance_sq(block_boxes_[block], block_boxes_[b]) <= limit);
  }
  out.resize(count);
}

}  // namespace isotact::detail
