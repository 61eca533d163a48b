// The force of a point that touches, at a moment of a step (contact_force.cpp).
#pragma once

#include "isotact/base/vec.h"
#include "isotact/queries/swept/motion.h"

namespace isotact::detail {

// The integrand over time.
struct Rate {
  Vec3 force{};       // on the shell's body, N
  Vec3 moment{};      // about the world's origin
  double normal = 0;  // N, its normal part
  double pushes = 0;  // 1 where it does
  double late = 0;    // the time where it pushes, 0 to 1
  double lost = 0;    // W, to dampers

  Rate& operator+=(const Rate& b) {
    force += b.force;
    moment += b.moment;
    normal += b.normal;
    pushes += b.pushes;
    late += b.late;
    lost += b.lost;
    return *this;
  }
  friend Rate operator*(const Rate& a, double s) {
    return {a.force * s, a.moment * s, a.normal * s, a.pushes * s, a.late * s, a.lost * s};
  }
};

// A point at a time.
struct Moment {
  Vec3 place{};   // world
  Vec3 normal{};  // world, unit: pushes the shell's body
  double depth = 0, time = 0;
  double slope = 1;  // of depth along the normal
  AffineMap world_from_field{};
  bool crossed = false;  // It is behind the middle of a wall, and the side is that of its entry.
};

// The side from which a point came, in the field's frame. A normal of 0: unknown.
struct EntrySide {
  Vec3 normal{};
  double plane = 0;
};

// Returns the unit direction in which a field pushes a point at `x`, in the field's frame; 0: none.
// `own` is the outward unit normal of the point's surface there, or 0.
//
// That is the gradient, if the point faces it. Near a rim the gradient is a mixture of those of two
// faces, which depends on rounding and on the lattice. The direction is then that at a place
// `reach` inside the point's own body: it is in front of the face that the body lies on, and beside
// no rim of it. Two boxes that lie flush on each other would else push each other aside.
template <typename F>
Vec3 compute_direction(const F& field, const Vec3& x, const Vec3& gradient, const Vec3& own,
                       double reach) {
  constexpr double kFaces = 0.95;  // Cosine: the point lies on the face that it touches.
  const Vec3 normal = normalized(gradient);
  if (-dot(normal, own) >= kFaces || length_sq(own) == 0) return normal;
  const Vec3 clear = normalized(field.sample(x - own * reach).gradient);
  return dot(clear, normal) > 0 ? clear : normal;
}
// Cells: faces mix up to one cell away, and directions at corners are oblique.
inline constexpr double kRimReach = 3;

}  // namespace isotact::detail
