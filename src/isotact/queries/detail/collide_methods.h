// The methods behind collide(): each fills a result whose fields have been reset.
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "isotact/field/models/brick_field.h"
#include "isotact/queries/collide.h"
#include "isotact/queries/continuous_collide.h"
#include "isotact/queries/depth/depth_directions.h"
#include "isotact/queries/detail/exact_touch.h"
#include "isotact/queries/intersection/intersection_field.h"
#include "isotact/queries/points/shell_contact.h"
#include "isotact/queries/points/shell_query.h"
#include "isotact/queries/shape.h"

namespace isotact {

// One role of kPoints: the points of one body in the field of the other.
struct CollideRole {
  std::shared_ptr<const ShellTarget> target;
  ShellScratch shell;
  ShellPatches patches;
  std::uint32_t wanted_patches = 0;
  // Kept alive, so that no other can take their place in memory unnoticed.
  std::optional<Shape> points, field;
  double margin = -1;
  std::uint32_t last_hit = kNoHit;  // the point that touched in the last call of kAny
  double microseconds = 0;  // that it may need: of its last search, more if that was cut short
};

// Directions that were chosen for an object: choosing takes longer than a query.
struct DepthChoice {
  std::optional<Shape> object;
  DepthRequest request{};
  DepthCompliance found{};
};

struct CollideScratch::State {
  CollideRole roles[2];  // A's points in B, B's points in A
  DepthChoice depth{};
  IdfScratch intersection{};
  IdfResult intersected{};
  ContinuousScratch swept{};
  detail::TouchScratch touch{};
  std::shared_ptr<void> depth_search{};  // memory of find_deepest (exact_depth.h)
  CollideResult result{};
};

namespace detail {

struct CollidePair {
  const Shape& a;
  const Pose& world_from_a;
  const Shape& b;
  const Pose& world_from_b;
};

void collide_by_points(const CollidePair& pair, const CollideRequest& request,
                       CollideScratch::State& state);
// Throws Error for settings out of range.
void check_request(const CollideRequest& request);
// Whether the triangles decide if the shapes have some.
bool asks_for_triangles(const CollideRequest& request);

// Mode::kAny by points: ends at the first one that touches.
void find_any_point(const CollidePair& pair, const CollideRequest& request,
                    CollideScratch::State& state);
// All memory that collide_by_points will need, as far as the points exist.
void reserve_points(const CollidePair& pair, const CollideRequest& request,
                    CollideScratch::State& state);
void collide_by_intersection(const CollidePair& pair, const CollideRequest& request,
                             CollideScratch::State& state);
void collide_by_depth(const CollidePair& pair, const CollideRequest& request,
                      CollideScratch::State& state);
void collide_by_sweep(const CollidePair& pair, const CollideRequest& request,
                      CollideScratch::State& state);

void prepare_intersection(const Shape& shape);
void prepare_depth(const Shape& shape, const CollideRequest& request);
ContinuousRequest swept_request_of(const CollideRequest& request);

// A contact where a point of the shell, at `on_shell` in the frame of the field, has that value.
struct PointContact {
  Body sampled_by;
  std::uint32_t point;
  Vec3 on_shell, outward;  // outward: unit, out of the field's body
  double value;
};
Contact make_contact(const PointContact& c, const Pose& world_from_field);

// Leaves as many contacts as wanted: the deepest, then those that span the largest area, as
// choose_manifold does it for points. For some ten contacts.
void choose_contacts(std::vector<Contact>& all, std::uint32_t most);

// Chooses among result.contacts, and fills all that follows from them. `keep`: the deepest, so
// many, in place of a patch; 0: a patch.
void finish_patch(const CollideRequest& request, CollideResult& result, std::uint32_t keep = 0);

// ---- continuous_collide()

// Whether the triangles may decide: both shapes can be exact (exact_body.h), and method, roles and
// margin leave it to them.
bool can_be_exact(const Shape& a, const Shape& b, const ContinuousRequest& request);

// The first contact, and the distance if it is wanted. Fills a result that has been reset. Throws
// Error if a shape cannot be exact, and for requests that only points can answer.
void collide_exact_motion(const Shape& a, const BodyMotion& motion_of_a, const Shape& b,
                          const BodyMotion& motion_of_b, const ContinuousRequest& request,
                          ContinuousResult& result);

// Metres. If a field's values are nowhere on a surface less than `least`, no point of the surface
// has a smaller signed distance than the result. Distances below `band` are off by near_error.
double bound_by_value(const BrickFieldHeader& header, double least);

// How near the points of one shape come to the surface of the other, by its field.
ApproachResult find_approach(const Shape& points, const Shape& field, const ShellMotion& motion,
                             ApproachSettings settings);

}  // namespace detail
}  // namespace isotact
