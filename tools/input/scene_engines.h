// Engines that scenes may name, in addition to our own world.
#pragma once

#include "isotact/scene/run/run.h"

namespace isotact::tool {

SceneEngines built_in_engines();

}  // namespace isotact::tool
