#include "isotact/field/io/asset_file.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "isotact/base/error.h"
#include "isotact/base/file.h"
#include "isotact/base/hash.h"
#include "isotact/base/random.h"

#include "support/scratch_folder.h"

namespace isotact {
namespace {

std::vector<std::byte> random_bytes(std::size_t size, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::byte> bytes(size);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random.below(256));
  return bytes;
}

const std::vector<std::byte> kSmall = random_bytes(100, 1);
const std::vector<std::byte> kLarge = random_bytes(64 * 5, 2);
constexpr auto kUnknown = static_cast<SectionKind>(1000);

std::vector<AssetSection> some_sections() {
  return {{SectionKind::kVoxmap, kLarge}, {SectionKind::kSource, kSmall}, {kUnknown, kSmall}};
}

std::string file_error(std::span<const std::byte> bytes, AssetCheck check = AssetCheck::kAll) {
  try {
    parse_sections(copy_to_flat_buffer(bytes), "a.isotact", check);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// With the header's checksum made right, so that what lies behind it is reached.
template <typename Change>
std::vector<std::byte> forged(const Change& change) {
  std::vector<std::byte> bytes = encode_sections(some_sections());
  change(bytes);
  AssetHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  const std::size_t front = (64 + 32 * header.section_count + 63) / 64 * 64;
  header.checksum = 0;
  std::memcpy(bytes.data(), &header, sizeof header);
  if (front <= bytes.size()) header.checksum = hash_bytes(std::span(bytes).first(front));
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

template <typename T>
void put(std::vector<std::byte>& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

bool equal(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

TEST(AssetFile, GivesBackSectionsInTheOrderOfTheirKinds) {
  const std::vector<std::byte> bytes = encode_sections(some_sections());
  const AssetSections parsed =
      parse_sections(copy_to_flat_buffer(bytes), "a.isotact", AssetCheck::kAll);
  ASSERT_EQ(parsed.sections.size(), 3U);
  EXPECT_EQ(parsed.sections[0].kind, SectionKind::kSource);
  EXPECT_TRUE(equal(parsed.sections[0].bytes, kSmall));
  EXPECT_EQ(parsed.sections[1].kind, SectionKind::kVoxmap);
  EXPECT_TRUE(equal(parsed.sections[1].bytes, kLarge));
  EXPECT_EQ(parsed.sections[2].kind, kUnknown);
  for (const AssetSection& s : parsed.sections)
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(s.bytes.data()) % 64, 0U);
}

TEST(AssetFile, TheSameSectionsGiveTheSameBytes) {
  std::vector<AssetSection> turned = some_sections();
  std::reverse(turned.begin(), turned.end());
  EXPECT_EQ(encode_sections(some_sections()), encode_sections(turned));
  EXPECT_EQ(encode_sections({}).size(), 64U);
  EXPECT_EQ(file_error(encode_sections({})), "");
}

TEST(AssetFile, RefusesSectionsTwiceOrEmpty) {
  EXPECT_THROW(encode_sections(std::vector<AssetSection>{{kUnknown, kSmall}, {kUnknown, kLarge}}),
               Error);
  EXPECT_THROW(encode_sections(std::vector<AssetSection>{{kUnknown, {}}}), Error);
}

TEST(AssetFile, NoByteChangesUnseen) {
  const std::vector<std::byte> right = encode_sections(some_sections());
  ASSERT_EQ(file_error(right), "");
  std::vector<std::byte> wrong = right;
  for (std::size_t i = 0; i < right.size(); ++i) {
    for (const unsigned flip : {1U, 128U, 255U}) {
      wrong[i] = right[i] ^ static_cast<std::byte>(flip);
      EXPECT_NE(file_error(wrong), "") << "byte " << i;
    }
    wrong[i] = right[i];
  }
}

TEST(AssetFile, NoCutIsAccepted) {
  std::vector<std::byte> bytes = encode_sections(some_sections());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_NE(file_error(std::span(bytes).first(size)), "") << size;
  bytes.resize(bytes.size() + 64);
  EXPECT_NE(file_error(bytes), "");
}

TEST(AssetFile, ErrorsNameFileByteAndReason) {
  EXPECT_EQ(file_error({}), "a.isotact: byte 0: is empty; an asset file was expected");
  EXPECT_EQ(file_error(kSmall),
            "a.isotact: byte 0: is no asset file: it does not begin with 'ISOTACT'");
  EXPECT_EQ(file_error(forged([](auto& b) { put<std::uint16_t>(b, 8, 2); })),
            "a.isotact: byte 8: has version 2.0; this library reads version 1.x");
  EXPECT_EQ(file_error(forged([](auto& b) { put<std::uint32_t>(b, 12, 4000000000U); })),
            "a.isotact: byte 12: promises 4000000000 sections; at most 64 are possible");
  EXPECT_EQ(file_error(forged([](auto& b) { b.pop_back(); })),
            "a.isotact: byte 16: should have 768 bytes but has 767: it was cut or damaged");
}

TEST(AssetFile, RefusesTablesThatLie) {
  constexpr std::size_t kEntry = 64 + 32;  // the second one
  const auto error_with = [&](std::size_t at, std::uint64_t value) {
    return file_error(forged([&](auto& b) { put(b, kEntry + at, value); }));
  };
  EXPECT_NE(error_with(0, 1).find("kinds do not ascend"), std::string::npos);
  EXPECT_NE(error_with(0, 6 | (1ULL << 40U)).find("reserved field"), std::string::npos);
  EXPECT_NE(error_with(8, 192).find("the section begins at 192, expected 320"), std::string::npos);
  EXPECT_NE(error_with(8, 321).find("expected 320"), std::string::npos);
  EXPECT_NE(error_with(16, 0).find("empty"), std::string::npos);
  EXPECT_NE(error_with(16, ~0ULL).find("beyond the file"), std::string::npos);
  EXPECT_NE(error_with(16, 1ULL << 47U).find("beyond the file"), std::string::npos);
  EXPECT_NE(error_with(16, 64).find("expected"), std::string::npos);
  EXPECT_NE(error_with(24, 0).find("section 'voxmap' of 320 bytes is damaged"), std::string::npos);
  EXPECT_NE(file_error(forged([](auto& b) { b[40] = std::byte{1}; })).find("reserved byte"),
            std::string::npos);
  EXPECT_NE(file_error(forged([](auto& b) { b[180] = std::byte{1}; })).find("padding"),
            std::string::npos);
}

TEST(AssetFile, ReadsAMinorVersionFromTheFuture) {
  const std::vector<std::byte> newer = forged([](auto& b) { put<std::uint16_t>(b, 10, 7); });
  EXPECT_EQ(parse_sections(copy_to_flat_buffer(newer), "", AssetCheck::kAll).minor_version, 7);
}

TEST(AssetFile, TheCheapCheckPassesOverLargeSectionsOnly) {
  const std::vector<std::byte> large = random_bytes(kSmallSection + 1, 3);
  const std::vector<AssetSection> sections = {{SectionKind::kSource, kSmall},
                                              {SectionKind::kBrickField, large}};
  std::vector<std::byte> bytes = encode_sections(sections);
  bytes[bytes.size() - 1000] ^= std::byte{1};
  EXPECT_EQ(file_error(bytes, AssetCheck::kTables), "");
  EXPECT_NE(file_error(bytes, AssetCheck::kAll), "");
  bytes[130] ^= std::byte{1};
  EXPECT_NE(file_error(bytes, AssetCheck::kTables), "");
}

// A pipe without an end is read as far as its header promises.
TEST(AssetFile, PipesAreReadToTheirPromisedEnd) {
  const ScratchFolder folder;
  const auto path = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::signal(SIGPIPE, SIG_IGN);  // the writer sees an error instead
  const std::vector<std::byte> whole = encode_sections(some_sections());
  for (const bool is_endless : {false, true}) {
    std::thread writer([&] {
      const int pipe = ::open(path.c_str(), O_WRONLY);
      EXPECT_GT(::write(pipe, whole.data(), whole.size()), 0);
      const std::vector<char> more(65536);
      while (is_endless && ::write(pipe, more.data(), more.size()) > 0) {
      }
      ::close(pipe);
    });
    if (is_endless)
      EXPECT_THROW(read_sections(path), Error);
    else
      EXPECT_EQ(read_sections(path).sections.size(), 3U);
    writer.join();
  }
}

TEST(AssetFile, WritesWhatItEncodes) {
  const ScratchFolder folder;
  const auto path = folder.path() / "a.isotact";
  write_sections(path, some_sections());
  EXPECT_EQ(read_file(path), encode_sections(some_sections()));
  EXPECT_TRUE(equal(read_sections(path).sections[1].bytes, kLarge));
  EXPECT_TRUE(equal(map_sections(path).sections[1].bytes, kLarge));
  EXPECT_THROW(read_sections(folder.path()), Error);
  EXPECT_THROW(read_sections(folder.path() / "none"), Error);
  EXPECT_THROW(map_sections(folder.path() / "none"), Error);
  write_file(path, "");
  EXPECT_THROW(read_sections(path), Error);
  EXPECT_THROW(map_sections(path), Error);
}

}  // namespace
}  // namespace isotact
