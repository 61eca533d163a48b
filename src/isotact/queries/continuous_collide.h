// Two bodies that move: do they touch, when first, and where?
//
//   const ContinuousResult r = continuous_collide(gear, gear_motion, bunny, at_rest(pose));
//   if (r.status == ContinuousStatus::kContact) ... r.time_of_contact, r.contact ...
//
// The points of one body are swept through the field of the other, and the reverse (XB14). Points
// are not the surface: what goes unseen is no deeper than `blind_depth` of the result.
#pragma once

#include <cstdint>
#include <vector>

#include "isotact/queries/contact.h"
#include "isotact/queries/motion.h"
#include "isotact/queries/shape.h"
#include "isotact/queries/swept.h"

namespace isotact {

struct ContinuousRequest {
  // Metres: they touch where the field says that they are as near as this. Outside of its box a
  // field is a lower bound of the distance (field.h): margins beyond the padding may be met from
  // further away.
  double margin = 0;
  MotionModel model = MotionModel::kConstantRates;
  int degree = 3;  // of MotionModel::kPolynomial
  // kAll: every point that ever touches, with its intervals. kAny: whether some does; the time and
  // contact are then those of whichever was found.
  SweptMode mode = SweptMode::kFirst;
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

// Of a contact at its first time.
struct TimedContact {
  double time = 0;
  Contact contact{};
};

struct ContinuousResult {
  ContinuousStatus status = ContinuousStatus::kFree;
  double time_of_contact = 0;  // 0 to 1; infinite where they stay free
  Contact contact{};           // at that time
  // Of kAll: points of A, then of B, each in order; and the earliest contacts in the order of time.
  std::vector<TouchingPoint> points;
  std::vector<SegmentInterval> intervals;
  std::vector<TimedContact> contacts;
  // Metres. No part of a surface that was sampled goes deeper into the other body, beyond the
  // margin, unseen: the sum of the shell's covering radius, the field's error there and the path's;
  // the larger of the ways that were looked at. Of a body whose points were not, nothing is said.
  double blind_depth = 0;
  double path_error = 0;  // metres
  SweptCounts counts{};
};

// Throws Error where a shape lacks what the roles need, and for motions and settings without sense.
ContinuousResult continuous_collide(const Shape& a, const BodyMotion& motion_of_a, const Shape& b,
                                    const BodyMotion& motion_of_b,
                                    const ContinuousRequest& request = {});
// Keeps the memory of the result.
void continuous_collide(const Shape& a, const BodyMotion& motion_of_a, const Shape& b,
                        const BodyMotion& motion_of_b, const ContinuousRequest& request,
                        ContinuousResult& result);

}  // namespace isotact
