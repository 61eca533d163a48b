// One 64-bit hash of bytes (XXH3), for content keys, checksums and golden tests. Not for secrets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace isotact {

std::uint64_t hash_bytes(std::span<const std::byte> bytes, std::uint64_t seed = 0);

// Of a contiguous range of plain elements. Their padding is hashed too: use types without.
template <typename Range>
std::uint64_t hash_range(const Range& range, std::uint64_t seed = 0) {
  const std::span elements(range);
  using Element = typename decltype(elements)::element_type;
  static_assert(std::is_trivially_copyable_v<Element>);
  return hash_bytes(std::as_bytes(elements), seed);
}

}  // namespace isotact
