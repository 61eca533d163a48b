#include "isotact/dynamics/broad_phase.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "isotact/base/thread_scratch.h"

namespace isotact {
namespace {

constexpr double kMostCells = 1 << 20;   // an axis
constexpr std::uint32_t kMostOfBox = 9;  // cells, or else it counts as wide
constexpr double kCellSize = 1.5;        // mean extents of boxes

bool is_pair(const SweptBox& a, const SweptBox& b) {
  return (a.moves || b.moves) && overlaps(a.box, b.box);
}

BodyPair in_order(std::uint32_t a, std::uint32_t b) {
  return a < b ? BodyPair{a, b} : BodyPair{b, a};
}

// Columns of equal width, along two axes; the sweep goes along the third.
struct Columns {
  std::size_t sweep = 0;
  std::array<std::size_t, 2> axes{1, 2};
  std::array<double, 2> origin{}, per_metre{};

  // Of what is not a number: 0.
  std::uint32_t column(std::size_t k, double x) const {
    const double at = (x - origin[k]) * per_metre[k];
    return at > 0 ? static_cast<std::uint32_t>(std::min(at, kMostCells - 1)) : 0U;
  }
};

// A box in one of its columns.
struct Entry {
  std::array<std::uint32_t, 2> column;
  double lower;
  std::uint32_t box;
};

struct Work {
  std::vector<std::uint32_t> wide;  // boxes in too many columns
  std::vector<Entry> entries;
};

// The sweep goes along the axis on which the boxes' middles are spread most. Infinite boxes do not
// count.
Columns choose_columns(std::span<const SweptBox> boxes) {
  Vec3 sum{}, squares{}, extents{}, lowest{HUGE_VAL, HUGE_VAL, HUGE_VAL};
  double n = 0;
  for (const SweptBox& b : boxes) {
    const Vec3 c = center(b.box), e = extent(b.box);
    if (is_empty(b.box) || !is_finite(c) || !is_finite(e)) continue;
    sum += c;
    squares += Vec3{c.x * c.x, c.y * c.y, c.z * c.z};
    extents += e;
    lowest = min(lowest, b.box.lower);
    n += 1;
  }
  Columns columns;
  double most = -1;
  for (std::size_t axis = 0; axis < 3 && n > 0; ++axis) {
    const double spread = squares[axis] - sum[axis] * sum[axis] / n;
    if (spread <= most) continue;
    most = spread;
    columns.sweep = axis;
  }
  columns.axes = {(columns.sweep + 1) % 3, (columns.sweep + 2) % 3};
  for (std::size_t k = 0; k < 2; ++k) {
    const double mean = extents[columns.axes[k]] / std::max(n, 1.0);
    columns.origin[k] = n > 0 ? lowest[columns.axes[k]] : 0;
    columns.per_metre[k] = mean > 0 ? 1 / (kCellSize * mean) : 0;
  }
  return columns;
}

void list_entries(std::span<const SweptBox> boxes, const Columns& c, Work& work) {
  work.wide.clear();
  work.entries.clear();
  for (std::uint32_t i = 0; i < boxes.size(); ++i) {
    const Aabb& box = boxes[i].box;
    if (is_empty(box)) continue;
    std::array<std::uint32_t, 2> first{}, last{};
    for (std::size_t k = 0; k < 2; ++k) {
      first[k] = c.column(k, box.lower[c.axes[k]]);
      last[k] = c.column(k, box.upper[c.axes[k]]);
    }
    const std::uint64_t cells = std::uint64_t{last[0] - first[0] + 1} * (last[1] - first[1] + 1);
    if (cells > kMostOfBox) {
      work.wide.push_back(i);
      continue;
    }
    for (std::uint32_t u = first[0]; u <= last[0]; ++u)
      for (std::uint32_t v = first[1]; v <= last[1]; ++v)
        work.entries.push_back({{u, v}, box.lower[c.sweep], i});
  }
  std::sort(work.entries.begin(), work.entries.end(), [](const Entry& a, const Entry& b) {
    if (a.column != b.column) return a.column < b.column;
    return a.lower != b.lower ? a.lower < b.lower : a.box < b.box;
  });
}

}  // namespace

void find_box_pairs(std::span<const SweptBox> boxes, std::vector<BodyPair>& pairs) {
  pairs.clear();
  const Columns columns = choose_columns(boxes);
  const ThreadScratch<Work> work;
  list_entries(boxes, columns, *work);
  // Two boxes that share several columns meet in the first of them.
  const auto meet_here = [&](const Entry& a, const Entry& b) {
    for (std::size_t k = 0; k < 2; ++k) {
      const std::size_t axis = columns.axes[k];
      const double lower = std::max(boxes[a.box].box.lower[axis], boxes[b.box].box.lower[axis]);
      if (columns.column(k, lower) != a.column[k]) return false;
    }
    return true;
  };
  const std::vector<Entry>& e = work->entries;
  for (std::size_t i = 0; i < e.size(); ++i) {
    const SweptBox& first = boxes[e[i].box];
    const double upper = first.box.upper[columns.sweep];
    for (std::size_t k = i + 1; k < e.size() && e[k].column == e[i].column && e[k].lower <= upper;
         ++k)
      if (is_pair(first, boxes[e[k].box]) && meet_here(e[i], e[k]))
        pairs.push_back(in_order(e[i].box, e[k].box));
  }
  for (std::size_t w = 0; w < work->wide.size(); ++w) {
    const std::uint32_t a = work->wide[w];
    for (std::uint32_t b = 0; b < boxes.size(); ++b) {
      // Of two wide ones, the first finds the other.
      const bool had =
          b == a || (b < a && std::binary_search(work->wide.begin(), work->wide.end(), b));
      if (!had && !is_empty(boxes[b].box) && is_pair(boxes[a], boxes[b]))
        pairs.push_back(in_order(a, b));
    }
  }
  std::sort(pairs.begin(), pairs.end());
}

void brute_force::find_box_pairs(std::span<const SweptBox> boxes, std::vector<BodyPair>& pairs) {
  pairs.clear();
  for (std::uint32_t a = 0; a < boxes.size(); ++a)
    for (std::uint32_t b = a + 1; b < boxes.size(); ++b)
      if (!is_empty(boxes[a].box) && !is_empty(boxes[b].box) && is_pair(boxes[a], boxes[b]))
        pairs.push_back({a, b});
}

}  // namespace isotact
