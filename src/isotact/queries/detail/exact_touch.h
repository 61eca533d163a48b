// Whether two bodies touch, by their triangles: yes or no, and a witness.
#pragma once

#include <cstdint>
#include <limits>

#include "isotact/base/pose.h"
#include "isotact/geometry/bvh/mesh_distance.h"
#include "isotact/queries/contact/contact.h"
#include "isotact/queries/detail/exact_body.h"
#include "isotact/queries/shape.h"

namespace isotact::detail {

// One body of a pair. Its shape must outlive it.
struct TouchBody {
  TouchBody() = default;
  explicit TouchBody(const Shape& of);

  const Shape* shape = nullptr;
  const ExactBody* body = nullptr;
};

// Whether a plane lies between the convex hulls of the triangles. False if none is found.
bool are_hulls_apart(const ExactBody& a, const ExactBody& b, const Pose& a_from_b);

enum class TouchKind : std::uint8_t {
  kFree,
  kSurfaces,   // Triangles are as near as the margin: the witness is on both.
  kContained,  // A part of one body is inside of the other one.
};

// Memory of a pair between calls. It changes how long a check takes, and the witness, but no
// verdict.
struct TouchScratch {
  Vec3 apart{};  // across the last plane between them, from A to B, in A's frame; or zero
  bool touched = false;
  PairHint last{};                    // the triangles that touched
  TouchKind kind = TouchKind::kFree;  // found by the last check
};

struct Touch {
  TouchKind kind = TouchKind::kFree;
  Vec3 point_on_a{},
      point_on_b{};  // in A's frame; of kContained: the part's point, and the nearest
  Vec3 normal{};     // in A's frame: unit, from B towards A
  double depth = 0;  // metres; 0 where triangles cross
};

// Whether balls around the bodies, with these centres in the world, are apart: most pairs are.
inline bool are_balls_apart(const TouchBody& a, const Vec3& center_a, const TouchBody& b,
                            const Vec3& center_b, double margin) {
  const double reach = a.body->ball_radius + b.body->ball_radius + margin;
  // Centres may be off by rounding.
  const double slack = 0x1p-44 * (length_sq(center_a) + length_sq(center_b));
  return length_sq(center_a - center_b) * (1 - 0x1p-40) - slack > reach * reach;
}

// The bodies have triangles, and may have a radius. The margin is not negative. Bodies touch if a
// part of one is inside of the other, or if they are as near as the margin. The verdict is that of
// compute_exact_distance, but for ties of the distance and the margin.
Touch find_touch(const TouchBody& a, const TouchBody& b, const Pose& a_from_b, double margin,
                 TouchScratch& memory);

struct TouchNormal {
  Vec3 normal{};  // in A's frame: unit, from B towards A
  // Metres, of the hulls along it; infinite where that was not computed.
  double overlap = std::numeric_limits<double>::infinity();
};

// For the nearest triangles of two bodies. If their points coincide but for rounding, the normal is
// a direction along which the bodies touch. The overlap is then about 0 or less if a plane is
// between the hulls.
TouchNormal choose_touch_normal(const ExactBody& a, const ExactBody& b, const Pose& a_from_b,
                                const MeshDistance& found);

Contact to_contact(const Touch& touch, const Pose& world_from_a);

}  // namespace isotact::detail
