// What a convex shape or plane of Bullet's is to our queries: a target for our points, and edges
// for our field. Private to the plug-in.
#pragma once

#include <optional>
#include <vector>

#include <BulletCollision/CollisionShapes/btCollisionShape.h>

#include "isotact/base/pose.h"
#include "isotact/queries/feature_query.h"
#include "isotact/queries/shell_target.h"

namespace isotact::bullet_detail {

struct OtherSolid {
  std::optional<ShellTarget> target{};
  Pose shape_from_target{};  // targets have their axis along y
  // In the shape's own frame, for our field; all points within `radius` of them are solid.
  std::vector<FeatureEdge> edges{};
  double radius = 0;
  // What it was made from: made anew where these change.
  btVector3 scaling{0, 0, 0};
  btScalar margin = -1;
  int type = -1, corner_count = 0;
  btVector3 lower{0, 0, 0}, upper{0, 0, 0};  // its box
};

// Boxes, cylinders, spheres and capsules as Bullet's own algorithms have them: with their margin
// inside. Cones and hulls: grown by their margin, rounded. All other convex shapes: the hull of the
// support points in some 200 directions, grown by the margin; round ones are too small by up to a
// hundredth of their size. False for what is neither convex nor a plane.
bool make_other_solid(const btCollisionShape& shape, OtherSolid& solid);
bool is_up_to_date(const btCollisionShape& shape, const OtherSolid& solid);

// Takes y to the given axis: 0, 1 or 2.
Pose turn_from_y(int axis);

}  // namespace isotact::bullet_detail
