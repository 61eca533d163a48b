// The winding number of an open mesh modulo 1, from its rims alone.
//
// Closed by cones from its rims to points of their own, the mesh would have whole winding numbers.
// So w = -(solid angle of the cones) / (4 pi) modulo 1, wherever the rest of the mesh is, and
// exp(2 pi i w) is a product of one complex number a rim edge. It is smooth everywhere but on the
// rims: neither the mesh nor the cones are seen in it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isotact/field/build/detail/rims.h"
#include "isotact/field/build/detail/solid_angle.h"

namespace isotact::surface_detail {

class WindingPhase {
 public:
  WindingPhase(const TriangleMesh& mesh, std::span<const Rim> rims);

  // exp(2 pi i w), a unit number; 1 on the rims. Cost: about 10 ns for each edge of rims nearer
  // than five times their radius; the others enter as dipoles, within 0.001 of w.
  Complex at(const Vec3& point) const;

 private:
  struct Cone {
    std::vector<Vec3> loop;  // around the rim, the first again at the end; in radii from the apex
    Vec3 apex{};
    Vec3 area{};    // vector area, as the mesh's own triangles run
    Vec3 middle{};  // of the cone, by area
    double radius = 0;
  };
  static Complex find_cone(const Cone& cone, const Vec3& point);

  std::vector<Cone> cones_;
};

}  // namespace isotact::surface_detail
