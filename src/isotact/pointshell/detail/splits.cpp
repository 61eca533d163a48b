#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "isotact/pointshell/detail/clusters.h"

namespace isotact::detail {
namespace {

// A point for splits: three coordinates, or six with its normal.
template <std::size_t kDimensions>
struct Item {
  std::array<float, kDimensions> key;
  std::uint32_t index;
};

struct Range {
  std::uint32_t begin = 0, end = 0;
  std::uint32_t count() const { return end - begin; }
};

template <typename Items>
std::size_t find_longest_axis(const Items& items) {
  auto low = items[0].key, high = items[0].key;
  for (const auto& item : items)
    for (std::size_t k = 0; k < low.size(); ++k) {
      low[k] = std::min(low[k], item.key[k]);
      high[k] = std::max(high[k], item.key[k]);
    }
  std::size_t longest = 0;
  for (std::size_t k = 1; k < low.size(); ++k)
    if (high[k] - low[k] > high[longest] - low[longest]) longest = k;
  return longest;
}

template <typename T>
bool comes_before(const T& a, const T& b, std::size_t axis) {
  return a.key[axis] != b.key[axis] ? a.key[axis] < b.key[axis] : a.index < b.index;
}

template <typename T>
void sort_along(std::span<T> items, std::size_t axis) {
  std::sort(items.begin(), items.end(),
            [axis](const T& a, const T& b) { return comes_before(a, b, axis); });
}

// A growing box that is empty at first.
template <typename Key>
struct GrowingBox {
  Key low, high;

  GrowingBox() {
    low.fill(std::numeric_limits<float>::infinity());
    high.fill(-std::numeric_limits<float>::infinity());
  }
  void add(const Key& from, const Key& to) {
    for (std::size_t k = 0; k < low.size(); ++k) {
      low[k] = std::min(low[k], from[k]);
      high[k] = std::max(high[k], to[k]);
    }
  }
  void add(const Key& key) { add(key, key); }
  void add(const GrowingBox& box) { add(box.low, box.high); }
  float half_diagonal() const {
    if (low[0] > high[0]) return 0;
    float sum = 0;
    for (std::size_t k = 0; k < low.size(); ++k) sum += (high[k] - low[k]) * (high[k] - low[k]);
    return std::sqrt(sum) / 2;
  }
};

// Limits of the number of items per part and of the number of parts.
struct Allowance {
  std::uint64_t capacity;
  std::uint64_t parts;

  std::uint64_t parts_for(std::uint64_t items) const { return (items + capacity - 1) / capacity; }
  bool permits(std::uint64_t left, std::uint64_t right) const {
    return parts_for(left) + parts_for(right) <= parts;
  }
};

struct Sweep {
  std::size_t axis = 0, left = 0;
  float cost = std::numeric_limits<float>::infinity();
  float whole = 0;  // Cost without a split.
};

// Returns the best split over all axes and positions. The cost is the sum over items of the size of
// their new box. A sphere is visited if something comes as near as its radius, and its items then
// cost time.
template <typename T>
Sweep find_best_split(std::span<T> items, const Allowance& allowance) {
  const std::size_t n = items.size();
  std::vector<float> right(n);
  Sweep best;
  for (std::size_t axis = 0; axis < items[0].key.size(); ++axis) {
    sort_along(items, axis);
    GrowingBox<decltype(items[0].key)> from_right, from_left;
    for (std::size_t i = n; i-- > 0;) {
      from_right.add(items[i].key);
      right[i] = from_right.half_diagonal();
    }
    best.whole = right[0] * static_cast<float>(n);
    for (std::size_t left = 1; left < n; ++left) {
      from_left.add(items[left - 1].key);
      const float cost = from_left.half_diagonal() * static_cast<float>(left) +
                         right[left] * static_cast<float>(n - left);
      if (cost < best.cost && allowance.permits(left, n - left)) {
        best.cost = cost;
        best.left = left;
        best.axis = axis;
      }
    }
  }
  return best;
}

// The same for many items, with bins of equal width: only positions between bins.
template <typename T>
Sweep find_good_split(std::span<T> items, const Allowance& allowance) {
  constexpr std::size_t kBins = 64;
  using Key = decltype(items[0].key);
  const std::size_t n = items.size();
  GrowingBox<Key> all;
  Sweep best;
  for (const T& item : items) all.add(item.key);
  best.whole = all.half_diagonal() * static_cast<float>(n);
  for (std::size_t axis = 0; axis < all.low.size(); ++axis) {
    const float low = all.low[axis], width = all.high[axis] - low;
    if (!(width > 0)) continue;
    const float scale = static_cast<float>(kBins) / width;
    std::array<std::size_t, kBins> counts{};
    std::vector<GrowingBox<Key>> boxes(kBins, GrowingBox<Key>{});
    for (const T& item : items) {
      const auto bin =
          std::min(static_cast<std::size_t>((item.key[axis] - low) * scale), kBins - 1);
      boxes[bin].add(item.key);
      ++counts[bin];
    }
    std::array<float, kBins + 1> right{};
    GrowingBox<Key> from_right{}, from_left{};
    for (std::size_t b = kBins; b-- > 0;) {
      from_right.add(boxes[b]);
      right[b] = from_right.half_diagonal();
    }
    std::size_t left = 0;
    for (std::size_t b = 0; b + 1 < kBins; ++b) {
      from_left.add(boxes[b]);
      left += counts[b];
      if (left == 0 || left == n || counts[b] == 0 || !allowance.permits(left, n - left)) continue;
      const float cost = from_left.half_diagonal() * static_cast<float>(left) +
                         right[b + 1] * static_cast<float>(n - left);
      if (cost < best.cost) {
        best.cost = cost;
        best.left = left;
        best.axis = axis;
      }
    }
  }
  return best;
}

// Up to K ranges.
struct Parts {
  std::array<Range, kMaxChildren> ranges{};
  std::uint32_t count = 0;
};

template <typename T>
void part_along(std::span<T> items, std::size_t axis, std::size_t left) {
  std::nth_element(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(left), items.end(),
                   [axis](const T& a, const T& b) { return comes_before(a, b, axis); });
}

// Cuts items into parts with the best split each time, so that clusters seldom reach from one sheet
// of the surface to another.
template <typename T>
void cut(std::span<T> items, std::uint32_t begin, const Allowance& allowance, Parts& out) {
  constexpr std::size_t kSweepItems = 256;
  constexpr float kWorthAPart = 0.5F;  // A set that needs no split is split if it gains as much.
  const std::size_t n = items.size();
  const std::uint64_t needed = allowance.parts_for(n);
  const auto done = [&] {
    out.ranges[out.count++] = {begin, begin + static_cast<std::uint32_t>(n)};
  };
  if (allowance.parts == 1 || n == 1) return done();
  Sweep best =
      n <= kSweepItems ? find_best_split(items, allowance) : find_good_split(items, allowance);
  if (needed == 1 && !(best.cost < kWorthAPart * best.whole)) return done();
  if (best.left == 0) {
    // No position between bins is possible. The halves' shares of the capacity are whole, so items
    // that fit into the parts fit into halves.
    best.left = n * (needed / 2) / needed;
    best.axis = find_longest_axis(items);
  }
  part_along(items, best.axis, best.left);
  const std::size_t left = best.left;
  const std::uint64_t for_left = allowance.parts_for(left),
                      for_right = allowance.parts_for(n - left);
  const std::uint64_t spare = allowance.parts - for_left - for_right;
  const std::uint64_t left_parts = for_left + spare * for_left / (for_left + for_right);
  cut(items.first(left), begin, {allowance.capacity, left_parts}, out);
  cut(items.subspan(left), begin + static_cast<std::uint32_t>(left),
      {allowance.capacity, allowance.parts - left_parts}, out);
}

// A full part leaves no choice to the splits below it. All parts except the last ones are therefore
// filled at most to the mean of even and full.
Allowance allowance_of(std::uint64_t items, std::uint64_t capacity, std::uint64_t k) {
  if (capacity == k) return {capacity, k};
  const std::uint64_t needed = (items + capacity - 1) / capacity;
  const std::uint64_t even = (items + needed - 1) / needed;
  return {(even + capacity + 1) / 2, k};
}

template <std::size_t kDimensions>
Split split_points(std::vector<Item<kDimensions>> items, const PointSphereTreeSettings& settings) {
  const auto k = static_cast<std::uint64_t>(settings.cluster_size);
  std::uint64_t capacity = k;  // Capacity of the root.
  while (capacity < items.size()) capacity *= k;
  Split split;
  std::vector<Range> nodes = {{0, static_cast<std::uint32_t>(items.size())}};
  for (; capacity > k; capacity /= k) {
    settings.monitor.check();
    std::vector<Parts> cuts(nodes.size());
    const std::size_t grain = std::max<std::size_t>(1, 4096 / capacity);
    parallel_for(nodes.size(), grain, settings.threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        cut(std::span(items).subspan(nodes[i].begin, nodes[i].count()), nodes[i].begin,
            allowance_of(nodes[i].count(), capacity / k, k), cuts[i]);
    });
    std::vector<Range> children;
    Parents parents{.of_children = {}, .count = static_cast<std::uint32_t>(nodes.size())};
    for (std::size_t i = 0; i < nodes.size(); ++i)
      for (std::uint32_t c = 0; c < cuts[i].count; ++c) {
        children.push_back(cuts[i].ranges[c]);
        parents.of_children.push_back(static_cast<std::uint32_t>(i));
      }
    nodes = std::move(children);
    split.levels.push_back(std::move(parents));
  }
  Parents last{.of_children = std::vector<std::uint32_t>(items.size()),
               .count = static_cast<std::uint32_t>(nodes.size())};
  split.order.resize(items.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (std::uint32_t p = nodes[i].begin; p < nodes[i].end; ++p) {
      split.order[p] = items[p].index;
      last.of_children[p] = static_cast<std::uint32_t>(i);
    }
    // The sets are certain; their order depends on the standard library.
    std::sort(split.order.begin() + nodes[i].begin, split.order.begin() + nodes[i].end);
  }
  split.levels.push_back(std::move(last));
  return split;
}

}  // namespace

Split split_shell(const PointShell& shell, const PointSphereTreeSettings& settings) {
  const std::size_t n = shell.points.size();
  if (settings.clustering == Clustering::kNearness) {
    std::vector<Item<3>> items(n);
    for (std::size_t i = 0; i < n; ++i) {
      const Vec3f& p = shell.points[i];
      items[i] = {{p.x, p.y, p.z}, static_cast<std::uint32_t>(i)};
    }
    return split_points(std::move(items), settings);
  }
  // Unit normals at right angles differ by sqrt(2).
  const auto scale = static_cast<float>(settings.normal_weight * shell.spacing / std::sqrt(2.0));
  std::vector<Item<6>> items(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Vec3f& p = shell.points[i];
    const Vec3f m = shell.normals[i] * scale;
    items[i] = {{p.x, p.y, p.z, m.x, m.y, m.z}, static_cast<std::uint32_t>(i)};
  }
  return split_points(std::move(items), settings);
}

}  // namespace isotact::detail
