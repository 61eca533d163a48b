// A recorded motion of a hand: poses over time in a text file that a haptics loop can replay.
//
//   time,x,y,z,qw,qx,qy,qz
//   0,0,0.05,0,1,0,0,0
//   0.02,0.0001,0.0497,0,1,0,0,0
//
// Seconds and metres; the quaternion is world_from_tool, and the columns name its components. Empty
// lines and lines that begin with # are skipped.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "isotact/base/pose.h"
#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {

struct PathKey {
  double time = 0;  // seconds
  Pose pose{};      // world_from_tool

  friend bool operator==(const PathKey&, const PathKey&) = default;
};

// At least one key, with ascending times. The readers guarantee this; callers that fill it by hand
// must do so themselves.
struct ToolPath {
  std::vector<PathKey> keys;

  double start() const { return keys.front().time; }
  double duration() const { return keys.back().time - keys.front().time; }
};

// Both throw Error, with the line, for a wrong header, a missing or extra column, and an empty
// table. So they do for numbers that are malformed or not finite, positions beyond 1e6 m, and times
// that do not ascend. A quaternion must be unit within 1e-6, and is then normalised. Memory is
// proportional to the text; read_tool_path accepts at most 256 MB.
ToolPath parse_tool_path(std::string_view text, const std::string& file_name = "path");
ToolPath read_tool_path(const std::filesystem::path& file);
// Returns text that parse_tool_path reads back to the last bit, except for that normalisation.
std::string format_tool_path(const ToolPath& path);

// Returns the pose at a time. It moves at constant rates between keys and stands still before the
// first and after the last. Cost: a binary search.
Pose pose_at(const ToolPath& path, double time);

}  // namespace isotact
