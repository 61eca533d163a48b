// The container of `.isotact` files: a header, a table, and sections of bytes with a checksum each.
// docs/formats.md specifies it to the byte. What the sections mean is asset.h's business.
//
// Every byte of a file is covered by a checksum or must be zero, and there is one way only to write
// the same sections: no byte can change unseen. Nothing here is trusted before it was checked, and
// nothing is allocated on the word of a file alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isotact/field/flat_buffer.h"

namespace isotact {

// Numbers are for ever. Small sections first, so that a look into a big file touches its start
// only.
enum class SectionKind : std::uint32_t {
  kSource = 1,
  kMassProperties = 2,
  kBrickField = 3,
  kDenseGrid = 4,
  kFirstOrderField = 5,
  kVoxmap = 6,
  kPointshell = 7,
};
std::string_view name(SectionKind kind);  // "brick field"; "unknown" for what we do not know

inline constexpr std::uint16_t kAssetMajorVersion = 1;  // readers refuse a newer one
inline constexpr std::uint16_t kAssetMinorVersion = 0;  // readers skip what they do not know
inline constexpr std::size_t kMostSections = 64;

struct AssetHeader {
  char magic[8];  // "ISOTACT" and 0x1a
  std::uint16_t major_version;
  std::uint16_t minor_version;
  std::uint32_t section_count;
  std::uint64_t total_bytes;
  std::uint64_t checksum;  // of header (this field zero), table and the zeros that pad it to 64
  std::uint8_t unused[32];
};
static_assert(sizeof(AssetHeader) == 64 && offsetof(AssetHeader, checksum) == 24);

struct SectionEntry {
  SectionKind kind;      // ascending, each at most once
  std::uint32_t unused;  // 0
  std::uint64_t offset;  // from the start of the file; the first multiple of 64 that is free
  std::uint64_t size;    // not 0
  std::uint64_t checksum;
};
static_assert(sizeof(SectionEntry) == 32);

struct AssetSection {
  SectionKind kind{};
  std::span<const std::byte> bytes{};
};

struct AssetSections {
  std::vector<AssetSection> sections;  // ascending kinds, those that we do not know too
  FlatBuffer file;                     // what they lie in
  std::uint16_t minor_version = 0;
};

// What is looked at. kTables: header, table and padding, and the checksums of sections up to
// kSmallSection bytes; larger sections are not touched.
enum class AssetCheck : std::uint8_t { kTables, kAll };
inline constexpr std::size_t kSmallSection = 65536;

// Throws Error with `name` and the byte where the file is not what the format says. The buffer must
// be aligned to 64 bytes.
AssetSections parse_sections(const FlatBuffer& file, std::string_view name, AssetCheck check);

// Reads a copy (checked in full), or maps the file (checked as kTables). Also reads pipes, by copy.
// Memory: that of the file, after its header was found to be one and to agree with its size.
AssetSections read_sections(const std::filesystem::path& path);
AssetSections map_sections(const std::filesystem::path& path);

// Sections in any order, each kind at most once, none empty: else Error. The same sections give the
// same bytes. write_sections is atomic (see write_file) and copies no section.
std::vector<std::byte> encode_sections(std::span<const AssetSection> sections);
std::uint64_t encoded_size(std::span<const AssetSection> sections);
void write_sections(const std::filesystem::path& path, std::span<const AssetSection> sections);

}  // namespace isotact
