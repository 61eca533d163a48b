// FCL's continuous tests of features: where the four points are in one plane, by Newton's method or
// bisection, then whether they meet there.
#pragma once

#include "isotact/queries/deformable/continuous_features.h"

namespace isotact::bench {

// As FCL's own continuous traversal of meshes calls them: with its filter first.
bool fcl_meets_vertex_face(const FeatureMotion& motion);
bool fcl_meets_edge_edge(const FeatureMotion& motion);

}  // namespace isotact::bench
