// Detection in one dispatch: shaders/depth_once.comp, on the CPU.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "isotact/gpu/core/buffer.h"
#include "isotact/gpu/core/program.h"
#include "isotact/gpu/depth/detail/depth_layout.h"
#include "isotact/gpu/depth/detail/triangle_sieve.h"

namespace isotact::detail {

inline constexpr std::size_t kOnceBytes = 16 * std::size_t{glsl::kOnceRows};  // Size of the input.
inline constexpr std::size_t kOnceQueries = 8;  // For more queries, several passes are faster.
// Largest number of clusters per query: each tile tests all of them, which several passes would
// not.
inline constexpr std::size_t kOnceEntries = 2048;

// For the first test on the CPU (depth_look.cpp): largest number of connected parts of an object's
// tiles.
inline constexpr std::size_t kLookParts = 16;

struct OnceSlot {
  std::uint64_t version = 0;  // Version of the listed map.
  std::uint32_t tiles = 0;
  std::uint32_t lost = 0;  // Surfaces beyond the capacity.
  std::shared_ptr<const SolidTiles> solid{};
  bool was_free = true;  // In the last call.
};

struct OncePass {
  GpuProgram program;
  GpuBuffer frame, notes, covered;
  std::vector<OnceSlot> slots;
  std::uint32_t tiles_a_slot = 0;
  // For the submission in preparation.
  std::vector<OnceQuery> queries;
  std::vector<std::uint32_t> entries;
  TriangleSieve sieve;
};

// Returns the check value that proves that all words of a record have arrived, as the shader
// computes it.
std::uint32_t find_record_check(const std::uint32_t* words, std::size_t count,
                                std::uint32_t serial);

}  // namespace isotact::detail
