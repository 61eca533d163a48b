#include "isotact/geometry/io/detail/number.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "isotact/base/random.h"

namespace isotact {
namespace {

using detail::parse_float;
using detail::parse_integer;

std::string padded(std::string text) { return text.append(detail::kNumberPadding, '\0'); }

// Requires that the whole text is one number.
float parse(const std::string& text) {
  float value = 0;
  const std::string readable = padded(text);
  const char* end = parse_float(readable.c_str(), value);
  EXPECT_EQ(end, readable.c_str() + text.size()) << text;
  return value;
}

// The standard library's answer; the C library's where that gives none, for it reports neither
// infinity nor zero.
float oracle(const std::string& text) {
  float value = 0;
  const char* begin = text.c_str() + (text[0] == '+' ? 1 : 0);
  const auto result = std::from_chars(begin, text.c_str() + text.size(), value);
  return result.ec == std::errc() ? value : std::strtof(text.c_str(), nullptr);
}

void expect_exact(const std::string& text) {
  EXPECT_EQ(std::bit_cast<std::uint32_t>(parse(text)), std::bit_cast<std::uint32_t>(oracle(text)))
      << text;
}

std::string to_text(double value, std::chars_format format, int digits) {
  std::array<char, 2048> buffer{};  // the zeros end the text
  std::to_chars(buffer.data(), buffer.data() + buffer.size() - 1, value, format, digits);
  return buffer.data();
}

float random_float(Random& random) {
  for (;;) {
    const auto value = std::bit_cast<float>(random.next_u32());
    if (std::isfinite(value)) return value;
  }
}

std::string random_digits(Random& random, std::uint32_t count) {
  std::string digits;
  for (std::uint32_t i = 0; i < count; ++i) digits += static_cast<char>('0' + random.below(10));
  return digits;
}

TEST(ParseFloat, ReadsEverySpellingOfANumber) {
  EXPECT_EQ(parse("0"), 0.0F);
  EXPECT_TRUE(std::signbit(parse("-0")));
  EXPECT_EQ(parse("+1.5"), 1.5F);
  EXPECT_EQ(parse(".5"), 0.5F);
  EXPECT_EQ(parse("5."), 5.0F);
  EXPECT_EQ(parse("-.7e+02"), -70.0F);
  EXPECT_EQ(parse("8E-001"), 0.8F);
  EXPECT_EQ(parse("00012"), 12.0F);
  EXPECT_EQ(parse("1e400"), std::numeric_limits<float>::infinity());
  EXPECT_EQ(parse("-1e99999999999999999999"), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(parse("1e-99999999999999999999"), 0.0F);
  EXPECT_EQ(parse("0.00000000000000000000000000000000000000000000000000001e53"), 1.0F);
  EXPECT_EQ(parse("0e400"), 0.0F);
  for (const char* text : {"nan", "NaN", "-nan", "nan(ind)", "-nan(0x1)", "1.#QNAN", "-1.#IND00"})
    EXPECT_TRUE(std::isnan(parse(text))) << text;
  for (const char* text : {"inf", "Infinity", "1.#INF", "1.#INF00", "+INF"})
    EXPECT_EQ(parse(text), std::numeric_limits<float>::infinity()) << text;
  EXPECT_EQ(parse("-inf"), -std::numeric_limits<float>::infinity());
}

TEST(ParseFloat, StopsWhereTheNumberStops) {
  const auto length = [](const char* text) {
    float value = 0;
    const std::string readable = padded(text);
    const char* end = parse_float(readable.c_str(), value);
    return end == nullptr ? -1 : static_cast<int>(end - readable.c_str());
  };
  EXPECT_EQ(length("1.5 2"), 3);
  EXPECT_EQ(length("1e+x"), 1);
  EXPECT_EQ(length("1.2.3"), 3);
  EXPECT_EQ(length("nan(x"), 3);
  for (const char* text : {"", "-", "+", ".", "-.", "e5", "x", "--1", "na", ".e1"})
    EXPECT_EQ(length(text), -1) << text;
}

TEST(ParseFloat, EqualsTheStandardLibraryOnFloats) {
  Random random(1);
  for (int i = 0; i < 30000; ++i) {
    const float value = random_float(random);
    std::array<char, 64> shortest{};
    std::to_chars(shortest.data(), shortest.data() + shortest.size(), value);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(parse(shortest.data())),
              std::bit_cast<std::uint32_t>(value));
    expect_exact(to_text(static_cast<double>(value), std::chars_format::scientific,
                         static_cast<int>(random.below(25))));
  }
}

TEST(ParseFloat, EqualsTheStandardLibraryOnDigits) {
  Random random(2);
  for (int i = 0; i < 100000; ++i) {
    std::string text(random.below(2), '-');
    text += random_digits(random, random.below(12));
    text += '.';
    text += random_digits(random, 1 + random.below(20));
    if (random.below(2) == 0) {
      text += 'e';
      text += std::to_string(static_cast<int>(random.below(110)) - 60);
    }
    expect_exact(text);
  }
}

// The middle between two floats decides the rounding: there, and a hair beside it.
TEST(ParseFloat, EqualsTheStandardLibraryBesideTheMiddleOfTwoFloats) {
  Random random(3);
  int ties = 0;
  for (int i = 0; i < 20000; ++i) {
    const float low = std::abs(random_float(random));
    const float high = std::nextafter(low, std::numeric_limits<float>::infinity());
    if (!std::isfinite(high)) continue;
    const double middle = (static_cast<double>(low) + static_cast<double>(high)) / 2;
    const std::string exact = to_text(middle, std::chars_format::fixed, 160);
    expect_exact(exact);
    expect_exact(exact + "1");
    expect_exact(to_text(middle, std::chars_format::scientific, 16));
    expect_exact(to_text(std::nextafter(middle, 0.0), std::chars_format::scientific, 17));
    ++ties;
  }
  EXPECT_GT(ties, 19000);
  // Middles that few digits reach, so that the fast way sees them: n + 1/2 above 2^23.
  for (std::uint32_t n = 1U << 23U; n < (1U << 23U) + 5000; ++n) {
    expect_exact(std::to_string(n) + ".5");
    expect_exact(std::to_string(n) + ".49999999");
    expect_exact(std::to_string(n) + ".50000001");
  }
}

TEST(ParseInteger, ReadsEveryLengthAndStopsAtEveryByte) {
  Random random(4);
  for (int i = 0; i < 20000; ++i) {
    const std::string digits = random_digits(random, 1 + random.below(18));
    char stop = '0';
    while (detail::is_digit(stop)) stop = static_cast<char>(random.below(256));
    const std::string text = padded(digits + stop + random_digits(random, random.below(8)));
    std::int64_t value = 0;
    EXPECT_EQ(parse_integer(text.c_str(), value), text.c_str() + digits.size());
    EXPECT_EQ(value, std::stoll(digits));
  }
}

TEST(ParseInteger, SaturatesAndStops) {
  const auto value_of = [](const char* text) {
    std::int64_t value = -99;
    const std::string readable = padded(text);
    const char* end = parse_integer(readable.c_str(), value);
    return end == nullptr ? std::int64_t{-99} : value;
  };
  EXPECT_EQ(value_of("12/3"), 12);
  EXPECT_EQ(value_of("-12"), -12);
  EXPECT_EQ(value_of("+7"), 7);
  EXPECT_EQ(value_of("0000000000000000000000001"), 1);
  EXPECT_EQ(value_of("99999999999999999999999"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(value_of("-99999999999999999999999"), -std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(value_of("x"), -99);
  EXPECT_EQ(value_of("-"), -99);
}

}  // namespace
}  // namespace isotact
