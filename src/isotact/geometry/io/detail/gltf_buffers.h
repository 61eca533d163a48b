// The bytes behind the buffers of a glTF file: the GLB's chunk, data: URIs, files of the same
// folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "isotact/geometry/io/detail/gltf_document.h"

namespace isotact::detail {

struct BufferSource {
  std::filesystem::path file;  // whose folder holds the buffer files
  bool may_read_siblings = false;
  std::optional<std::span<const std::byte>> binary_chunk{};
};

// Loads buffers when they are first asked for; what get() returned lives as long as the store.
class GltfBuffers {
 public:
  GltfBuffers(const GltfDocument& document, BufferSource source);

  // Exactly the buffer's byteLength bytes.
  std::span<const std::byte> get(std::uint32_t buffer);
  // Read from other files so far.
  std::uint64_t sibling_bytes() const { return sibling_bytes_; }

 private:
  using Bytes = std::vector<std::byte>;

  std::span<const std::byte> load(std::uint32_t buffer);
  std::span<const std::byte> load_data_uri(JsonValue uri, std::string_view text);
  std::span<const std::byte> load_sibling(JsonValue uri, std::string_view text);

  const GltfDocument& document_;
  BufferSource source_;
  Memo<std::span<const std::byte>> loaded_;
  std::deque<Bytes> decoded_;
  std::map<std::filesystem::path, Bytes> siblings_;  // a file named by many buffers is read once
  std::uint64_t sibling_bytes_ = 0;
};

}  // namespace isotact::detail
