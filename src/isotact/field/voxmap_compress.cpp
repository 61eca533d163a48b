// Layers in files. They follow from the surface voxels alone (find_flaw_in_layers), so the code
// tells only these: after a header, how many voxels without surface come first, how many with, how
// many without, and so on to the last voxel. Numbers are base 128, low digits first, the top bit of
// a byte saying that more follow.
#include <algorithm>
#include <cassert>
#include <cstring>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/field/detail/voxmap_layers.h"
#include "isotact/field/flat_buffer.h"

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

// Calls visit(first, length, is_surface) for every stretch; false where the code is not well
// formed.
template <typename Visit>
bool read_code(std::span<const std::byte> code, std::uint64_t voxels, Visit&& visit) {
  Reader reader{.code = code};
  std::uint64_t told = 0;
  for (bool is_surface = false; told < voxels; is_surface = !is_surface) {
    const auto length = reader.number(voxels - told);
    if (!length || (*length == 0 && told > 0)) return false;
    visit(told, *length, is_surface);
    told += *length;
    if (*length == 0 && is_surface) return false;
  }
  return reader.at == code.size();
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
  if (!read_code(payload, voxels, [](std::uint64_t, std::uint64_t, bool) {}))
    throw Error("compressed voxelmap: the code is not well formed");

  std::vector<std::uint8_t> surface(voxels, 0);
  read_code(payload, voxels, [&](std::uint64_t first, std::uint64_t length, bool is_surface) {
    if (is_surface) std::memset(surface.data() + first, 1, length);
  });
  FlatRoom buffer = make_zeroed_room(bytes);
  std::memcpy(header.magic, "ISOVOXEL", 8);
  header.total_bytes = bytes;
  std::memcpy(buffer.bytes.data(), &header, sizeof(header));
  const std::span<std::int16_t> layers{
      reinterpret_cast<std::int16_t*>(buffer.bytes.data() + sizeof(header)), voxels};
  detail::find_chessboard_distances(surface, cells, layers, threads);
  detail::apply_signs(detail::fill_outside(surface, cells, threads), cells, layers, threads);
  auto flaw = find_flaw_in_voxmap(buffer.bytes, false);
  if (!flaw) flaw = detail::find_flaw_in_counts(layers, header);
  if (flaw) throw Error("compressed voxelmap: " + *flaw);
  return VoxmapAccess::adopt(buffer.bytes, std::move(buffer.owner));
}

}  // namespace isotact
