#include "isotact/geometry/io/detail/number.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <string_view>
#include <system_error>

namespace isotact::detail {
namespace {

constexpr char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

constexpr bool is_letter_or_digit(char c) {
  return is_digit(c) || (to_lower(c) >= 'a' && to_lower(c) <= 'z');
}

// Past `word` (lower case) where the text begins with it in any case; nullptr elsewhere.
const char* match(const char* text, std::string_view word) {
  assert(text != nullptr);
  for (std::size_t i = 0; i < word.size(); ++i)
    if (to_lower(text[i]) != word[i]) return nullptr;
  return text + word.size();
}

const char* parse_not_finite(const char* text, bool is_negative, float& value) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  value = is_negative ? -kInfinity : kInfinity;
  for (const std::string_view word : {"infinity", "inf", "1.#inf"})
    if (const char* end = match(text, word)) {
      while (word[0] == '1' && is_digit(*end)) ++end;  // 1.#INF00
      return end;
    }
  value = std::numeric_limits<float>::quiet_NaN();
  for (const std::string_view word : {"1.#qnan", "1.#snan", "1.#ind", "1.#nan"})
    if (const char* end = match(text, word)) {
      while (is_digit(*end)) ++end;
      return end;
    }
  const char* end = match(text, "nan");
  if (end == nullptr || *end != '(') return end;
  const char* inside = end + 1;  // nan(ind), nan(0x1)
  while (is_letter_or_digit(*inside) || *inside == '_') ++inside;
  return *inside == ')' ? inside + 1 : end;
}

const char* find_number_end(const char* p) {
  while (is_digit(*p)) ++p;
  if (*p == '.') ++p;
  while (is_digit(*p)) ++p;
  if (to_lower(*p) != 'e') return p;
  const char* exponent = p + 1;
  if (*exponent == '-' || *exponent == '+') ++exponent;
  if (!is_digit(*exponent)) return p;
  while (is_digit(*exponent)) ++exponent;
  return exponent;
}

// Whether a number that no float can hold is too large rather than too small.
bool is_above_one(const char* digits) {
  std::int64_t magnitude = 0;  // the power of ten of the first digit that is not zero, plus one
  const char* p = digits;
  while (*p == '0') ++p;
  const char* const whole = p;
  while (is_digit(*p)) ++p;
  magnitude = p - whole;
  if (*p == '.') {
    ++p;
    if (magnitude == 0)
      for (; *p == '0'; ++p) --magnitude;
    while (is_digit(*p)) ++p;
  }
  std::int64_t exponent = 0;
  if (to_lower(*p) == 'e') parse_integer(p + 1, exponent);
  constexpr std::int64_t kFar = std::int64_t{1} << 60;
  return magnitude + std::clamp(exponent, -kFar, kFar) > 0;
}

}  // namespace

const char* parse_float_slowly(const char* digits, bool is_negative, float& value) {
  if (const char* end = parse_not_finite(digits, is_negative, value)) return end;
  if (!is_digit(digits[0]) && (digits[0] != '.' || !is_digit(digits[1]))) return nullptr;
  const char* const end = find_number_end(digits);
  float magnitude = 0;
  if (std::from_chars(digits, end, magnitude).ec == std::errc::result_out_of_range)
    magnitude = is_above_one(digits) ? std::numeric_limits<float>::infinity() : 0.0F;
  value = is_negative ? -magnitude : magnitude;
  return end;
}

}  // namespace isotact::detail
