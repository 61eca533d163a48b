#include "isotact/field/io/detail/dense_section.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "isotact/base/error.h"

namespace isotact::detail {
namespace {

constexpr char kMagic[8] = {'I', 'S', 'O', 'D', 'E', 'N', 'S', 'E'};

void check_header(const DenseGridHeader& h, std::size_t size) {
  const auto require = [](bool holds, const char* what) {
    if (!holds) throw Error(fmt::format("dense grid: {}", what));
  };
  require(std::memcmp(h.magic, kMagic, sizeof kMagic) == 0, "the magic is not ISODENSE");
  require(h.version == 1, "the version is not 1");
  require(h.holds_body <= 1, "holds_body is neither 0 nor 1");
  require(h.total_bytes == size, "total_bytes is not the section's size");
  require(h.sample_offset == sizeof(DenseGridHeader), "sample_offset is not 128");
  require(h.unused0 == 0 && std::all_of(std::begin(h.unused), std::end(h.unused),
                                        [](std::uint8_t b) { return b == 0; }),
          "unused bytes are not zero");
  require(std::isfinite(h.spacing) && h.spacing > 0, "the spacing is not positive");
  require(h.error[0] <= h.error[1], "the error's ends are not in order");
  // Counts of nodes are compared as doubles: a hostile product would not fit 64 bits.
  double samples = 1;
  for (const std::int32_t n : h.cells) {
    require(n > 0, "a side has no cells");
    samples *= static_cast<double>(n) + 1;
  }
  require(samples * sizeof(float) + sizeof(DenseGridHeader) == static_cast<double>(size),
          "the section's size is not that of its nodes");
}

}  // namespace

std::vector<std::byte> encode_dense_grid(const DenseGrid& grid) {
  const DenseGridParts& parts = grid.parts();
  DenseGridHeader h{};
  std::memcpy(h.magic, kMagic, sizeof kMagic);
  h.version = 1;
  h.holds_body = parts.holds_body ? 1 : 0;
  const Lattice& l = parts.lattice;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    h.origin[axis] = l.origin[axis];
    h.cells[axis] = l.cells[axis];
  }
  h.spacing = l.spacing;
  h.error[0] = parts.sample_error.lower;
  h.error[1] = parts.sample_error.upper;
  const std::span samples = std::as_bytes(grid.samples());
  h.sample_offset = sizeof h;
  h.total_bytes = sizeof h + samples.size();
  std::vector<std::byte> bytes(h.total_bytes);
  std::memcpy(bytes.data(), &h, sizeof h);
  std::memcpy(bytes.data() + sizeof h, samples.data(), samples.size());
  return bytes;
}

DenseGrid decode_dense_grid(std::span<const std::byte> bytes) {
  DenseGridHeader h{};
  if (bytes.size() < sizeof h) throw Error("dense grid: ends in its header");
  std::memcpy(&h, bytes.data(), sizeof h);
  check_header(h, bytes.size());
  DenseGridParts parts{.lattice = {.origin = {h.origin[0], h.origin[1], h.origin[2]},
                                   .spacing = h.spacing,
                                   .cells = {h.cells[0], h.cells[1], h.cells[2]}},
                       .samples = std::vector<float>((bytes.size() - sizeof h) / sizeof(float)),
                       .sample_error = {h.error[0], h.error[1]},
                       .holds_body = h.holds_body == 1};
  std::memcpy(parts.samples.data(), bytes.data() + sizeof h, bytes.size() - sizeof h);
  return DenseGrid(std::move(parts));
}

}  // namespace isotact::detail
