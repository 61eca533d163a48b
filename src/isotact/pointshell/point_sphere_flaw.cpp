// The validator of point-sphere trees.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "isotact/pointshell/detail/tree_layout.h"
#include "isotact/pointshell/point_sphere_tree.h"

namespace isotact {
namespace {

using Flaw = std::optional<std::string>;

template <typename T>
std::span<const T> part(std::span<const std::byte> buffer, std::uint64_t offset, std::size_t n) {
  return {reinterpret_cast<const T*>(buffer.data() + offset), n};
}

bool is_zero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{}; });
}

Flaw find_flaw_in_facts(const PointSphereTreeHeader& h) {
  if (h.version != 1) return fmt::format("pointshell: version {} is not 1", h.version);
  if (h.level_count < 1 || h.level_count > kMaxShellLevels)
    return fmt::format("pointshell: {} levels, expected 1 to {}", h.level_count, kMaxShellLevels);
  if (h.point_count < 1 || h.point_count > kMaxShellPoints)
    return fmt::format("pointshell: {} points, expected 1 to {}", h.point_count, kMaxShellPoints);
  if (h.child_stride != 4 && h.child_stride != 8 && h.child_stride != 16)
    return fmt::format("pointshell: children at multiples of {}, expected 4, 8 or 16",
                       h.child_stride);
  if (h.cluster_size < 2 || h.cluster_size > h.child_stride || h.max_children > h.child_stride)
    return "pointshell: clusters do not fit into the places for children";
  if (h.sphere_kind > 1 || h.clustering > 1)
    return "pointshell: kind of spheres or clusters is not known";
  if (h.edge_points > h.point_count) return "pointshell: more points on edges than points";
  for (const double x : {h.covering_radius, h.spacing, h.surface_area})
    if (!(x >= 0 && std::isfinite(x)))
      return "pointshell: covering radius, spacing or area is negative or not finite";
  const auto* const end = std::find(std::begin(h.how), std::end(h.how), '\0');
  if (end == std::end(h.how) || std::any_of(end, std::end(h.how), [](char c) { return c != 0; }) ||
      std::any_of(std::begin(h.how), end, [](char c) { return c < ' ' || c > '~'; }))
    return "pointshell: how it was made is not printable text";
  return std::nullopt;
}

Flaw find_flaw_in_header(std::span<const std::byte> buffer) {
  if (buffer.size() < sizeof(PointSphereTreeHeader))
    return fmt::format("pointshell: {} bytes are too few for its header", buffer.size());
  if (!is_aligned(buffer.data())) return "pointshell: its memory is not aligned to 64 bytes";
  const auto& h = *reinterpret_cast<const PointSphereTreeHeader*>(buffer.data());
  if (std::memcmp(h.magic, detail::kTreeMagic, sizeof(h.magic)) != 0)
    return "pointshell: does not begin with ISOSHELL";
  if (Flaw flaw = find_flaw_in_facts(h)) return flaw;
  for (std::uint32_t l = 0; l < h.level_count; ++l) {
    const std::uint64_t least = l == 0 ? 1 : h.levels[l - 1].node_count;
    const std::uint64_t most = l == 0 ? 1 : least * h.child_stride;
    const std::uint32_t n = h.levels[l].node_count;
    if (n < least || n > most || n > h.point_count)
      return fmt::format("pointshell: level {} has {} nodes, which cannot be", l, n);
  }
  PointSphereTreeHeader expected{};
  std::memcpy(&expected, &h, sizeof h);
  std::memset(expected.levels, 0, sizeof expected.levels);
  std::memset(expected.unused1, 0, sizeof expected.unused1);
  std::memset(expected.unused, 0, sizeof expected.unused);
  expected.unused0 = 0;
  for (std::uint32_t l = 0; l < h.level_count; ++l) {
    expected.levels[l].node_count = h.levels[l].node_count;
    expected.levels[l].mean_radius = h.levels[l].mean_radius;
    expected.levels[l].max_radius = h.levels[l].max_radius;
  }
  detail::lay_out(expected);
  const auto laid_out = std::as_bytes(std::span(&expected, 1));
  if (!std::equal(laid_out.begin(), laid_out.end(), buffer.begin()))
    return "pointshell: its parts do not lie where its counts put them, or unused bytes are not "
           "zero";
  if (h.total_bytes != buffer.size())
    return fmt::format("pointshell: {} bytes, but its header says {}", buffer.size(),
                       h.total_bytes);
  return std::nullopt;
}

struct Parts {
  std::span<const std::byte> buffer;
  const PointSphereTreeHeader& h;

  std::span<const SphereGroup> groups(std::uint32_t level) const {
    return part<SphereGroup>(buffer, h.levels[level].group_offset, h.levels[level].place_count / 8);
  }
  std::span<const ShellNode> nodes(std::uint32_t level) const {
    return part<ShellNode>(buffer, h.levels[level].node_offset, h.levels[level].place_count);
  }
  Vec3f point(std::uint32_t i) const {
    return {part<float>(buffer, h.x_offset, h.point_count)[i],
            part<float>(buffer, h.y_offset, h.point_count)[i],
            part<float>(buffer, h.z_offset, h.point_count)[i]};
  }
};

bool is_empty_place(const ShellNode& node) { return is_zero(std::as_bytes(std::span(&node, 1))); }

// Checks a node's children. Those of the n-th node begin at n strides, are as many as it states,
// and end in empty entries. The points below follow from them.
Flaw find_flaw_in_family(const Parts& parts, std::uint32_t level, std::uint32_t place,
                         std::uint32_t number) {
  const PointSphereTreeHeader& h = parts.h;
  const ShellNode& node = parts.nodes(level)[place];
  const auto children = parts.nodes(level + 1);
  if (node.first_child != number * h.child_stride)
    return fmt::format("children begin at {}, expected {}", node.first_child,
                       number * h.child_stride);
  std::uint64_t below = 0;
  bool is_one = false;
  for (std::uint32_t c = 0; c < h.child_stride; ++c) {
    const ShellNode& child = children[node.first_child + c];
    if (c >= node.child_count) {
      if (!is_empty_place(child)) return std::string("a place behind its children is not empty");
      continue;
    }
    if (child.child_count == 0) return std::string("a child is empty");
    if (child.parent != place) return std::string("a child names another parent");
    if (child.first_point != node.first_point + below)
      return std::string("its children's points do not follow each other");
    below += child.point_count;
    is_one = is_one || child.representative == node.representative;
  }
  if (below != node.point_count) return std::string("its points are not those of its children");
  if (!is_one) return std::string("its representative is none of its children's");
  return std::nullopt;
}

Flaw find_flaw_in_node(const Parts& parts, std::uint32_t level, std::uint32_t place,
                       std::uint32_t number) {
  const PointSphereTreeHeader& h = parts.h;
  const ShellNode& node = parts.nodes(level)[place];
  if (node.child_count > h.max_children) return std::string("too many children");
  if (node.first_point > h.point_count || node.point_count > h.point_count - node.first_point)
    return std::string("its points lie beyond the last one");
  if (node.representative < node.first_point ||
      node.representative - node.first_point >= node.point_count)
    return std::string("its representative is not below it");
  if (!(node.area >= 0 && node.reach >= 0 && std::isfinite(node.area) && std::isfinite(node.reach)))
    return std::string("its area or reach is negative or not finite");
  if (level + 1 < h.level_count) return find_flaw_in_family(parts, level, place, number);
  if (node.first_child != node.first_point || node.child_count != node.point_count)
    return std::string("its children are not its points");
  return std::nullopt;
}

Flaw find_flaw_in_links(const Parts& parts) {
  const PointSphereTreeHeader& h = parts.h;
  std::uint32_t most = 0;
  for (std::uint32_t l = 0; l < h.level_count; ++l) {
    const auto nodes = parts.nodes(l);
    std::uint32_t number = 0;
    std::uint64_t points = 0;
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].child_count == 0 && is_empty_place(nodes[i])) continue;
      const auto say = [&](const std::string& what) {
        return fmt::format("pointshell: level {}, node {}: {}", l, i, what);
      };
      if (nodes[i].child_count == 0) return say("empty, but not zero");
      if (number == h.levels[l].node_count) return say("one more than its level has");
      if (nodes[i].first_point != points) return say("its points do not follow the node before");
      if (l == 0 && (i != 0 || nodes[i].parent != 0)) return say("is no root");
      if (const Flaw flaw = find_flaw_in_node(parts, l, i, number)) return say(*flaw);
      points += nodes[i].point_count;
      most = std::max(most, nodes[i].child_count);
      ++number;
    }
    if (number != h.levels[l].node_count || points != h.point_count)
      return fmt::format("pointshell: level {} has {} nodes with {} points, expected {} with {}", l,
                         number, points, h.levels[l].node_count, h.point_count);
  }
  if (most != h.max_children) return "pointshell: its most children are not what its header says";
  return std::nullopt;
}

Flaw find_flaw_in_points(const Parts& parts) {
  const PointSphereTreeHeader& h = parts.h;
  const auto normals = part<Vec3f>(parts.buffer, h.normal_offset, h.point_count);
  const auto areas = part<float>(parts.buffer, h.area_offset, h.point_count);
  const auto original = part<std::uint32_t>(parts.buffer, h.original_offset, h.point_count);
  std::vector<bool> is_named(h.point_count, false);
  for (std::uint32_t i = 0; i < h.point_count; ++i) {
    if (!detail::is_usable_point(parts.point(i)))
      return fmt::format("pointshell: point {} is not finite or too far away", i);
    if (!detail::is_usable_normal(normals[i]))
      return fmt::format("pointshell: normal {} is not a unit vector", i);
    if (!detail::is_usable_area(areas[i]))
      return fmt::format("pointshell: area {} is negative or not finite", i);
    if (original[i] >= h.point_count || is_named[original[i]])
      return fmt::format("pointshell: point {} was point {}, which cannot be", i, original[i]);
    is_named[original[i]] = true;
  }
  return std::nullopt;
}

bool holds(const Spheref& s, const Vec3f& p) {
  return length_sq(p - s.center) <= s.radius * s.radius;
}

Flaw find_flaw_in_sphere(const Parts& parts, std::uint32_t level, std::uint32_t place) {
  const ShellNode& node = parts.nodes(level)[place];
  const ShellLevel whole{parts.groups(level), parts.nodes(level), 0};
  const Spheref s = sphere(whole, place);
  if (node.child_count == 0) {
    const Vec3f before = place % 8 == 0 ? Vec3f{} : sphere(whole, place - 1).center;
    if (s.radius != kEmptyRadius || !(s.center == before))
      return std::string("an empty place has a sphere");
    return std::nullopt;
  }
  // Twice as far as any point: centres lie between points.
  if (!(s.radius >= 0 && s.radius <= 4 * detail::kFurthestPoint && is_finite(s.center)))
    return std::string("its sphere is not finite");
  const Spheref reach{parts.point(node.representative), node.reach};
  for (std::uint32_t p = node.first_point; p < node.first_point + node.point_count; ++p) {
    if (!holds(s, parts.point(p))) return fmt::format("its sphere does not hold point {}", p);
    if (!holds(reach, parts.point(p))) return fmt::format("its reach does not hold point {}", p);
  }
  if (parts.h.sphere_kind == static_cast<std::uint32_t>(SphereKind::kNested) && level > 0) {
    const Spheref above = sphere({parts.groups(level - 1), {}, 0}, node.parent);
    const double d = length(to_double(s.center) - to_double(above.center));
    if (!(d + static_cast<double>(s.radius) <= static_cast<double>(above.radius)))
      return std::string("its sphere sticks out of its parent's");
  }
  return std::nullopt;
}

Flaw find_flaw_in_spheres(const Parts& parts) {
  for (std::uint32_t l = 0; l < parts.h.level_count; ++l) {
    for (std::uint32_t i = 0; i < parts.h.levels[l].place_count; ++i)
      if (const Flaw flaw = find_flaw_in_sphere(parts, l, i))
        return fmt::format("pointshell: level {}, node {}: {}", l, i, *flaw);
    const detail::LevelRadii radii = detail::compute_level_radii(parts.groups(l), parts.nodes(l));
    if (radii.mean != parts.h.levels[l].mean_radius || radii.max != parts.h.levels[l].max_radius)
      return fmt::format("pointshell: level {}: mean or greatest radius is wrong", l);
  }
  return std::nullopt;
}

Flaw find_flaw_in_padding(const Parts& parts) {
  const PointSphereTreeHeader& h = parts.h;
  const std::uint64_t n = h.point_count;
  const std::uint64_t ends[] = {
      h.x_offset + n * 4,    h.y_offset,        h.y_offset + n * 4,        h.z_offset,
      h.z_offset + n * 4,    h.normal_offset,   h.normal_offset + n * 12,  h.area_offset,
      h.area_offset + n * 4, h.original_offset, h.original_offset + n * 4, h.total_bytes};
  for (std::size_t i = 0; i < std::size(ends); i += 2)
    if (!is_zero(parts.buffer.subspan(ends[i], ends[i + 1] - ends[i])))
      return "pointshell: bytes between its parts are not zero";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> find_flaw_in_point_sphere_tree(std::span<const std::byte> buffer,
                                                          Check check) {
  if (Flaw flaw = find_flaw_in_header(buffer)) return flaw;
  const Parts parts{buffer, *reinterpret_cast<const PointSphereTreeHeader*>(buffer.data())};
  if (Flaw flaw = find_flaw_in_links(parts)) return flaw;
  if (check == Check::kHeader) return std::nullopt;
  if (Flaw flaw = find_flaw_in_points(parts)) return flaw;
  if (Flaw flaw = find_flaw_in_spheres(parts)) return flaw;
  return find_flaw_in_padding(parts);
}

}  // namespace isotact
