#include "isotact/field/build/settings_text.h"

#include <fmt/format.h>

namespace isotact {
std::string describe(const FieldSettings& settings) {
  // All members by name: one that is added later does not compile before it was thought of here.
  const auto& [resolution, voxel_size, padding, sign, nested, shell_offset, band, tolerance,
               keep_thin, max_memory, threads, monitor, device] = settings;
  static_cast<void>(max_memory);
  static_cast<void>(threads);
  static_cast<void>(monitor);
  static_cast<void>(device);  // its fields are as good, and the same but for rounding
  std::string size;
  if (voxel_size) size = fmt::format("\"voxel_size\":{}", *voxel_size);
  if (resolution || !voxel_size)
    size += fmt::format("{}\"resolution\":{}", size.empty() ? "" : ",", resolution.value_or(128));
  return fmt::format(
      "{{{},\"padding\":{},\"sign\":\"{}\",\"nested\":\"{}\",\"shell_offset\":{},\"band\":{},"
      "\"tolerance\":{},\"keep_thin\":\"{}\"}}",
      size, padding, name(sign), nested == NestedRule::kEvenOdd ? "even-odd" : "winding",
      shell_offset, band, tolerance, name(keep_thin));
}

}  // namespace isotact
