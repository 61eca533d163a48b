// Assets with the sections that are sampled at every node: dense grid, first-order field, voxelmap.
#include <algorithm>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/field/analytic.h"
#include "isotact/field/io/asset.h"
#include "isotact/field/io/detail/dense_section.h"
#include "isotact/geometry/primitives.h"

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
