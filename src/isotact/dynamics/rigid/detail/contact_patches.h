// Forces of a role at few field samples: PointRule::kPatches.
//
// A field is expanded about a sample to first order in position. The expansion gives the depth of
// the sampled point during its interval, and that of other points of the same cluster of the tree.
// Pressures, friction and derivatives are then arithmetic per point: sums over points are exact for
// a plane, and sticking points keep their identity.
//
// A patch is a node of the tree with eight or more points inside. It has five samples, the probes:
// one near its middle, and four that are far from it and from each other. If the first predicts the
// others (ForceSettings::patch_tolerance), every other point uses the nearest probe. Otherwise the
// patch is divided, and at last each point has its own sample. Intervals are cut at cells of the
// field if they are longer than a part of a cell.
#pragma once

#include <vector>

#include "isotact/dynamics/rigid/contact_force.h"

namespace isotact::detail {

// Whether the settings allow patches.
inline bool can_use_patches(const ForceSettings& s) {
  return s.points == PointRule::kPatches && s.direction == ForceDirection::kField &&
         s.damping == DampingRule::kNormal && s.quadrature == Quadrature::kAdaptive;
}

// The same as compute_role_impulse. RoleImpulse::error has the estimated error of expansions.
template <typename F>  // BrickField or AnyField
RoleImpulse compute_patch_impulse(const F& field, const RoleInput& input,
                                  const ForceSettings& settings, std::vector<PointStick>& sticks);

}  // namespace isotact::detail
