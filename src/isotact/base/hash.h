// A 64-bit hash of bytes (XXH3), for content keys, checksums and golden tests. It is not for
// secrets.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "isotact/base/vec.h"
#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {

std::uint64_t hash_bytes(std::span<const std::byte> bytes, std::uint64_t seed = 0);

// Returns the hash of a contiguous range of plain elements. Padding is hashed as well, so use types
// without padding.
template <typename Range>
std::uint64_t hash_range(const Range& range, std::uint64_t seed = 0) {
  const std::span elements(range);
  using Element = typename decltype(elements)::element_type;
  static_assert(std::is_trivially_copyable_v<Element>);
  return hash_bytes(std::as_bytes(elements), seed);
}

// Hash of a position; -0 counts as +0, so that equal positions have equal hashes. Cheap, for hash
// tables in memory.
inline std::uint64_t hash_position(const Vec3f& p) {
  // Adding +0 turns -0 into +0.
  const std::uint64_t x = std::bit_cast<std::uint32_t>(p.x + 0.0F);
  const std::uint64_t y = std::bit_cast<std::uint32_t>(p.y + 0.0F);
  const std::uint64_t z = std::bit_cast<std::uint32_t>(p.z + 0.0F);
  std::uint64_t h = (x | y << 32U) * 0x9e3779b97f4a7c15ULL;
  h = ((h ^ h >> 32U) + z) * 0xd6e8feb86659fd93ULL;
  return h ^ h >> 32U;
}

}  // namespace isotact
