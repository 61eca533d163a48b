#include "isotact/geometry/io/detail/base64.h"

#include <array>
#include <cstdint>

namespace isotact::detail {
namespace {

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

}  // namespace

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

}  // namespace isotact::detail
