#include "isotact/dynamics/haptics/tool_path.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/file.h"
#include "isotact/queries/swept/motion.h"

namespace isotact {
namespace {

constexpr std::string_view kHeader = "time,x,y,z,qw,qx,qy,qz";
constexpr std::size_t kColumns = 8;
constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20U;
constexpr double kFurthestPlace = 1e6;   // metres
constexpr double kUnitTolerance = 1e-6;  // as in pose.h
constexpr double kMostTime = 1e9;        // seconds: steps of a millisecond still count there

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::array<double, kColumns> parse_row(std::string_view line, const FileSpot& spot) {
  std::array<double, kColumns> numbers{};
  for (std::size_t i = 0; i < kColumns; ++i) {
    const std::size_t comma = line.find(',');
    if ((comma == std::string_view::npos) != (i + 1 == kColumns))
      throw Error(spot, fmt::format("expected {} numbers, as in '{}'", kColumns, kHeader));
    const std::string_view word = trimmed(line.substr(0, comma));
    const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), numbers[i]);
    if (problem != std::errc{} || end != word.data() + word.size() || !std::isfinite(numbers[i]))
      throw Error(spot, fmt::format("'{}' is not a finite number", printable(word)));
    if (comma != std::string_view::npos) line.remove_prefix(comma + 1);
  }
  return numbers;
}

PathKey make_key(const std::array<double, kColumns>& n, const FileSpot& spot) {
  PathKey key{.time = n[0], .pose = {{n[4], n[5], n[6], n[7]}, {n[1], n[2], n[3]}}};
  if (std::abs(key.time) > kMostTime)
    throw Error(spot, fmt::format("the time {} s is beyond {} s", key.time, kMostTime));
  for (std::size_t i = 1; i <= 3; ++i)
    if (std::abs(n[i]) > kFurthestPlace)
      throw Error(spot, fmt::format("a place at {} m is beyond {} m", n[i], kFurthestPlace));
  const double length = std::sqrt(length_sq(key.pose.rotation));
  if (!(std::abs(length - 1) <= kUnitTolerance))
    throw Error(spot, fmt::format("the quaternion's length is {}, expected 1", length));
  key.pose.rotation = normalized(key.pose.rotation);
  return key;
}

}  // namespace

ToolPath parse_tool_path(std::string_view text, const std::string& file_name) {
  ToolPath path;
  bool has_header = false;
  for (std::uint64_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty() || line.front() == '#') continue;
    const FileSpot spot{.file = file_name, .line = number};
    if (!has_header) {
      if (line != kHeader)
        throw Error(spot,
                    fmt::format("expected the header '{}', found '{}'", kHeader, printable(line)));
      has_header = true;
      continue;
    }
    const PathKey key = make_key(parse_row(line, spot), spot);
    if (!path.keys.empty() && !(key.time > path.keys.back().time))
      throw Error(spot, fmt::format("the time {} s does not come after {} s", key.time,
                                    path.keys.back().time));
    path.keys.push_back(key);
  }
  if (path.keys.empty()) throw Error({.file = file_name}, "has no poses");
  return path;
}

ToolPath read_tool_path(const std::filesystem::path& file) {
  const std::vector<std::byte> bytes = read_file(file, kMostBytes);
  return parse_tool_path({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                         file.string());
}

std::string format_tool_path(const ToolPath& path) {
  std::string text = fmt::format("{}\n", kHeader);
  for (const auto& [time, pose] : path.keys) {
    const auto& [q, t] = pose;
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{},{}\n", time, t.x, t.y, t.z, q.w,
                   q.x, q.y, q.z);
  }
  return text;
}

Pose pose_at(const ToolPath& path, double time) {
  const auto after = std::upper_bound(path.keys.begin(), path.keys.end(), time,
                                      [](double t, const PathKey& key) { return t < key.time; });
  if (after == path.keys.begin()) return path.keys.front().pose;
  if (after == path.keys.end()) return path.keys.back().pose;
  const PathKey& before = *(after - 1);
  const double part = (time - before.time) / (after->time - before.time);
  return compute_pose({.from = before.pose, .to = after->pose}, part);
}

}  // namespace isotact
