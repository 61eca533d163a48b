// The chunks of a GLB file (glTF 2.0, section 4.4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace isotact::detail {

struct GlbChunks {
  std::span<const std::byte> json;
  std::uint64_t json_begin = 0;                      // in the file
  std::optional<std::span<const std::byte>> binary;  // the first BIN chunk, where there is one
  std::vector<std::string> warnings;
};

// Whether the bytes start as a GLB does, with "glTF".
bool is_glb(std::span<const std::byte> bytes);

// Views into `bytes`. Chunks of unknown types are skipped, as the specification asks; lengths that
// reach past the file throw an Error with the byte.
GlbChunks split_glb(std::span<const std::byte> bytes, const std::string& file);

}  // namespace isotact::detail
