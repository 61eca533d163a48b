#include "isotact/pointshell/point_sphere_tree.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "isotact/base/error.h"
#include "isotact/pointshell/asset_section.h"
#include "isotact/pointshell/detail/tree_layout.h"

namespace isotact {

PointSphereTree PointSphereTree::from_buffer(std::span<const std::byte> buffer,
                                             std::shared_ptr<const void> owner, Check check) {
  if (const auto flaw = find_flaw_in_point_sphere_tree(buffer, check)) throw Error(*flaw);
  PointSphereTree tree;
  tree.buffer_ = buffer;
  tree.owner_ = std::move(owner);
  return tree;
}

ShellLevel PointSphereTree::level(int level) const {
  assert(level >= 0 && level < level_count());
  const ShellLevelEntry& e = header().levels[level];
  return {
      {reinterpret_cast<const SphereGroup*>(buffer_.data() + e.group_offset), e.place_count / 8},
      {reinterpret_cast<const ShellNode*>(buffer_.data() + e.node_offset), e.place_count},
      e.node_count};
}

std::span<const Vec3f> PointSphereTree::normals() const {
  return {reinterpret_cast<const Vec3f*>(buffer_.data() + header().normal_offset), point_count()};
}

std::span<const std::uint32_t> PointSphereTree::original() const {
  return {reinterpret_cast<const std::uint32_t*>(buffer_.data() + header().original_offset),
          point_count()};
}

double PointSphereTree::covering_radius(int level) const {
  float reach = 0;
  for (const ShellNode& node : this->level(level).nodes) reach = std::max(reach, node.reach);
  return covering_radius() + static_cast<double>(reach);
}

std::string_view PointSphereTree::how() const { return header().how; }  // Ends with a zero.

namespace detail {

void lay_out(PointSphereTreeHeader& h) {
  constexpr std::uint64_t kBeyond = 16;  // Floats that may be read after the last one.
  std::uint64_t at = sizeof(PointSphereTreeHeader);
  const auto take = [&](std::uint64_t bytes) {
    const std::uint64_t start = at;
    at = round_up_to_alignment(at + bytes);
    return start;
  };
  for (std::uint32_t l = 0; l < h.level_count; ++l) {
    ShellLevelEntry& e = h.levels[l];
    const std::uint64_t places =
        l == 0 ? 1 : std::uint64_t{h.levels[l - 1].node_count} * h.child_stride;
    e.place_count = static_cast<std::uint32_t>((places + 7) / 8 * 8);
    e.group_offset = take(e.place_count / 8 * sizeof(SphereGroup));
    e.node_offset = take(e.place_count * sizeof(ShellNode));
  }
  const std::uint64_t n = h.point_count;
  h.x_offset = take((n + kBeyond) * sizeof(float));
  h.y_offset = take((n + kBeyond) * sizeof(float));
  h.z_offset = take((n + kBeyond) * sizeof(float));
  h.normal_offset = take(n * sizeof(Vec3f));
  h.area_offset = take(n * sizeof(float));
  h.original_offset = take(n * sizeof(std::uint32_t));
  h.total_bytes = at;
}

LevelRadii compute_level_radii(std::span<const SphereGroup> groups,
                               std::span<const ShellNode> nodes) {
  double sum = 0, count = 0;
  float most = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].child_count == 0) continue;
    const float r = groups[i / 8].radius[i % 8];
    sum += static_cast<double>(r);
    most = std::max(most, r);
    ++count;
  }
  return {count > 0 ? static_cast<float>(sum / count) : 0, most};
}

}  // namespace detail

std::optional<PointSphereTree> find_point_sphere_tree(const Asset& asset, Check check) {
  const RawSection* const raw = find_raw(asset, SectionKind::kPointshell);
  if (raw == nullptr) return std::nullopt;
  try {
    return PointSphereTree::from_buffer(raw->buffer.bytes, raw->buffer.owner, check);
  } catch (const Error& error) {
    if (asset.file_name.empty()) throw;
    throw Error(FileSpot{.file = asset.file_name}, error.what());
  }
}

void set_point_sphere_tree(Asset& asset, const PointSphereTree& tree) {
  std::erase_if(asset.raw, [](const RawSection& r) { return r.kind == SectionKind::kPointshell; });
  asset.raw.push_back({SectionKind::kPointshell, tree.flat_buffer()});
}

}  // namespace isotact
