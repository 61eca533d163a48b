// The flat buffer of a SegmentIndex: its layout, its validator, and its section of asset files.
#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/hash.h"
#include "isotact/field/models/brick_field.h"
#include "isotact/queries/segments/detail/index_layout.h"

namespace isotact {
namespace detail {

SegmentIndexHeader plan_index(const SegmentIndexHeader& counts) {
  SegmentIndexHeader h = counts;
  std::memcpy(h.magic, kIndexMagic, sizeof(h.magic));
  h.version = kIndexVersion;
  h.macro_cells = kMacroCells;
  const std::uint64_t macros = count(Index3{h.macros[0], h.macros[1], h.macros[2]});
  const std::uint64_t words = macros / 64 + 1;
  std::uint64_t end = sizeof(SegmentIndexHeader);
  const auto place = [&](std::uint64_t bytes) {
    const std::uint64_t at = end;
    end = round_up_to_alignment(at + bytes);
    return at;
  };
  h.free_cubes = place(8 * macros + 4);
  h.occupied = place(words * sizeof(std::uint64_t));
  h.rank = place(words * sizeof(std::uint32_t));
  h.occupied_macros = place(std::uint64_t{h.occupied_count} * sizeof(IndexedMacro));
  h.masks = place(std::uint64_t{h.occupied_count} * sizeof(MacroMasks));
  h.cell_offset = place(std::uint64_t{h.cell_count} * sizeof(IndexedCell));
  h.blocks = place(std::uint64_t{h.block_count} * sizeof(SampleBlock));
  h.total_bytes = end;
  return h;
}

namespace {

template <typename T>
std::span<const T> part_of(const FlatBuffer& buffer, std::uint64_t offset, std::size_t n) {
  return {reinterpret_cast<const T*>(buffer.bytes.data() + offset), n};
}

}  // namespace

SegmentIndex view_segment_index(const FlatBuffer& buffer) {
  const auto& h = *reinterpret_cast<const SegmentIndexHeader*>(buffer.bytes.data());
  SegmentIndex index{.buffer = buffer,
                     .center = h.center,
                     .reach = h.reach,
                     .macros = {h.macros[0], h.macros[1], h.macros[2]}};
  const std::size_t macros = count(index.macros), words = macros / 64 + 1;
  index.free_cubes = part_of<std::int8_t>(buffer, h.free_cubes, 8 * macros + 4);
  index.occupied = part_of<std::uint64_t>(buffer, h.occupied, words);
  index.rank = part_of<std::uint32_t>(buffer, h.rank, words);
  index.occupied_macros = part_of<IndexedMacro>(buffer, h.occupied_macros, h.occupied_count);
  index.masks = part_of<MacroMasks>(buffer, h.masks, h.occupied_count);
  index.cells = part_of<IndexedCell>(buffer, h.cell_offset, h.cell_count);
  index.blocks = part_of<SampleBlock>(buffer, h.blocks, h.block_count);
  return index;
}

namespace {

using Flaw = std::optional<std::string>;

Flaw find_flaw_in_header(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(SegmentIndexHeader))
    return fmt::format("{} bytes are too few for a header", bytes.size());
  if (!is_aligned(bytes.data())) return "the buffer is not aligned to 64 bytes";
  const auto& h = *reinterpret_cast<const SegmentIndexHeader*>(bytes.data());
  if (std::memcmp(h.magic, kIndexMagic, sizeof(h.magic)) != 0)
    return "it does not begin as an index";
  if (h.version != kIndexVersion)
    return fmt::format("version {}, this program reads {}", h.version, kIndexVersion);
  if (!std::isfinite(h.center) || !std::isfinite(h.reach) || h.reach < 0)
    return "centre or reach is not finite, or the reach is negative";
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (h.cells[axis] < 1 || h.cells[axis] > 1 << 20) return "the numbers of cells are impossible";
    if (h.macros[axis] != (h.cells[axis] + kMacroCells - 1) / kMacroCells)
      return "the numbers of macro cells do not follow from those of cells";
  }
  const SegmentIndexHeader planned = plan_index(h);
  // Headers have no padding. NOLINTNEXTLINE(bugprone-suspicious-memory-comparison)
  if (planned.total_bytes != bytes.size() || std::memcmp(&planned, &h, sizeof(h)) != 0)
    return "offsets and size do not follow from the counts";
  for (const std::uint8_t byte : h.more)
    if (byte != 0) return "an unused byte is not zero";
  return h.unused == 0 ? Flaw() : "an unused byte is not zero";
}

bool is_finite(const SegmentSlab& slab) {
  return std::isfinite(slab.normal[0]) && std::isfinite(slab.normal[1]) &&
         std::isfinite(slab.normal[2]) && std::isfinite(slab.least) && std::isfinite(slab.most);
}

// Everything that a traversal uses as an address.
Flaw find_flaw_in_tables(const SegmentIndex& index) {
  const std::size_t macros = count(index.macros);
  std::uint32_t places = 0;
  for (std::size_t w = 0; w < index.occupied.size(); ++w) {
    if (index.rank[w] != places) return fmt::format("word {}: a wrong rank", w);
    places += static_cast<std::uint32_t>(__builtin_popcountll(index.occupied[w]));
  }
  if (index.occupied.back() >> macros % 64 != 0) return "a bit beyond the last macro cell";
  if (places != index.occupied_macros.size())
    return "as many occupied macro cells are marked as are not stored";
  for (std::size_t i = 0; i < 8 * macros; ++i) {
    const std::size_t n = i % macros;
    const bool occupied = (index.occupied[n / 64] >> n % 64 & 1U) != 0;
    if ((index.free_cubes[i] == 0) != occupied || index.free_cubes[i] == -128)
      return fmt::format("macro cell {}: its free cube is not possible", n);
  }
  std::uint64_t cells = 0, blocks = 0, last = 0;
  for (std::size_t i = 0; i < index.occupied_macros.size(); ++i) {
    const IndexedMacro& m = index.occupied_macros[i];
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (m.at[axis] < 0 || m.at[axis] >= index.macros[axis])
        return fmt::format("occupied macro cell {}: it lies outside", i);
    const std::size_t n = flat_index(index.macros, m.at[0], m.at[1], m.at[2]);
    if ((index.occupied[n / 64] >> n % 64 & 1U) == 0 || (i > 0 && n <= last))
      return fmt::format("occupied macro cell {}: it is not marked, or out of order", i);
    last = n;
    if (m.first != cells || m.inside > 3 || m.unused != 0 || !is_finite(m.slab))
      return fmt::format("occupied macro cell {}: its cells, sides or slab are wrong", i);
    const MacroMasks& masks = index.masks[i];
    if (masks.indexed == 0 || (masks.indexed & masks.inside) != 0)
      return fmt::format("occupied macro cell {}: its masks are wrong", i);
    cells += static_cast<std::uint64_t>(__builtin_popcountll(masks.indexed));
  }
  if (cells != index.cells.size()) return "the masks mark another number of cells";
  for (std::size_t i = 0; i < index.cells.size(); ++i) {
    const IndexedCell& c = index.cells[i];
    bool good = c.inside <= 3 && is_finite(c.slab) && (c.blocks & c.inside_blocks) == 0;
    for (const float corner : c.corner) good = good && std::isfinite(corner);
    for (const std::uint8_t byte : c.unused) good = good && byte == 0;
    if (c.first_block != IndexedCell::kNoBlocks) {
      good = good && c.first_block == blocks;
      blocks += static_cast<std::uint64_t>(__builtin_popcount(c.blocks));
    }
    if (!good) return fmt::format("cell {}: its numbers are wrong", i);
  }
  return blocks == index.blocks.size() ? Flaw() : "the cells have another number of blocks";
}

Flaw find_flaw_in_rest(const SegmentIndex& index) {
  for (std::size_t i = 0; i < index.blocks.size(); ++i)
    for (const std::int8_t byte : index.blocks[i].unused)
      if (byte != 0) return fmt::format("block {}: an unused byte is not zero", i);
  const auto is_zero_behind = [&](const auto& part) {
    const auto* start = reinterpret_cast<const std::byte*>(part.data() + part.size());
    const auto at = static_cast<std::size_t>(start - index.buffer.bytes.data());
    return std::all_of(start, start + (round_up_to_alignment(at) - at),
                       [](std::byte b) { return b == std::byte{}; });
  };
  const bool zeros = is_zero_behind(index.free_cubes.first(index.free_cubes.size() - 4)) &&
                     is_zero_behind(index.occupied) && is_zero_behind(index.rank) &&
                     is_zero_behind(index.occupied_macros) && is_zero_behind(index.masks) &&
                     is_zero_behind(index.cells) && is_zero_behind(index.blocks);
  return zeros ? Flaw() : "a byte between the parts is not zero";
}

}  // namespace
}  // namespace detail

std::optional<std::string> find_segment_index_flaw(std::span<const std::byte> bytes, Check check) {
  if (auto flaw = detail::find_flaw_in_header(bytes)) return flaw;
  const SegmentIndex index = detail::view_segment_index({bytes, nullptr});
  if (auto flaw = detail::find_flaw_in_tables(index)) return flaw;
  return check == Check::kDeep ? detail::find_flaw_in_rest(index) : std::nullopt;
}

SegmentIndex open_segment_index(const FlatBuffer& buffer, Check check) {
  if (const auto flaw = find_segment_index_flaw(buffer.bytes, check))
    throw Error("the index of segments is damaged: " + *flaw + "; build the asset again");
  return detail::view_segment_index(buffer);
}

bool belongs_to(const SegmentIndex& index, const BrickField& field, Check check) {
  if (index.buffer.bytes.empty()) return false;
  const SegmentIndexHeader& h = index.header();
  const Index3& cells = field.lattice().cells;
  if (h.cells[0] != cells[0] || h.cells[1] != cells[1] || h.cells[2] != cells[2]) return false;
  if (h.field_header != hash_bytes(field.buffer().first(sizeof(BrickFieldHeader)))) return false;
  return check == Check::kHeader || h.field_hash == hash_bytes(field.buffer());
}

std::optional<SegmentIndex> find_segment_index(const Asset& asset, Check check) {
  const RawSection* const raw = find_raw(asset, SectionKind::kSegmentIndex);
  if (raw == nullptr || !asset.field) return std::nullopt;
  try {
    SegmentIndex index = open_segment_index(raw->buffer, check);
    if (!belongs_to(index, *asset.field, check)) return std::nullopt;
    return index;
  } catch (const Error& error) {
    if (asset.file_name.empty()) throw;
    throw Error(FileSpot{.file = asset.file_name}, error.what());
  }
}

void set_segment_index(Asset& asset, const SegmentIndex& index) {
  std::erase_if(asset.raw,
                [](const RawSection& r) { return r.kind == SectionKind::kSegmentIndex; });
  asset.raw.push_back({SectionKind::kSegmentIndex, index.buffer});
}

}  // namespace isotact
