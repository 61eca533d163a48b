#include "query_options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/file.h"
#include "isotact/base/mat3.h"

#include "point_file.h"

namespace isotact::tool {
namespace {

// Of 12 or 16 numbers, row by row.
Pose pose_of_matrix(std::span<const double> n) {
  constexpr double kTolerance = 1e-6;
  const Mat3 m{{Vec3{n[0], n[1], n[2]}, Vec3{n[4], n[5], n[6]}, Vec3{n[8], n[9], n[10]}}};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t k = 0; k < 3; ++k)
      if (!(std::abs(dot(m.rows[i], m.rows[k]) - (i == k ? 1 : 0)) <= kTolerance))
        throw Error("pose: the matrix is no rotation: its rows are not orthonormal");
  if (!(dot(cross(m.rows[0], m.rows[1]), m.rows[2]) > 0))
    throw Error("pose: the matrix is no rotation: it mirrors");
  if (n.size() == 16 && !(n[12] == 0 && n[13] == 0 && n[14] == 0 && n[15] == 1))
    throw Error("pose: the last row of the matrix is not 0, 0, 0, 1");
  const Vec3 translation{n[3], n[7], n[11]};
  if (!is_finite(translation)) throw Error("pose: the matrix is not finite");
  return {to_quat(m), translation};
}

// Numbers with commas, semicolons, brackets or white space between; nothing if there is something
// else.
std::optional<std::vector<double>> parse_list(std::string_view text) {
  std::vector<double> numbers;
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n,;[]"), text.size()));
    if (text.empty()) return numbers;
    double value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc{}) return std::nullopt;
    numbers.push_back(value);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
}

Pose parse_pose_or_matrix(std::string_view text, bool is_matrix) {
  constexpr std::string_view kMatrix = "matrix=";
  if (text.starts_with(kMatrix)) {
    text.remove_prefix(kMatrix.size());
    is_matrix = true;
  }
  if (!is_matrix) return parse_pose(text);
  const auto numbers = parse_list(text);
  if (!numbers || (numbers->size() != 12 && numbers->size() != 16))
    throw Error(fmt::format("pose: a matrix has 12 or 16 numbers, row by row, found '{}'",
                            printable(text)));
  return pose_of_matrix(*numbers);
}

Pose read_pose_file(const std::string& file) {
  constexpr std::uint64_t kMost = 65536;
  const std::vector<std::byte> bytes = read_file(file, kMost);
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string::npos) throw Error({.file = file}, "has no pose");
  const bool is_matrix = std::string_view("+-.[0123456789").find(text[first]) != std::string::npos;
  try {
    return parse_pose_or_matrix(std::string_view(text).substr(first), is_matrix);
  } catch (const Error& error) {
    throw Error({.file = file}, error.what());
  }
}

// x,y,z,qw,qx,qy,qz: true; x,y,z,qx,qy,qz,qw: false.
bool is_scalar_first(const std::string& file, const std::vector<std::string>& names) {
  const auto is = [&](const std::vector<std::string>& expected) { return names == expected; };
  if (is({"x", "y", "z", "qw", "qx", "qy", "qz"}) || is({"x", "y", "z", "w", "x", "y", "z"}))
    return true;
  if (is({"x", "y", "z", "qx", "qy", "qz", "qw"}) || is({"x", "y", "z", "x", "y", "z", "w"}))
    return false;
  throw Error({.file = file},
              "has seven columns, and no header that tells the order of the quaternion: write the "
              "line x,y,z,qw,qx,qy,qz or x,y,z,qx,qy,qz,qw first, or a matrix of 12 columns");
}

Pose pose_of_row(std::span<const double> n, bool scalar_first) {
  if (n.size() == 3) return {.translation = {n[0], n[1], n[2]}};
  if (n.size() != 7) return pose_of_matrix(n);
  // parse_pose checks it.
  return parse_pose(fmt::format("xyz={},{},{} {}={},{},{},{}", n[0], n[1], n[2],
                                scalar_first ? "wxyz" : "xyzw", n[3], n[4], n[5], n[6]));
}

}  // namespace

double parse_length(const std::string& option, const std::string& text) {
  if (const auto metres = parse_length_text(text)) return *metres;
  throw UsageError(option + ": expected a length such as 5mm or 0.005, found '" + text + "'");
}

Pose read_pose(const std::string& option, const std::string& text) {
  if (text.starts_with('@')) return read_pose_file(text.substr(1));
  try {
    return parse_pose_or_matrix(text, false);
  } catch (const Error& error) {
    throw UsageError(option + ": " + error.what());
  }
}

std::vector<Pose> read_poses(const std::string& file) {
  constexpr std::size_t kColumns[] = {3, 7, 12, 16};
  const NumberTable table = read_number_table(file, kColumns);
  const bool scalar_first = table.columns != 7 || is_scalar_first(file, table.names);
  std::vector<Pose> poses;
  for (std::size_t i = 0; i < table.rows(); ++i) try {
      poses.push_back(pose_of_row(std::span(table.values).subspan(i * table.columns, table.columns),
                                  scalar_first));
    } catch (const Error& error) {
      throw Error({.file = file}, fmt::format("row {}: {}", i + 1, error.what()));
    }
  if (poses.empty()) throw Error({.file = file}, "has no pose");
  return poses;
}

void add_moving_body(Command& command, MovingBodyOptions& body, const std::string& letter) {
  const std::string upper = letter == "a" ? "A" : "B";
  command.add_text({.names = "--pose-" + letter,
                    .help = "Pose of " + upper + ", at the start if it moves" + kPoseHelp,
                    .value_name = "POSE"},
                   body.pose);
  command.add_text({.names = "--to-pose-" + letter,
                    .help = "Pose of " + upper + " at the end of its motion (default: it stays)",
                    .value_name = "POSE"},
                   body.to_pose);
  command.add_text({.names = "--pivot-" + letter,
                    .help = "With --motion rates: the point of " + upper +
                            ", in its own frame, that moves straight while the body turns "
                            "(default: 0,0,0)",
                    .value_name = "X,Y,Z"},
                   body.pivot);
}

BodyMotion motion_of(const MovingBodyOptions& body, const std::string& letter) {
  BodyMotion motion;
  if (!body.pose.empty()) motion.from = read_pose("--pose-" + letter, body.pose);
  motion.to = body.to_pose.empty() ? motion.from : read_pose("--to-pose-" + letter, body.to_pose);
  if (!body.pivot.empty())
    motion.pivot = read_pose("--pivot-" + letter, "xyz=" + body.pivot).translation;
  return motion;
}

std::string LengthUnit::format(double length) const {
  return without_negative_zeros(fmt::format("{:.6g} {}", length / metres, name));
}

std::string LengthUnit::format(const Vec3& p) const {
  return without_negative_zeros(
      fmt::format("{:.6g} {:.6g} {:.6g} {}", p.x / metres, p.y / metres, p.z / metres, name));
}

bool FailOn::fails(const std::string& status, double lower_bound) const {
  if (contact) return status != "free";
  if (free) return status != "contact";
  return lower_bound < closer;
}

LengthUnit QueryOptions::unit() const {
  for (const LengthUnit& unit : kLengthUnits)
    if (print_unit == unit.name) return unit;
  throw UsageError("--print-unit: m, cm, mm or in");
}

FailOn QueryOptions::verdict() const {
  FailOn fail;
  if (fail_on.empty()) return fail;
  if (fail_on == "contact")
    fail.contact = true;
  else if (fail_on == "free")
    fail.free = true;
  else if (fail_on.starts_with("closer:"))
    fail.closer = parse_length("--fail-on closer", fail_on.substr(7));
  else
    throw UsageError("--fail-on: contact, free or closer:LENGTH, as in closer:5mm");
  return fail;
}

void add_query_options(Command& command, QueryOptions& options) {
  command.add_text({.names = "--poses-b",
                    .help = "Ask for each pose of B in this table: one row of output per pose. "
                            "Columns: x y z, or a matrix of 12 or 16 numbers, or, with a header, "
                            "x,y,z,qw,qx,qy,qz",
                    .value_name = "CSV|NPY"},
                   options.poses_b);
  command.add_text({.names = "--print-unit",
                    .help = "Unit of the lengths in text; JSON has metres (default: m)",
                    .value_name = "m|cm|mm|in",
                    .choices = {"m", "cm", "mm", "in"}},
                   options.print_unit);
  command.add_text({.names = "--fail-on",
                    .help = "End with exit code 3 if the bodies touch, if they do not, or if they "
                            "may be closer than a length, as in closer:5mm",
                    .value_name = "contact|free|closer:LENGTH"},
                   options.fail_on);
}

}  // namespace isotact::tool
