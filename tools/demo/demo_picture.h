// The still life that `isotact demo` draws.
#pragma once

#include <vector>

#include "picture/render_mesh.h"

namespace isotact::tool {

// With few triangles if `coarse`, for slow builds.
std::vector<RenderItem> demo_still_life(bool coarse);

}  // namespace isotact::tool
