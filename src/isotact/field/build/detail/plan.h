// What a build will make, before it makes it.
#pragma once

#include "isotact/field/build/build_field.h"

namespace isotact::detail {

inline constexpr double kLeastPadding = 6;  // cells: see make_plan

// Throws Error for settings that no mesh could satisfy, and for a lattice that is too large.
// The box is padded by at least six cells whatever the settings say, so that on its sides, where
// bricks end, the surface is further away than the band and one cell.
Lattice make_lattice(const Aabb& mesh_bounds, const FieldSettings& settings);

// Throws Error where `needed` bytes are more than the settings allow.
void check_memory(std::uint64_t needed, const FieldSettings& settings, const char* what);

}  // namespace isotact::detail
