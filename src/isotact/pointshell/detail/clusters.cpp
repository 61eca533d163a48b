// Clusters are cut from the top, by splits at medians, so that the cells of all levels nest and are
// as round as splits make them; representatives and outliers are found from the bottom (SSL14
// section 2.1.2).
#include "isotact/pointshell/detail/clusters.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "isotact/pointshell/detail/nearest_points.h"

namespace isotact::detail {
namespace {

// A point as splits see it: three coordinates, or with its normal six.
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

// Cuts items into `parts` ranges whose sizes differ by one at most, along the longest sides. If the
// items fit into `parts` of a capacity, so do the parts: the halves' shares are rounded to whole
// numbers, and the halves' capacities are whole.
template <typename T>
void cut(std::span<T> items, std::uint32_t begin, std::uint32_t parts, Range* out) {
  if (parts == 1) {
    *out = {begin, begin + static_cast<std::uint32_t>(items.size())};
    return;
  }
  const std::uint32_t left_parts = parts / 2;
  const std::size_t left = items.size() * left_parts / parts;
  const std::size_t axis = find_longest_axis(items);
  std::nth_element(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(left), items.end(),
                   [axis](const T& a, const T& b) {
                     return a.key[axis] != b.key[axis] ? a.key[axis] < b.key[axis]
                                                       : a.index < b.index;
                   });
  cut(items.first(left), begin, left_parts, out);
  cut(items.subspan(left), begin + static_cast<std::uint32_t>(left), parts - left_parts,
      out + left_parts);
}

// A level while it is made: whose child each of the next level's nodes is.
struct Parents {
  std::vector<std::uint32_t> of_children;
  std::uint32_t count = 0;  // of this level's nodes
};

struct Split {
  std::vector<Parents> levels;
  std::vector<std::uint32_t> order;
};

template <std::size_t kDimensions>
Split split_points(std::vector<Item<kDimensions>> items, const PointSphereTreeSettings& settings) {
  const auto k = static_cast<std::uint64_t>(settings.cluster_size);
  std::uint64_t capacity = k;  // of the root
  while (capacity < items.size()) capacity *= k;
  Split split;
  std::vector<Range> nodes = {{0, static_cast<std::uint32_t>(items.size())}};
  for (; capacity > k; capacity /= k) {
    settings.monitor.check();
    const std::uint64_t below = capacity / k;
    std::vector<std::uint32_t> first(nodes.size() + 1, 0);
    for (std::size_t i = 0; i < nodes.size(); ++i)
      first[i + 1] = first[i] + static_cast<std::uint32_t>((nodes[i].count() + below - 1) / below);
    std::vector<Range> children(first.back());
    Parents parents{.of_children = std::vector<std::uint32_t>(first.back()),
                    .count = static_cast<std::uint32_t>(nodes.size())};
    const std::size_t grain = std::max<std::size_t>(1, 4096 / capacity);
    parallel_for(nodes.size(), grain, settings.threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const std::span all(items);
        cut(all.subspan(nodes[i].begin, nodes[i].count()), nodes[i].begin, first[i + 1] - first[i],
            children.data() + first[i]);
        for (std::uint32_t c = first[i]; c < first[i + 1]; ++c)
          parents.of_children[c] = static_cast<std::uint32_t>(i);
      }
    });
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
    // Which sets were split off is certain; their order is the library's business.
    std::sort(split.order.begin() + nodes[i].begin, split.order.begin() + nodes[i].end);
  }
  split.levels.push_back(std::move(last));
  return split;
}

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

// Children of each of `count` parents, in the order of their numbers.
struct Families {
  std::vector<std::uint32_t> begin, members;
  std::span<const std::uint32_t> of(std::size_t parent) const {
    return std::span(members).subspan(begin[parent], begin[parent + 1] - begin[parent]);
  }
};

Families find_families(std::span<const std::uint32_t> parent_of, std::size_t count) {
  Families f;
  f.begin.assign(count + 1, 0);
  for (const std::uint32_t p : parent_of) ++f.begin[p + 1];
  std::partial_sum(f.begin.begin(), f.begin.end(), f.begin.begin());
  f.members.resize(parent_of.size());
  std::vector<std::uint32_t> next(f.begin.begin(), f.begin.end() - 1);
  for (std::size_t i = 0; i < parent_of.size(); ++i)
    f.members[next[parent_of[i]]++] = static_cast<std::uint32_t>(i);
  return f;
}

// The member whose point is nearest to the members' mean.
std::uint32_t find_central(std::span<const std::uint32_t> members, std::span<const Vec3f> points) {
  Vec3 mean{};
  for (const std::uint32_t m : members) mean += to_double(points[m]);
  mean = mean / static_cast<double>(members.size());
  std::uint32_t best = members[0];
  double best_sq = std::numeric_limits<double>::infinity();
  for (const std::uint32_t m : members) {
    const double d = length_sq(to_double(points[m]) - mean);
    if (d < best_sq) {
      best_sq = d;
      best = m;
    }
  }
  return best;
}

// What the passes from the bottom work on: one level and its children.
struct Floor {
  std::vector<std::uint32_t>& parent_of;  // of the children
  std::vector<Vec3f> child_points;        // their representatives
  std::vector<std::uint32_t> central;     // of each parent: which child's point it takes
};

void find_centrals(Floor& floor, std::uint32_t parents, Threads threads) {
  const Families families = find_families(floor.parent_of, parents);
  floor.central.resize(parents);
  parallel_for(parents, 256, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      floor.central[i] = find_central(families.of(i), floor.child_points);
  });
}

// Members that are further than the limit from the central one leave, and so on until none does.
void keep_near(std::vector<std::uint32_t>& members, std::span<const Vec3f> points, double limit,
               std::vector<std::uint32_t>& left) {
  for (bool changed = true; changed;) {
    const Vec3 middle = to_double(points[find_central(members, points)]);
    const auto stays = [&](std::uint32_t m) {
      return length_sq(to_double(points[m]) - middle) <= limit * limit;
    };
    const auto end = std::stable_partition(members.begin(), members.end(), stays);
    changed = end != members.end();
    left.insert(left.end(), end, members.end());
    members.erase(end, members.end());
  }
}

// SSL14's sweep: who is too far from its parent's point goes to the nearest parent that is near
// enough, or becomes a cluster of its own, below the same grandparent. Returns the parents' number.
// A cluster without room takes nobody in: then it is a cluster of its own, and where the
// grandparent has no room either, it stays.
std::uint32_t move_outliers(Floor& floor, std::vector<std::uint32_t>& grandparent_of,
                            const PointSphereTreeSettings& settings) {
  const auto stride = static_cast<std::uint32_t>(find_child_stride(settings));
  auto parents = static_cast<std::uint32_t>(grandparent_of.size());
  const Families families = find_families(floor.parent_of, parents);
  double sum = 0;
  for (std::size_t i = 0; i < floor.parent_of.size(); ++i) {
    const Vec3f& middle = floor.child_points[floor.central[floor.parent_of[i]]];
    sum += length(to_double(floor.child_points[i]) - to_double(middle));
  }
  const double limit = settings.outlier_factor * sum / static_cast<double>(floor.parent_of.size());
  std::vector<std::uint32_t> tagged;
  std::vector<Vec3f> middles(parents);
  std::vector<std::uint32_t> sizes(parents), siblings;
  for (std::uint32_t i = 0; i < parents; ++i) {
    std::vector<std::uint32_t> members(families.of(i).begin(), families.of(i).end());
    keep_near(members, floor.child_points, limit, tagged);
    middles[i] = floor.child_points[find_central(members, floor.child_points)];
    sizes[i] = static_cast<std::uint32_t>(families.of(i).size());  // a tagged child may come back
    if (grandparent_of[i] >= siblings.size()) siblings.resize(grandparent_of[i] + 1, 0);
    ++siblings[grandparent_of[i]];
  }
  if (tagged.empty()) return parents;
  const NearestPoints nearest(middles, settings.threads);
  for (const std::uint32_t child : tagged) {
    const std::uint32_t old = floor.parent_of[child];
    const NearestPoint found =
        nearest.find(to_double(floor.child_points[child]), kNoPoint, limit * limit);
    if (found.index == old) continue;
    if (found.index != kNoPoint && sizes[found.index] < stride) {
      floor.parent_of[child] = found.index;
      ++sizes[found.index];
      --sizes[old];
    } else if (siblings[grandparent_of[old]] < stride) {
      floor.parent_of[child] = parents++;
      --sizes[old];
      ++siblings[grandparent_of[old]];
      grandparent_of.push_back(grandparent_of[old]);
    }
  }
  return parents;
}

// Numbers nodes again so that children follow each other in their parents' order.
Clusters number_nodes(const Split& split, const std::vector<std::vector<std::uint32_t>>& points) {
  Clusters clusters;
  std::vector<std::uint32_t> now = {0};  // old numbers of a level's nodes, in their new order
  for (std::size_t level = 0; level < split.levels.size(); ++level) {
    const Parents& parents = split.levels[level];
    const Families families = find_families(parents.of_children, parents.count);
    ClusterLevel out;
    out.child_begin.push_back(0);
    std::vector<std::uint32_t> next;
    next.reserve(parents.of_children.size());
    for (const std::uint32_t node : now) {
      const auto members = families.of(node);
      next.insert(next.end(), members.begin(), members.end());
      out.child_begin.push_back(static_cast<std::uint32_t>(next.size()));
      out.representative.push_back(points[level][node]);
    }
    clusters.levels.push_back(std::move(out));
    now = std::move(next);
  }
  clusters.order.reserve(now.size());
  for (const std::uint32_t place : now) clusters.order.push_back(split.order[place]);
  return clusters;
}

}  // namespace

int find_child_stride(const PointSphereTreeSettings& settings) {
  const int k = settings.cluster_size;
  const int most = settings.outlier_factor > 0 ? std::min(k + (k + 1) / 2, kMaxChildren) : k;
  return most <= 4 ? 4 : most <= 8 ? 8 : 16;
}

Clusters find_clusters(const PointShell& shell, const PointSphereTreeSettings& settings) {
  Split split = split_shell(shell, settings);
  std::vector<std::vector<std::uint32_t>> points(
      split.levels.size());  // each node's representative
  std::vector<std::uint32_t> child_points = split.order;
  for (std::size_t level = split.levels.size(); level-- > 0;) {
    settings.monitor.check();
    Parents& parents = split.levels[level];
    Floor floor{.parent_of = parents.of_children, .child_points = {}, .central = {}};
    floor.child_points.resize(child_points.size());
    for (std::size_t i = 0; i < child_points.size(); ++i)
      floor.child_points[i] = shell.points[child_points[i]];
    find_centrals(floor, parents.count, settings.threads);
    if (settings.outlier_factor > 0 && level > 0) {
      parents.count = move_outliers(floor, split.levels[level - 1].of_children, settings);
      find_centrals(floor, parents.count, settings.threads);
    }
    points[level].resize(parents.count);
    for (std::size_t i = 0; i < parents.count; ++i)
      points[level][i] = child_points[floor.central[i]];
    child_points = points[level];
  }
  return number_nodes(split, points);
}

}  // namespace isotact::detail
