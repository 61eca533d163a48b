// Two bodies at rest: do they touch, where, how deep, and how hard do they push each other apart?
// For many poses, or many pairs, see batch.h.
//
//   const CollideResult r = collide(gear, world_from_gear, ground, {});
//   for (const Contact& c : r.contacts) ...
//
//   const CollideResult any = collide(a, {}, b, pose, {.mode = Mode::kAny});
//   if (any.status == CollideStatus::kContact) ...
//
//   CollideScratch scratch;  // in loops: no allocation after the first calls
//   const CollideResult& r = collide(gear, world_from_gear, bunny, world_from_bunny, {}, scratch);
//
// By default the points of each body are tested in the field of the other, in both roles (SSL14).
// In one role alone a coarse body that encloses a fine one is missed: its points are all outside.
// A body that lies wholly inside another is in contact with it. Points are not the surface, so the
// triangles decide whether bodies touch if both shapes keep theirs. Without them `blind_depth` of
// the result bounds what goes unseen.
#pragma once

#include <cstdint>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/base/pose.h"
#include "isotact/export.h"
#include "isotact/queries/contact/contact.h"
#include "isotact/queries/depth/depth_map.h"
#include "isotact/queries/points/shell_force.h"

namespace ISOTACT_PUBLIC isotact {

class IntersectionBackend;
class Shape;

// Settings of Method::kIntersectionField: see IdfSettings.
struct IntersectionRequest {
  int samples = 20;  // about so many along each side of the common box, 1 to 30
  // Metres: every common part that contains a ball of this radius is found. 0: a hundredth of the
  // smaller body's longest side. Infinite: as small as the samples find at no further cost.
  double resolution = 0;
  // The deepest contacts, at most so many, 64 at most, in place of a patch of
  // CollideRequest::max_contacts. 0: a patch.
  std::uint32_t keep = 0;
  // Who moves the particles; none: the CPU. It must outlive the call.
  IntersectionBackend* backend = nullptr;

  friend bool operator==(const IntersectionRequest&, const IntersectionRequest&) = default;
};

// Settings of Method::kDepthMap: see DepthSettings. The object that is drawn into the map is A, or
// B if A has no end.
struct DepthRequest {
  DepthMethod maps = DepthMethod::kIntervals;
  int pixels = 512;  // along each side of a map
  int layers = 4;    // of kIntervals
  // For kTwoMaps and kFragments. With these, bodies touch if they do in all directions;
  // contacts within a body are not found, and blind_depth is infinite.
  bool two_sided = false;
  bool conservative = false;
  // In the object's frame. Zero: the directions that show most of the object, at most so many; for
  // a half-space, along its normal.
  Vec3 direction{};
  int max_directions = 1;
  // Fills the shares of DepthCoverage. It takes some hundred milliseconds.
  bool want_coverage = false;
  std::uint32_t keep = 0;  // as in IntersectionRequest, of all directions together
  // Who draws; none: the CPU, with maps that the shape keeps. It must outlive the call.
  DepthBackend* backend = nullptr;

  friend bool operator==(const DepthRequest&, const DepthRequest&) = default;
};

// If a comment names a method, other methods throw Error for any value but the default.
struct CollideRequest {
  // Whether the triangles decide if bodies touch. Samples lead to the contacts all the same, with
  // roles, level and max_nodes, and forces are those of samples. With kBest they do if both shapes
  // can be exact (distance.h). The request must have kAutomatic, a margin of 0 or more, and no
  // max_microseconds, which the triangles do not know. With kExact anything else is an Error.
  // Loops of microseconds set kField.
  Accuracy accuracy = Accuracy::kBest;
  // kAny: whether the bodies touch, and a witness. The search ends at the first one: two triangles
  // that cross, a part inside of the other body, or by the field a point in it. Which one that is
  // may depend on the scratch; the status does not. There is one contact at most, and nothing else
  // may be asked for. For kAutomatic and kPoints. kFirst is for motions, and an Error here.
  Mode mode = Mode::kAll;
  Method method = Method::kAutomatic;
  double margin = 0;           // metres: bodies that are as near as this touch. kDepthMap has none
  Roles roles = Roles::kBoth;  // of kPoints and kSwept
  // kPoints: only the body with fewer points is sampled (SSL14 3.2), if both roles are possible.
  bool only_fewer_points = false;
  // Contacts of a patch, up to 4: the deepest first, then those that enlarge the area.
  std::uint32_t max_contacts = 4;
  // kPoints: about how many patches each shell is cut into (SSL14 2.4; its m is about 15). 1: none.
  std::uint32_t patches = 1;
  // kPoints: level of detail and budgets, as in ShellRequest. Budgets are for both roles together;
  // that of time includes contacts and force. One query in a hundred passes its deadline: by a few
  // microseconds of 500, by some twenty of 30 to 100 (docs/benchmarks.md).
  int level = -1;
  std::uint64_t max_nodes = 0;
  double max_microseconds = 0;
  // kPoints: finds the distance of bodies that are apart. Outside of a field's box it is a lower
  // bound (field.h); distance() is better there, and takes longer. For exact verdicts it is that
  // of distance(), and takes as long: bodies that overlap have the deepest point as a contact.
  bool want_distance = false;
  bool want_force = false;  // kPoints; see CollideResult::has_force
  // kField: kFree and kContact are verdicts about the points alone, as in Mode::kAny. Loops of
  // microseconds set it. Without it, kPoints proves them for the whole surfaces that the fields
  // describe, by the covering radius and the field's error. Anything that these leave in doubt is
  // kUncertain. That search is for the nearest point, and needs both roles, all points, no level
  // and no budget: other requests get the verdict of the points.
  bool only_points = false;
  // Boxes and triangles before the exact search gives up; 0: no limit. Only for exact verdicts.
  std::uint64_t max_tests = 0;
  // For want_force. Its centre is ignored: torques are about A's origin.
  ShellForceSettings force{};
  IntersectionRequest intersection{};  // of kIntersectionField
  DepthRequest depth{};                // of kDepthMap
  Threads threads{};                   // that one query may use; kPoints uses one
};

// One picture of kDepthMap.
struct DepthViewResult {
  Vec3 direction{};  // unit, in the object's frame
  // Shares of the object's area, if they were asked for: DepthDirectionShare.
  double seen = 0, gained = 0, grazing = 0;
  DepthView view{};
  // Pixels of the object, and those with more parts than layers or with parts that do not close.
  std::uint32_t covered = 0, overfull = 0, open = 0;
  bool colliding = false;
  std::uint32_t pixels = 0;  // in which the other body shows in the object
  double depth = 0;          // the largest along the view, metres; at `deepest`, in the world
  Vec3 deepest{};
};

// The pictures of kDepthMap. Vectors keep their memory.
struct DepthCoverage {
  std::vector<DepthViewResult> views;
  // Shares of the object's surface, if they were asked for: what some view sees well, what none
  // does, and what is grazing in all.
  double seen = 0, unseen = 1, grazing = 0;
  bool inside = false;  // they collide, and no view has a pixel of the other body in the object
};

enum class CollideStatus : std::uint8_t {
  kFree,
  kContact,  // With one contact at least.
  // Stopped by a level, a budget or max_tests before any contact was found; there may be one.
  kGaveUp,
  kUncertain,  // With kField only: the surfaces may touch, or not.
};

struct CollideResult {
  CollideStatus status = CollideStatus::kFree;
  // Whether the triangles decided. The status is then that of the whole surfaces, and blind_depth
  // is 0. If it is kFree, the method's contacts are left out. Else each contact is a point on one
  // surface and the nearest point of the other one, with the normal there; those outside are left
  // out. The deepest contact is searched for along its surface: of two balls, its depth is within a
  // hundredth of the exact one in 95 of 100 cases. With want_distance it is the deepest point. An
  // open mesh has the contacts of its field where a hole is. If the method found none, the contact
  // is where triangles touch, or the deepest place nearby. For kAny it is where two triangles
  // cross, with depth 0 and the normal of a triangle. It may also be a point of a part that is
  // inside of the other body.
  bool exact = false;
  // Why there is contact, if `exact`: the surfaces share a point, or a part of one body is inside
  // of the other and they do not. Both are false for contact by points and fields alone, and if the
  // bodies are only as near as the margin. Ask `status` whether the bodies touch.
  bool touching = false, contained = false;
  Method method = Method::kPoints;  // that was used; never kAutomatic
  bool complete = true;             // no budget cut it short
  int level = 0;                    // that both roles reached: see ShellResult
  // By patches of A's shell, then of B's; the deepest first in each. With one patch, the contacts
  // of both roles together, the deepest of all first.
  std::vector<Contact> contacts;
  std::vector<std::uint32_t> first_contact;  // of each patch that has some; and contacts.size()
  std::uint64_t touching_points = 0;         // particles or pixels, for methods without points
  // Whether `distance` is known: bodies that touch, or a distance that was asked for.
  bool has_distance = false;
  // Metres: the least distance found, negative if they overlap; infinite if it is not known. If
  // `exact`, both are those of the triangles' distance if it was asked for. Else no point of either
  // shell has less than lower_bound. Minus infinity if nothing is known.
  double distance = 0, lower_bound = 0;
  // Whether force, torque and area are known: asked for, by a method that computes them.
  bool has_force = false;
  // Metres, infinite if not known: the distance of the whole surfaces is between these, negative
  // where they overlap. They are set by kField where it proves its verdict: they enclose the band
  // that is in doubt. They are set if an exact search measured a distance, or gave up.
  double least_distance = 0, most_distance = 0;
  // On A, in the world's frame, N and Nm, about A's origin. The mean over both roles: they are two
  // samplings of one contact.
  Vec3 force{}, torque{};
  double area = 0;  // Overlap area in m^2, averaged over both roles like force.
  // Metres; infinite if nothing is known. kPoints, kSwept: no part of a sampled surface goes deeper
  // into the other body unseen. It is the sum of covering radius and error of the field, the larger
  // one of both roles. The part that a level or a budget left out is added. With kIntersectionField
  // and kDepthMap, no common part that contains a ball of this radius is missed.
  double blind_depth = 0;
  ShellWork work{};  // of kPoints
  // kIntersectionField: particles that moved, and those that met both bodies within the margin of
  // the search.
  std::uint64_t particles = 0, arrived = 0;
  DepthCoverage depth{};  // of kDepthMap
};

// Memory that is kept between calls. For one thread at a time, and best for one pair of shapes: a
// call for others prepares anew.
class CollideScratch {
 public:
  CollideScratch();
  CollideScratch(CollideScratch&& other) noexcept;
  CollideScratch& operator=(CollideScratch&& other) noexcept;
  ~CollideScratch();

  struct State;

  // kPoints: both roles remember which clusters were near (ShellScratch). Answers stay the same.
  void set_coherent(bool on);

 private:
  friend struct CollideAccess;
  State* state_;
};

// The result lives in the scratch, until its next use. Throws Error for two shapes without end, and
// for methods that do not know the shape. Also throws for shapes that lack a part that the method
// needs, and cannot get it. So it does for settings out of range and poses that are not finite. The
// first call with a shape may make parts of it (shape.h). Cost by kPoints: some microseconds apart,
// some tens in contact. kAny: some ten nanoseconds far apart, some hundred to some thousand near
// and in contact.
const CollideResult& collide(const Shape& a, const Pose& world_from_a, const Shape& b,
                             const Pose& world_from_b, const CollideRequest& request,
                             CollideScratch& scratch);
CollideResult collide(const Shape& a, const Pose& world_from_a, const Shape& b,
                      const Pose& world_from_b, const CollideRequest& request = {});

// Makes all parts of the shape that such calls need, so that the first call is as fast as later
// ones. Throws Error as collide does.
void prepare(const Shape& shape, const CollideRequest& request);

}  // namespace isotact
