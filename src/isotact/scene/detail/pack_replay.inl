// What a replay has in a pack but for shapes and rigid bodies.
#pragma once

#include <string>

#include "isotact/scene/detail/pack_arrays.inl"
#include "isotact/scene/replay_pack.h"

namespace isotact::detail {

PackJson pack_scene(const Scene& scene);
std::string to_hex(const Colour& colour);  // "#rrggbb"

// soft_bodies, frames, contacts, paths and log.
void pack_replay(const Replay& replay, const RunPackSettings& settings, PackArrays& arrays,
                 PackJson& json);

}  // namespace isotact::detail
