// Numbers from text: exactly rounded, independent of the locale, several times faster than the
// standard library on the numbers that mesh files hold.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

namespace isotact::detail {

constexpr bool is_digit(char c) { return static_cast<unsigned char>(c - '0') <= 9; }

// All functions here need this many readable bytes from the end of the number on, since they read
// eight bytes at a time. The first of these bytes is no part of a number.
constexpr std::size_t kNumberPadding = 8;

struct Digits {
  std::uint64_t value;
  std::size_t count;
};

// The decimal digits at `text`, at most eight of them.
inline Digits parse_eight_digits(const char* text) {
  Digits digits{0, 0};
  if constexpr (std::endian::native == std::endian::little) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, text, sizeof bytes);
    bytes ^= 0x3030303030303030U;  // digits become 0 to 9
    // The top bit of each byte above 9; wrong only behind the first of them.
    const std::uint64_t others = ((bytes + 0x7676767676767676U) | bytes) & 0x8080808080808080U;
    digits.count = static_cast<std::size_t>(std::countr_zero(others)) / 8;
    if (digits.count == 0) return digits;
    // The first digit is the lowest byte: shifting up fills in zeros before it. Then two digits,
    // four and eight are joined at a time.
    bytes <<= 64 - 8 * digits.count;
    constexpr std::uint64_t kBytes = 0x00FF00FF00FF00FFU;
    constexpr std::uint64_t kPairs = 0x0000FFFF0000FFFFU;
    const std::uint64_t twos = (bytes & kBytes) * 10 + ((bytes >> 8U) & kBytes);
    const std::uint64_t fours = (twos & kPairs) * 100 + ((twos >> 16U) & kPairs);
    digits.value = (fours & 0xFFFFFFFFU) * 10000 + (fours >> 32U);
  } else {
    for (; digits.count < 8 && is_digit(text[digits.count]); ++digits.count)
      digits.value = digits.value * 10 + static_cast<std::uint64_t>(text[digits.count] - '0');
  }
  return digits;
}

// The rare cases of parse_float: many digits, large exponents, values beside the middle between two
// floats, nan and inf. `digits` is past the sign.
const char* parse_float_slowly(const char* digits, bool is_negative, float& value);

// Reads a decimal number at `text` (or nan or inf in the spellings of the common C libraries).
// Returns the place past it, or nullptr if there is none. A number that is too large becomes
// infinite, and one that is too small becomes zero.
inline const char* parse_float(const char* text, float& value) {
  constexpr std::array<double, 23> kPowersOfTen = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const bool is_negative = *text == '-';
  const char* p = text + (is_negative || *text == '+' ? 1 : 0);
  const char* const digits = p;
  std::uint64_t mantissa = 0;
  for (; is_digit(*p); ++p) mantissa = mantissa * 10 + static_cast<std::uint64_t>(*p - '0');
  std::ptrdiff_t digit_count = p - digits;
  std::ptrdiff_t exponent = 0;
  if (*p == '.') {
    const char* const fraction = ++p;
    constexpr std::array<std::uint64_t, 9> kShifts = {1,      10,      100,      1000,     10000,
                                                      100000, 1000000, 10000000, 100000000};
    Digits digits_of_fraction = parse_eight_digits(p);
    for (;; digits_of_fraction = parse_eight_digits(p)) {
      mantissa = mantissa * kShifts[digits_of_fraction.count] + digits_of_fraction.value;
      p += digits_of_fraction.count;
      if (digits_of_fraction.count < 8) break;
    }
    exponent = fraction - p;
    digit_count += p - fraction;
  }
  // 18 digits fit a signed 64-bit integer, whose conversion is one instruction.
  if (digit_count == 0 || digit_count > 18 || *p == '#')
    return parse_float_slowly(digits, is_negative, value);
  if (*p == 'e' || *p == 'E') {
    const char* q = p + 1;
    const bool is_below_one = *q == '-';
    if (is_below_one || *q == '+') ++q;
    if (is_digit(*q)) {
      std::ptrdiff_t written = 0;
      for (; is_digit(*q); ++q)
        if (written < 1000) written = written * 10 + (*q - '0');
      exponent += is_below_one ? -written : written;
      p = q;
    }
  }
  if (exponent < -22 || exponent > 22) return parse_float_slowly(digits, is_negative, value);
  // After Clinger, How to read floating point numbers accurately (1990). Powers of ten up to 22 are
  // exact doubles. So the quotient is wrong by the rounding of the mantissa and its own. Together
  // these are less than two units in the last place of a double. It rounds to the same float as the
  // true value unless it lies as near as that to the middle between two floats. At such a middle
  // the low 29 bits are 1 and zeros.
  const auto exact = static_cast<double>(static_cast<std::int64_t>(mantissa));
  const double scaled = exponent < 0 ? exact / kPowersOfTen[static_cast<std::size_t>(-exponent)]
                                     : exact * kPowersOfTen[static_cast<std::size_t>(exponent)];
  constexpr std::uint64_t kMiddle = 1U << 28U;
  constexpr std::uint64_t kMargin = 4;
  const std::uint64_t low_bits = std::bit_cast<std::uint64_t>(scaled) & (2 * kMiddle - 1);
  if (low_bits - (kMiddle - kMargin) <= 2 * kMargin)
    return parse_float_slowly(digits, is_negative, value);
  value = static_cast<float>(is_negative ? -scaled : scaled);
  return p;
}

// Reads an integer with an optional sign and returns the place past it, or nullptr where there is
// none. What does not fit becomes the largest or smallest value.
inline const char* parse_integer(const char* text, std::int64_t& value) {
  const bool is_negative = *text == '-';
  const char* p = text + (is_negative || *text == '+' ? 1 : 0);
  const Digits digits = parse_eight_digits(p);
  if (digits.count == 0) return nullptr;
  if (digits.count < 8) {
    const auto magnitude = static_cast<std::int64_t>(digits.value);
    value = is_negative ? -magnitude : magnitude;
    return p + digits.count;
  }
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  std::int64_t magnitude = 0;
  for (; is_digit(*p); ++p)
    magnitude = magnitude > (kLargest - 9) / 10 ? kLargest : magnitude * 10 + (*p - '0');
  value = is_negative ? -magnitude : magnitude;
  return p;
}

}  // namespace isotact::detail
