// Poses as text, the way the tool and scene files spell them.
#pragma once

#include <string>
#include <string_view>

#include "isotact/base/pose.h"

namespace isotact {

// Reads "xyz=0,0,1 wxyz=1,0,0,0": each part may be missing; the quaternion is labelled wxyz or
// xyzw. Throws Error where a part is unknown or repeated, a number is not finite, or the quaternion
// is not a unit one (to 1e-6; within that it is normalised).
Pose parse_pose(std::string_view text);

// The text that parse_pose reads back exactly, but for the rounding of that normalisation.
std::string format_pose(const Pose& pose);

}  // namespace isotact
