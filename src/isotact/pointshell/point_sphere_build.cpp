// From clusters to the flat buffer: entries, spheres, points.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/machine.h"
#include "isotact/pointshell/detail/clusters.h"
#include "isotact/pointshell/detail/enclosing_ball.h"
#include "isotact/pointshell/detail/tree_layout.h"
#include "isotact/pointshell/point_sphere_tree.h"

namespace isotact {
namespace {

using detail::Clusters;
using detail::PointColumns;

void check_settings(const PointSphereTreeSettings& s) {
  if (s.cluster_size < 2 || s.cluster_size > kMaxChildren)
    throw Error(fmt::format("point-sphere tree: clusters of {} points, expected 2 to {}",
                            s.cluster_size, kMaxChildren));
  if (!(s.normal_weight >= 0 && s.normal_weight <= 1e6))
    throw Error("point-sphere tree: normal_weight must be between 0 and 1e6");
  if (!(s.outlier_factor == 0 || (s.outlier_factor >= 1 && s.outlier_factor <= 1e6)))
    throw Error("point-sphere tree: outlier_factor must be 0 or between 1 and 1e6");
}

void check_shell(const PointShell& shell) {
  const std::size_t n = shell.points.size();
  if (n == 0) throw Error("point-sphere tree: the shell has no points");
  if (n > kMaxShellPoints)
    throw Error(
        fmt::format("point-sphere tree: {} points, at most {} are possible", n, kMaxShellPoints));
  if (shell.normals.size() != n || shell.areas.size() != n)
    throw Error(fmt::format("point-sphere tree: {} points, {} normals and {} areas", n,
                            shell.normals.size(), shell.areas.size()));
  for (std::size_t i = 0; i < n; ++i) {
    const Vec3f& p = shell.points[i];
    if (!detail::is_usable_point(p))
      throw Error(fmt::format("point-sphere tree: point {} at {} {} {} is not finite or beyond {}",
                              i, p.x, p.y, p.z, detail::kFurthestPoint));
    if (!detail::is_usable_normal(shell.normals[i]))
      throw Error(fmt::format("point-sphere tree: normal {} is not a unit vector", i));
    if (!detail::is_usable_area(shell.areas[i]))
      throw Error(fmt::format("point-sphere tree: area {} is negative or not finite", i));
  }
  for (const double x : {shell.covering_radius, shell.spacing, shell.surface_area})
    if (!(x >= 0 && x <= std::numeric_limits<double>::max()))
      throw Error("point-sphere tree: the shell's radius, spacing or area is negative or infinite");
}

// All data that is known before the spheres.
struct Draft {
  FlatRoom room;
  PointSphereTreeHeader* header = nullptr;
  PointColumns columns{};

  std::span<SphereGroup> groups(int level) const {
    const ShellLevelEntry& e = header->levels[level];
    return {reinterpret_cast<SphereGroup*>(room.bytes.data() + e.group_offset), e.place_count / 8};
  }
  std::span<ShellNode> nodes(int level) const {
    const ShellLevelEntry& e = header->levels[level];
    return {reinterpret_cast<ShellNode*>(room.bytes.data() + e.node_offset), e.place_count};
  }
  template <typename T>
  T* part(std::uint64_t offset) const {
    return reinterpret_cast<T*>(room.bytes.data() + offset);
  }
  PointColumns points_below(const ShellNode& node) const {
    return {columns.x.subspan(node.first_point, node.point_count),
            columns.y.subspan(node.first_point, node.point_count),
            columns.z.subspan(node.first_point, node.point_count)};
  }
};

PointSphereTreeHeader make_header(const PointShell& shell, const Clusters& clusters,
                                  const PointSphereTreeSettings& settings) {
  PointSphereTreeHeader h{};
  std::memcpy(h.magic, detail::kTreeMagic, sizeof(h.magic));
  h.version = 1;
  h.level_count = static_cast<std::uint32_t>(clusters.levels.size());
  h.point_count = static_cast<std::uint32_t>(shell.points.size());
  h.cluster_size = static_cast<std::uint32_t>(settings.cluster_size);
  h.child_stride = static_cast<std::uint32_t>(detail::compute_child_stride(settings));
  h.sphere_kind = static_cast<std::uint32_t>(settings.spheres);
  h.clustering = static_cast<std::uint32_t>(settings.clustering);
  h.edge_points = static_cast<std::uint32_t>(std::min(shell.edge_points, shell.points.size()));
  h.covering_radius = shell.covering_radius;
  h.spacing = shell.spacing;
  h.surface_area = shell.surface_area;
  std::string how;  // Printable for any input.
  for (const char c : shell.how) how += c >= ' ' && c <= '~' ? c : '?';
  std::memcpy(h.how, how.data(), std::min(how.size(), sizeof(h.how) - 1));
  for (std::size_t l = 0; l < clusters.levels.size(); ++l) {
    const auto& begin = clusters.levels[l].child_begin;
    h.levels[l].node_count = static_cast<std::uint32_t>(begin.size() - 1);
    for (std::size_t i = 0; i + 1 < begin.size(); ++i)
      h.max_children = std::max(h.max_children, begin[i + 1] - begin[i]);
  }
  detail::lay_out(h);
  return h;
}

void write_points(const Draft& draft, const PointShell& shell, const Clusters& clusters,
                  Threads threads) {
  const PointSphereTreeHeader& h = *draft.header;
  auto* const x = draft.part<float>(h.x_offset);
  auto* const y = draft.part<float>(h.y_offset);
  auto* const z = draft.part<float>(h.z_offset);
  auto* const normals = draft.part<Vec3f>(h.normal_offset);
  auto* const areas = draft.part<float>(h.area_offset);
  auto* const original = draft.part<std::uint32_t>(h.original_offset);
  parallel_for(h.point_count, 16384, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t from = clusters.order[i];
      x[i] = shell.points[from].x;
      y[i] = shell.points[from].y;
      z[i] = shell.points[from].z;
      normals[i] = shell.normals[from];
      areas[i] = shell.areas[from];
      original[i] = from;
    }
  });
}

// Writes links from the bottom, since the points below a node follow from its children.
void write_nodes(const Draft& draft, const Clusters& clusters) {
  const PointSphereTreeHeader& h = *draft.header;
  std::vector<std::uint32_t> place_in_tree(h.point_count);
  for (std::uint32_t i = 0; i < h.point_count; ++i) place_in_tree[clusters.order[i]] = i;
  for (int level = draft.header->level_count > 0 ? static_cast<int>(h.level_count) - 1 : -1;
       level >= 0; --level) {
    const bool last = level + 1 == static_cast<int>(h.level_count);
    const auto& in = clusters.levels[static_cast<std::size_t>(level)];
    const auto nodes = draft.nodes(level);
    const auto children = last ? std::span<ShellNode>{} : draft.nodes(level + 1);
    // Entries of this level's nodes follow from the level above.
    std::vector<std::uint32_t> places = {0};
    if (level > 0) {
      const auto& above = clusters.levels[static_cast<std::size_t>(level) - 1].child_begin;
      places.clear();
      for (std::uint32_t p = 0; p + 1 < above.size(); ++p)
        for (std::uint32_t c = above[p]; c < above[p + 1]; ++c)
          places.push_back(p * h.child_stride + (c - above[p]));
    }
    for (std::uint32_t i = 0; i < places.size(); ++i) {
      ShellNode& node = nodes[places[i]];
      node.child_count = in.child_begin[i + 1] - in.child_begin[i];
      node.representative = place_in_tree[in.representative[i]];
      if (last) {
        node.first_child = node.first_point = in.child_begin[i];
        node.point_count = node.child_count;
        continue;
      }
      node.first_child = i * h.child_stride;
      node.first_point = children[node.first_child].first_point;
      for (std::uint32_t c = 0; c < node.child_count; ++c) {
        children[node.first_child + c].parent = places[i];
        node.point_count += children[node.first_child + c].point_count;
      }
    }
  }
}

Vec3 representative_of(const Draft& draft, const ShellNode& node) {
  const std::uint32_t i = node.representative;
  return {draft.columns.x[i], draft.columns.y[i], draft.columns.z[i]};
}

// Returns a sphere with a centre rounded to float that contains everything (detail::rounded_out).
template <typename Source>
Spheref round_out(const Sphere& ball, const Source& content) {
  const Vec3f center = to_float(ball.center);
  return {center, detail::rounded_out(detail::distance_to_furthest(content, to_double(center)))};
}

Spheref find_sphere(const Draft& draft, const ShellNode& node, int level) {
  const bool last = level + 1 == static_cast<int>(draft.header->level_count);
  if (last || draft.header->sphere_kind == static_cast<std::uint32_t>(SphereKind::kPoints)) {
    const PointColumns below = draft.points_below(node);
    return round_out(detail::compute_enclosing_ball(below), below);
  }
  Sphere balls[kMaxChildren];
  const auto groups = draft.groups(level + 1);
  for (std::uint32_t c = 0; c < node.child_count; ++c) {
    const std::uint32_t at = node.first_child + c;
    const SphereGroup& g = groups[at / 8];
    balls[c] = {{g.x[at % 8], g.y[at % 8], g.z[at % 8]}, static_cast<double>(g.radius[at % 8])};
  }
  const std::span<const Sphere> all(balls, node.child_count);
  return round_out(detail::compute_enclosing_ball(all), all);
}

void write_level_spheres(const Draft& draft, int level, Threads threads) {
  const auto nodes = draft.nodes(level);
  const auto groups = draft.groups(level);
  const auto* const areas = draft.part<float>(draft.header->area_offset);
  const std::size_t per_node = draft.header->point_count / draft.header->levels[level].node_count;
  const std::size_t grain = std::max<std::size_t>(1, 2048 / (per_node + 1));
  // Chunks consist of whole groups: no two chunks write to one group.
  parallel_for(groups.size(), grain, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin * 8; i < end * 8; ++i) {
      SphereGroup& g = groups[i / 8];
      const std::size_t lane = i % 8;
      ShellNode& node = nodes[i];
      Spheref s{{}, kEmptyRadius};
      if (node.child_count > 0) {
        s = find_sphere(draft, node, level);
        node.reach = detail::rounded_out(
            detail::distance_to_furthest(draft.points_below(node), representative_of(draft, node)));
        double area = 0;
        for (std::uint32_t p = 0; p < node.point_count; ++p)
          area += static_cast<double>(areas[node.first_point + p]);
        node.area = static_cast<float>(area);
      } else if (lane > 0) {
        s.center = {g.x[lane - 1], g.y[lane - 1], g.z[lane - 1]};
      }
      g.x[lane] = s.center.x;
      g.y[lane] = s.center.y;
      g.z[lane] = s.center.z;
      g.radius[lane] = s.radius;
    }
  });
}

}  // namespace

PointSphereTree build_point_sphere_tree(const PointShell& shell,
                                        const PointSphereTreeSettings& settings) {
  check_settings(settings);
  check_shell(shell);
  constexpr double kBytesPerPoint = 160;  // The buffer, items to split, and lists of clusters.
  check_memory(kBytesPerPoint * static_cast<double>(shell.points.size()), settings.max_memory,
               "the point-sphere tree");
  const Clusters clusters = detail::find_clusters(shell, settings);
  const PointSphereTreeHeader header = make_header(shell, clusters, settings);
  Draft draft{.room = make_zeroed_room(header.total_bytes)};
  draft.header = draft.part<PointSphereTreeHeader>(0);
  *draft.header = header;
  write_points(draft, shell, clusters, settings.threads);
  draft.columns = {{draft.part<float>(header.x_offset), header.point_count},
                   {draft.part<float>(header.y_offset), header.point_count},
                   {draft.part<float>(header.z_offset), header.point_count}};
  write_nodes(draft, clusters);
  for (int level = static_cast<int>(header.level_count) - 1; level >= 0; --level) {
    settings.monitor.check();
    write_level_spheres(draft, level, settings.threads);
    const detail::LevelRadii radii =
        detail::compute_level_radii(draft.groups(level), draft.nodes(level));
    draft.header->levels[level].mean_radius = radii.mean;
    draft.header->levels[level].max_radius = radii.max;
  }
  return PointSphereTree::from_buffer(draft.room.bytes, draft.room.owner, Check::kHeader);
}

}  // namespace isotact
