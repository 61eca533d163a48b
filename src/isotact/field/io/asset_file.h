// The container of `.isotact` files: a header, a table, and sections of bytes with a checksum each.
// The page docs/formats.md specifies it to the byte, and asset.h defines the contents of the
// sections.
//
// Every byte of a file is covered by a checksum or must be zero. The same sections have only one
// encoding. So no byte can change unnoticed. Nothing here is trusted before it was checked, and
// nothing is allocated because of a file's claim alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isotact/export.h"
#include "isotact/field/flat_buffer.h"

namespace ISOTACT_PUBLIC isotact {

// Numbers never change. Small sections come first, so that a brief inspection of a big file touches
// its start only.
enum class SectionKind : std::uint32_t {
  kSource = 1,
  kMassProperties = 2,
  kBrickField = 3,
  kDenseGrid = 4,
  kFirstOrderField = 5,
  kVoxmap = 6,
  kPointshell = 7,
  kMesh = 8,
  kSegmentIndex = 9,
};
std::string_view name(SectionKind kind);  // "brick field"; "unknown" for unknown kinds.

inline constexpr std::uint16_t kAssetMajorVersion = 1;  // Readers refuse a newer one.
inline constexpr std::uint16_t kAssetMinorVersion = 0;  // Readers skip unknown contents.
inline constexpr std::size_t kMostSections = 64;

struct AssetHeader {
  char magic[8];  // "ISOTACT" and 0x1a.
  std::uint16_t major_version;
  std::uint16_t minor_version;
  std::uint32_t section_count;
  std::uint64_t total_bytes;
  // Hash of header (this field zero), table and the zeros that pad it to 64.
  std::uint64_t checksum;
  std::uint8_t unused[32];
};
static_assert(sizeof(AssetHeader) == 64 && offsetof(AssetHeader, checksum) == 24);

struct SectionEntry {
  SectionKind kind;      // Ascending, each at most once.
  std::uint32_t unused;  // 0
  std::uint64_t offset;  // From the start of the file; the first multiple of 64 that is free.
  std::uint64_t size;    // Not 0.
  std::uint64_t checksum;
};
static_assert(sizeof(SectionEntry) == 32);

struct AssetSection {
  SectionKind kind{};
  std::span<const std::byte> bytes{};
};

struct AssetSections {
  std::vector<AssetSection> sections;  // Ascending kinds, unknown ones included.
  FlatBuffer file;                     // The buffer that contains them.
  std::uint16_t minor_version = 0;
};

// The extent of a check. kTables: header, table and padding, and the checksums of sections up to
// kSmallSection bytes; larger sections are not touched.
enum class AssetCheck : std::uint8_t { kTables, kAll };
inline constexpr std::size_t kSmallSection = 65536;

// Throws Error with `name` and the byte at which the file violates the format. The buffer must be
// aligned to 64 bytes.
AssetSections parse_sections(const FlatBuffer& file, std::string_view name, AssetCheck check);

// Reads a copy (checked in full), or maps the file (checked as kTables). Also reads pipes, by copy.
// Memory: that of the file, after its header was found to be one and to agree with its size.
AssetSections read_sections(const std::filesystem::path& path);
AssetSections map_sections(const std::filesystem::path& path);

// Sections may have any order, each kind at most once, none empty; otherwise throws Error. The same
// sections give the same bytes. write_sections is atomic (see write_file) and copies no section.
std::vector<std::byte> encode_sections(std::span<const AssetSection> sections);
std::uint64_t encoded_size(std::span<const AssetSection> sections);
void write_sections(const std::filesystem::path& path, std::span<const AssetSection> sections);

}  // namespace isotact
