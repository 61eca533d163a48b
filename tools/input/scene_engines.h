// Engines that scenes may name, beside our own world.
#pragma once

#include "isotact/scene/engine.h"

namespace isotact::tool {

SceneEngines built_in_engines();

}  // namespace isotact::tool
