#include "isotact/geometry/io/detail/glb_container.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "isotact/base/error.h"

namespace isotact::detail {
namespace {

static_assert(std::endian::native == std::endian::little, "GLB is read in place");

constexpr std::size_t kGlbHeaderSize = 12;
constexpr std::size_t kChunkHeaderSize = 8;
constexpr std::uint32_t kMagic = 0x46546C67;      // "glTF"
constexpr std::uint32_t kJsonChunk = 0x4E4F534A;  // "JSON"
constexpr std::uint32_t kBinChunk = 0x004E4942;   // "BIN\0"

std::uint32_t read_u32(std::span<const std::byte> bytes, std::size_t at) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

// The part of the file that the header claims.
std::span<const std::byte> check_header(std::span<const std::byte> bytes, const std::string& file,
                                        std::vector<std::string>& warnings) {
  if (bytes.size() < kGlbHeaderSize)
    throw Error({.file = file, .byte = bytes.size()},
                "the file ends within the GLB header of 12 bytes");
  if (const std::uint32_t version = read_u32(bytes, 4); version != 2)
    throw Error({.file = file, .byte = 4},
                fmt::format("GLB version {}; only version 2 can be read", version));
  const std::uint32_t length = read_u32(bytes, 8);
  if (length > bytes.size())
    throw Error({.file = file, .byte = 8},
                fmt::format("the header promises {} bytes, but the file has {}: it was cut short",
                            length, bytes.size()));
  if (length < kGlbHeaderSize + kChunkHeaderSize)
    throw Error({.file = file, .byte = 8},
                fmt::format("the header promises {} bytes, too few for a JSON chunk", length));
  if (length < bytes.size())
    warnings.push_back(
        fmt::format("{} bytes after the end of the GLB are ignored", bytes.size() - length));
  return bytes.first(length);
}

}  // namespace

bool is_glb(std::span<const std::byte> bytes) {
  return bytes.size() >= 4 && read_u32(bytes, 0) == kMagic;
}

GlbChunks split_glb(std::span<const std::byte> bytes, const std::string& file) {
  GlbChunks chunks;
  const std::span<const std::byte> body = check_header(bytes, file, chunks.warnings);
  std::size_t at = kGlbHeaderSize;
  for (std::size_t number = 0; at < body.size(); ++number) {
    if (body.size() - at < kChunkHeaderSize)
      throw Error({.file = file, .byte = at},
                  fmt::format("{} bytes are left, too few for a chunk's header", body.size() - at));
    const std::uint32_t length = read_u32(body, at);
    const std::uint32_t type = read_u32(body, at + 4);
    const std::size_t begin = at + kChunkHeaderSize;
    if (length > body.size() - begin)
      throw Error({.file = file, .byte = at},
                  fmt::format("chunk {} promises {} bytes, but only {} are left", number, length,
                              body.size() - begin));
    const auto chunk = body.subspan(begin, length);
    if (number == 0 && type != kJsonChunk)
      throw Error({.file = file, .byte = at + 4},
                  fmt::format("the first chunk has type 0x{:08x}; expected JSON", type));
    if (number == 0) {
      chunks.json = chunk;
      chunks.json_begin = begin;
    } else if (type == kBinChunk && !chunks.binary) {
      chunks.binary = chunk;
    }
    at = begin + length;
  }
  // Some writers pad with NUL where the specification asks for spaces.
  while (!chunks.json.empty() && chunks.json.back() == std::byte{0})
    chunks.json = chunks.json.first(chunks.json.size() - 1);
  return chunks;
}

}  // namespace isotact::detail
