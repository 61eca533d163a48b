// An object that no surface of a closed mesh touches is, part by part, within that mesh or outside of
// it: one place of each part tells which.
#pragma once

#include <optional>
#include <vector>

#include "isotact/base/vec.h"
#include "isotact/gpu/detail/mesh_state.h"
#include "isotact/queries/depth_map.h"

namespace isotact::detail {

// A place in each connected part of the object (view's frame). Parts are connected where intervals
// of pixels side by side overlap. Nothing where there are more than `most` parts.
std::optional<std::vector<Vec3>> find_solid_parts(const DepthMap& map, std::size_t most);

// How often a closed element winds around a place (in its frame). Nothing where rounding may have
// decided, in every direction that was tried.
std::optional<int> find_winding(const GpuMeshes::State& meshes,
                                const GpuMeshes::State::Element& element, const Vec3& place);

}  // namespace isotact::detail
