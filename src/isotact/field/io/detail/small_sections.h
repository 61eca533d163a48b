// The sections of an asset that are not flat buffers: source and mass properties. Decoders throw
// Error with what is wrong, without the file's name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isotact/field/io/asset.h"
#include "isotact/field/models/dense_grid.h"

namespace isotact::detail {

std::vector<std::byte> encode_source(const SourceInfo& source);
SourceInfo decode_source(std::span<const std::byte> bytes);

std::vector<std::byte> encode_mass(const MassProperties& given);
MassProperties decode_mass(std::span<const std::byte> bytes);

// The dense grid as a section of an asset: a header, then the samples. Specified in
// docs/formats.md.

struct DenseGridHeader {
  char magic[8];             // "ISODENSE"
  std::uint32_t version;     // 1
  std::uint32_t holds_body;  // 1: the body lies in the box as a whole; 0: not known
  double origin[3];          // metres
  double spacing;            // metres
  std::int32_t cells[3];
  std::uint32_t unused0;
  double error[2];  // metres: true distance minus sample, from and to; infinite: not known
  std::uint64_t total_bytes;
  std::uint64_t sample_offset;  // 128: float32 at the nodes, x fastest
  std::uint8_t unused[32];
};
static_assert(sizeof(DenseGridHeader) == 128 && offsetof(DenseGridHeader, cells) == 48 &&
              offsetof(DenseGridHeader, error) == 64 &&
              offsetof(DenseGridHeader, sample_offset) == 88);

std::vector<std::byte> encode_dense_grid(const DenseGrid& grid);

// Throws Error with what is wrong, without the file's name. Memory: that of the section.
DenseGrid decode_dense_grid(std::span<const std::byte> bytes);

}  // namespace isotact::detail
