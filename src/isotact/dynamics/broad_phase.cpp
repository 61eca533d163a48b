#include "isotact/dynamics/broad_phase.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace isotact {
namespace {

bool is_pair(const SweptBox& a, const SweptBox& b) {
  return (a.moves || b.moves) && !is_empty(a.box) && !is_empty(b.box) && overlaps(a.box, b.box);
}

BodyPair in_order(std::uint32_t a, std::uint32_t b) {
  return a < b ? BodyPair{a, b} : BodyPair{b, a};
}

// That along which the boxes' middles are spread most. Infinite boxes do not count.
std::size_t choose_axis(std::span<const SweptBox> boxes) {
  Vec3 sum{}, squares{};
  double n = 0;
  for (const SweptBox& b : boxes) {
    const Vec3 c = center(b.box);
    if (!is_finite(c)) continue;
    sum += c;
    squares += Vec3{c.x * c.x, c.y * c.y, c.z * c.z};
    n += 1;
  }
  std::size_t best = 0;
  double most = -1;
  for (std::size_t axis = 0; axis < 3 && n > 0; ++axis) {
    const double spread = squares[axis] - sum[axis] * sum[axis] / n;
    if (spread > most) {
      most = spread;
      best = axis;
    }
  }
  return best;
}

}  // namespace

void find_box_pairs(std::span<const SweptBox> boxes, std::vector<BodyPair>& pairs) {
  pairs.clear();
  const std::size_t axis = choose_axis(boxes);
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < boxes.size(); ++i)
    if (!is_empty(boxes[i].box)) order.push_back(i);
  const auto lower = [&](std::uint32_t i) { return boxes[i].box.lower[axis]; };
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return lower(a) != lower(b) ? lower(a) < lower(b) : a < b;
  });
  for (std::size_t i = 0; i < order.size(); ++i) {
    const SweptBox& first = boxes[order[i]];
    for (std::size_t k = i + 1; k < order.size() && lower(order[k]) <= first.box.upper[axis]; ++k)
      if (is_pair(first, boxes[order[k]])) pairs.push_back(in_order(order[i], order[k]));
  }
  std::sort(pairs.begin(), pairs.end());
}

void brute_force::find_box_pairs(std::span<const SweptBox> boxes, std::vector<BodyPair>& pairs) {
  pairs.clear();
  for (std::uint32_t a = 0; a < boxes.size(); ++a)
    for (std::uint32_t b = a + 1; b < boxes.size(); ++b)
      if (is_pair(boxes[a], boxes[b])) pairs.push_back({a, b});
}

}  // namespace isotact
