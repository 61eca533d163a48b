// Points of a surface that a field has lost, gathered into parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isotact/field/build/thin_features.h"

namespace isotact::detail {

struct LostPoint {
  Vec3 position{};
  double area = 0;       // square metres that it stands for
  double thickness = 0;  // metres
  double gap = 0;        // metres, to the nearest solid, at least
  bool is_wall = false;  // thin in one direction only, unlike rods and tips
};

struct LostPart {
  ThinPlace place;
  double typical_thickness = 0;   // metres: exceeded by half of it
  double voxel_size_to_keep = 0;  // metres
  double growth_to_keep = 0;      // metres
};

// Points within about `near` of each other, directly or by way of others, are one part. Bare
// points, which have no solid just behind them but some not far away, belong to a part that is as
// near; alone they are none. The largest in area come first. The same result for the same order of
// points.
std::vector<LostPart> gather_lost_parts(std::span<const LostPoint> lost,
                                        std::span<const LostPoint> bare, double near,
                                        double voxel_size);

}  // namespace isotact::detail
