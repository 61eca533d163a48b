#include "isotact/base/error.h"

#include <fmt/format.h>

namespace isotact {

std::string to_string(const FileSpot& spot) {
  std::string file = without_control_codes(spot.file);
  if (spot.line) return fmt::format("{}:{}", file, *spot.line);
  if (spot.byte) return fmt::format("{}: byte {}", file, *spot.byte);
  return file;
}

std::string without_control_codes(std::string_view raw) {
  std::string text;
  for (const char c : raw) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f)
      text += fmt::format("\\x{:02x}", byte);
    else
      text += c;
  }
  return text;
}

Error::Error(const FileSpot& spot, std::string_view message)
    : std::runtime_error(fmt::format("{}: {}", to_string(spot), message)) {}

std::string printable(std::string_view raw, std::size_t max_length) {
  std::string text;
  for (const char c : raw) {
    if (text.size() >= max_length) return text + "...";
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f)
      text += c;
    else
      text += fmt::format("\\x{:02x}", byte);
  }
  return text;
}

}  // namespace isotact
