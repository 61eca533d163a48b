// Bullet's own ways with concave bodies: GImpact on the triangles, hulls of a convex decomposition
// (HACD), one hull.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <BulletCollision/CollisionShapes/btCollisionShape.h>

#include "isotact/geometry/mesh/mesh.h"

namespace isotact::bench {

// A shape of Bullet's and all that it points to. Copies share.
struct OwnedShape {
  std::string name{};
  std::shared_ptr<btCollisionShape> shape{};
  bool is_gimpact = false;
};

// Metres: of hulls. Bullet's own default, 4 cm, is a sixth of the bunny.
inline constexpr double kHullMargin = 0.001;

// GImpact's time goes with its margin: that of Bullet, if nothing is set, and one as small as that
// of the hulls.
inline constexpr double kGImpactMargin = 0.01, kThinMargin = 0.001;
OwnedShape make_gimpact(const TriangleMesh& mesh, double margin);

// About `hulls` of them.
struct HacdSettings {
  std::size_t hulls = 12;
  std::size_t vertices_per_hull = 100;
};
OwnedShape make_hulls(const TriangleMesh& mesh, const HacdSettings& settings);

// btShapeHull: 42 vertices at most.
OwnedShape make_one_hull(const TriangleMesh& mesh);

// Shapes without anything behind them.
OwnedShape own(std::string name, std::unique_ptr<btCollisionShape> shape);

}  // namespace isotact::bench
