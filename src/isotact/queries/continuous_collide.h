// Two bodies that move: do they touch, when first, and where?
//
//   const ContinuousResult r = continuous_collide(gear, gear_motion, bunny, at_rest(pose));
//   if (r.status == ContinuousStatus::kContact) ... r.time_of_contact, r.contact ...
//
// By default the answer is exact: the first time at which surfaces touch, never late. Both shapes
// must keep their triangles (from_mesh, or an asset with its mesh) or be simple solids: a plane,
// sphere, capsule, box, cylinder, cone or torus. Cylinders, cones and tori count as touching at a
// distance of 6e-7 of their radius.
//
// Otherwise the points of each body are swept through the field of the other (XB14). Points are not
// the surface: `blind_depth` of the result bounds the depth of a contact that they miss.
#pragma once

#include <cstdint>
#include <vector>

#include "isotact/export.h"
#include "isotact/queries/contact/contact.h"
#include "isotact/queries/shape.h"
#include "isotact/queries/swept/closest_approach.h"
#include "isotact/queries/swept/motion.h"
#include "isotact/queries/swept/swept.h"

namespace ISOTACT_PUBLIC isotact {

struct ContinuousRequest {
  // kBest: exact if both shapes can be, and no method, roles or negative margin is asked for.
  // kExact: an Error otherwise. kField: by points.
  Accuracy accuracy = Accuracy::kBest;
  Method method = Method::kAutomatic;  // or kSwept; the others are for bodies at rest
  // Metres: they touch where the field says that they are as near as this. Outside of its box a
  // field is a lower bound of the distance (field.h): margins beyond the padding may be met from
  // further away.
  double margin = 0;
  MotionModel model = MotionModel::kConstantRates;
  int degree = 3;  // of MotionModel::kPolynomial
  // kAll: also every point that ever touches, with its intervals. kAny: whether some does; the time
  // and contact are then those of whichever was found.
  Mode mode = Mode::kFirst;
  Roles roles = Roles::kBoth;
  // kExact: the time of contact may be early by this, in durations of the motion.
  double time_tolerance = 1e-6;
  // Whether the least distance over the motion is computed. It is that of the surfaces if the
  // answer is exact. Otherwise it is that of the points of each role to the other's surface.
  bool want_distance = false;
  // kExact: how much too large it may be, metres. 0: 2^-20 of both bodies' sizes.
  double distance_tolerance = 0;
  // kExact: boxes and triangles before giving up. 0: no limit for the contact, and 20 million for
  // the distance, which take some seconds.
  std::uint64_t max_tests = 0;

  std::size_t max_contacts = 16;     // of kAll: the earliest ones are worked out
  double path_tolerance = 1.0 / 32;  // cells of the field: see ShellPath::error
  ShellTraversal traversal = ShellTraversal::kTree;
  Threads threads{};
};

enum class ContinuousStatus : std::uint8_t {
  kFree,     // no point of either comes as near as the margin; if exact, of the whole surfaces
  kContact,  // at time_of_contact, perhaps from the start
  kGaveUp,   // Stopped by max_tests: there is no contact before time_of_contact.
};

// A point that touches at some time.
struct TouchingPoint {
  Body body;            // whose
  std::uint32_t point;  // in the order of its tree
  std::uint32_t interval_count;
  std::uint64_t first_interval;  // of ContinuousResult::intervals
};

// A contact at its first time.
struct TimedContact {
  double time = 0;
  Contact contact{};
};

// By points; and by exact searches.
struct ContinuousWork : SweptWork {
  std::uint64_t tests = 0;  // boxes and triangles that were tested
};

struct ContinuousResult {
  ContinuousStatus status = ContinuousStatus::kFree;
  // Whether the triangles decided. Status, times, contact and distance are then those of the whole
  // surfaces, and blind_depth is 0. With kAll it is that of the points and their intervals.
  bool exact = false;
  double time_of_contact = 0;  // 0 to 1; infinite where they stay free
  // If exact: they touch at this time or before, and not before time_of_contact.
  double latest_time = 0;
  // If exact: at time 0 a part of one body lies inside of the other one, and surfaces share no
  // point. They are then in contact from the start, unless the other body is an open mesh. Only its
  // triangles count then, and this is what its field takes for inside.
  bool contained = false;
  Contact contact{};  // at time_of_contact
  // With kAll: points of A, then of B, each in order; and the earliest contacts in the order of
  // time. If exact, the first contact is that of the triangles, and those of points follow.
  std::vector<TouchingPoint> points;
  std::vector<SegmentInterval> intervals;
  std::vector<TimedContact> contacts;
  // Metres. No part of a surface that was sampled goes deeper into the other body, beyond the
  // margin, unseen. It is the sum of the shell's covering radius, the field's error there and the
  // path's; the larger of both roles. It says nothing about a body that was not sampled.
  double blind_depth = 0;
  double path_error = 0;  // metres
  ContinuousWork work{};
  // If wanted: the least distance over the motion is at most `distance`, which `nearest` has at
  // time_of_distance, and at least lower_bound. Metres. Exact ones are 0 if the surfaces touch;
  // those of points are negative inside.
  bool has_distance = false;
  double distance = 0, lower_bound = 0, time_of_distance = 0;
  // Whether a limit ended that search: the bounds hold, but may be further apart than wanted.
  bool distance_gave_up = false;
  Contact nearest{};
};

// Memory that is kept between calls. For one thread at a time, and best for one pair of shapes.
class ContinuousScratch {
 public:
  ContinuousScratch();
  ContinuousScratch(ContinuousScratch&& other) noexcept;
  ContinuousScratch& operator=(ContinuousScratch&& other) noexcept;
  ~ContinuousScratch();

  struct State;

  // kField: both roles remember which points were near (SweptScratch), for motions that continue
  // each other. Answers stay the same; the work counted is less.
  void set_coherent(bool on);

 private:
  friend struct ContinuousAccess;
  State* state_;
};

// Throws Error for two shapes without end, and for shapes that lack what the roles need and cannot
// get it. So it does for other methods, and for motions and settings without sense. The first call
// with a shape may make parts of it (shape.h). The result lives in the scratch, until its next use.
const ContinuousResult& continuous_collide(const Shape& a, const BodyMotion& motion_of_a,
                                           const Shape& b, const BodyMotion& motion_of_b,
                                           const ContinuousRequest& request,
                                           ContinuousScratch& scratch);
ContinuousResult continuous_collide(const Shape& a, const BodyMotion& motion_of_a, const Shape& b,
                                    const BodyMotion& motion_of_b,
                                    const ContinuousRequest& request = {});

// How near the points of either body come to the other's surface during the motion, by fields. The
// nearer of the roles that the request wants and the shapes can take counts. Of the request, roles,
// motion and path_tolerance count. Throws Error as continuous_collide does.
ApproachResult find_closest_approach(const Shape& a, const BodyMotion& motion_of_a, const Shape& b,
                                     const BodyMotion& motion_of_b,
                                     const ContinuousRequest& request = {});

// Makes all parts of the shape that such calls need, so that the first call is as fast as later
// ones. Throws Error as continuous_collide does.
void prepare(const Shape& shape, const ContinuousRequest& request);

}  // namespace isotact
