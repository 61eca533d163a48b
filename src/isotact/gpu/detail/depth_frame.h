// What shaders/depth_*.glsl read, on the CPU's side.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace isotact::detail {

inline constexpr std::uint32_t kFrameTwoSided = 1, kFrameOneSided = 2, kFrameConservative = 4,
                               kFrameFindInside = 8, kFrameCountedAlways = 16;
inline constexpr std::uint32_t kPassClosed = 1, kPassThin = 2;

struct DepthFrame {
  std::array<std::int32_t, 2> size{};
  std::int32_t tiles = 1, layers = 1;
  std::uint32_t pixels = 0, row_words = 0, mask_words = 0, hit_room = 0;
  std::uint32_t elements = 0, element_words = 0, pixel_bits = 1, flags = 0;
  std::array<std::uint32_t, 2> part_size{};
  std::uint32_t max_contacts = 0, result_stride = 0;  // words
  std::array<std::uint32_t, 1024> query_slots{};
};
static_assert(sizeof(DepthFrame) == 64 + 4096 && offsetof(DepthFrame, part_size) == 48);

struct DepthPassBlock {
  std::uint32_t query = 0, element = 0, flags = 0, slot = 0;
  std::array<float, 2> slope{};
  float metres = 0, empty = 0;
};
static_assert(sizeof(DepthPassBlock) == 32);

struct DepthMapNote {
  std::array<float, 2> slope{};
  float metres = 0;
  std::uint32_t covered = 0, overfull = 0, open = 0, lost = 0, empty = 0;
  std::array<std::uint32_t, 16> probes{};
};
static_assert(sizeof(DepthMapNote) == 96);

inline constexpr std::size_t kHitBytes = 32, kPartStride = 132;

struct DepthResultHead {
  std::uint32_t pixels, inside, contacts;
  std::array<std::int32_t, 2> first_pixel, last_pixel;
  std::uint32_t deepest_pixel, deepest_element;
  float deepest_z, depth;
  std::uint32_t lost, covered, overfull, open, slot;
};
static_assert(sizeof(DepthResultHead) == 64);

struct DepthResultContact {
  std::uint32_t pixel, element;
  float z, way;
  std::array<float, 3> normal;
  float depth;
};
static_assert(sizeof(DepthResultContact) == 32);

}  // namespace isotact::detail
