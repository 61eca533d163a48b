// Clusters are split from the top (splits.cpp), so that the cells of all levels nest.
// Representatives and outliers are found from the bottom (SSL14 section 2.1.2).
#include "isotact/pointshell/detail/clusters.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>

#include "isotact/pointshell/detail/nearest_points.h"

namespace isotact::detail {
namespace {

// Children of each of `count` parents, in ascending order.
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

// Returns the member whose point is nearest to the members' mean.
std::uint32_t compute_central(std::span<const std::uint32_t> members,
                              std::span<const Vec3f> points) {
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

// Input of the passes from the bottom: one level and its children.
struct Floor {
  std::vector<std::uint32_t>& parent_of;  // Parents of the children.
  std::vector<Vec3f> child_points;        // Their representatives.
  std::vector<std::uint32_t> central;     // The child of each parent whose point the parent takes.
};

void compute_centrals(Floor& floor, std::uint32_t parents, Threads threads) {
  const Families families = find_families(floor.parent_of, parents);
  floor.central.resize(parents);
  parallel_for(parents, 256, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      floor.central[i] = compute_central(families.of(i), floor.child_points);
  });
}

// Removes members that are further than the limit from the central one, and repeats until none is.
void keep_near(std::vector<std::uint32_t>& members, std::span<const Vec3f> points, double limit,
               std::vector<std::uint32_t>& left) {
  for (bool changed = true; changed;) {
    const Vec3 middle = to_double(points[compute_central(members, points)]);
    const auto stays = [&](std::uint32_t m) {
      return length_sq(to_double(points[m]) - middle) <= limit * limit;
    };
    const auto end = std::stable_partition(members.begin(), members.end(), stays);
    changed = end != members.end();
    left.insert(left.end(), end, members.end());
    members.erase(end, members.end());
  }
}

// SSL14's sweep. A node too far from its parent's point joins the nearest parent that is near
// enough, or becomes a cluster of its own below the same grandparent. A full cluster takes no more
// nodes: the node then becomes a cluster of its own. It stays if the grandparent is full as well.
// Returns the number of parents.
std::uint32_t move_outliers(Floor& floor, std::vector<std::uint32_t>& grandparent_of,
                            const PointSphereTreeSettings& settings) {
  const auto stride = static_cast<std::uint32_t>(compute_child_stride(settings));
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
    middles[i] = floor.child_points[compute_central(members, floor.child_points)];
    sizes[i] = static_cast<std::uint32_t>(families.of(i).size());  // A tagged child may come back.
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

// Renumbers nodes so that children follow each other in the order of their parents.
Clusters number_nodes(const Split& split, const std::vector<std::vector<std::uint32_t>>& points) {
  Clusters clusters;
  std::vector<std::uint32_t> now = {0};  // Old numbers of a level's nodes, in their new order.
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

int compute_child_stride(const PointSphereTreeSettings& settings) {
  const int k = settings.cluster_size;
  const int most = settings.outlier_factor > 0 ? std::min(k + (k + 1) / 2, kMaxChildren) : k;
  return most <= 4 ? 4 : most <= 8 ? 8 : 16;
}

Clusters find_clusters(const PointShell& shell, const PointSphereTreeSettings& settings) {
  Split split = split_shell(shell, settings);
  std::vector<std::vector<std::uint32_t>> points(
      split.levels.size());  // Representative of each node.
  std::vector<std::uint32_t> child_points = split.order;
  for (std::size_t level = split.levels.size(); level-- > 0;) {
    settings.monitor.check();
    Parents& parents = split.levels[level];
    Floor floor{.parent_of = parents.of_children, .child_points = {}, .central = {}};
    floor.child_points.resize(child_points.size());
    for (std::size_t i = 0; i < child_points.size(); ++i)
      floor.child_points[i] = shell.points[child_points[i]];
    compute_centrals(floor, parents.count, settings.threads);
    if (settings.outlier_factor > 0 && level > 0) {
      parents.count = move_outliers(floor, split.levels[level - 1].of_children, settings);
      compute_centrals(floor, parents.count, settings.threads);
    }
    points[level].resize(parents.count);
    for (std::size_t i = 0; i < parents.count; ++i)
      points[level][i] = child_points[floor.central[i]];
    child_points = points[level];
  }
  return number_nodes(split, points);
}

}  // namespace isotact::detail
