// How far apart are two bodies at rest?
//
//   const DistanceResult r = distance(gear, world_from_gear, ground, {});
//   if (r.status == DistanceStatus::kDone) ... r.distance, r.contact.point_on_a ...
//
// By default the answer is exact if both shapes keep their triangles (from_mesh, or an asset with
// its mesh) or are simple solids. These are plane, sphere, capsule, box, cylinder, cone and torus.
// Otherwise the points of each body are searched for the nearest to the other body's surface, in
// every role that the shapes can take.
//
// "Further than 5 mm?": {.max_distance = 0.005, .want_depth = false} answers by an infinite
// distance; pairs that are far apart end at their boxes, in less than a microsecond. "As near as
// 5 mm?": {.near_enough = 0.005} answers by the status, and ends at the first such pair of points.
#pragma once

#include <cstdint>
#include <limits>

#include "isotact/base/pose.h"
#include "isotact/export.h"
#include "isotact/queries/contact/contact.h"

namespace ISOTACT_PUBLIC isotact {

class Shape;
enum class CollideStatus : std::uint8_t;

struct DistanceRequest {
  Accuracy accuracy = Accuracy::kBest;
  // kExact. The result may be too large by a share of it, and by metres.
  double relative_tolerance = 0, absolute_tolerance = 0;
  // kExact, metres. Bodies further apart than this are not measured: `distance` is then infinite,
  // and lower_bound is this.
  double max_distance = std::numeric_limits<double>::infinity();
  std::uint64_t max_tests = 0;  // kExact: boxes and triangles before giving up; 0: no limit
  // kExact, metres. The search ends at the first pair of points that is as near as this; `distance`
  // is then an upper bound, and depths are not computed. 0: it ends where bodies touch.
  double near_enough = 0;
  // kExact: the depth of the deepest point where bodies overlap. Without it, `distance` and its
  // bounds are 0 there. Exceptions are half-spaces, and spheres, capsules and tori whose core is
  // outside of the other body. The limit max_tests and the tolerances hold for this search, too.
  bool want_depth = true;
  // kExact: a translation that separates bodies that overlap. It takes some milliseconds.
  bool want_separation = false;

  // The rest is for kField.
  Method method = Method::kAutomatic;  // or kPoints; the others know no distance
  Roles roles = Roles::kBoth;
  double tolerance = 0.1;  // cells of the field: the distance is at most this too large
  std::uint64_t max_values = 4'000'000;  // Field values per role before giving up.
};

enum class DistanceStatus : std::uint8_t {
  kDone,
  kGaveUp,      // Stopped by a limit: the distance is between lower_bound and upper_bound.
  kNearEnough,  // Stopped by near_enough: upper_bound is at most that.
};

struct DistanceWork {
  std::uint64_t values = 0;  // Field values that were read.
  std::uint64_t tests = 0;   // Boxes and triangles that were tested, by exact searches.
};

struct DistanceResult {
  DistanceStatus status = DistanceStatus::kDone;
  // Whether the triangles decided. The distance is then exact to rounding, 2^-44 of the
  // coordinates. For simple solids this is 2^-22 of their size, and for depths 2e-6 of the bodies'
  // size and place. The circles of cylinders, cones and tori are polygons, to 6e-7 of their radius;
  // bounds include this error, `touching` and `contained` do not.
  bool exact = false;
  // Metres: between the nearest points, negative if the bodies overlap (then minus the depth of the
  // deepest point of either surface).
  double distance = 0;
  // Metres: the distance of the bodies is between these. For kField the bodies are those that the
  // fields describe. With one role, lower_bound is that of the sampled surface, which may enclose
  // the other body.
  double lower_bound = 0, upper_bound = 0;
  // kExact. The surfaces share a point; or they do not, and a part of one body lies inside of the
  // other. A mesh is open if some edge is not used as often in one direction as in the other.
  // It has no inside: `contained` is then what the field takes for inside, and only reported. The
  // distance is that of the triangles, and depths are those of its surface in the other body, 0 if
  // both are open. Round solids touch if any part of them does, inside as well.
  bool touching = false, contained = false;
  // Moving A by `separation` (world frame) separates the bodies: a distance at the moved pose has
  // proved it. Its length is an upper bound of the penetration depth, the least such translation.
  // Not set unless it was asked for and bodies overlap, or if no translation could be proved.
  bool has_separation = false;
  Vec3 separation{};
  Contact contact{};  // the nearest points; its depth is -distance
  DistanceWork work{};
};

// Memory that is kept between calls, for any shapes; answers stay the same. For one thread at a
// time.
class DistanceScratch {
 public:
  DistanceScratch();
  DistanceScratch(DistanceScratch&& other) noexcept;
  DistanceScratch& operator=(DistanceScratch&& other) noexcept;
  ~DistanceScratch();

  struct State;

 private:
  friend struct DistanceAccess;
  State* state_;
};

// Outside of a field's box the distance is known to within the covering radius of that body's
// points. Shapes with an end may make points for that on first use (shape.h). Throws Error for two
// shapes without end, and for shapes that lack a part that the roles need. Also throws for methods
// that know no distance, and for poses that are not finite. With kExact it throws Error for shapes
// that neither keep triangles nor are simple solids. Cost: some ten to some hundred microseconds
// apart, and a millisecond or so for the depth of an overlap. By the field it is some hundred
// microseconds to some milliseconds.
DistanceResult distance(const Shape& a, const Pose& world_from_a, const Shape& b,
                        const Pose& world_from_b, const DistanceRequest& request,
                        DistanceScratch& scratch);
DistanceResult distance(const Shape& a, const Pose& world_from_a, const Shape& b,
                        const Pose& world_from_b, const DistanceRequest& request = {});

// Whether the bodies touch with this margin, by the bounds of their distance: kContact, kFree, or
// kUncertain if the bounds leave it open.
CollideStatus compute_status(const DistanceResult& result, double margin = 0);

// Whether both shapes keep their triangles or are simple solids.
bool have_exact_distance(const Shape& a, const Shape& b);

// Makes all parts of the shape that such calls need. Throws Error as distance does.
void prepare(const Shape& shape, const DistanceRequest& request);

}  // namespace isotact
