// How often a closed mesh winds around a place, on the CPU.
#pragma once

#include <optional>

#include "isotact/base/vec.h"
#include "isotact/gpu/detail/mesh_state.h"

namespace isotact::detail {

// `place` is in the element's frame. Nothing where rounding may have decided, in every direction
// that was tried.
std::optional<int> find_winding(const GpuMeshes::State& meshes,
                                const GpuMeshes::State::Element& element, const Vec3& place);

}  // namespace isotact::detail
