// From a pair of bodies to candidates for contacts: points of ours in the other, and sharp features
// of the other in our field. Private to the plug-in.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include <BulletCollision/CollisionShapes/btConcaveShape.h>

#include "isotact/adapters/bullet/shape.h"
#include "isotact/queries/points/shell_query.h"

#include "candidate.h"
#include "manifolds.h"
#include "other_solid.h"
#include "patch/pressure.h"
#include "smooth/local_surface.h"
#include "triangles.h"

namespace isotact::bullet_detail {

// The current state of one of our bodies.
struct Ours {
  const IsotactShape* shape = nullptr;
  Pose world_from_shape{};
  double scale = 1, margin = 0;
  bool is_0 = true;  // Bullet's body 0 of the pair.
  // The points for this pair; null if there are none.
  const PointSphereTree* tree = nullptr;
  const ShellPatches* patches = nullptr;
  const ShellPatches* wide_patches = nullptr;  // Null or empty: never cut further.

  const BulletBody& body() const { return shape->body(); }
  Sphere world_ball() const {
    return {transform_point(world_from_shape, body().ball.center * scale),
            body().ball.radius * scale + margin};
  }
};
// With the points that the shape was made with.
Ours view(const IsotactShape& shape, const btTransform& world_from_bullet, bool is_0);
// Makes points for a shape without.
void take_made_points(Ours& ours);

// Whether the contacts of a pair have looked in many directions. That is tested now and then.
struct WideState {
  bool is_wide = false;
  std::uint8_t until_test = 0;  // Steps.
};

// Memory of queries of all pairs of a thread. Nothing in it outlives a pair's turn.
struct GatherScratch {
  ShellScratch points{};
  std::vector<ShellHit> near_hits{}, triangle_hits{}, kept_hits{};
  std::vector<std::uint32_t> hit_triangle{}, kept_triangle{}, order{};
  std::vector<FeatureEdge> edges{};  // near ours, and their numbers
  std::vector<std::uint32_t> edge_number{};
  std::vector<FeatureHit> edge_hits{};
  std::vector<Candidate> candidates{};
  std::vector<RoundPart> round_parts{};
  std::vector<Penalty> penalties{};
  Triangles triangles{};
  ThicknessScratch* thickness = nullptr;  // Of the pair's mesh.
  WideState* wide = nullptr;              // Of the pair.
};

// A target with its pose, scale and margin.
struct Placed {
  const ShellTarget* target = nullptr;
  Pose world_from_target{};
  double scale = 1, margin = 0;
  const BulletBody* body = nullptr;  // Null if the target is not ours.
};

ShellPlacement placement_of(const Ours& ours, const Placed& other);

// Motion of our body relative to the other, in the world frame.
struct RelativeMotion {
  Vec3 center{};   // Centre of mass of ours.
  Vec3 linear{};   // m/s, at the centre.
  Vec3 angular{};  // rad/s
  double time_step = 0;
  bool of_0 = true;  // "Ours" is Bullet's body 0.

  Vec3 velocity_at(const Vec3& place) const { return linear + cross(angular, place - center); }
  // Returns the deviation of a rotating point from straight motion in this step, metres.
  Vec3 bend_at(const Vec3& place) const {
    const Vec3 inward = cross(angular, cross(angular, place - center));
    return inward * (time_step * time_step / 2);
  }
};

// `of_0`: "ours" is Bullet's body 0.
RelativeMotion motion_between(const btCollisionObject& ours, const btCollisionObject& other,
                              double time_step, bool of_0);

// Bullet's solver treats contacts as straight motion, but points of a rotating body move along
// arcs. If a ball rolls, points ahead of the lowest one would seem to enter the ground, and lift
// it. All contacts except the deepest therefore get the difference added to their gap. They get as
// much again, up to the overlap of the deepest, since points ahead will be at its position. At rest
// this is zero.
void allow_for_turning(const RelativeMotion& motion, std::span<Candidate> candidates);

struct GatherRequest {
  double reach = 0;           // Metres: contacts up to this far apart.
  bool want_nearest = false;  // Find one contact at any distance up to `nearest_reach`.
  double nearest_reach = 0;
  const Manifolds* last = nullptr;
  // Points further apart than contact_margin count only if they will touch in this step.
  double contact_margin = 0;
  const RelativeMotion* motion = nullptr;  // Motion of the first of two; null: all count.
  bool want_penalty = false;               // A force instead of candidates.
  double share = 1;                        // Part of what is left of a budget that a query may use.

  double furthest() const { return want_nearest ? std::max(reach, nearest_reach) : reach; }
};

// Whether the bodies turn so much in a step that a contact is never found twice at one place. On a
// field alone, the sample that was found first is as good at rest, and cheaper.
inline bool is_turning(const GatherRequest& request) {
  constexpr double kTurns = 0.01;  // rad per step
  return request.motion != nullptr &&
         length(request.motion->angular) * request.motion->time_step > kTurns;
}

// Tests points of `ours` against a target. Returns up to four candidates per patch.
void gather_points(const Ours& ours, const Placed& other, const GatherRequest& request,
                   ShellPairScratch& of_pair, GatherScratch& memory);
// Tests all edges of the other (in its own frame) against the field of `ours`.
void gather_edges(const Ours& ours, std::span<const FeatureEdge> edges, double radius,
                  const Pose& world_from_edges, const GatherRequest& request,
                  GatherScratch& memory);
// Shortens an edge to its part inside a ball; returns false if there is none.
bool clip_to_ball(FeatureEdge& edge, const Sphere& ball);
// Tests a mesh or height field of Bullet's. The time of a call is proportional to the triangles in
// our box.
void gather_mesh(const Ours& ours, const btConcaveShape& mesh, const btTransform& world_from_mesh,
                 const GatherRequest& request, GatherScratch& memory);

// Returns whether the two may be nearer than the reach, from one field value: SSL14's filter (3.2).
bool may_touch(const Ours& ours, const Placed& other, double reach);

// Returns a lower bound of the distance of our points to the target; metres, at most `most`. Used
// for bodies that move far in a step.
double compute_clearance(const Ours& ours, const Placed& other, double most, ShellScratch& state);
// The same for triangles, from spheres of the tree: a bound also for their ridges.
double compute_clearance(const Ours& ours, Triangles& triangles, const Pose& world_from_mesh,
                         double most);
// Collects the triangles that ours may touch, grown by `reach` metres.
void collect_near(const Ours& ours, const btConcaveShape& mesh, const Pose& world_from_mesh,
                  double reach, GatherScratch& memory);

}  // namespace isotact::bullet_detail
