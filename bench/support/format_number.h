// Numbers as tables show them: the same on a terminal and in a report.
#pragma once

#include <cmath>
#include <string>

#include <fmt/format.h>

namespace isotact::bench {

// Returns "12,345.6" for "12345.6": from four digits before the point on.
inline std::string with_separators(std::string digits) {
  const std::size_t begin = digits.starts_with('-') ? 1 : 0;
  std::size_t place = digits.find_first_not_of("0123456789", begin);
  if (place == std::string::npos) place = digits.size();
  for (; place > begin + 3; place -= 3) digits.insert(place - 3, ",");
  return digits;
}

// Formats with so many decimals; a negative count means three significant digits.
inline std::string format_number(double value, int decimals) {
  if (!std::isfinite(value)) return fmt::format("{}", value);
  if (decimals >= 0) return with_separators(fmt::format("{:.{}f}", value, decimals));
  const double size = std::abs(value);
  if (size == 0) return "0";
  if (size < 1e-3 || size >= 1e9) return fmt::format("{:.2e}", value);
  const int before = static_cast<int>(std::floor(std::log10(size))) + 1;
  return with_separators(fmt::format("{:.{}f}", value, before < 3 ? 3 - before : 0));
}

}  // namespace isotact::bench
