// From a pair of bodies to candidates for contacts: points of ours in the other, and what is sharp
// of the other in our field. Private to the plug-in.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include <BulletCollision/CollisionShapes/btConcaveShape.h>

#include "isotact/adapters/bullet/shape.h"
#include "isotact/queries/shell_query.h"

#include "candidate.h"
#include "manifolds.h"
#include "other_solid.h"

namespace isotact::bullet_detail {

// One of our bodies as it is now.
struct Ours {
  const IsotactShape* shape = nullptr;
  Pose world_from_shape{};
  double scale = 1, margin = 0;
  bool is_0 = true;  // Bullet's body 0 of the pair

  const BulletBody& body() const { return shape->body(); }
  Sphere world_ball() const {
    return {transform_point(world_from_shape, body().ball.center * scale),
            body().ball.radius * scale + margin};
  }
};
Ours view(const IsotactShape& shape, const btTransform& world_from_bullet, bool is_0);

// What queries write to, kept from step to step. (Meshes' triangles are collected anew.)
struct GatherMemory {
  ShellState points_0{}, points_1{};
  std::vector<ShellHit> near_hits{}, triangle_hits{}, kept_hits{};
  std::vector<std::uint32_t> hit_triangle{}, kept_triangle{}, order{};
  std::vector<FeatureEdge> edges{};
  std::vector<FeatureHit> edge_hits{};
  std::vector<Candidate> candidates{};
};

// What a target is, beside itself.
struct Placed {
  const ShellTarget* target = nullptr;
  Pose world_from_target{};
  double scale = 1, margin = 0;
};

// How our body moves against the other, in the world's frame.
struct RelativeMotion {
  Vec3 center{};   // of mass, of ours
  Vec3 linear{};   // m/s, there
  Vec3 angular{};  // rad/s
  double time_step = 0;
  bool of_0 = true;  // "ours" is Bullet's body 0

  Vec3 velocity_at(const Vec3& place) const { return linear + cross(angular, place - center); }
  // By how much a point that turns goes less far than straight on, in this step, metres.
  Vec3 bend_at(const Vec3& place) const {
    const Vec3 inward = cross(angular, cross(angular, place - center));
    return inward * (time_step * time_step / 2);
  }
};

// `of_0`: whether "ours" is Bullet's body 0.
RelativeMotion motion_between(const btCollisionObject& ours, const btCollisionObject& other,
                              double time_step, bool of_0);

// Contacts are lines of motion to Bullet's solver, but points of a body that turns go along arcs.
// Where a ball rolls, points ahead of the lowest one would seem to go into the ground, and hold it
// up. So all but the deepest contact get the difference added to their gap; and as much again, as
// far as the deepest is in overlap, since those ahead will be where it is now. At rest this is
// nothing.
void allow_for_turning(const RelativeMotion& motion, std::span<Candidate> candidates);

struct GatherRequest {
  double reach = 0;           // metres: contacts up to this far apart
  bool want_nearest = false;  // one, however far, up to `nearest_reach`
  double nearest_reach = 0;
  const Manifolds* last = nullptr;
  // Of what is further apart than contact_distance, only points that will touch in this step count.
  double contact_distance = 0;
  const RelativeMotion* motion = nullptr;  // of the first of two; null: all count

  double furthest() const { return want_nearest ? std::max(reach, nearest_reach) : reach; }
};

// Points of `ours` against a target. Up to four candidates for each segment.
void gather_points(const Ours& ours, const Placed& other, const GatherRequest& request,
                   ShellState& state, GatherMemory& memory);
// The other's edges (in its own frame) against the field of `ours`. All of them.
void gather_edges(const Ours& ours, std::span<const FeatureEdge> edges, double radius,
                  const Pose& world_from_edges, const GatherRequest& request, GatherMemory& memory);
// A mesh or height field of Bullet's. The time of one call goes with the triangles in our box.
void gather_mesh(const Ours& ours, const btConcaveShape& mesh, const btTransform& world_from_mesh,
                 const GatherRequest& request, GatherMemory& memory);

// Whether the two may be nearer than the reach, from one look at a field: SSL14's filter (3.2).
bool may_touch(const Ours& ours, const Placed& other, double reach);

// How far the least distance of our points to the target is, and the same for edges: for bodies
// that move far in a step. A lower bound, metres; at most `most`.
double find_clearance(const Ours& ours, const Placed& other, double most, ShellState& state);

}  // namespace isotact::bullet_detail
