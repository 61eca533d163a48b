#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isotact/base/vec.h"

namespace isotact::detail {

// Indices, ascending, of the points that stay when they are taken in their order and one nearer
// than min_distance to one taken before is left out. The first `keep` stay in any case. Points are
// finite, min_distance is positive. Every point that is left out has one within min_distance.
std::vector<std::uint32_t> thin(std::span<const Vec3f> points, double min_distance,
                                std::size_t keep = 0);

}  // namespace isotact::detail
