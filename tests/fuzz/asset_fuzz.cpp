// What must hold for any bytes at all: an asset is refused with Error, or it is the only way to
// write what was read from it, and its field can be queried. Checksums would keep a fuzzer from
// reaching anything behind them, so each input is tried a second time with checksums made right.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "isotact/base/error.h"
#include "isotact/base/hash.h"
#include "isotact/field/io/asset.h"
#include "isotact/geometry/bvh/mesh_distance.h"
#include "isotact/pointshell/asset_section.h"

#include "require.h"

namespace isotact::fuzz {
namespace {

template <typename F, typename Visit>
void query(const F& field, const Visit& visit) {
  const Aabb box = field.bounds();
  for (int i = 0; i < 64; ++i) {
    const double t = i / 48.0 - 0.15;
    const Vec3 p = box.lower + extent(box) * t;
    visit(field.sample(p), field.range({p, p + extent(box) * 0.3}), field.distance_bounds(p));
  }
}

void query_voxmap(const Voxmap& map) {
  const Aabb box = bounds(map.lattice());
  for (int i = 0; i < 64; ++i) {
    const Vec3 p = box.lower + extent(box) * (i / 48.0 - 0.15);
    require(!std::isnan(map.penetration(p, {0, 0, 1})), "a voxmap that was checked has no value");
    if (map.encoding() == VoxmapEncoding::kSupport) map.interpolated_penetration(p);
    if (map.encoding() != VoxmapEncoding::kScaled) map.distance_bounds_of_voxel(map.voxel_at(p));
  }
}

// By links alone, as queries do: whatever was checked, they stay in the buffer.
void walk_tree(const PointSphereTree& tree, bool is_checked) {
  std::uint64_t points = 0;
  for (int l = 0; l < tree.level_count(); ++l) {
    const ShellLevel level = tree.level(l);
    const bool last = l + 1 == tree.level_count();
    for (std::uint32_t i = 0; i < level.nodes.size(); ++i) {
      const ShellNode& node = level.nodes[i];
      if (node.child_count == 0) continue;
      const Spheref ball = sphere(level, i);
      for (std::uint32_t c = node.first_child; c < node.first_child + node.child_count; ++c) {
        if (!last) {
          require(tree.level(l + 1).nodes[c].parent == i, "a child has another parent");
          continue;
        }
        ++points;
        const float d = length_sq(tree.point(c) - ball.center);
        require(!is_checked || d <= ball.radius * ball.radius, "a point is not in its sphere");
      }
    }
  }
  require(points == tree.point_count(), "a walk does not meet all points");
}

void check_tree(const Asset& asset, Check check) {
  try {
    if (const auto tree = find_point_sphere_tree(asset, check))
      walk_tree(*tree, check == Check::kDeep);
  } catch (const Error&) {
    return;
  }
}

// A mesh without flaw answers as one that was built of its triangles.
void query_mesh(const FlatMesh& flat) {
  const TriangleMesh mesh = flat.mesh();
  const Bvh bvh = flat.bvh(), built(mesh);
  require(bvh.triangle_count() == mesh.triangles.size(), "a mesh that was checked lost triangles");
  const Aabb box = to_double(bvh.bounds());
  for (int i = 0; i < 16; ++i) {
    const Vec3f p = to_float(box.lower + extent(box) * (i / 12.0 - 0.15));
    require(find_closest_point(bvh, p) == find_closest_point(built, p),
            "a mesh that was checked has another closest point");
  }
  compute_mesh_distance(bvh, bvh, {.translation = extent(box) * 1.5});
}

void check_decoded(std::span<const std::byte> bytes) {
  constexpr std::uint64_t kMostUnpacked = 1U << 20U;  // fuzzing wants small inputs in every sense
  Asset asset;
  try {
    asset = decode_asset(bytes, "fuzz.isotact", {.max_unpacked_bytes = kMostUnpacked});
  } catch (const Error&) {
    return;
  }
  bool is_canonical = asset.notes.empty();
  AssetHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  is_canonical = is_canonical && header.minor_version == kAssetMinorVersion;
  if (is_canonical && header.section_count > 0 && bytes[64] == std::byte{1}) {
    const std::vector<std::byte> again = encode_asset(asset);
    require(
        again.size() == bytes.size() && std::memcmp(again.data(), bytes.data(), again.size()) == 0,
        "written again, the asset differs");
  }
  const auto is_number = [](const FieldSample& s, const Interval&, const Interval&) {
    require(!std::isnan(s.distance), "a field that was checked has a value that is none");
  };
  if (asset.field) query(*asset.field, is_number);
  if (asset.dense) query(*asset.dense, is_number);
  if (asset.first_order) query(*asset.first_order, is_number);
  if (asset.voxmap) query_voxmap(*asset.voxmap);
  if (asset.mesh) query_mesh(*asset.mesh);
  check_tree(asset, Check::kDeep);
  check_tree(asset, Check::kHeader);
}

// Mapped files are checked less: their values may be rubbish, but no query may leave the buffer.
void check_mapped(std::span<const std::byte> bytes) {
  try {
    const FlatBuffer copy = copy_to_flat_buffer(bytes);
    const auto nothing = [](const FieldSample&, const Interval&, const Interval&) {};
    for (const AssetSection& s : parse_sections(copy, "", AssetCheck::kTables).sections) {
      if (s.kind == SectionKind::kBrickField)
        query(BrickField::from_buffer(s.bytes, copy.owner, Check::kHeader), nothing);
      if (s.kind == SectionKind::kMesh)
        query_mesh(FlatMesh::from_buffer(s.bytes, copy.owner, Check::kHeader));
      if (s.kind == SectionKind::kFirstOrderField)
        query(FirstOrderField::from_buffer(s.bytes, copy.owner, Check::kHeader), nothing);
    }
  } catch (const Error&) {
    return;
  }
}

void seal(std::vector<std::byte>& bytes) {
  AssetHeader header;
  if (bytes.size() < sizeof header) return;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.total_bytes = bytes.size();
  header.checksum = 0;
  const std::size_t front = (sizeof header + std::size_t{header.section_count} * 32 + 63) / 64 * 64;
  if (header.section_count > kMostSections || front > bytes.size()) return;
  for (std::size_t i = 0; i < header.section_count; ++i) {
    SectionEntry entry;
    std::byte* const at = bytes.data() + sizeof header + i * sizeof entry;
    std::memcpy(&entry, at, sizeof entry);
    if (entry.offset > bytes.size() || entry.size > bytes.size() - entry.offset) continue;
    entry.checksum = hash_bytes(std::span(bytes).subspan(entry.offset, entry.size));
    std::memcpy(at, &entry, sizeof entry);
  }
  std::memcpy(bytes.data(), &header, sizeof header);
  header.checksum = hash_bytes(std::span(bytes).first(front));
  std::memcpy(bytes.data(), &header, sizeof header);
}

}  // namespace
}  // namespace isotact::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto given = std::as_bytes(std::span(data, size));
  isotact::fuzz::check_decoded(given);
  std::vector<std::byte> sealed(given.begin(), given.end());
  isotact::fuzz::seal(sealed);
  isotact::fuzz::check_decoded(sealed);
  isotact::fuzz::check_mapped(sealed);
  return 0;
}
