#include "isotact/base/pose.h"

#include <array>
#include <charconv>
#include <cmath>
#include <numbers>
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
      throw Error(fmt::format("pose: '{}' needs exactly {} numbers with commas between{}", key,
                              numbers.size(),
                              key == "xyz" ? ", in metres and without a unit" : ""));
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

bool is_key(std::string_view key) {
  return key == "xyz" || key == "wxyz" || key == "xyzw" || key == "axis" || key == "rpy";
}

Quat turn_about(const Vec3& axis, double degrees) {
  if (!(length(axis) > 0) || !std::isfinite(length(axis)))
    throw Error("pose: the axis of a rotation has no direction");
  const double half = std::remainder(degrees, 720) * (std::numbers::pi / 360);
  const Vec3 v = normalized(axis) * std::sin(half);
  return normalized(Quat{std::cos(half), v.x, v.y, v.z});
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
    if (equals == std::string_view::npos || !is_key(key))
      throw Error(fmt::format(
          "pose: '{}' is not understood; write xyz=X,Y,Z and one of wxyz=W,X,Y,Z, xyzw=X,Y,Z,W, "
          "axis=X,Y,Z,DEGREES and rpy=ROLL,PITCH,YAW (degrees)",
          printable(part)));
    bool& seen = key == "xyz" ? has_translation : has_rotation;
    if (seen)
      throw Error(fmt::format("pose: more than one {}", key == "xyz" ? "position" : "rotation"));
    seen = true;
    std::array<double, 4> n{};
    const std::string_view numbers = part.substr(equals + 1);
    parse_numbers(numbers, key, std::span(n).first(key == "xyz" || key == "rpy" ? 3 : 4));
    if (key == "xyz")
      pose.translation = {n[0], n[1], n[2]};
    else if (key == "axis")
      pose.rotation = turn_about({n[0], n[1], n[2]}, n[3]);
    else if (key == "rpy")
      pose.rotation =
          turn_about({0, 0, 1}, n[2]) * turn_about({0, 1, 0}, n[1]) * turn_about({1, 0, 0}, n[0]);
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
