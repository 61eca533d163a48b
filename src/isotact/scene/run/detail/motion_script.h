// Values of scripts at a time.
#pragma once

#include "isotact/scene/parse/scene.h"

namespace isotact::detail {

Pose pose_at(const PoseScript& script, double time);
Pose pose_at(const SteadyScript& script, const Pose& start, double time);
Motor motor_at(const MotorScript& script, double time);

}  // namespace isotact::detail
