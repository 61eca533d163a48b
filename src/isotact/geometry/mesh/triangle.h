// Distance from a point to one triangle.
#pragma once

#include <cstdint>

#include "isotact/base/vec.h"
#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {

// The part of a triangle on which a point lies. Edge i runs from corner i to the next.
enum class TriangleFeature : std::uint8_t {
  kFace,
  kEdge0,
  kEdge1,
  kEdge2,
  kVertex0,
  kVertex1,
  kVertex2
};

struct TrianglePoint {
  double distance_sq = 0;
  Vec3 point{};
  TriangleFeature feature = TriangleFeature::kFace;
};

// Returns the point of the triangle a, b, c nearest to p, computed in double. Needs finite corners;
// degenerate triangles (segments and points) are allowed. The squared distance is that of a point
// within 1e-15 triangle sizes of the triangle. Cost: some 150 operations.
TrianglePoint find_closest_point_on_triangle(const Vec3f& p, const Vec3f& a, const Vec3f& b,
                                             const Vec3f& c);

}  // namespace isotact
