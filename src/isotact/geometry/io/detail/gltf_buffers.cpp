#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/file.h"
#include "isotact/geometry/io/detail/gltf_reader.h"

namespace isotact::detail {
namespace {

// Base64 as data: URIs carry it (RFC 4648, section 4), strictly: padding needed, nothing else
// between the letters, unused bits zero.

struct Base64Result {
  std::vector<std::byte> bytes;
  std::optional<std::size_t> flaw;  // the first character that does not belong there
};

Base64Result decode_base64(std::string_view text);

constexpr std::string_view kLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNoDigit = 0xff;

constexpr std::array<std::uint8_t, 256> make_values() {
  std::array<std::uint8_t, 256> values{};
  for (std::uint8_t& value : values) value = kNoDigit;
  for (std::size_t i = 0; i < kLetters.size(); ++i)
    values[static_cast<unsigned char>(kLetters[i])] = static_cast<std::uint8_t>(i);
  return values;
}
constexpr std::array<std::uint8_t, 256> kValues = make_values();

Base64Result decode_base64(std::string_view text) {
  Base64Result result;
  std::size_t letters = text.size();
  while (letters > 0 && text.size() - letters < 2 && text[letters - 1] == '=') --letters;
  result.bytes.reserve(letters / 4 * 3 + 2);
  std::uint32_t bits = 0;
  int bit_count = 0;
  for (std::size_t i = 0; i < letters; ++i) {
    const std::uint8_t value = kValues[static_cast<unsigned char>(text[i])];
    if (value == kNoDigit) return {{}, i};
    bits = (bits << 6U) | value;
    bit_count += 6;
    if (bit_count < 8) continue;
    bit_count -= 8;
    result.bytes.push_back(static_cast<std::byte>(bits >> static_cast<unsigned>(bit_count)));
    bits &= (1U << static_cast<unsigned>(bit_count)) - 1U;
  }
  if (bits != 0) return {{}, letters - 1};
  if (text.size() % 4 != 0) return {{}, text.size()};
  return result;
}

namespace fs = std::filesystem;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// "http" of "http://host/x"; empty for relative references (RFC 3986, section 3.1).
std::string_view scheme_of(std::string_view uri) {
  const auto in_scheme = [](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
  };
  const auto end = std::find_if_not(uri.begin(), uri.end(), in_scheme);
  const bool has_scheme = end != uri.end() && *end == ':' && !uri.empty();
  return has_scheme ? uri.substr(0, static_cast<std::size_t>(end - uri.begin()))
                    : std::string_view{};
}

bool is_data_uri(std::string_view uri) {
  constexpr std::string_view kScheme = "data:";
  return uri.size() >= kScheme.size() &&
         std::equal(kScheme.begin(), kScheme.end(), uri.begin(),
                    [](char a, char b) { return a == (is_letter(b) ? b | 0x20 : b); });
}

std::string decode_percent(JsonValue uri, std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    unsigned value = 0;
    const std::string_view digits = text.substr(i + 1, 2);
    const char* end = digits.data() + digits.size();
    if (digits.size() < 2 || std::from_chars(digits.data(), end, value, 16).ptr != end)
      uri.fail(fmt::format("'%' without two hexadecimal digits at character {}", i));
    decoded += static_cast<char>(value);
    i += 2;
  }
  return decoded;
}

// The decoded path, if it is relative and its ".." never climb above where it starts.
fs::path check_relative(JsonValue uri, std::string_view text) {
  const auto refuse = [&](std::string_view why) {
    uri.fail(fmt::format("\"{}\" {}; buffers may only lie in the file's own folder",
                         printable(text, 80), why));
  };
  if (!scheme_of(text).empty() || text.starts_with(':')) refuse("has a scheme");
  const std::string decoded = decode_percent(uri, text);
  if (decoded.empty()) refuse("names no file");
  if (decoded.find('\0') != std::string::npos) refuse("contains a NUL");
  fs::path path(decoded);
  if (path.is_absolute() || path.has_root_path()) refuse("is an absolute path");
  int depth = 0;
  for (const fs::path& part : path) {
    if (part == "..")
      --depth;
    else if (!part.empty() && part != ".")
      ++depth;
    if (depth < 0) refuse("leaves it by \"..\"");
  }
  return path;
}

// Where the path really leads, with links followed; Error where that is outside the folder.
fs::path resolve_inside(JsonValue uri, const fs::path& folder, const fs::path& relative) {
  std::error_code error;
  const fs::path inside = fs::canonical(folder.empty() ? fs::path(".") : folder, error);
  fs::path target = error ? fs::path{} : fs::canonical(folder / relative, error);
  const std::string shown = printable(relative.string(), 80);
  if (error) uri.fail(fmt::format("cannot open \"{}\": {}", shown, error.message()));
  const auto end = std::mismatch(inside.begin(), inside.end(), target.begin(), target.end()).first;
  if (end != inside.end())
    uri.fail(fmt::format(
        "\"{}\" is a link that leaves the folder; buffers may only lie in the file's own folder",
        shown));
  // A pipe would wait for its writer.
  if (!fs::is_regular_file(target, error)) uri.fail(fmt::format("\"{}\" is not a file", shown));
  return target;
}

}  // namespace

GltfBuffers::GltfBuffers(const GltfDocument& document, BufferSource source)
    : document_(document), source_(std::move(source)), loaded_(document.buffers.size()) {}

std::span<const std::byte> GltfBuffers::get(std::uint32_t buffer) {
  return loaded_.get(buffer, [&] { return load(buffer); });
}

std::span<const std::byte> GltfBuffers::load(std::uint32_t buffer) {
  const JsonValue value = document_.buffers.at(buffer);
  const JsonValue byte_length = value.get("byteLength");
  const std::uint64_t length =
      byte_length.as_unsigned(1, std::numeric_limits<std::uint64_t>::max());
  const auto uri = value.find("uri");
  std::span<const std::byte> bytes;
  if (uri) {
    std::string storage;
    const std::string_view text = uri->as_string(storage);
    bytes = is_data_uri(text) ? load_data_uri(*uri, text) : load_sibling(*uri, text);
  } else if (buffer == 0 && source_.binary_chunk) {
    bytes = *source_.binary_chunk;
  } else {
    value.fail(
        "has no uri and is not the binary chunk of a GLB (the fallback of compressed geometry, "
        "such as EXT_meshopt_compression, has this form and cannot be read)");
  }
  if (bytes.size() < length)
    byte_length.fail(fmt::format("promises {} bytes, but there are {}", length, bytes.size()));
  return bytes.first(length);
}

std::span<const std::byte> GltfBuffers::load_data_uri(JsonValue uri, std::string_view text) {
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos || !text.substr(0, comma).ends_with(";base64"))
    uri.fail(fmt::format("expected \"data:application/octet-stream;base64,...\", found \"{}\"",
                         printable(text)));
  Base64Result result = decode_base64(text.substr(comma + 1));
  if (result.flaw)
    uri.fail(fmt::format("not base64: character {} of {} in the data is {}", *result.flaw,
                         text.size() - comma - 1,
                         comma + 1 + *result.flaw < text.size() ? "wrong" : "missing"));
  return decoded_.emplace_back(std::move(result.bytes));
}

std::span<const std::byte> GltfBuffers::load_sibling(JsonValue uri, std::string_view text) {
  const fs::path relative = check_relative(uri, text);
  if (!source_.may_read_siblings)
    uri.fail(fmt::format("\"{}\" is another file; only buffers within the glTF may be read here",
                         printable(text, 80)));
  const fs::path path = resolve_inside(uri, source_.file.parent_path(), relative);
  const auto [entry, is_new] = siblings_.try_emplace(path);
  if (is_new) {
    entry->second = read_file(path);
    sibling_bytes_ += entry->second.size();
  }
  return entry->second;
}

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
