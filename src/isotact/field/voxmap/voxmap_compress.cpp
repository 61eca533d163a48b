// Layers in files. They follow from the surface voxels and the sides of the regions that these
// enclose (find_flaw_in_layers), so the code tells only those: after a header, how many voxels
// without surface come first, how many with, how many without, and so on to the last voxel; then,
// unless all enclosed regions are inside, how many of them (decide_enclosed gives their order) are
// inside, how many after these are outside, and so on to the last. Numbers are base 128, low digits
// first, the top bit of a byte saying that more follow.
#include <algorithm>
#include <cassert>
#include <cstring>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/field/flat_buffer.h"
#include "isotact/field/voxmap/detail/voxmap_layers.h"

namespace isotact {

namespace {

void put_number(std::vector<std::byte>& code, std::uint64_t number) {
  for (; number >= 128; number >>= 7U) code.push_back(static_cast<std::byte>(number | 128U));
  code.push_back(static_cast<std::byte>(number));
}

struct Reader {
  std::span<const std::byte> code{};
  std::size_t at = 0;

  // Nothing where the code ends too early, or the number is above `most` or not in its shortest
  // form.
  std::optional<std::uint64_t> number(std::uint64_t most) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 63 && at < code.size(); shift += 7) {
      const auto digit = std::to_integer<std::uint64_t>(code[at++]);
      value |= (digit & 127U) << shift;
      if ((digit & 128U) != 0) continue;
      if ((digit == 0 && shift > 0) || value > most) return std::nullopt;
      return value;
    }
    return std::nullopt;
  }
};

// Calls visit(first, length, is_surface) for every stretch; false where they are not well formed.
template <typename Visit>
bool read_stretches(Reader& reader, std::uint64_t voxels, Visit&& visit) {
  std::uint64_t told = 0;
  for (bool is_surface = false; told < voxels; is_surface = !is_surface) {
    const auto length = reader.number(voxels - told);
    if (!length || (*length == 0 && told > 0)) return false;
    visit(told, *length, is_surface);
    told += *length;
    if (*length == 0 && is_surface) return false;
  }
  return true;
}

// Where regions change from inside to outside or back: numbers of regions, ascending. Nothing where
// the rest of the code is not well formed.
std::optional<std::vector<std::uint64_t>> read_sides(Reader& reader, std::uint64_t voxels) {
  std::vector<std::uint64_t> changes;
  std::uint64_t told = 0;
  while (reader.at < reader.code.size()) {
    const auto length = reader.number(voxels - told);
    if (!length || (*length == 0 && !changes.empty())) return std::nullopt;
    changes.push_back(told += *length);
  }
  if (changes.size() == 1) return std::nullopt;  // all inside is told by silence
  return changes;
}

void put_sides(std::vector<std::byte>& code, const std::vector<bool>& inside) {
  if (std::find(inside.begin(), inside.end(), false) == inside.end()) return;
  bool is_inside = true;
  for (auto from = inside.begin(); from != inside.end(); is_inside = !is_inside) {
    const auto to = std::find(from, inside.end(), !is_inside);
    put_number(code, static_cast<std::uint64_t>(to - from));
    from = to;
  }
}

// The enclosed regions of a map, in their order.
std::vector<bool> compute_sides(std::span<const std::int16_t> layers, const Index3& cells) {
  std::vector<std::uint8_t> surface(layers.size());
  for (std::size_t n = 0; n < layers.size(); ++n) surface[n] = layers[n] == 0 ? 1 : 0;
  detail::Runs runs = detail::fill_outside(surface, cells, Threads{});
  std::vector<bool> inside;
  detail::decide_enclosed(runs, cells, layers, [&](std::size_t place) {
    inside.push_back(layers[place] > 0);
    return inside.back();
  });
  return inside;
}

// Gives the enclosed regions the sides that were read.
void apply_sides(detail::Runs& runs, const Index3& cells, std::span<const std::int16_t> depths,
                 std::span<const std::uint64_t> changes) {
  std::uint64_t region = 0;
  std::size_t passed = 0;
  detail::decide_enclosed(runs, cells, depths, [&](std::size_t) {
    while (passed < changes.size() && changes[passed] <= region) ++passed;
    ++region;
    return passed % 2 == 0;
  });
  if (!changes.empty() && changes.back() != region)
    throw Error(fmt::format("compressed voxelmap: {} enclosed regions, the code tells of {}",
                            region, changes.back()));
}

// Everything but the code itself.
std::optional<std::string> find_flaw_in_header(std::span<const std::byte> code,
                                               VoxmapHeader& header) {
  if (code.size() < sizeof(header))
    return fmt::format("{} bytes are too few for a header", code.size());
  std::memcpy(&header, code.data(), sizeof(header));
  if (std::memcmp(header.magic, "ISOLAYER", 8) != 0) return "the magic is not ISOLAYER";
  if (header.total_bytes != code.size())
    return fmt::format("{} bytes, the header says {}", code.size(), header.total_bytes);
  if (header.data_offset != sizeof(header)) return "the code does not follow the header";
  if (header.encoding != static_cast<std::uint32_t>(VoxmapEncoding::kLayers))
    return "the encoding is not layers";
  return detail::find_flaw_in_voxmap_lattice(
      {.origin = {header.origin[0], header.origin[1], header.origin[2]},
       .spacing = header.voxel_size,
       .cells = {header.cells[0], header.cells[1], header.cells[2]}});
}

}  // namespace

std::vector<std::byte> compress_layers(const Voxmap& voxmap) {
  assert(voxmap.encoding() == VoxmapEncoding::kLayers);
  VoxmapHeader header = voxmap.header();
  std::vector<std::byte> code(sizeof(header));
  const std::span<const std::int16_t> layers = voxmap.layers();
  bool is_surface = false;
  for (auto from = layers.begin(); from != layers.end(); is_surface = !is_surface) {
    const auto to = std::find_if(from, layers.end(),
                                 [&](std::int16_t layer) { return (layer == 0) != is_surface; });
    put_number(code, static_cast<std::uint64_t>(to - from));
    from = to;
  }
  put_sides(code, compute_sides(layers, voxmap.lattice().cells));
  std::memcpy(header.magic, "ISOLAYER", 8);
  header.total_bytes = code.size();
  std::memcpy(code.data(), &header, sizeof(header));
  return code;
}

Voxmap decompress_layers(std::span<const std::byte> code, std::uint64_t max_bytes,
                         Threads threads) {
  VoxmapHeader header{};
  if (const auto flaw = find_flaw_in_header(code, header))
    throw Error("compressed voxelmap: " + *flaw);
  const Index3 cells{header.cells[0], header.cells[1], header.cells[2]};
  const std::uint64_t voxels = count(cells);
  const std::uint64_t bytes = round_up_to_alignment(sizeof(header) + voxels * sizeof(std::int16_t));
  if (bytes > max_bytes)
    throw Error(fmt::format("compressed voxelmap: it would take {} bytes, the limit is {}", bytes,
                            max_bytes));
  const std::span<const std::byte> payload = code.subspan(sizeof(header));
  Reader reader{.code = payload};
  std::optional<std::vector<std::uint64_t>> sides;
  if (read_stretches(reader, voxels, [](std::uint64_t, std::uint64_t, bool) {}))
    sides = read_sides(reader, voxels);
  if (!sides) throw Error("compressed voxelmap: the code is not well formed");

  std::vector<std::uint8_t> surface(voxels, 0);
  reader = {.code = payload};
  read_stretches(reader, voxels, [&](std::uint64_t first, std::uint64_t length, bool is_surface) {
    if (is_surface) std::memset(surface.data() + first, 1, length);
  });
  FlatRoom buffer = make_zeroed_room(bytes);
  std::memcpy(header.magic, "ISOVOXEL", 8);
  header.total_bytes = bytes;
  std::memcpy(buffer.bytes.data(), &header, sizeof(header));
  const std::span<std::int16_t> layers{
      reinterpret_cast<std::int16_t*>(buffer.bytes.data() + sizeof(header)),
      static_cast<std::size_t>(voxels)};
  detail::compute_chessboard_distances(surface, cells, layers, threads);
  detail::Runs runs = detail::fill_outside(surface, cells, threads);
  apply_sides(runs, cells, layers, *sides);
  detail::apply_signs(runs, cells, layers, threads);
  auto flaw = find_flaw_in_voxmap(buffer.bytes, false);
  if (!flaw) flaw = detail::find_flaw_in_counts(layers, header);
  if (flaw) throw Error("compressed voxelmap: " + *flaw);
  return VoxmapAccess::adopt(buffer.bytes, std::move(buffer.owner));
}

}  // namespace isotact
