// Two bodies at rest: do they touch, where, how deep, and how hard do they push each other apart?
//
//   CollideState state;  // keep it: no allocation after the first calls, and it may remember
//   const CollideResult& r = collide(gear, world_from_gear, bunny, world_from_bunny, {}, state);
//   for (const Contact& c : r.contacts) ...
//
// By voxmap-pointshell (SSL14): the points of each body in the field of the other, both ways
// merged. With one way alone a coarse body that encloses a fine one is missed: its points are all
// outside. A body that lies wholly inside another is in contact with it. Points are not the
// surface: what goes unseen is no deeper than `blind_depth`.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "isotact/queries/contact.h"
#include "isotact/queries/shape.h"
#include "isotact/queries/shell_contact.h"
#include "isotact/queries/shell_query.h"

namespace isotact {

struct CollideRequest {
  double margin = 0;  // metres: they touch where the field says that they are as near as this
  Roles roles = Roles::kBoth;
  // Only the body with fewer points is sampled, as SSL14 3.2 has it, where both ways are possible.
  bool only_fewer_points = false;
  // Contacts a segment, up to 4: the deepest first, then those that enlarge the area.
  std::uint32_t max_contacts = 4;
  // About how many segments each shell is cut into (SSL14 2.4; its m is about 15). 1: none.
  std::uint32_t segments = 1;
  // Level of detail and budgets, as in ShellRequest; budgets are for both ways together, and that
  // of time for contacts and force as well. One query in a hundred passes its deadline: by a few
  // microseconds of 500, by some twenty of 30 to 100 (docs/benchmarks.md).
  int level = -1;
  std::uint64_t max_nodes = 0;
  double max_microseconds = 0;
  bool want_distance = false;  // where they are apart. Outside of a field's box it is a lower bound
                               // (field.h); distance() below knows better, and takes longer
  bool want_force = false;
  ShellForceSettings force{};  // its centre does not count: torques are about A's origin
};

enum class CollideStatus : std::uint8_t {
  kFree,
  kContact,
  kGaveUp,  // a level or a budget was the end before anything was found, and something may be left
};

struct CollideResult {
  CollideStatus status = CollideStatus::kFree;
  bool complete = true;  // no budget cut it short
  int level = 0;         // reached by both ways: see ShellAnswer
  // By segments of A's shell, then of B's; in each the deepest first. With one segment all are of
  // one patch, whichever body's points they are, the deepest of all first.
  std::vector<Contact> contacts;
  std::vector<std::uint32_t> first_contact;  // of each segment that has some; and contacts.size()
  std::uint64_t touching_points = 0;
  // Metres: the least distance found, negative where they overlap; infinite where they are apart
  // and it was not asked for. No point of either shell has less than lower_bound.
  double distance = 0, lower_bound = 0;
  // On A, in the world's frame, N and Nm, about A's origin; where asked for. Where both ways were
  // taken, the mean of what each alone gives: they are two samplings of one contact.
  Vec3 force{}, torque{};
  double area = 0;  // m^2 that overlaps, so, too
  // Metres: covering radius and error of the field, the larger of the ways that were taken; and
  // what a level or a budget did not look at.
  double blind_depth = 0;
  ShellWork work{};
};

// One thread at a time; of one pair of shapes (others make it prepare anew).
class CollideState {
 public:
  // Both ways remember which clusters were near (ShellState).
  void set_coherent(bool on);

 private:
  friend struct CollideAccess;
  struct Way {
    std::shared_ptr<const ShellTarget> target;
    ShellState shell;
    ShellSegments segments;
    std::uint32_t wanted_segments = 0;
    // Kept alive, so that no other can take their place in memory unnoticed.
    std::optional<PointSphereTree> tree;
    std::optional<Shape> field;
    double margin = -1;
    double microseconds = 0;  // that it may need: of its last search, more if that was cut short
  };
  Way ways_[2];  // A's points in B, B's points in A
  CollideResult result_{};
};

// The result lives in the state, until its next use. Throws Error where the shapes lack what the
// roles need, and for settings without sense.
const CollideResult& collide(const Shape& a, const Pose& world_from_a, const Shape& b,
                             const Pose& world_from_b, const CollideRequest& request,
                             CollideState& state);
CollideResult collide(const Shape& a, const Pose& world_from_a, const Shape& b,
                      const Pose& world_from_b, const CollideRequest& request = {});

struct DistanceResult {
  // Metres: between the nearest points found, negative where they overlap (then the depth of the
  // deepest point); and a bound from below.
  double distance = 0, lower_bound = 0;
  Contact contact{};  // of the nearest points; its depth is minus the distance
};
// Of both ways the nearer. Needs brick fields. Cost: a tenth of a millisecond next to each other,
// some ten milliseconds far apart.
DistanceResult distance(const Shape& a, const Pose& world_from_a, const Shape& b,
                        const Pose& world_from_b);

}  // namespace isotact
