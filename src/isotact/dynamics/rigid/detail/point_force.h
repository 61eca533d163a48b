// The force of a point that touches, at a moment of a step (contact_force.cpp).
#pragma once

#include "isotact/base/vec.h"
#include "isotact/queries/swept/motion.h"

namespace isotact::detail {

// What is integrated over time.
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
struct Side {
  Vec3 normal{};
  double plane = 0;
};

}  // namespace isotact::detail
