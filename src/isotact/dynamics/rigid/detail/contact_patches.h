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

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "isotact/dynamics/rigid/contact_force.h"

namespace isotact::detail {

inline constexpr std::size_t kProbes = 5;  // Samples of a patch.
inline constexpr std::uint32_t kNone = 0xffffffffU;

// Part of an interval of a point, with the sample that its expansion is about.
struct PathPart {
  double from = 0, to = 0;  // Fractions of the step.
  std::uint32_t sample = kNone;
};

// A point in contact: its parts are [first_part, end_part).
struct HitPoint {
  Vec3 start{}, end{};  // Field frame.
  double gap_sq = 0;    // To the nearest probe so far.
  std::uint32_t first_part = 0, end_part = 0;
  bool can_share = false;
};

// Points of one node of the tree, hits [first, end), that share the samples of some: the probes.
// The first is near the middle.
struct Patch {
  std::size_t first = 0, end = 0;
  int level = 0;
  std::array<std::size_t, kProbes> probes{};
};

// Field frame.
struct SamplePlace {
  Vec3 place{};
  double time = 0;
};

struct PatchScratch {
  std::vector<HitPoint> hits{};
  std::vector<PathPart> parts{};
  std::vector<Patch> patches{}, judged{};
  std::vector<SamplePlace> places{};
  std::vector<Vec3> batch{};
  std::vector<FieldSample> samples{};
  std::vector<double> cuts{};
  std::vector<PointStick> sticks{};
  std::vector<AffineMap> world{};  // world_from_field at the ends of pieces.
};

// Whether the settings allow patches.
inline bool can_use_patches(const ForceSettings& s) {
  return s.points == PointRule::kPatches && s.direction == ForceDirection::kField &&
         s.damping == DampingRule::kNormal && s.quadrature == Quadrature::kAdaptive;
}

// The same as compute_role_impulse. RoleImpulse::error has the estimated error of expansions. None,
// with the sticks as they were: a point is behind the middle of a wall (PointStick::side), and
// every point needs its own samples.
template <typename F>  // BrickField or AnyField
std::optional<RoleImpulse> compute_patch_impulse(const F& field, const RoleInput& input,
                                                 const ForceSettings& settings,
                                                 std::vector<PointStick>& sticks);

}  // namespace isotact::detail
