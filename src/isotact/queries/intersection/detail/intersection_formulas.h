// Shapes of intersection queries over a lane type: value and direction of steepest ascent, in
// metres of the unscaled shape. Directions have any nonzero length. As analytic.h, in float.
#pragma once

#include "isotact/field/models/brick_field.h"
#include "isotact/queries/intersection/detail/intersection_task.h"

namespace isotact::detail {

template <typename L>
struct IdfSample {
  L value;
  L direction[3];
};

template <typename L>
ISOTACT_INLINE L absolute(L a) {
  return greater(a, -a);
}
template <typename L>
ISOTACT_INLINE L sign_of(L a) {
  return select(a < L(0.0F), L(-1.0F), L(1.0F));
}
template <typename L>
ISOTACT_INLINE L dot3(const L (&a)[3], const L (&b)[3]) {
  return (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2];
}

template <typename L>
struct IdfFormulas {
  using Point = L[3];
  using Sample = IdfSample<L>;

  static ISOTACT_INLINE void from_center(const float* center, const Point& p, Point& to) {
    for (int axis = 0; axis < 3; ++axis) to[axis] = p[axis] - L(center[axis]);
  }

  static ISOTACT_INLINE void plane(const float* n, const Point& p, Sample& s) {
    s.value = ((L(n[0]) * p[0] + L(n[1]) * p[1]) + L(n[2]) * p[2]) - L(n[3]);
    for (int axis = 0; axis < 3; ++axis) s.direction[axis] = L(n[axis]);
  }

  // Direction away from a centre; along `spare` at the centre.
  static ISOTACT_INLINE void round(const Point& away, float radius, const float (&spare)[3],
                                   Sample& s) {
    const L far = square_root(dot3(away, away));
    s.value = far - L(radius);
    for (int axis = 0; axis < 3; ++axis)
      s.direction[axis] = select(far > L(0.0F), away[axis], L(spare[axis]));
  }

  static ISOTACT_INLINE void sphere(const float* n, const Point& p, Sample& s) {
    Point away;
    from_center(n, p, away);
    round(away, n[3], {0, 1, 0}, s);
  }

  static ISOTACT_INLINE void box(const float* n, const Point& p, Sample& s) {
    const L zero(0.0F);
    Point from, beyond, out;
    from_center(n, p, from);
    for (int axis = 0; axis < 3; ++axis) {
      beyond[axis] = absolute(from[axis]) - L(n[3 + axis]);
      out[axis] = greater(beyond[axis], zero);
    }
    const L most = greater(beyond[0], greater(beyond[1], beyond[2]));
    const auto inside = most <= zero;
    s.value = select(inside, most, square_root(dot3(out, out)));
    const auto x_first = (beyond[0] >= beyond[1]) & (beyond[0] >= beyond[2]);
    const auto y_first = beyond[1] >= beyond[2];
    const L one(1.0F);
    const Point nearest = {select(x_first, one, zero),
                           select(x_first, zero, select(y_first, one, zero)),
                           select(x_first, zero, select(y_first, zero, one))};
    for (int axis = 0; axis < 3; ++axis)
      s.direction[axis] = sign_of(from[axis]) * select(inside, nearest[axis], out[axis]);
  }

  static ISOTACT_INLINE void capsule(const float* n, const Point& p, Sample& s) {
    Point from, away;
    from_center(n, p, from);
    const L along = (from[0] * L(n[3]) + from[1] * L(n[4])) + from[2] * L(n[5]);
    const L t = lesser(greater(along * L(n[6]), L(0.0F)), L(1.0F));
    for (int axis = 0; axis < 3; ++axis) away[axis] = from[axis] - L(n[3 + axis]) * t;
    round(away, n[7], {n[8], n[9], n[10]}, s);
  }

  // Returns the distance from the axis, and the direction away from it.
  static ISOTACT_INLINE L from_axis(const Point& from, L& x, L& z) {
    const L rho = square_root(from[0] * from[0] + from[2] * from[2]);
    const auto off = rho > L(0.0F);
    const L inverse = L(1.0F) / select(off, rho, L(1.0F));
    x = select(off, from[0] * inverse, L(1.0F));
    z = from[2] * inverse;
    return rho;
  }

  static ISOTACT_INLINE void cylinder(const float* n, const Point& p, Sample& s) {
    const L zero(0.0F), one(1.0F);
    Point from;
    from_center(n, p, from);
    L x, z;
    const L out = from_axis(from, x, z) - L(n[3]), up = absolute(from[1]) - L(n[4]);
    const auto edge = (out > zero) & (up > zero);
    s.value = select(edge, square_root(out * out + up * up), greater(out, up));
    const auto outwards = out > up;
    const L share_out = select(edge, out, select(outwards, one, zero));
    const L share_up = select(edge, up, select(outwards, zero, one));
    s.direction[0] = x * share_out;
    s.direction[1] = sign_of(from[1]) * share_up;
    s.direction[2] = z * share_out;
  }

  static ISOTACT_INLINE void torus(const float* n, const Point& p, Sample& s) {
    Point from;
    from_center(n, p, from);
    L x, z;
    const L out = from_axis(from, x, z) - L(n[3]);
    const Point away = {x * out, from[1], z * out};
    const L far = square_root(out * out + from[1] * from[1]);
    s.value = far - L(n[4]);
    const auto off = far > L(0.0F);
    s.direction[0] = select(off, away[0], L(0.0F));
    s.direction[1] = select(off, away[1], L(1.0F));
    s.direction[2] = select(off, away[2], L(0.0F));
  }

  static ISOTACT_INLINE void bricks(const BrickField& field, const Point& p, Sample& s) {
    constexpr unsigned kLanes = kTexelLanes<L>;
    float at[3][kLanes], value[kLanes], direction[3][kLanes];
    for (int axis = 0; axis < 3; ++axis) store(p[axis], at[axis]);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const FieldSample found =
          field.sample(Vec3{static_cast<double>(at[0][lane]), static_cast<double>(at[1][lane]),
                            static_cast<double>(at[2][lane])});
      value[lane] = static_cast<float>(found.distance);
      direction[0][lane] = static_cast<float>(found.gradient.x);
      direction[1][lane] = static_cast<float>(found.gradient.y);
      direction[2][lane] = static_cast<float>(found.gradient.z);
    }
    s.value = load<L>(value);
    for (int axis = 0; axis < 3; ++axis) s.direction[axis] = load<L>(direction[axis]);
  }

  static ISOTACT_INLINE void in_shape(const IdfEvaluator& shape, const Point& p, Sample& s) {
    switch (shape.kind) {
      case IdfKind::kPlane:
        return plane(shape.number, p, s);
      case IdfKind::kSphere:
        return sphere(shape.number, p, s);
      case IdfKind::kBox:
        return box(shape.number, p, s);
      case IdfKind::kCapsule:
        return capsule(shape.number, p, s);
      case IdfKind::kCylinder:
        return cylinder(shape.number, p, s);
      case IdfKind::kTorus:
        return torus(shape.number, p, s);
      case IdfKind::kTexels:
        return evaluate_texels<L>(shape.grid, p, s.value, s.direction);
      case IdfKind::kBricks:
        break;
    }
    bricks(*shape.bricks, p, s);
  }

  // Returns a lower bound of the distance, except for IdfShape::error.
  static ISOTACT_INLINE L compute_floor(const IdfEvaluator& shape, const float* rows, float scale,
                                        const Point& p) {
    Point local;
    to_shape(rows, p, local);
    if (shape.kind == IdfKind::kTexels) return compute_texel_floor<L>(shape.grid, local) * L(scale);
    Sample own;
    in_shape(shape, local, own);
    return own.value * L(scale);
  }

  static ISOTACT_INLINE void to_shape(const float* rows, const Point& p, Point& local) {
    for (int row = 0; row < 3; ++row) {
      const float* const r = rows + 4 * row;
      local[row] = ((L(r[0]) * p[0] + L(r[1]) * p[1]) + L(r[2]) * p[2]) + L(r[3]);
    }
  }

  // In metres of the world and in the frame of the pair. `rows` are those of shape_from_pair.
  static ISOTACT_INLINE void evaluate(const IdfEvaluator& shape, const float* rows, float scale,
                                      const Point& p, Sample& s) {
    Point local;
    to_shape(rows, p, local);
    Sample own;
    in_shape(shape, local, own);
    s.value = own.value * L(scale);
    for (int axis = 0; axis < 3; ++axis)
      s.direction[axis] =
          (L(rows[axis]) * own.direction[0] + L(rows[4 + axis]) * own.direction[1]) +
          L(rows[8 + axis]) * own.direction[2];
  }
};

// Scales to unit length; up if there is no direction. Divides by the largest component first.
// Directions may be as short as the gap between two bodies, over a large scale, and their square is
// then not a float.
template <typename L>
ISOTACT_INLINE void normalise(L (&v)[3]) {
  const L largest = greater(absolute(v[0]), greater(absolute(v[1]), absolute(v[2])));
  const auto is_any = largest > L(1e-37F);
  const L unit = L(1.0F) / select(is_any, largest, L(1.0F));
  for (L& x : v) x = x * unit;
  const L inverse = L(1.0F) / square_root(select(is_any, dot3(v, v), L(1.0F)));
  v[0] = select(is_any, v[0] * inverse, L(0.0F));
  v[1] = select(is_any, v[1] * inverse, L(1.0F));
  v[2] = select(is_any, v[2] * inverse, L(0.0F));
}

// Writes a particle that has arrived at `at`, with both samples and directions of any length. It
// lies within margin of one surface. The remaining distance to it is included, as if the surfaces
// were parallel there, so that depths and positions do not depend on margin. Deep inside both it is
// not.
ISOTACT_INLINE void write_hit(const IdfSample<float>& a, const IdfSample<float>& b,
                              const float (&at)[3], float margin, bool paper_normal, IdfHit& hit) {
  const bool on_a = a.value >= b.value;
  // Measured in the field of the other body, see intersection_field.h.
  const bool by_b = on_a || paper_normal;
  float normal[3];
  for (int axis = 0; axis < 3; ++axis) normal[axis] = by_b ? b.direction[axis] : -a.direction[axis];
  normalise(normal);
  const float larger = on_a ? a.value : b.value, smaller = on_a ? b.value : a.value;
  const float rest = greater(lesser(larger, margin), -margin);
  for (int axis = 0; axis < 3; ++axis) {
    hit.normal[axis] = normal[axis];
    hit.position[axis] = at[axis] + (on_a ? rest : -rest) * normal[axis];
  }
  hit.depth = -(smaller + rest);
  hit.on_a = on_a ? 1 : 0;
  hit.unused[0] = hit.unused[1] = 0;
}

}  // namespace isotact::detail
