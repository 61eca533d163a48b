// The search along a ray, over the widths that a processor offers.
//
// A hit meets three conditions. The watertight test of triangle_lanes.h says so. The ray passes the
// triangle's own box by the slab test below. And t lies in range, where t is taken no earlier than
// the ray enters that box. The slab test is made of float operations that are all monotonous. A
// larger box is never missed if a smaller one is not, and never entered later or left earlier. So
// every node above a hit is passed, and entered no later than the hit's t. Culling therefore cannot
// lose a hit, whatever the rounding, and brute force, which runs the same three tests, finds the
// same hits.
//
// That the slab test does not reject a true hit is the second concern (or rays would slip through
// shared edges after all). In exact arithmetic the hit point lies in the triangle, hence in its
// box. The edge functions round in double, which moves the point by less than 2^-48 L. Here L is
// the largest distance between the origin and the mesh. Boxes are padded by 2^-44 L. The slack
// kSlabSlack covers the three roundings of each slab's t in float, and the rounding of the inverse
// direction. It also covers the raising of components below 1e-20 to that size (which moves the ray
// by less than the padding).
#pragma once

#include "isotact/geometry/bvh/detail/bvh_kernels.h"
#include "isotact/geometry/bvh/detail/child_keys.h"

namespace isotact::detail {

inline constexpr double kRayPadding = 0x1p-44;
inline constexpr float kSlabSlack = 0x1p-20F;

template <typename F>
struct Slab {
  F enter, leave;
};

// near and far: by axis, the sides that the ray meets first and last.
template <typename F>
ISOTACT_INLINE Slab<F> compute_slab(const RaySearch& ray, const F (&near)[3], const F (&far)[3]) {
  const F slack(kSlabSlack);
  F enter[3], leave[3];
  for (int axis = 0; axis < 3; ++axis) {
    const F origin(ray.origin[axis]), inverse(ray.inverse[axis]), padding(ray.padding[axis]);
    enter[axis] = ((near[axis] - origin) - padding) * inverse;
    leave[axis] = ((far[axis] - origin) + padding) * inverse;
  }
  const F first = greater(greater(enter[0], enter[1]), enter[2]);
  const F last = lesser(lesser(leave[0], leave[1]), leave[2]);
  return {first - greater(first, -first) * slack, last + greater(last, -last) * slack};
}

// Makes the final decision on a triangle that the watertight test hit. Corners as [corner][axis];
// the rest: one lane of a Crossing.
ISOTACT_INLINE bool accept_hit(const RaySearch& ray, const float (&corner)[3][3],
                               double determinant, RayFound& hit) {
  float near[3], far[3];
  for (int axis = 0; axis < 3; ++axis) {
    const float a = corner[0][axis], b = corner[1][axis], c = corner[2][axis];
    const float lower = lesser(lesser(a, b), c), upper = greater(greater(a, b), c);
    near[axis] = ray.backwards[axis] ? upper : lower;
    far[axis] = ray.backwards[axis] ? lower : upper;
  }
  const Slab<float> slab = compute_slab(ray, near, far);
  hit.t = greater(hit.t / determinant, double{slab.enter});
  hit.v /= determinant;
  hit.w /= determinant;
  return slab.enter <= slab.leave && hit.t >= ray.t_min && hit.t <= ray.t_max;
}

// Visit: bool(const RayFound&, double& limit); it may lower the limit, and ends the search by
// false.
template <typename F, typename D>
struct RayKernel {
  // The times at which the ray enters the boxes of a node's children choose and order them.
  static ISOTACT_INLINE ChildKeys<F> test_children(const RaySearch& ray, const BvhNode& node,
                                                   F earliest, F limit) {
    ChildKeys<F> keys;
    for (unsigned part = 0; part < ChildKeys<F>::kParts; ++part) {
      const int i = static_cast<int>(part) * F::kWidth;
      F near[3], far[3];
      for (int axis = 0; axis < 3; ++axis) {
        const auto& near_sides = ray.backwards[axis] ? node.upper : node.lower;
        const auto& far_sides = ray.backwards[axis] ? node.lower : node.upper;
        near[axis] = load<F>(near_sides[axis] + i);
        far[axis] = load<F>(far_sides[axis] + i);
      }
      const Slab<F> slab = compute_slab(ray, near, far);
      keys.set(part, slab.enter,
               (slab.enter <= slab.leave) & (slab.enter <= limit) & (slab.leave >= earliest),
               node.child_count);
    }
    return keys;
  }

  template <typename Visit>
  static ISOTACT_INLINE bool test_block(const RaySearch& ray, const ShearedRay<D>& sheared,
                                        const TriangleBlock& block, double& limit, Visit&& visit) {
    for (int i = 0; i < kBlockWidth; i += D::kWidth) {
      const auto corner = [&](int k) __attribute__((always_inline)) {
        return Point3<D>{load_wide<D>(block.corner[k][sheared.kx] + i),
                         load_wide<D>(block.corner[k][sheared.ky] + i),
                         load_wide<D>(block.corner[k][sheared.kz] + i)};
      };
      const Crossing<D> crossing = find_crossing(sheared, corner(0), corner(1), corner(2));
      unsigned hits = bits_of(crossing.hit);
      for (; hits != 0; hits &= hits - 1) {
        const int lane = __builtin_ctz(hits);
        float corners[3][3];
        for (int k = 0; k < 3; ++k)
          for (int axis = 0; axis < 3; ++axis) corners[k][axis] = block.corner[k][axis][i + lane];
        RayFound hit{crossing.t.v[lane], block.triangle[i + lane], crossing.v.v[lane],
                     crossing.w.v[lane]};
        if (!accept_hit(ray, corners, crossing.determinant.v[lane], hit)) continue;
        if (!visit(hit, limit)) return false;
      }
    }
    return true;
  }

  // A float that is not below (above) the double.
  static ISOTACT_INLINE float round_up(double x) {
    return static_cast<float>(x + __builtin_fabs(x) * 0x1p-22 + 0x1p-140);
  }
  static ISOTACT_INLINE float round_down(double x) { return -round_up(-x); }

  template <typename Visit>
  static ISOTACT_INLINE void search(const RaySearch& ray, Visit&& visit) {
    const ShearedRay<double>& s = ray.sheared;
    const ShearedRay<D> sheared{
        s.kx,         s.ky,         s.kz,     {D(s.origin.x), D(s.origin.y), D(s.origin.z)},
        D(s.shear_x), D(s.shear_y), D(s.sign)};
    const F earliest(round_down(ray.t_min));
    ChildEntry stack[kStackSize];
    stack[0] = {last_key_at(-__builtin_inff()), 0};
    int size = 1;
    double limit = ray.t_max;
    while (size > 0) {
      const ChildEntry entry = stack[--size];
      const float rounded_limit = round_up(limit);
      if (entry.key > last_key_at(rounded_limit)) continue;
      if ((entry.child & kBlockBit) != 0) {
        if (!test_block(ray, sheared, ray.blocks[entry.child & ~kBlockBit], limit, visit)) return;
      } else {
        const BvhNode& node = ray.nodes[entry.child];
        size = test_children(ray, node, earliest, F(rounded_limit))
                   .push(node, ray.nodes, ray.blocks, stack, size);
      }
    }
  }

  // Ordered by the t that a caller sees, which is rounded to float. The limit stays above all that
  // round to the same float, since one of them may have a lower index. They are within 2^-23 of
  // each other, or 2^-149 among denormals. Beyond the range of float, all are at the same infinity.
  static void find_first(const RaySearch& ray, RayFound& best) {
    const double unit = ray.unit;
    auto best_t = static_cast<float>(best.t / unit);
    search(
        ray, [&](const RayFound& hit, double& limit) __attribute__((always_inline)) {
          const auto t = static_cast<float>(hit.t / unit);
          if (t < best_t || (t == best_t && hit.triangle < best.triangle)) {
            best = hit;
            best_t = t;
            if (__builtin_isfinite(t))
              limit = lesser(limit, hit.t + __builtin_fabs(hit.t) * 0x1p-22 + unit * 0x1p-148);
          }
          return true;
        });
  }

  static bool find_any(const RaySearch& ray) {
    bool any = false;
    search(
        ray, [&any](const RayFound&, double&) __attribute__((always_inline)) {
          any = true;
          return false;
        });
    return any;
  }

  static void find_all(const RaySearch& ray, HitVisitor visit, void* context) {
    search(
        ray, [=](const RayFound& hit, double&) __attribute__((always_inline)) {
          visit(context, hit);
          return true;
        });
  }
};

}  // namespace isotact::detail
