// Two bodies that move: do they touch, when first, and where?
//
//   const ContinuousResult r = continuous_collide(gear, gear_motion, bunny, at_rest(pose));
//   if (r.status == ContinuousStatus::kContact) ... r.time_of_contact, r.contact ...
//
// The points of each body are swept through the field of the other (XB14). Points are not the
// surface: `blind_depth` of the result bounds what goes unseen.
#pragma once

#include <cstdint>
#include <vector>

#include "isotact/export.h"
#include "isotact/queries/contact/contact.h"
#include "isotact/queries/shape.h"
#include "isotact/queries/swept/motion.h"
#include "isotact/queries/swept/swept.h"

namespace ISOTACT_PUBLIC isotact {

struct ContinuousRequest {
  Method method = Method::kAutomatic;  // or kSwept; the others are for bodies at rest
  // Metres: they touch where the field says that they are as near as this. Outside of its box a
  // field is a lower bound of the distance (field.h): margins beyond the padding may be met from
  // further away.
  double margin = 0;
  MotionModel model = MotionModel::kConstantRates;
  int degree = 3;  // of MotionModel::kPolynomial
  // kAll: every point that ever touches, with its intervals. kAny: whether some does; the time and
  // contact are then those of whichever was found.
  Mode mode = Mode::kFirst;
  Roles roles = Roles::kBoth;
  std::size_t max_contacts = 16;     // of kAll: the earliest ones are worked out
  double path_tolerance = 1.0 / 32;  // cells of the field: see ShellPath::error
  ShellTraversal traversal = ShellTraversal::kTree;
  Threads threads{};
};

enum class ContinuousStatus : std::uint8_t {
  kFree,     // no point of either comes as near as the margin
  kContact,  // at time_of_contact, perhaps from the start
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

struct ContinuousResult {
  ContinuousStatus status = ContinuousStatus::kFree;
  double time_of_contact = 0;  // 0 to 1; infinite where they stay free
  Contact contact{};           // at that time
  // With kAll: points of A, then of B, each in order; and the earliest contacts in the order of
  // time.
  std::vector<TouchingPoint> points;
  std::vector<SegmentInterval> intervals;
  std::vector<TimedContact> contacts;
  // Metres. No part of a surface that was sampled goes deeper into the other body, beyond the
  // margin, unseen: the sum of the shell's covering radius, the field's error there and the path's;
  // the larger of both roles. It says nothing about a body that was not sampled.
  double blind_depth = 0;
  double path_error = 0;  // metres
  SweptWork work{};
};

// Throws Error for two shapes without end, for shapes that lack what the roles need and cannot get
// it, for other methods, and for motions and settings without sense. The first call with a shape
// may make parts of it (shape.h).
ContinuousResult continuous_collide(const Shape& a, const BodyMotion& motion_of_a, const Shape& b,
                                    const BodyMotion& motion_of_b,
                                    const ContinuousRequest& request = {});
// Keeps the memory of the result.
void continuous_collide(const Shape& a, const BodyMotion& motion_of_a, const Shape& b,
                        const BodyMotion& motion_of_b, const ContinuousRequest& request,
                        ContinuousResult& result);

// Makes all parts of the shape that such calls need, so that the first call is as fast as later
// ones. Throws Error as continuous_collide does.
void prepare(const Shape& shape, const ContinuousRequest& request);

}  // namespace isotact
