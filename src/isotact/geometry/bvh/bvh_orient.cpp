// Turning the boxes of the nodes so that they lie along the surface.

#include <algorithm>
#include <array>
#include <cmath>

#include "isotact/base/aabb.h"
#include "isotact/base/vec.h"
#include "isotact/geometry/bvh/detail/orient_nodes.h"

namespace isotact::detail {
namespace {

using Boxes = std::array<Aabb, kNodeWidth>;  // one a child, in local coordinates

struct BoxFrame {
  std::array<Vec3, 3> axes{Vec3{1, 0, 0}, Vec3{0, 1, 0}, Vec3{0, 0, 1}};
  Vec3 origin{};
};

Vec3 corner_of(const TriangleBlock& block, std::size_t k, std::size_t lane) {
  return {block.corner[k][0][lane], block.corner[k][1][lane], block.corner[k][2][lane]};
}

template <typename Visit>
void for_each_triangle(std::span<const TriangleBlock> blocks, Visit&& visit) {
  for (const TriangleBlock& block : blocks)
    for (std::size_t lane = 0; lane < kBlockWidth && block.triangle[lane] != 0xffffffffU; ++lane)
      visit(corner_of(block, 0, lane), corner_of(block, 1, lane), corner_of(block, 2, lane));
}

std::span<const TriangleBlock> blocks_below(std::uint32_t child, std::span<const BvhNode> nodes,
                                            std::span<const TriangleBlock> blocks) {
  if ((child & kBlockBit) != 0) return blocks.subspan(child & ~kBlockBit, 1);
  return blocks.subspan(nodes[child].begin_block,
                        nodes[child].end_block - nodes[child].begin_block);
}

Aabb child_box(const BvhNode& node, std::uint32_t i) {
  return {{node.lower[0][i], node.lower[1][i], node.lower[2][i]},
          {node.upper[0][i], node.upper[1][i], node.upper[2][i]}};
}

// The nearest float. The detour through memory is for GCC 12, whose vectoriser (-O2 and above)
// takes a pair of doubles that are rounded to float and widened again for unchanged.
double rounded(double x) {
  const volatile float narrow = static_cast<float>(x);
  return double{narrow};
}

// The axes and the origin that queries will see.
BoxFrame rounded(BoxFrame frame) {
  for (std::size_t k = 0; k < 3; ++k) {
    for (Vec3& axis : frame.axes) axis[k] = rounded(axis[k]);
    frame.origin[k] = rounded(frame.origin[k]);
  }
  return frame;
}

// The third axis along the mean normal, the first near the coordinate axis that fits best: the
// children were split along coordinate axes.
BoxFrame turned_along(const Vec3& normal, const Vec3& origin) {
  const Vec3 n = normalized(normal);
  const Vec3 size{std::abs(n.x), std::abs(n.y), std::abs(n.z)};
  Vec3 least{1, 0, 0};
  if (size.y < size.x && size.y <= size.z) least = {0, 1, 0};
  if (size.z < size.x && size.z < size.y) least = {0, 0, 1};
  const Vec3 u = normalized(least - n * dot(n, least));
  return rounded({.axes = {u, cross(n, u), n}, .origin = origin});
}

Boxes boxes_in(const BoxFrame& frame, const BvhNode& node, std::span<const BvhNode> nodes,
               std::span<const TriangleBlock> blocks) {
  Boxes boxes;
  for (std::uint32_t i = 0; i < node.child_count; ++i) {
    double reach = 0;
    const auto add = [&](const Vec3& corner) {
      const Vec3 d = corner - frame.origin;
      extend(boxes[i], Vec3{dot(frame.axes[0], d), dot(frame.axes[1], d), dot(frame.axes[2], d)});
      reach = std::max(reach, std::abs(d.x) + std::abs(d.y) + std::abs(d.z));
    };
    for_each_triangle(blocks_below(node.child[i], nodes, blocks),
                      [&](const Vec3& a, const Vec3& b, const Vec3& c) {
                        add(a);
                        add(b);
                        add(c);
                      });
    const double rounding = reach * 0x1p-48;  // of the products and sums above
    boxes[i].lower -= Vec3{rounding, rounding, rounding};
    boxes[i].upper += Vec3{rounding, rounding, rounding};
  }
  return boxes;
}

double total_area(const Boxes& boxes, std::uint32_t count) {
  double sum = 0;
  for (std::uint32_t i = 0; i < count; ++i) sum += half_area(boxes[i]);
  return sum;
}

float step_for(double furthest) {
  auto step = static_cast<float>(furthest / 127);
  while (double{127 * step} < furthest)
    step = std::nextafter(step, std::numeric_limits<float>::infinity());
  return step;
}

// The byte next to x whose product with the step is not above (below) x.
std::int8_t byte_below(double x, float step) {
  if (!(step > 0)) return 0;
  int byte = static_cast<int>(std::clamp(std::floor(x / double{step}), -127.0, 127.0));
  while (byte > -127 && double{static_cast<float>(byte) * step} > x) --byte;
  return static_cast<std::int8_t>(byte);
}
std::int8_t byte_above(double x, float step) {
  return static_cast<std::int8_t>(-byte_below(-x, step));
}

OrientedNode quantised(const BoxFrame& frame, const Boxes& boxes, const BvhNode& node) {
  OrientedNode result{};
  result.child_count = node.child_count;
  std::copy(std::begin(node.child), std::end(node.child), std::begin(result.child));
  for (std::size_t axis = 0; axis < 3; ++axis) {
    result.origin[axis] = static_cast<float>(frame.origin[axis]);
    double furthest = 0;
    for (std::uint32_t i = 0; i < node.child_count; ++i)
      furthest = std::max({furthest, -boxes[i].lower[axis], boxes[i].upper[axis]});
    result.step[axis] = step_for(furthest);
    for (std::size_t k = 0; k < 3; ++k)
      result.axes[axis][k] = static_cast<float>(frame.axes[axis][k]);
    for (std::uint32_t i = 0; i < node.child_count; ++i) {
      result.lower[axis][i] = byte_below(boxes[i].lower[axis], result.step[axis]);
      result.upper[axis][i] = byte_above(boxes[i].upper[axis], result.step[axis]);
    }
  }
  return result;
}

OrientedNode orient(const BvhNode& node, std::span<const BvhNode> nodes,
                    std::span<const TriangleBlock> blocks) {
  Aabb whole;
  for (std::uint32_t i = 0; i < node.child_count; ++i) extend(whole, child_box(node, i));
  const BoxFrame straight = rounded({.origin = center(whole)});
  Boxes straight_boxes;
  for (std::uint32_t i = 0; i < node.child_count; ++i) {
    const Aabb box = child_box(node, i);
    straight_boxes[i] = {box.lower - straight.origin, box.upper - straight.origin};
    const double rounding = length(extent(whole)) * 0x1p-48;
    straight_boxes[i].lower -= Vec3{rounding, rounding, rounding};
    straight_boxes[i].upper += Vec3{rounding, rounding, rounding};
  }
  if (node.end_block - node.begin_block > kMaxTurnedBlocks)
    return quantised(straight, straight_boxes, node);

  Vec3 normal{};
  for_each_triangle(
      blocks.subspan(node.begin_block, node.end_block - node.begin_block),
      [&](const Vec3& a, const Vec3& b, const Vec3& c) { normal += cross(b - a, c - a); });
  if (!(length_sq(normal) > 0)) return quantised(straight, straight_boxes, node);
  const BoxFrame turned = turned_along(normal, straight.origin);
  const Boxes turned_boxes = boxes_in(turned, node, nodes, blocks);
  const bool gains =
      total_area(turned_boxes, node.child_count) < total_area(straight_boxes, node.child_count);
  return gains ? quantised(turned, turned_boxes, node) : quantised(straight, straight_boxes, node);
}

}  // namespace

std::vector<OrientedNode> orient_nodes(std::span<const BvhNode> nodes,
                                       std::span<const TriangleBlock> blocks, Threads threads) {
  std::vector<OrientedNode> oriented(nodes.size());
  parallel_for(nodes.size(), 64, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) oriented[i] = orient(nodes[i], nodes, blocks);
  });
  return oriented;
}

}  // namespace isotact::detail
