#include "isotact/field/io/asset.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/file.h"
#include "isotact/geometry/primitives/primitives.h"

#include "support/ball_brick_field.h"
#include "support/scratch_folder.h"

namespace isotact {
namespace {

using test::make_ball_field;

const std::vector<std::byte> kPointshell(1000, std::byte{42});

Asset make_asset(std::int32_t coarse_cells) {
  const TriangleMesh mesh = make_sphere({.radius = 1, .frequency = 4});
  Asset asset;
  asset.source = {.mesh_hash = hash_mesh(mesh),
                  .settings = "{\"resolution\":24}",
                  .sign_report = "closed\n\tand oriented"};
  asset.mass = with_density(compute_mass_properties(mesh, {.density = 7850}), 1);
  asset.field = make_ball_field(coarse_cells);
  asset.raw.push_back({SectionKind::kPointshell, copy_to_flat_buffer(kPointshell)});
  return asset;
}

void expect_equal(const Asset& a, const Asset& b) {
  EXPECT_EQ(a.source, b.source);
  ASSERT_EQ(a.mass.has_value(), b.mass.has_value());
  EXPECT_EQ(a.mass->status, b.mass->status);
  EXPECT_EQ(a.mass->inward, b.mass->inward);
  EXPECT_EQ(a.mass->volume, b.mass->volume);
  EXPECT_EQ(a.mass->mass, b.mass->mass);
  EXPECT_EQ(a.mass->area, b.mass->area);
  EXPECT_EQ(a.mass->center, b.mass->center);
  EXPECT_EQ(a.mass->principal_moments, b.mass->principal_moments);
  EXPECT_EQ(a.mass->mesh_from_principal, b.mass->mesh_from_principal);
  EXPECT_EQ(a.mass->inertia.rows[0], b.mass->inertia.rows[0]);
  EXPECT_TRUE(std::ranges::equal(a.field->buffer(), b.field->buffer()));
  ASSERT_NE(find_raw(b, SectionKind::kPointshell), nullptr);
  EXPECT_TRUE(std::ranges::equal(find_raw(b, SectionKind::kPointshell)->buffer.bytes, kPointshell));
}

std::string asset_error(std::span<const std::byte> bytes) {
  try {
    decode_asset(bytes, "a.isotact");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Asset, ComesBackWhole) {
  const ScratchFolder folder;
  const auto path = folder.path() / "ball.isotact";
  const Asset asset = make_asset(4);
  write_asset(path, asset);
  const std::vector<std::byte> bytes = encode_asset(asset);
  EXPECT_EQ(read_file(path), bytes);
  EXPECT_EQ(encoded_size(asset), bytes.size());
  for (const bool map : {false, true}) {
    const Asset read = read_asset(path, {.map = map});
    expect_equal(asset, read);
    EXPECT_EQ(encode_asset(read), bytes);
    EXPECT_TRUE(read.notes.empty());
    verify_asset(read);
  }
  expect_equal(asset, decode_asset(bytes, ""));
  verify_asset(asset);
}

TEST(Asset, OutlivesTheFileItWasReadFrom) {
  const ScratchFolder folder;
  const auto path = folder.path() / "ball.isotact";
  write_asset(path, make_asset(4));
  const BrickField mapped = *read_asset(path, {.map = true}).field;
  const BrickField copied = *read_asset(path).field;
  write_asset(path, Asset{});
  std::filesystem::remove(path);
  EXPECT_EQ(mapped.value({0.9, 0, 0}), copied.value({0.9, 0, 0}));
}

TEST(Asset, MayHoldNothingButItsSource) {
  const Asset read = decode_asset(encode_asset({}), "");
  EXPECT_FALSE(read.field || read.mass);
  EXPECT_EQ(read.source, SourceInfo{});
}

TEST(Asset, NoByteOfItChangesUnseen) {
  Asset asset = make_asset(2);
  const std::vector<std::byte> right = encode_asset(asset);
  ASSERT_EQ(asset_error(right), "");
  std::vector<std::byte> wrong = right;
  std::size_t accepted = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    wrong[i] = right[i] ^ static_cast<std::byte>(1U + i % 255);
    accepted += asset_error(wrong).empty() ? 1U : 0U;
    wrong[i] = right[i];
  }
  EXPECT_EQ(accepted, 0U);
  for (std::size_t size = 0; size < right.size(); size += size < 1000 ? 1 : 61)
    EXPECT_NE(asset_error(std::span(right).first(size)), "") << size;
}

// A checksum can be forged; what lies behind it is checked all the same.
TEST(Asset, ValidatorsSpeakWithFileAndByte) {
  const Asset asset = make_asset(2);
  const std::span<const std::byte> buffer = asset.field->buffer();
  std::vector<std::byte> broken(buffer.begin(), buffer.end());
  broken[16 + 7] = std::byte{0x7f};  // origin
  broken[16 + 6] = std::byte{0xf8};
  const std::vector<AssetSection> sections = {{SectionKind::kBrickField, broken}};
  const std::string error = asset_error(encode_sections(sections));
  EXPECT_EQ(error, "a.isotact: byte 128: brick field: its origin is not finite");
}

TEST(Asset, ForgedFieldsNeverCrash) {
  const Asset asset = make_asset(2);
  const std::span<const std::byte> buffer = asset.field->buffer();
  std::vector<std::byte> forged(buffer.begin(), buffer.end());
  const ScratchFolder folder;
  std::size_t refused = 0, tried = 0;
  for (std::size_t i = 0; i < forged.size(); i += i < 1200 ? 1 : 97, ++tried) {
    const std::byte before = forged[i];
    forged[i] = static_cast<std::byte>(~static_cast<unsigned>(before) & 0xffU);
    const std::vector<AssetSection> sections = {{SectionKind::kBrickField, forged}};
    refused += asset_error(encode_sections(sections)).empty() ? 0U : 1U;
    forged[i] = before;
  }
  EXPECT_GT(refused, tried / 2);
}

TEST(Asset, ForgedBricksAreNamed) {
  const BrickField field = make_ball_field(4);
  const BrickFieldHeader& h = field.header();
  const auto flaw_with = [&](std::size_t at, std::byte value) {
    FlatRoom room = make_flat_room(field.buffer().size());
    std::ranges::copy(field.buffer(), room.bytes.begin());
    room.bytes[at] = value;
    return find_flaw_in_brick_field(room.bytes).value_or("");
  };
  ASSERT_EQ(flaw_with(0, std::byte{'I'}), "");
  const std::size_t correction = h.brick_offset + 3 * sizeof(Brick) + offsetof(Brick, correction);
  const auto node = [&](std::size_t x, std::size_t y, std::size_t z) {
    return correction + (z * 9 + y) * 9 + x;
  };
  const auto says = [](const std::string& flaw, const char* what) {
    return flaw.find(what) != std::string::npos;
  };
  EXPECT_TRUE(says(flaw_with(node(4, 4, 4), std::byte{0x80}), "brick 3: its range"));
  EXPECT_TRUE(says(flaw_with(node(4, 4, 4), std::byte{127}), "brick 3: its range"));
  EXPECT_TRUE(says(flaw_with(node(8, 3, 4), field.buffer()[node(8, 3, 4)] ^ std::byte{1}),
                   "differ on their common face"));
  EXPECT_TRUE(says(flaw_with(correction - 1, std::byte{9}), "brick 3: its corners"));
  EXPECT_TRUE(says(flaw_with(correction + 732, std::byte{9}), "brick 3: unused"));
  EXPECT_TRUE(says(flaw_with(h.block_offset + 8, std::byte{9}), "block 0"));
  EXPECT_TRUE(says(flaw_with(h.range_offset + 3, std::byte{0x7f}), "range of brick 0"));
}

TEST(Asset, RefusesSmallSectionsThatLie) {
  const auto error_with = [](SectionKind kind, std::vector<std::byte> bytes) {
    const std::vector<AssetSection> sections = {{kind, bytes}};
    return asset_error(encode_sections(sections));
  };
  std::vector<std::byte> source(20);
  EXPECT_NE(error_with(SectionKind::kSource, source).find("20 bytes, expected 16"),
            std::string::npos);
  source[8] = std::byte{4};
  EXPECT_NE(error_with(SectionKind::kSource, source).find("control code 0x00"), std::string::npos);
  std::fill(source.begin(), source.end(), std::byte{0xff});
  EXPECT_NE(error_with(SectionKind::kSource, source).find("expected 8589934606"),
            std::string::npos);
  EXPECT_NE(error_with(SectionKind::kSource, {std::byte{1}}).find("too short"), std::string::npos);
  EXPECT_NE(error_with(SectionKind::kMassProperties, std::vector<std::byte>(151)).find("151 bytes"),
            std::string::npos);
  EXPECT_NE(error_with(SectionKind::kMassProperties, std::vector<std::byte>(152)).find("unit"),
            std::string::npos);
  EXPECT_NE(error_with(SectionKind::kMassProperties, std::vector<std::byte>(152, std::byte{0xff}))
                .find("status"),
            std::string::npos);
}

TEST(Asset, RefusesToWriteWhatItWouldNotRead) {
  Asset asset;
  for (const char* text :
       {"\x1b[31m", "\xff", "\x80", "\xc3", "\xc0\xaf", "\xe0\x80\xaf", "\xc3(", "\xed\xa0\x80",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xc2\x9b", "\xe2\x82", "\x7f"}) {
    asset.source.settings = text;
    EXPECT_THROW(encode_asset(asset), Error) << text;
  }
  asset.source.settings = "a\n\t~\u00a0\u00fc\u20ac\ud7ff\ufffd\U0001f600\U0010ffff";
  EXPECT_NO_THROW(encode_asset(asset));
  asset = {};
  asset.mass.emplace().volume = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(encode_asset(asset), Error);
}

TEST(Asset, PassesOverKindsFromTheFutureWithANote) {
  const std::vector<AssetSection> sections = {{static_cast<SectionKind>(77), kPointshell}};
  const Asset asset = decode_asset(encode_sections(sections), "");
  ASSERT_EQ(asset.notes.size(), 1U);
  EXPECT_EQ(asset.notes[0],
            "passed over a section of the unknown kind 77 with 1000 bytes: it was written by a "
            "newer version");
}

TEST(Asset, VerifyFindsWhatMappingDidNotLookAt) {
  const ScratchFolder folder;
  const auto path = folder.path() / "ball.isotact";
  Asset asset = make_asset(8);
  ASSERT_GT(asset.field->buffer().size(), 2 * kSmallSection);
  std::vector<std::byte> bytes = encode_asset(asset);
  bytes[bytes.size() - 5000] ^= std::byte{1};
  write_file(path, bytes);
  EXPECT_THROW(read_asset(path), Error);
  const Asset mapped = read_asset(path, {.map = true});
  EXPECT_THROW(verify_asset(mapped), Error);
}

TEST(Asset, MassFollowsTheDensity) {
  const TriangleMesh mesh = make_box({.size_x = 1, .size_y = 2, .size_z = 3});
  const MassProperties steel = compute_mass_properties(mesh, {.density = 8000});
  const MassProperties one = with_density(steel, 1);
  EXPECT_DOUBLE_EQ(one.mass, 6);
  EXPECT_DOUBLE_EQ(one.inertia.rows[0].x * 8000, steel.inertia.rows[0].x);
  EXPECT_DOUBLE_EQ(with_density(one, 8000).principal_moments.z, steel.principal_moments.z);
}

}  // namespace
}  // namespace isotact
