// Sums solid angles down the hierarchy: children far enough away by their moments, near blocks
// triangle by triangle. The method is by Barill, Dickson, Schmidt, Levin and Jacobson (Fast Winding
// Numbers for Soups and Clouds, 2018).
#pragma once

#include "isotact/geometry/bvh/bvh_layout.h"
#include "isotact/geometry/bvh/detail/solid_angle.h"

namespace isotact::detail {

struct WindingSearch {
  const BvhNode* nodes;
  const WindingNode* moments;
  const TriangleBlock* blocks;
  double point[3];
  double beta_sq;
};

template <typename D>
struct WindingKernel {
  // The Taylor series of n . r / |r|^3 around the center, to the second order; r: from the point to
  // the center.
  static ISOTACT_INLINE D expand(const WindingNode& m, int i, const Point3<D>& r, D r_sq) {
    const auto at = [i](const double(&row)[kNodeWidth]) __attribute__((always_inline)) {
      return load<D>(row + i);
    };
    const D inverse_sq = D(1.0) / r_sq;
    const D inverse_3 = inverse_sq / square_root(r_sq);
    const D inverse_5 = inverse_3 * inverse_sq;
    const D inverse_7 = inverse_5 * inverse_sq;
    const D n_r = at(m.normal[0]) * r.x + at(m.normal[1]) * r.y + at(m.normal[2]) * r.z;

    const D xx = r.x * r.x, yy = r.y * r.y, zz = r.z * r.z;
    const D xy = r.x * r.y, xz = r.x * r.z, yz = r.y * r.z;
    const D trace = at(m.first[0]) + at(m.first[1]) + at(m.first[2]);
    const D two(2.0), three(3.0), six(6.0);
    const D m_rr = at(m.first[0]) * xx + at(m.first[1]) * yy + at(m.first[2]) * zz +
                   two * (at(m.first[3]) * xy + at(m.first[4]) * xz + at(m.first[5]) * yz);

    const auto& t = m.second;
    const D t_r = (at(t[0]) + at(t[5]) + at(t[7])) * r.x + (at(t[3]) + at(t[1]) + at(t[8])) * r.y +
                  (at(t[4]) + at(t[6]) + at(t[2])) * r.z;
    const D t_rrr = at(t[0]) * xx * r.x + at(t[1]) * yy * r.y + at(t[2]) * zz * r.z +
                    three * (at(t[3]) * xx * r.y + at(t[4]) * xx * r.z + at(t[5]) * yy * r.x +
                             at(t[6]) * yy * r.z + at(t[7]) * zz * r.x + at(t[8]) * zz * r.y) +
                    six * (at(t[9]) * xy * r.z);
    return (n_r + trace) * inverse_3 - (three * m_rr + D(4.5) * t_r) * inverse_5 +
           D(7.5) * t_rrr * inverse_7;
  }

  static ISOTACT_INLINE double sum_block(const TriangleBlock& block, const Point3<D>& p) {
    double halves[kBlockWidth];
    for (int i = 0; i < kBlockWidth; i += D::kWidth) {
      const auto corner = [&](int k) __attribute__((always_inline)) {
        const Point3<D> c{load_wide<D>(block.corner[k][0] + i),
                          load_wide<D>(block.corner[k][1] + i),
                          load_wide<D>(block.corner[k][2] + i)};
        return c - p;
      };
      store(compute_half_solid_angle(corner(0), corner(1), corner(2)), halves + i);
    }
    double sum = 0;
    for (int i = 0; i < kBlockWidth && block.triangle[i] != 0xffffffffU; ++i) sum += halves[i];
    return 2 * sum;
  }

  // The solid angle of everything. Sums run in the order of the hierarchy, whatever the width.
  static double find(const WindingSearch& search) {
    const Point3<D> p{D(search.point[0]), D(search.point[1]), D(search.point[2])};
    const D beta_sq(search.beta_sq);
    double sum = 0;
    std::uint32_t stack[kStackSize];
    int size = 0;
    stack[size++] = 0;
    while (size > 0) {
      const std::uint32_t place = stack[--size];
      if ((place & kBlockBit) != 0) {
        sum += sum_block(search.blocks[place & ~kBlockBit], p);
        continue;
      }
      const BvhNode& node = search.nodes[place];
      const WindingNode& m = search.moments[place];
      unsigned far = 0;
      double angles[kNodeWidth];
      for (int i = 0; i < kNodeWidth; i += D::kWidth) {
        const Point3<D> center{load<D>(m.center[0] + i), load<D>(m.center[1] + i),
                               load<D>(m.center[2] + i)};
        const Point3<D> r = center - p;
        const D r_sq = dot(r, r);
        const unsigned far_here = bits_of(r_sq > beta_sq * load<D>(m.radius_sq + i));
        if (far_here != 0) store(expand(m, i, r, r_sq), angles + i);
        far |= far_here << i;
      }
      for (std::uint32_t i = 0; i < node.child_count; ++i) {
        if (((far >> i) & 1U) != 0)
          sum += angles[i];
        else
          stack[size++] = node.child[i];
      }
    }
    return sum;
  }
};

extern double (*const kBaselineWinding)(const WindingSearch& search);
extern double (*const kAvx2Winding)(const WindingSearch& search);

}  // namespace isotact::detail
