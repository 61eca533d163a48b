// The deepest point of a surface inside of another body.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "isotact/base/pose.h"
#include "isotact/geometry/bvh/mesh_distance.h"
#include "isotact/queries/detail/exact_body.h"
#include "isotact/queries/shape.h"

namespace isotact::detail {

struct ExactSide {
  const Shape& shape;
  const ExactBody& body;
  Pose world_from_body;
};

struct DepthSettings {
  double at_least = 0;  // metres: only depths above this are searched for
  // No point is deeper than what was found by more than this share of it, and metres.
  double relative_tolerance = 0, absolute_tolerance = 0;
  std::uint64_t max_tests = 0;              // boxes and triangles before giving up; 0: no limit
  std::shared_ptr<void>* memory = nullptr;  // kept between searches, if it is given
};

struct Deepest {
  double depth = 0;  // metres; 0 if no point is inside
  double bound = 0;  // metres; no point is deeper
  Vec3 point{};      // of the surface, and the nearest point of the other one, in the other's frame
  Vec3 nearest{};
  bool gave_up = false;
  std::uint64_t tests = 0;
};

// Both bodies have triangles, and radius 0. If no point is deeper than at_least, that is the depth
// of the result, and its points mean nothing.
Deepest find_deepest(const ExactSide& surface, const ExactSide& other,
                     const DepthSettings& settings);

// The same for the surface of a sphere, capsule or torus. The other body is closed, and has radius
// 0. A search without a limit ends: after each 25,000 patches its tolerance grows by its first
// value, and `bound` says what was reached. Surfaces that run alongside each other need that.
Deepest find_deepest_round(const ExactSide& round, const ExactSide& other,
                           const DepthSettings& settings);

// The deepest point of both surfaces of two round solids. Its points are in the world's frame.
struct RoundPairDepth {
  Deepest deepest{};
  bool is_on_a = false;  // whose surface it is on
};
// `cores`: the distance of the triangles of both, without their radii. It takes some microseconds;
// a tenth of a millisecond with tori.
RoundPairDepth compute_depth_of_round_pair(const ExactSide& a, const ExactSide& b,
                                           const MeshDistance& cores);

// Some point of the surface deep inside of the other body, found in a few microseconds; depth 0 if
// none was. The bound means nothing.
Deepest guess_deepest(const ExactSide& surface, const ExactSide& other);

// A translation of a in the world's frame after which the bodies are apart, proved by an exact
// distance. Nothing if none could be proved. The bodies may be half-spaces or have a radius.
std::optional<Vec3> find_separation(const ExactSide& a, const ExactSide& b, const Vec3& guess);

}  // namespace isotact::detail
