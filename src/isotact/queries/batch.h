// Many poses in one call: of one pair of shapes, or of many pairs of bodies in many states.
//
//   // One pair at many poses.
//   BatchScratch scratch;
//   for (const CollideRow& r : collide_poses(cup, {}, hand, poses, {}, scratch)) ... r.status ...
//
//   // A robot: which states are free of collisions with itself?
//   const std::vector<Shape> links = ...;
//   const std::vector<ShapePair> pairs{{0, 2}, {0, 3}, {1, 3}};
//   const PoseBatch states{.bodies = links, .pairs = pairs, .world_from_body = poses};
//   const auto rows = collide_batch(states, {.stop_at_first = true}, scratch);  // one per state
//
// Statuses, distances and bounds are those of single calls, bit for bit, for any number of threads.
// The witness of Mode::kAny may be another one; it does not depend on the threads.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>

#include "isotact/base/parallel.h"
#include "isotact/base/pose.h"
#include "isotact/export.h"
#include "isotact/queries/collide.h"
#include "isotact/queries/distance.h"

namespace ISOTACT_PUBLIC isotact {

inline constexpr std::uint32_t kNoPair = 0xffffffffU;

// Indices of bodies.
struct ShapePair {
  std::uint32_t a = 0, b = 1;

  friend bool operator==(const ShapePair&, const ShapePair&) = default;
};

// The states of some bodies. The pose of body i in state s is world_from_body[s * bodies.size() +
// i].
struct PoseBatch {
  std::span<const Shape> bodies{};
  std::span<const ShapePair> pairs{};
  std::span<const Pose> world_from_body{};
};

struct CollideBatchRequest {
  CollideRequest collide{.mode = Mode::kAny};
  // One row per state in place of one per pair: the first pair that is found to touch ends the
  // state. Pairs that touched often come first. Which pair it is may depend on the scratch.
  bool stop_at_first = false;
  Threads threads{};
};

struct CollideRow {
  // With stop_at_first: kGaveUp if no pair touched and one gave up.
  CollideStatus status = CollideStatus::kFree;
  bool exact = false;            // as in CollideResult; with stop_at_first, of all pairs tested
  std::uint32_t pair = kNoPair;  // with stop_at_first: that touches, or kNoPair
  // As in CollideResult, if they are known; of the pair that touches.
  double distance = std::numeric_limits<double>::infinity();
  double lower_bound = -std::numeric_limits<double>::infinity();
  Contact contact{};  // the deepest one, or the witness of kAny, if they touch
};

struct DistanceBatchRequest {
  DistanceRequest distance{};
  Threads threads{};
};

// Memory that is kept between calls, and the rows. For one thread at a time, and best for one batch
// of bodies.
class BatchScratch {
 public:
  BatchScratch();
  BatchScratch(BatchScratch&& other) noexcept;
  BatchScratch& operator=(BatchScratch&& other) noexcept;
  ~BatchScratch();

  struct State;

 private:
  friend struct BatchAccess;
  std::unique_ptr<State> state_;
};

// Rows are in order of states, then of pairs: pair k of state s is row s * pairs.size() + k. They
// live in the scratch, until its next use. Both throw Error as collide and distance do, and for
// pairs of bodies that do not exist or poses that do not make whole states. Cost: that of the
// single calls, less what they spend on preparing a call. A check of all links of a robot takes
// some microseconds.
std::span<const CollideRow> collide_batch(const PoseBatch& batch,
                                          const CollideBatchRequest& request,
                                          BatchScratch& scratch);
std::span<const DistanceResult> distance_batch(const PoseBatch& batch,
                                               const DistanceBatchRequest& request,
                                               BatchScratch& scratch);

// The same for one pair: a row for each pose of B.
std::span<const CollideRow> collide_poses(const Shape& a, const Pose& world_from_a, const Shape& b,
                                          std::span<const Pose> world_from_b,
                                          const CollideBatchRequest& request,
                                          BatchScratch& scratch);
std::span<const DistanceResult> distance_poses(const Shape& a, const Pose& world_from_a,
                                               const Shape& b, std::span<const Pose> world_from_b,
                                               const DistanceBatchRequest& request,
                                               BatchScratch& scratch);

}  // namespace isotact
