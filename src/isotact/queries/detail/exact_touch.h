// Whether two bodies touch, by their triangles: yes or no, and a witness.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

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
  PairHint last{};          // the triangles that touched
  bool is_contact = false;  // the last verdict, for whoever keeps it
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

// The check, step by step: each one costs more than the one before. The bodies have triangles, and
// may have a radius. The margin is not negative. Bodies touch if a part of one is inside of the
// other, or if they are as near as the margin. The verdict is that of compute_exact_distance, but
// for ties of the distance and the margin. All of the arguments must outlive it.
class TouchCheck {
 public:
  TouchCheck(const TouchBody& a, const TouchBody& b, const Pose& a_from_b, double margin,
             TouchScratch& memory);

  // By the boxes, and the triangles of the last touch. None if both do not tell.
  std::optional<TouchKind> at_once();
  // Whether a plane is between the hulls.
  bool are_hulls_apart();
  // By both hierarchies, and for what is inside of the other body.
  TouchKind by_triangles();

  // The witness of a touch that at_once or by_triangles found. A verdict alone does not need it.
  Touch describe();

 private:
  const TouchBody &a_, &b_;
  const Pose& a_from_b_;
  TouchScratch& memory_;
  std::optional<PairTouch> pair_;  // always there
  Vec3 apart_{};                   // a direction along which bodies may be apart
  Touch found_{};
};

// All steps.
Touch find_touch(const TouchBody& a, const TouchBody& b, const Pose& a_from_b, double margin,
                 TouchScratch& memory);

// Whether a point of the surface of `of` can prove that the surfaces cross.
bool can_prove_crossing(const TouchBody& of, const TouchBody& in);

// Whether it does; `near_surface`, in the frame of `of`, is on its surface, or next to it. It does
// if it is inside of the other body by more than the error of its field, and another point of the
// same part of the surface is outside. It takes about a microsecond. False proves nothing.
bool proves_crossing(const TouchBody& of, const Vec3& near_surface, const TouchBody& in,
                     const Pose& in_from_of);

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
