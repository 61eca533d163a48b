// A convex shape or plane of Bullet's in the form of our queries: a target for our points, and
// edges for our field. Private to the plug-in.
#pragma once

#include <optional>
#include <vector>

#include <BulletCollision/CollisionShapes/btCollisionShape.h>

#include "isotact/base/pose.h"
#include "isotact/queries/points/feature_query.h"
#include "isotact/queries/points/shell_target.h"

namespace isotact::bullet_detail {

struct OtherSolid {
  std::optional<ShellTarget> target{};
  Pose shape_from_target{};  // Targets have their axis along y.
  // In the shape's own frame, for our field. All points within `radius` of them are solid.
  std::vector<FeatureEdge> edges{};
  double radius = 0;
  // The sources of the data: it is made anew if these change.
  btVector3 scaling{0, 0, 0};
  btScalar margin = -1;
  int type = -1, corner_count = 0;
  btVector3 lower{0, 0, 0}, upper{0, 0, 0};  // Its box.
};

// Makes boxes, cylinders, spheres and capsules as Bullet's own algorithms do: with their margin
// inside. Cones and hulls are grown by their margin, rounded. All other convex shapes become the
// hull of the support points in about 200 directions, grown by the margin; round ones are too small
// by up to a hundredth of their size. Returns false for shapes that are neither convex nor a plane.
bool make_other_solid(const btCollisionShape& shape, OtherSolid& solid);
bool is_up_to_date(const btCollisionShape& shape, const OtherSolid& solid);

// Rotates y to the given axis: 0, 1 or 2.
Pose turn_from_y(int axis);

}  // namespace isotact::bullet_detail
