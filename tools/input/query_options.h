// Options that the verbs about pairs of bodies share. They are poses and lists of them, the unit of
// printed lengths, and verdicts that end with exit code 3.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "isotact/base/pose.h"
#include "isotact/queries/swept/motion.h"

#include "commands/command.h"

namespace isotact::tool {

// A pose as parse_pose reads it, or "matrix=" with 12 or 16 numbers, row by row. It may also be
// "@FILE" with a text file that has either, or the numbers of a matrix alone. Empty text is no
// motion. Throws UsageError with the option's name, and Error for a file.
Pose read_pose(const std::string& option, const std::string& text);

// A table with a pose in each row (point_file.h), in double. Columns: 3, a position; 12 or 16, a
// matrix row by row; 7, in .csv only, a position and a quaternion. The header tells the
// quaternion's order: x,y,z,qw,qx,qy,qz or x,y,z,qx,qy,qz,qw. Throws Error for others, and for no
// row.
std::vector<Pose> read_poses(const std::string& file);
inline constexpr const char* kPoseHelp =
    ": \"xyz=0,0,1 axis=0,0,1,90\" (metres, degrees), with wxyz=W,X,Y,Z, "
    "rpy=ROLL,PITCH,YAW, matrix=..., or @FILE";

// A body of a pair and its motion.
struct MovingBodyOptions {
  std::string file, pose, to_pose, pivot;
};
// Adds --pose-LETTER, --to-pose-LETTER and --pivot-LETTER, for body a or b.
void add_moving_body(Command& command, MovingBodyOptions& body, const std::string& letter);
// Throws as read_pose does.
BodyMotion motion_of(const MovingBodyOptions& body, const std::string& letter);

// "5mm" or "0.005": metres. Throws UsageError for other text, which names the option.
double parse_length(const std::string& option, const std::string& text);

// When the exit code is 3.
struct FailOn {
  bool contact = false, free = false;
  double closer = -std::numeric_limits<double>::infinity();  // metres

  bool is_set() const { return contact || free || wants_distance(); }
  bool wants_distance() const { return closer > -std::numeric_limits<double>::infinity(); }
  // An uncertain status ("uncertain", "gave_up") fails, too.
  bool fails(const std::string& status, double lower_bound) const;
};

struct QueryOptions {
  std::string print_unit = "m", fail_on, poses_b;

  // Throw UsageError for values that are none.
  LengthUnit unit() const;
  FailOn verdict() const;
};
void add_query_options(Command& command, QueryOptions& options);

}  // namespace isotact::tool
