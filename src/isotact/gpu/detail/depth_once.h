// Detection in one dispatch: shaders/depth_once.comp, on the CPU's side.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "isotact/gpu/buffer.h"
#include "isotact/gpu/detail/triangle_sieve.h"
#include "isotact/gpu/program.h"

namespace isotact::detail {

// What is asked, a block of uniforms: this, a OnceQuery each, instances, then entries:
// cluster | instance << 16.
inline constexpr std::size_t kOnceBytes =
    16384;  // what every GPU takes; more goes in several passes
struct OnceHead {
  std::uint32_t elements = 0, element_words = 0, stride = 0, serial = 0;  // words
};
struct OnceQuery {
  std::uint32_t slot = 0;
  std::uint32_t entries = 0, entry_count = 0;  // the first, in words
  std::uint32_t groups = 0;                    // tiles that are looked at
};
static_assert(sizeof(OnceHead) == 16 && sizeof(OnceQuery) == 16);

inline constexpr std::uint32_t kOnceNoteWords = 200;
inline constexpr std::uint32_t kOnceElements = 1024;  // at most
inline constexpr std::size_t kOnceQueries = 8;        // several passes find more of them sooner
// Clusters of a query, at most: each tile looks at all of them, where several passes would not.
inline constexpr std::size_t kOnceEntries = 2048;

// Of a first look (depth_look.cpp): connected parts of an object's tiles, at most.
inline constexpr std::size_t kLookParts = 16;

struct OnceSlot {
  std::uint64_t version = 0;  // of the map that is listed
  std::uint32_t tiles = 0;
  std::uint32_t lost = 0;  // surfaces that had no room
  std::shared_ptr<const SolidTiles> solid{};
  bool was_free = true;  // when it was last asked
};

struct OncePass {
  GpuProgram program;
  GpuBuffer frame, notes, covered;
  std::vector<OnceSlot> slots;
  std::uint32_t tiles_a_slot = 0;
  // Of the submission that is being made.
  std::vector<OnceQuery> queries;
  std::vector<std::uint32_t> entries;
  TriangleSieve sieve;
};

// What proves that all words of a record have come, as the shader adds it up.
std::uint32_t find_record_check(const std::uint32_t* words, std::size_t count,
                                std::uint32_t serial);

}  // namespace isotact::detail
