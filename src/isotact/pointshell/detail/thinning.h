#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isotact/base/vec.h"

namespace isotact::detail {

// Returns, ascending, the indices of the points that stay. Points are taken in their order, and a
// point nearer than min_distance to one taken before is left out. The first `keep` always stay.
// Points must be finite and min_distance positive. Every point that is left out has one that stays
// within min_distance.
std::vector<std::uint32_t> thin(std::span<const Vec3f> points, double min_distance,
                                std::size_t keep = 0);

}  // namespace isotact::detail
