// A recorded motion of a hand: poses at times, as a text file that a haptics loop can play again.
//
//   time,x,y,z,qw,qx,qy,qz
//   0,0,0.05,0,1,0,0,0
//   0.02,0.0001,0.0497,0,1,0,0,0
//
// Seconds and metres; the quaternion is world_from_tool, its parts named by the columns. Empty
// lines and lines that begin with # are passed over.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "isotact/base/pose.h"

namespace isotact {

struct PathKey {
  double time = 0;  // seconds
  Pose pose{};      // world_from_tool

  friend bool operator==(const PathKey&, const PathKey&) = default;
};

// One key at least; times ascend. What the readers give is so; who fills it by hand must see to it.
struct ToolPath {
  std::vector<PathKey> keys;

  double start() const { return keys.front().time; }
  double duration() const { return keys.back().time - keys.front().time; }
};

// Throw Error, with the line, for what is not such a table: another header, a missing or further
// column, a number that is none or not finite, places beyond 1e6 m, times that do not ascend, a
// quaternion that is not a unit one (to 1e-6; within that it is normalised), no row at all. Memory
// is in proportion to the text, of which read_tool_path takes at most 256 MB.
ToolPath parse_tool_path(std::string_view text, const std::string& file_name = "path");
ToolPath read_tool_path(const std::filesystem::path& file);
// The text that parse_tool_path reads back, to the last bit but for that normalisation.
std::string format_tool_path(const ToolPath& path);

// Where the hand is at a time: at constant rates from key to key; before the first and after the
// last it stands still. Cost: a binary search.
Pose pose_at(const ToolPath& path, double time);

}  // namespace isotact
