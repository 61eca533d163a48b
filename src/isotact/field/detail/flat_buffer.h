// Memory for flat buffers: zeroed, aligned to 64 bytes, shared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <utility>

namespace isotact::detail {

inline constexpr std::size_t kFlatAlignment = 64;

constexpr std::size_t round_up_to_alignment(std::size_t bytes) {
  return (bytes + kFlatAlignment - 1) / kFlatAlignment * kFlatAlignment;
}

struct FlatBuffer {
  std::shared_ptr<std::byte> owner;
  std::span<std::byte> bytes{};
};

inline FlatBuffer make_flat_buffer(std::size_t size) {
  constexpr std::align_val_t kAlign{kFlatAlignment};
  auto* const memory = static_cast<std::byte*>(::operator new(size, kAlign));
  std::shared_ptr<std::byte> owner(memory, [](std::byte* p) { ::operator delete(p, kAlign); });
  std::memset(memory, 0, size);
  return {std::move(owner), {memory, size}};
}

inline bool is_aligned(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % kFlatAlignment == 0;
}

}  // namespace isotact::detail
