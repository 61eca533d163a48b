// Assets with the sections that are sampled at every node: dense grid, first-order field, voxelmap.
#include <algorithm>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/file.h"
#include "isotact/field/io/asset.h"
#include "isotact/field/io/detail/small_sections.h"
#include "isotact/field/models/analytic.h"
#include "isotact/geometry/primitives/primitives.h"

#include "support/scratch_folder.h"

namespace isotact {
namespace {

const Lattice kLattice{.origin = {-0.8, -0.8, -0.8}, .spacing = 0.1, .cells = {16, 16, 16}};

Asset make_asset(VoxmapEncoding encoding) {
  const SphereField ball{.radius = 0.5};
  Asset asset;
  asset.dense = sample_on_lattice(ball, kLattice, {.holds_body = true});
  asset.first_order = sample_first_order(ball, kLattice);
  asset.voxmap =
      build_voxmap(make_sphere({.radius = 0.5}), kLattice, {.encoding = encoding}).voxmap;
  return asset;
}

TEST(AssetSections, ComeBackWhole) {
  for (const VoxmapEncoding encoding :
       {VoxmapEncoding::kLayers, VoxmapEncoding::kScaled, VoxmapEncoding::kSupport}) {
    const Asset asset = make_asset(encoding);
    const std::vector<std::byte> bytes = encode_asset(asset);
    const Asset read = decode_asset(bytes, "");
    ASSERT_TRUE(read.dense && read.first_order && read.voxmap);
    EXPECT_TRUE(read.raw.empty());
    EXPECT_TRUE(std::ranges::equal(read.dense->samples(), asset.dense->samples()));
    EXPECT_EQ(read.dense->lattice(), kLattice);
    EXPECT_EQ(read.dense->parts().sample_error, asset.dense->parts().sample_error);
    EXPECT_TRUE(read.dense->parts().holds_body);
    EXPECT_TRUE(std::ranges::equal(read.first_order->buffer(), asset.first_order->buffer()));
    EXPECT_TRUE(std::ranges::equal(read.voxmap->buffer(), asset.voxmap->buffer()));
    EXPECT_EQ(encode_asset(read), bytes);
    verify_asset(read);
  }
}

TEST(AssetSections, LayersAreUnpackedOnlyIfTheyMay) {
  const Asset asset = make_asset(VoxmapEncoding::kLayers);
  const std::vector<std::byte> bytes = encode_asset(asset);
  const std::uint64_t size = asset.voxmap->buffer().size();
  EXPECT_TRUE(decode_asset(bytes, "", {.max_unpacked_bytes = size}).voxmap);
  EXPECT_THROW(decode_asset(bytes, "", {.max_unpacked_bytes = size - 1}), Error);
  const Asset packed = decode_asset(bytes, "", {.unpack_layers = false, .max_unpacked_bytes = 0});
  EXPECT_FALSE(packed.voxmap);
  EXPECT_NE(find_raw(packed, SectionKind::kVoxmap), nullptr);
  EXPECT_EQ(encode_asset(packed), bytes);
  verify_asset(packed);
  const std::vector<AssetSection> plain = {{SectionKind::kVoxmap, asset.voxmap->buffer()}};
  EXPECT_THROW(decode_asset(encode_sections(plain), ""), Error);
}

TEST(AssetSections, MappingLooksAtTheHeadOfAFirstOrderFieldOnly) {
  const ScratchFolder folder;
  const auto path = folder.path() / "ball.isotact";
  Asset asset;
  const Lattice lattice{.origin = {-0.8, -0.8, -0.8}, .spacing = 0.05, .cells = {32, 32, 32}};
  asset.first_order = sample_first_order(SphereField{.radius = 0.5}, lattice);
  ASSERT_GT(asset.first_order->buffer().size(), kSmallSection);
  std::vector<std::byte> bytes = encode_asset(asset);
  bytes[bytes.size() / 2] ^= std::byte{1};
  write_file(path, bytes);
  EXPECT_THROW(read_asset(path), Error);
  const Asset mapped = read_asset(path, {.map = true});
  EXPECT_NEAR(mapped.first_order->value({0.45, 0.45, 0.45}), 0.2794, 0.001);
  EXPECT_THROW(verify_asset(mapped), Error);
}

// A body of two parts whose corners are stored twice, a vertex that nothing uses, and a triangle
// that is not finite.
TriangleMesh make_rough_mesh() {
  TriangleMesh mesh;
  for (const Vec3f at : {Vec3f{0, 0, 0}, Vec3f{3, 0, 0}}) {
    const TriangleMesh ball = make_sphere({.radius = 0.5, .frequency = 3});
    for (const Triangle& t : ball.triangles) {
      const auto first = static_cast<std::uint32_t>(mesh.positions.size());
      for (const std::uint32_t v : t) mesh.positions.push_back(ball.positions[v] + at);
      mesh.triangles.push_back({first, first + 1, first + 2});
    }
  }
  mesh.positions.push_back({std::numeric_limits<float>::quiet_NaN(), 0, 0});
  const auto last = static_cast<std::uint32_t>(mesh.positions.size()) - 1;
  mesh.triangles.push_back({0, 1, last});
  return mesh;
}

TEST(AssetSections, MeshesAreKeptWithTheirHierarchy) {
  const TriangleMesh rough = make_rough_mesh();
  const TriangleMesh ball = make_sphere({.radius = 0.5, .frequency = 3});
  Asset asset;
  asset.mesh = FlatMesh::build(rough);
  EXPECT_EQ(asset.mesh->triangles().size(), 2 * ball.triangles.size());
  EXPECT_EQ(asset.mesh->positions().size(), 2 * ball.positions.size());
  ASSERT_EQ(asset.mesh->parts().size(), 2U);
  EXPECT_EQ(asset.mesh->parts()[0], 0U);
  const std::vector<std::byte> bytes = encode_asset(asset);
  const Asset read = decode_asset(bytes, "");
  ASSERT_TRUE(read.mesh);
  EXPECT_EQ(encode_asset(read), bytes);
  verify_asset(read);
  const TriangleMesh kept = read.mesh->mesh();
  for (std::size_t t = 0; t < kept.triangles.size(); ++t)
    ASSERT_EQ(corners(kept, t), corners(rough, t));
  const Bvh bvh = read.mesh->bvh();
  EXPECT_EQ(bvh.content_hash(), Bvh(kept).content_hash());
  EXPECT_EQ(static_cast<const void*>(bvh.nodes().data()),
            static_cast<const void*>(read.mesh->buffer().data() + 128));
  EXPECT_THROW(FlatMesh::build({}), Error);
  for (const int threads : {1, 3})
    EXPECT_TRUE(std::ranges::equal(FlatMesh::build(rough, {.threads = {.count = threads}}).buffer(),
                                   asset.mesh->buffer()));
}

TEST(AssetSections, MappedMeshesAreCheckedWhenTheyAreUsed) {
  const ScratchFolder folder;
  const auto path = folder.path() / "ball.isotact";
  Asset asset;
  asset.mesh = FlatMesh::build(make_sphere({.radius = 0.5, .frequency = 24}));
  ASSERT_GT(asset.mesh->buffer().size(), kSmallSection);
  std::vector<std::byte> bytes = encode_asset(asset);
  write_file(path, bytes);
  EXPECT_EQ(read_asset(path, {.map = true}).mesh->bvh().content_hash(),
            asset.mesh->bvh().content_hash());
  bytes[bytes.size() / 2] ^= std::byte{0x40};
  write_file(path, bytes);
  EXPECT_THROW(read_asset(path), Error);
  const Asset mapped = read_asset(path, {.map = true});
  EXPECT_THROW(mapped.mesh->bvh(), Error);
  EXPECT_THROW(mapped.mesh->mesh(), Error);
  EXPECT_THROW(verify_asset(mapped), Error);
}

// The section's own validator, with checksums out of the way.
TEST(AssetSections, DamagedMeshesAreErrors) {
  const FlatMesh mesh = FlatMesh::build(make_rough_mesh());
  FlatRoom room = make_flat_room(mesh.buffer().size());
  std::ranges::copy(mesh.buffer(), room.bytes.begin());
  ASSERT_FALSE(find_flaw_in_flat_mesh(room.bytes));
  for (std::size_t size = 0; size < room.bytes.size(); size += size < 256 ? 1 : 61)
    ASSERT_TRUE(find_flaw_in_flat_mesh(room.bytes.first(size), Check::kHeader)) << size;
  const FlatMeshHeader& h = mesh.header();
  std::size_t named = 0, tried = 0;
  for (std::size_t i = 0; i < room.bytes.size(); i += i < 4000 ? 1 : 13, ++tried) {
    const std::byte before = room.bytes[i];
    room.bytes[i] ^= static_cast<std::byte>(1U + i % 255);
    const bool is_named = find_flaw_in_flat_mesh(room.bytes).has_value();
    named += is_named ? 1 : 0;
    // Boxes may be larger than they need to be; all else has one encoding.
    ASSERT_TRUE(is_named || (i >= h.node_offset && i < h.block_offset)) << i;
    room.bytes[i] = before;
  }
  EXPECT_GT(named, tried * 8 / 10);
  const auto flaw_with = [&](std::size_t place, auto value) {
    FlatRoom wrong = make_flat_room(mesh.buffer().size());
    std::ranges::copy(mesh.buffer(), wrong.bytes.begin());
    std::memcpy(wrong.bytes.data() + place, &value, sizeof value);
    return find_flaw_in_flat_mesh(wrong.bytes).value_or("");
  };
  EXPECT_EQ(flaw_with(0, 'J'), "the magic is not ISO_MESH");
  EXPECT_EQ(flaw_with(8, 2U), "has version 2, expected 1");
  EXPECT_NE(flaw_with(12, 0xffffffffU).find("its counts need"), std::string::npos);
  EXPECT_EQ(flaw_with(h.vertex_offset, std::numeric_limits<float>::infinity()),
            "vertex 0 is not finite");
  EXPECT_EQ(flaw_with(h.triangle_offset, 0xffffffffU), "a vertex of triangle 0 does not exist");
  EXPECT_EQ(flaw_with(h.part_offset, 1U), "part 0 is not one");
}

// The section's own validator, with checksums out of the way.
TEST(AssetSections, DamagedDenseGridsAreErrors) {
  DenseGridParts parts{.lattice = {.cells = {1, 1, 2}}, .samples = std::vector<float>(12, 1.0F)};
  const std::vector<std::byte> right = detail::encode_dense_grid(DenseGrid(parts));
  ASSERT_EQ(right.size(), 128U + 48U);
  EXPECT_NO_THROW(detail::decode_dense_grid(right));
  for (std::size_t size = 0; size < right.size(); size += 7)
    EXPECT_THROW(detail::decode_dense_grid(std::span(right).first(size)), Error) << size;
  const auto expect_error = [&](std::size_t place, auto value) {
    std::vector<std::byte> wrong = right;
    std::memcpy(wrong.data() + place, &value, sizeof value);
    EXPECT_THROW(detail::decode_dense_grid(wrong), Error) << place;
  };
  expect_error(0, 'J');
  expect_error(8, std::uint32_t{2});
  expect_error(12, std::uint32_t{2});
  expect_error(16, std::numeric_limits<double>::quiet_NaN());
  expect_error(40, 0.0);
  expect_error(40, std::numeric_limits<double>::infinity());
  for (const std::int32_t cells : {0, -1, 2, 2147483647}) expect_error(48, cells);
  expect_error(60, std::uint32_t{1});
  expect_error(64, 5.0);  // above its other end
  expect_error(72, std::numeric_limits<double>::quiet_NaN());
  expect_error(80, std::uint64_t{1} << 60U);
  expect_error(88, std::uint64_t{0});
  expect_error(127, '\1');
  expect_error(128, std::numeric_limits<float>::infinity());
}

}  // namespace
}  // namespace isotact
