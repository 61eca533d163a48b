// The still life that `isotact demo` draws.
#pragma once

#include <vector>

#include "picture/render_mesh.h"

namespace isotact::tool {

std::vector<RenderItem> demo_still_life();

}  // namespace isotact::tool
