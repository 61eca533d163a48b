#include "isotact/field/io/asset_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/file.h"
#include "isotact/base/hash.h"

namespace isotact {
namespace {

static_assert(std::endian::native == std::endian::little, "asset files are little endian");

constexpr std::array<char, 8> kMagic = {'I', 'S', 'O', 'T', 'A', 'C', 'T', '\x1a'};
constexpr std::uint64_t kAlign = kFlatAlignment;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 48U;  // keeps sums far from overflow

constexpr std::uint64_t align_up(std::uint64_t at) { return (at + kAlign - 1) / kAlign * kAlign; }
constexpr std::uint64_t front_size(std::uint64_t section_count) {
  return align_up(sizeof(AssetHeader) + section_count * sizeof(SectionEntry));
}
constexpr std::size_t kLargestFront = front_size(kMostSections);

template <typename T>
T load(std::span<const std::byte> bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// The place of the first byte that is not zero.
std::optional<std::size_t> find_nonzero(std::span<const std::byte> bytes) {
  const auto at =
      std::find_if(bytes.begin(), bytes.end(), [](std::byte b) { return b != std::byte{0}; });
  if (at == bytes.end()) return std::nullopt;
  return static_cast<std::size_t>(at - bytes.begin());
}

// Header, table and its padding, with the checksum's own field taken for zero.
std::uint64_t checksum_of_front(std::span<const std::byte> front) {
  std::array<std::byte, kLargestFront> copy;
  assert(front.size() <= copy.size());
  std::copy(front.begin(), front.end(), copy.begin());
  std::memset(copy.data() + offsetof(AssetHeader, checksum), 0, sizeof(AssetHeader::checksum));
  return hash_bytes(std::span(copy).first(front.size()));
}

class Parser {
 public:
  Parser(std::string_view name, std::uint64_t file_size) : name_(name), file_size_(file_size) {}

  // `start` is the beginning of the file, at least kLargestFront bytes of it or all.
  AssetHeader parse_header(std::span<const std::byte> start) const {
    if (start.size() < kMagic.size() ||
        std::memcmp(start.data(), kMagic.data(), kMagic.size()) != 0)
      fail(0, start.empty() ? "is empty; an asset file was expected"
                            : "is no asset file: it does not begin with 'ISOTACT'");
    if (start.size() < sizeof(AssetHeader))
      fail(start.size(), fmt::format("ends inside the header of {} bytes", sizeof(AssetHeader)));
    const auto header = load<AssetHeader>(start, 0);
    if (header.major_version != kAssetMajorVersion)
      fail(offsetof(AssetHeader, major_version),
           fmt::format("has version {}.{}; this library reads version {}.x", header.major_version,
                       header.minor_version, kAssetMajorVersion));
    if (header.section_count > kMostSections)
      fail(offsetof(AssetHeader, section_count),
           fmt::format("promises {} sections; at most {} are possible", header.section_count,
                       kMostSections));
    if (header.total_bytes != file_size_)
      fail(offsetof(AssetHeader, total_bytes),
           fmt::format("should have {} bytes but has {}: it was cut or damaged", header.total_bytes,
                       file_size_));
    const std::uint64_t front = front_size(header.section_count);
    if (front > start.size()) fail(start.size(), "ends inside the table of sections");
    const std::uint64_t found = checksum_of_front(start.first(front));
    if (found != header.checksum)
      fail(offsetof(AssetHeader, checksum),
           fmt::format("header and table are damaged: checksum {:016x}, expected {:016x}", found,
                       header.checksum));
    if (const auto at = find_nonzero(std::as_bytes(std::span(header.unused))))
      fail(offsetof(AssetHeader, unused) + *at, "a reserved byte of the header is not zero");
    return header;
  }

  // The table against the size of the file: order, alignment, no overlap, no gap, no rest.
  std::vector<SectionEntry> parse_table(std::span<const std::byte> start,
                                        const AssetHeader& header) const {
    std::vector<SectionEntry> entries(header.section_count);
    const std::uint64_t front = front_size(header.section_count);
    std::uint64_t table_end = sizeof(AssetHeader);
    std::uint64_t free = front;
    for (std::size_t i = 0; i < entries.size(); ++i, table_end += sizeof(SectionEntry)) {
      entries[i] = load<SectionEntry>(start, table_end);
      const SectionEntry& e = entries[i];
      const auto fail_entry = [&](std::string_view problem) {
        fail(table_end, fmt::format("entry {} of the table: {}", i, problem));
      };
      if (e.unused != 0) fail_entry("a reserved field is not zero");
      if (i > 0 && e.kind <= entries[i - 1].kind) fail_entry("kinds do not ascend");
      if (e.offset != free)
        fail_entry(fmt::format("the section begins at {}, expected {}", e.offset, free));
      if (e.size == 0) fail_entry("the section is empty");
      if (e.size > kMostBytes || e.offset + e.size > file_size_)
        fail_entry(fmt::format("the section ends beyond the file ({} bytes at {} of {})", e.size,
                               e.offset, file_size_));
      free = align_up(e.offset + e.size);
    }
    if (free != file_size_)
      fail(sizeof(AssetHeader),
           fmt::format("sections end at {}, the file at {}", free, file_size_));
    require_zeros(start.subspan(table_end, front - table_end), table_end);
    return entries;
  }

  void check_section(std::span<const std::byte> file, const SectionEntry& e,
                     AssetCheck check) const {
    const std::uint64_t end = e.offset + e.size;
    require_zeros(file.subspan(end, align_up(end) - end), end);
    if (check == AssetCheck::kTables && e.size > kSmallSection) return;
    const std::uint64_t found = hash_bytes(file.subspan(e.offset, e.size));
    if (found != e.checksum)
      fail(e.offset, fmt::format("section '{}' of {} bytes is damaged: checksum {:016x}, expected "
                                 "{:016x}",
                                 isotact::name(e.kind), e.size, found, e.checksum));
  }

 private:
  [[noreturn]] void fail(std::uint64_t byte, std::string_view message) const {
    throw Error({.file = std::string(name_), .byte = byte}, message);
  }
  void require_zeros(std::span<const std::byte> bytes, std::uint64_t offset) const {
    if (const auto at = find_nonzero(bytes)) fail(offset + *at, "padding is not zero");
  }

  std::string_view name_;
  std::uint64_t file_size_;
};

// What write_sections puts before the sections, with the sections in the order of the file.
struct Front {
  std::vector<std::byte> bytes;
  std::vector<AssetSection> sections;
  std::uint64_t total_bytes = 0;
};

Front make_front(std::span<const AssetSection> unsorted) {
  Front front;
  front.sections.assign(unsorted.begin(), unsorted.end());
  std::sort(front.sections.begin(), front.sections.end(),
            [](const AssetSection& a, const AssetSection& b) { return a.kind < b.kind; });
  if (front.sections.size() > kMostSections)
    throw Error(fmt::format("an asset has at most {} sections", kMostSections));
  front.bytes.resize(front_size(front.sections.size()));
  std::uint64_t free = front.bytes.size();
  for (std::size_t i = 0; i < front.sections.size(); ++i) {
    const AssetSection& section = front.sections[i];
    if (i > 0 && front.sections[i - 1].kind == section.kind)
      throw Error(fmt::format("an asset cannot have two sections '{}'", name(section.kind)));
    if (section.bytes.empty())
      throw Error(fmt::format("an asset's section '{}' is empty", name(section.kind)));
    const SectionEntry entry{.kind = section.kind,
                             .unused = 0,
                             .offset = free,
                             .size = section.bytes.size(),
                             .checksum = hash_bytes(section.bytes)};
    std::memcpy(front.bytes.data() + sizeof(AssetHeader) + i * sizeof entry, &entry, sizeof entry);
    free = align_up(free + section.bytes.size());
  }
  front.total_bytes = free;
  AssetHeader header{};
  std::copy(kMagic.begin(), kMagic.end(), header.magic);
  header.major_version = kAssetMajorVersion;
  header.minor_version = kAssetMinorVersion;
  header.section_count = static_cast<std::uint32_t>(front.sections.size());
  header.total_bytes = front.total_bytes;
  std::memcpy(front.bytes.data(), &header, sizeof header);
  header.checksum = checksum_of_front(front.bytes);
  std::memcpy(front.bytes.data(), &header, sizeof header);
  return front;
}

template <typename Append>
void append_all(const Front& front, const Append& append) {
  constexpr std::array<std::byte, kAlign> kZeros{};
  append(std::span<const std::byte>(front.bytes));
  for (const AssetSection& section : front.sections) {
    append(section.bytes);
    append(std::span(kZeros).first(align_up(section.bytes.size()) - section.bytes.size()));
  }
}

std::uint64_t promised_size(std::span<const std::byte> start) {
  return start.size() < sizeof(AssetHeader) ? start.size()
                                            : load<AssetHeader>(start, 0).total_bytes;
}

// A pipe has no size to hold against the header, and may have no end. So memory grows with what has
// come, and reading stops one byte behind what the header promises: a file that is longer shows.
FlatBuffer read_pipe(FileStream& stream, std::span<const std::byte> start) {
  std::vector<std::byte> bytes(start.begin(), start.end());
  const std::uint64_t most = std::max<std::uint64_t>(promised_size(start), start.size()) + 1;
  for (;;) {
    const std::size_t filled = bytes.size();
    bytes.resize(std::min<std::uint64_t>(std::max<std::size_t>(2 * filled, 65536), most));
    const std::size_t n = stream.read(std::span(bytes).subspan(filled));
    bytes.resize(filled + n);
    if (n == 0 || bytes.size() == most) return copy_to_flat_buffer(bytes);
  }
}

}  // namespace

std::string_view name(SectionKind kind) {
  switch (kind) {
    case SectionKind::kSource:
      return "source";
    case SectionKind::kMassProperties:
      return "mass properties";
    case SectionKind::kBrickField:
      return "brick field";
    case SectionKind::kDenseGrid:
      return "dense grid";
    case SectionKind::kFirstOrderField:
      return "first-order field";
    case SectionKind::kVoxmap:
      return "voxmap";
    case SectionKind::kPointshell:
      return "pointshell";
    case SectionKind::kMesh:
      return "mesh";
    case SectionKind::kSegmentIndex:
      return "segment index";
  }
  return "unknown";
}

AssetSections parse_sections(const FlatBuffer& file, std::string_view name, AssetCheck check) {
  assert(reinterpret_cast<std::uintptr_t>(file.bytes.data()) % kFlatAlignment == 0);
  const Parser parser(name, file.bytes.size());
  const AssetHeader header = parser.parse_header(file.bytes);
  AssetSections parsed{.sections = {}, .file = file, .minor_version = header.minor_version};
  for (const SectionEntry& e : parser.parse_table(file.bytes, header)) {
    parser.check_section(file.bytes, e, check);
    parsed.sections.push_back({e.kind, file.bytes.subspan(e.offset, e.size)});
  }
  return parsed;
}

AssetSections read_sections(const std::filesystem::path& path) {
  FileStream stream(path);
  std::array<std::byte, kLargestFront> front;
  const auto start = std::span(front).first(stream.read(front));
  if (stream.size() == 0 && !start.empty()) {
    Parser(path.string(), promised_size(start)).parse_header(start);
    return parse_sections(read_pipe(stream, start), path.string(), AssetCheck::kAll);
  }
  // Only a file that has the size which its header states is given memory.
  Parser(path.string(), stream.size()).parse_header(start);
  FlatRoom room = make_flat_room(stream.size());
  std::copy(start.begin(), start.end(), room.bytes.begin());
  const std::size_t rest = stream.read(room.bytes.subspan(start.size()));
  const FlatBuffer file{room.bytes.first(start.size() + rest), std::move(room.owner)};
  return parse_sections(file, path.string(), AssetCheck::kAll);
}

AssetSections map_sections(const std::filesystem::path& path) {
  auto mapped = std::make_shared<const MappedFile>(path);
  const std::span<const std::byte> bytes = mapped->bytes();
  return parse_sections({bytes, std::move(mapped)}, path.string(), AssetCheck::kTables);
}

std::vector<std::byte> encode_sections(std::span<const AssetSection> sections) {
  const Front front = make_front(sections);
  std::vector<std::byte> bytes;
  bytes.reserve(front.total_bytes);
  append_all(front, [&](std::span<const std::byte> piece) {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  });
  return bytes;
}

std::uint64_t encoded_size(std::span<const AssetSection> sections) {
  std::uint64_t size = front_size(sections.size());
  for (const AssetSection& section : sections) size += align_up(section.bytes.size());
  return size;
}

void write_sections(const std::filesystem::path& path, std::span<const AssetSection> sections) {
  const Front front = make_front(sections);
  write_file_in_pieces(path, [&](const AppendBytes& append) { append_all(front, append); });
}

}  // namespace isotact
