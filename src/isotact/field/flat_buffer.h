// Bytes that several owners may share: in own memory, aligned for SIMD and GPUs, or in a mapped
// file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <utility>

#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {

inline constexpr std::size_t kFlatAlignment = 64;

constexpr std::size_t round_up_to_alignment(std::size_t bytes) {
  return (bytes + kFlatAlignment - 1) / kFlatAlignment * kFlatAlignment;
}

inline bool is_aligned(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % kFlatAlignment == 0;
}

// The depth of the check of a buffer that claims to be a field.
enum class Check : std::uint8_t {
  // Sizes, offsets and blocks: enough that no query leaves the buffer. Takes negligible time.
  kHeader,
  kShallow,  // Also all but the bricks of brick fields.
  kDeep,     // Every byte.
};

// `owner` keeps `bytes` alive. Copies share them.
struct FlatBuffer {
  std::span<const std::byte> bytes{};
  std::shared_ptr<const void> owner{};
};

// Memory to write to, not initialised; the span ends with its owner.
struct FlatRoom {
  std::span<std::byte> bytes{};
  std::shared_ptr<void> owner{};
};

inline FlatRoom make_flat_room(std::size_t size) {
  constexpr std::align_val_t kAlignment{kFlatAlignment};
  auto* const start = static_cast<std::byte*>(::operator new(size, kAlignment));
  return {{start, size},
          std::shared_ptr<void>(start, [](void* p) { ::operator delete(p, kAlignment); })};
}

inline FlatRoom make_zeroed_room(std::size_t size) {
  FlatRoom room = make_flat_room(size);
  std::memset(room.bytes.data(), 0, size);
  return room;
}

inline FlatBuffer copy_to_flat_buffer(std::span<const std::byte> bytes) {
  FlatRoom room = make_flat_room(bytes.size());
  if (!bytes.empty()) std::memcpy(room.bytes.data(), bytes.data(), bytes.size());
  return {room.bytes, std::move(room.owner)};
}

}  // namespace isotact
