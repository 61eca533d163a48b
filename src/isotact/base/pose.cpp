#include "isotact/base/pose_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "isotact/base/error.h"

namespace isotact {
namespace {

constexpr double kUnitTolerance = 1e-6;

void parse_numbers(std::string_view text, std::string_view key, std::span<double> numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), numbers[i]);
    if (code != std::errc{} || !std::isfinite(numbers[i]))
      throw Error(fmt::format("pose: '{}' needs {} finite numbers with commas between, found '{}'",
                              key, numbers.size(), printable(text)));
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    const bool last = i + 1 == numbers.size();
    if (last ? !text.empty() : !text.starts_with(','))
      throw Error(fmt::format("pose: '{}' needs exactly {} numbers with commas between", key,
                              numbers.size()));
    if (!last) text.remove_prefix(1);
  }
}

Quat checked_unit(const Quat& q) {
  const double l = std::sqrt(length_sq(q));
  if (!(std::abs(l - 1) <= kUnitTolerance))
    throw Error(
        fmt::format("pose: the quaternion has length {:.6g}; a unit quaternion is needed", l));
  return normalized(q);
}

}  // namespace

Pose parse_pose(std::string_view text) {
  Pose pose;
  bool has_translation = false, has_rotation = false;
  while (true) {
    const std::size_t start = text.find_first_not_of(" \t");
    if (start == std::string_view::npos) return pose;
    text.remove_prefix(start);
    const std::string_view part = text.substr(0, text.find_first_of(" \t"));
    text.remove_prefix(part.size());
    const std::size_t equals = part.find('=');
    const std::string_view key = part.substr(0, equals);
    if (equals == std::string_view::npos || (key != "xyz" && key != "wxyz" && key != "xyzw"))
      throw Error(fmt::format(
          "pose: '{}' is not understood; write xyz=X,Y,Z and wxyz=W,X,Y,Z or xyzw=X,Y,Z,W",
          printable(part)));
    bool& seen = key == "xyz" ? has_translation : has_rotation;
    if (seen)
      throw Error(fmt::format("pose: more than one {}", key == "xyz" ? "position" : "rotation"));
    seen = true;
    std::array<double, 4> n{};
    const std::string_view numbers = part.substr(equals + 1);
    parse_numbers(numbers, key, std::span(n).first(key.size()));
    if (key == "xyz")
      pose.translation = {n[0], n[1], n[2]};
    else if (key == "wxyz")
      pose.rotation = checked_unit({n[0], n[1], n[2], n[3]});
    else
      pose.rotation = checked_unit({n[3], n[0], n[1], n[2]});
  }
}

std::string format_pose(const Pose& pose) {
  const auto& [r, t] = pose;
  return fmt::format("xyz={},{},{} wxyz={},{},{},{}", t.x, t.y, t.z, r.w, r.x, r.y, r.z);
}

}  // namespace isotact
