// The engines beside our own that this program can run scenes with.
#pragma once

#include "isotact/scene/engine.h"

namespace isotact::tool {

SceneEngines built_in_engines();

}  // namespace isotact::tool
