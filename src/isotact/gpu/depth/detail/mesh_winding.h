// Winding number of a closed mesh around a position, on the CPU.
#pragma once

#include <optional>

#include "isotact/base/vec.h"
#include "isotact/gpu/depth/detail/mesh_state.h"

namespace isotact::detail {

// `place` is in the element's frame. Returns nothing if rounding may have decided, in every
// direction that was tried.
std::optional<int> compute_winding(const GpuMeshes::State& meshes,
                                   const GpuMeshes::State::Element& element, const Vec3& place);

}  // namespace isotact::detail
