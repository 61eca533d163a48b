// Places of a shell that may move by so much, eight at a time. Plain data: kernels for different
// processors share it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "isotact/base/cpu.h"

namespace isotact::detail {

// Metres, in the shell's frame.
struct alignas(64) FrontBlock {
  float x[8], y[8], z[8];
  float room[8];  // infinite where there is no place
};
static_assert(sizeof(FrontBlock) == 128);

// Between two maps of the shell into the field: what one does to a place less what the other does.
struct Shift {
  float linear[3][3];
  float offset[3];
  float error;  // metres: of rounding, at any place of the shell
};

// Sets of each block the bits of places that one of the shifts moves by as much as they may, or
// more, and returns how many they are. NaNs are awake.
using FindAwake = std::uint64_t (*)(const FrontBlock* blocks, std::size_t block_count,
                                    const Shift* shifts, std::size_t shift_count,
                                    std::uint8_t* awake);
std::uint64_t find_awake_baseline(const FrontBlock* blocks, std::size_t block_count,
                                  const Shift* shifts, std::size_t shift_count,
                                  std::uint8_t* awake);
std::uint64_t find_awake_avx2(const FrontBlock* blocks, std::size_t block_count,
                              const Shift* shifts, std::size_t shift_count, std::uint8_t* awake);
FindAwake choose_find_awake(SimdLevel level);

}  // namespace isotact::detail
