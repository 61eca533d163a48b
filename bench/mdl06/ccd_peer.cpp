#include "ccd_peer.h"

#include <fcl/narrowphase/detail/traversal/collision/intersect.h>

namespace isotact::bench {
namespace {

using Intersect = fcl::detail::Intersect<double>;

fcl::Vector3<double> to_fcl(const Vec3& p) { return {p.x, p.y, p.z}; }

}  // namespace

bool fcl_meets_vertex_face(const FeatureMotion& m) {
  double time = 0;
  fcl::Vector3<double> point;
  return Intersect::intersect_VF_filtered(to_fcl(m.at_t0[1]), to_fcl(m.at_t0[2]),
                                          to_fcl(m.at_t0[3]), to_fcl(m.at_t0[0]),
                                          to_fcl(m.at_t1[1]), to_fcl(m.at_t1[2]),
                                          to_fcl(m.at_t1[3]), to_fcl(m.at_t1[0]), &time, &point);
}

bool fcl_meets_edge_edge(const FeatureMotion& m) {
  double time = 0;
  fcl::Vector3<double> point;
  return Intersect::intersect_EE_filtered(to_fcl(m.at_t0[0]), to_fcl(m.at_t0[1]),
                                          to_fcl(m.at_t0[2]), to_fcl(m.at_t0[3]),
                                          to_fcl(m.at_t1[0]), to_fcl(m.at_t1[1]),
                                          to_fcl(m.at_t1[2]), to_fcl(m.at_t1[3]), &time, &point);
}

}  // namespace isotact::bench
