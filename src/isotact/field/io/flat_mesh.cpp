#include "isotact/field/io/flat_mesh.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "isotact/base/disjoint_sets.h"
#include "isotact/base/error.h"
#include "isotact/geometry/repair/repair.h"

namespace isotact {
namespace {

using Flaw = std::optional<std::string>;

constexpr char kMeshMagic[8] = {'I', 'S', 'O', '_', 'M', 'E', 'S', 'H'};
static_assert(sizeof(Vec3f) == 12 && sizeof(Triangle) == 12);

// Where the arrays lie follows from how many there are. Counts have 32 bits: no sum overflows.
FlatMeshHeader make_header(std::uint32_t nodes, std::uint32_t blocks, std::uint32_t vertices,
                           std::uint32_t triangles, std::uint32_t parts) {
  FlatMeshHeader h{};
  std::copy(std::begin(kMeshMagic), std::end(kMeshMagic), h.magic);
  h.version = 1;
  h.node_count = nodes;
  h.block_count = blocks;
  h.vertex_count = vertices;
  h.triangle_count = triangles;
  h.part_count = parts;
  std::uint64_t at = sizeof h;
  const auto take = [&](std::uint64_t& offset, std::uint64_t count, std::uint64_t size) {
    offset = at;
    at = round_up_to_alignment(at + count * size);
  };
  take(h.node_offset, nodes, sizeof(detail::BvhNode));
  take(h.oriented_offset, nodes, sizeof(detail::OrientedNode));
  take(h.block_offset, blocks, sizeof(detail::TriangleBlock));
  take(h.vertex_offset, vertices, sizeof(Vec3f));
  take(h.triangle_offset, triangles, sizeof(Triangle));
  take(h.part_offset, parts, sizeof(std::uint32_t));
  h.total_bytes = at;
  return h;
}

TriangleMesh clean(const TriangleMesh& mesh, Threads threads) {
  TriangleMesh finite{.positions = mesh.positions, .triangles = {}};
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto c = corners(mesh, t);
    if (is_finite(c[0]) && is_finite(c[1]) && is_finite(c[2]))
      finite.triangles.push_back(mesh.triangles[t]);
  }
  return remove_unreferenced(weld(finite, {.threads = threads}).mesh).mesh;
}

// Needs indices in range.
DisjointSets join_parts(std::span<const Triangle> triangles, std::size_t vertex_count) {
  DisjointSets sets(vertex_count);
  for (const Triangle& t : triangles) {
    sets.join(t[0], t[1]);
    sets.join(t[0], t[2]);
  }
  return sets;
}

Flaw check_header(std::span<const std::byte> buffer) {
  if (!is_aligned(buffer.data())) return "is not aligned";
  if (buffer.size() < sizeof(FlatMeshHeader)) return "ends in its header";
  FlatMeshHeader h;
  std::memcpy(&h, buffer.data(), sizeof h);
  if (std::memcmp(h.magic, kMeshMagic, sizeof kMeshMagic) != 0) return "the magic is not ISO_MESH";
  if (h.version != 1) return fmt::format("has version {}, expected 1", h.version);
  const FlatMeshHeader expected =
      make_header(h.node_count, h.block_count, h.vertex_count, h.triangle_count, h.part_count);
  if (expected.total_bytes != buffer.size())
    return fmt::format("has {} bytes, its counts need {}", buffer.size(), expected.total_bytes);
  if (std::memcmp(&h, &expected, sizeof h) != 0)
    return "a size, an offset or an unused byte of the header is wrong";
  if (h.triangle_count == 0) return "has no triangles";
  return std::nullopt;
}

// Between the arrays.
bool is_padding_zero(std::span<const std::byte> buffer, std::uint64_t end) {
  const std::span<const std::byte> gap = buffer.subspan(end, round_up_to_alignment(end) - end);
  return std::all_of(gap.begin(), gap.end(), [](std::byte b) { return b == std::byte{0}; });
}

Flaw check_mesh(const FlatMesh& mesh) {
  std::vector<bool> used(mesh.positions().size(), false);
  for (std::size_t i = 0; i < used.size(); ++i)
    if (!is_finite(mesh.positions()[i])) return fmt::format("vertex {} is not finite", i);
  for (std::size_t t = 0; t < mesh.triangles().size(); ++t)
    for (const std::uint32_t v : mesh.triangles()[t]) {
      if (v >= used.size()) return fmt::format("a vertex of triangle {} does not exist", t);
      used[v] = true;
    }
  if (const auto at = std::find(used.begin(), used.end(), false); at != used.end())
    return fmt::format("no triangle has vertex {}", at - used.begin());
  return std::nullopt;
}

Flaw check_parts(const FlatMesh& mesh) {
  DisjointSets sets = join_parts(mesh.triangles(), mesh.positions().size());
  std::size_t count = 0;
  for (std::uint32_t i = 0; i < sets.size(); ++i) {
    if (sets.find(i) != i) continue;
    if (count == mesh.parts().size() || mesh.parts()[count] != i)
      return fmt::format("part {} is not one", count);
    ++count;
  }
  if (count != mesh.parts().size()) return fmt::format("part {} is not one", count);
  return std::nullopt;
}

template <typename T>
std::span<const T> array_at(std::span<const std::byte> buffer, std::uint64_t offset,
                            std::size_t count) {
  return {reinterpret_cast<const T*>(buffer.data() + offset), count};
}

}  // namespace

FlatMesh FlatMesh::build(const TriangleMesh& mesh, const BvhSettings& settings) {
  const TriangleMesh kept = clean(mesh, settings.threads);
  if (kept.triangles.empty()) throw Error("the mesh has no triangles");
  const Bvh bvh(kept, settings);
  std::vector<std::uint32_t> parts;
  DisjointSets sets = join_parts(kept.triangles, kept.positions.size());
  for (std::uint32_t i = 0; i < sets.size(); ++i)
    if (sets.find(i) == i) parts.push_back(i);
  const auto size32 = [](const auto& range) { return static_cast<std::uint32_t>(range.size()); };
  const FlatMeshHeader h =
      make_header(size32(bvh.nodes()), size32(bvh.blocks()), size32(kept.positions),
                  size32(kept.triangles), size32(parts));
  FlatRoom room = make_zeroed_room(h.total_bytes);
  const auto put = [&](std::uint64_t offset, const auto& range) {
    const auto bytes = std::as_bytes(std::span(range));
    std::memcpy(room.bytes.data() + offset, bytes.data(), bytes.size());
  };
  std::memcpy(room.bytes.data(), &h, sizeof h);
  put(h.node_offset, bvh.nodes());
  put(h.oriented_offset, bvh.oriented_nodes());
  put(h.block_offset, bvh.blocks());
  put(h.vertex_offset, kept.positions);
  put(h.triangle_offset, kept.triangles);
  put(h.part_offset, parts);
  FlatMesh flat;
  flat.buffer_ = room.bytes;
  flat.owner_ = std::move(room.owner);
  return flat;
}

FlatMesh FlatMesh::from_buffer(std::span<const std::byte> buffer, std::shared_ptr<const void> owner,
                               Check check) {
  if (const auto flaw = find_flaw_in_flat_mesh(buffer, check)) throw Error("mesh: " + *flaw);
  FlatMesh flat;
  flat.buffer_ = buffer;
  flat.owner_ = std::move(owner);
  flat.is_checked_ = check != Check::kHeader;
  return flat;
}

std::span<const Vec3f> FlatMesh::positions() const {
  return array_at<Vec3f>(buffer_, header().vertex_offset, header().vertex_count);
}
std::span<const Triangle> FlatMesh::triangles() const {
  return array_at<Triangle>(buffer_, header().triangle_offset, header().triangle_count);
}
std::span<const std::uint32_t> FlatMesh::parts() const {
  return array_at<std::uint32_t>(buffer_, header().part_offset, header().part_count);
}

BvhArrays FlatMesh::arrays() const {
  const FlatMeshHeader& h = header();
  return {array_at<detail::BvhNode>(buffer_, h.node_offset, h.node_count),
          array_at<detail::OrientedNode>(buffer_, h.oriented_offset, h.node_count),
          array_at<detail::TriangleBlock>(buffer_, h.block_offset, h.block_count)};
}

void FlatMesh::check() const {
  if (is_checked_) return;
  if (const auto flaw = find_flaw_in_flat_mesh(buffer_)) throw Error("mesh: " + *flaw);
}

Bvh FlatMesh::bvh() const {
  check();
  return Bvh::from_arrays(arrays(), owner_);
}

TriangleMesh FlatMesh::mesh() const {
  check();
  return {{positions().begin(), positions().end()}, {triangles().begin(), triangles().end()}};
}

Flaw find_flaw_in_flat_mesh(std::span<const std::byte> buffer, Check check) {
  if (Flaw flaw = check_header(buffer)) return flaw;
  if (check == Check::kHeader) return std::nullopt;
  FlatMesh mesh;
  mesh.buffer_ = buffer;
  const FlatMeshHeader& h = mesh.header();
  for (const std::uint64_t end : {h.block_offset + h.block_count * sizeof(detail::TriangleBlock),
                                  h.vertex_offset + h.vertex_count * sizeof(Vec3f),
                                  h.triangle_offset + h.triangle_count * sizeof(Triangle),
                                  h.part_offset + h.part_count * sizeof(std::uint32_t)})
    if (!is_padding_zero(buffer, end)) return fmt::format("padding at {} is not zero", end);
  if (Flaw flaw = check_mesh(mesh)) return flaw;
  if (Flaw flaw = check_parts(mesh)) return flaw;
  if (Flaw flaw = find_flaw(mesh.arrays(), mesh.positions(), mesh.triangles()))
    return "hierarchy: " + *flaw;
  return std::nullopt;
}

}  // namespace isotact
