// Sharp features of a body in the field of another: its edges, corners, and the segments inside
// capsules and balls.
//
// Points of a pointshell measure the depth of their own body in another. They miss a corner or an
// edge of the other body that enters between them. The other body's edges are therefore walked
// through the field. Along each edge, the walk finds the intervals that are near enough, and the
// deepest position of each.
//
// Soundness: from a position whose value is above the limit, the walk advances as far as SafeStep
// (field/extract/trace_ray.h) allows, and at least half a cell. It may only miss an interval that
// is shorter than half a cell. (Outside the field's box, which matters for radii beyond its
// padding, distances are those to a surface position found by a search. No distance is too small,
// and some may be a little too large.) Inside an interval, steps are half a cell, or longer if the
// slope's bound proves that nothing deeper lies between.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isotact/export.h"
#include "isotact/field/any_field.h"
#include "isotact/field/models/brick_field.h"
#include "isotact/field/voxmap/voxmap.h"
#include "isotact/queries/points/shell_query.h"

namespace ISOTACT_PUBLIC isotact {

// Metres, field frame. A corner is an edge with two equal ends.
struct FeatureEdge {
  Vec3 a{}, b{};
};

struct FeatureRequest {
  double margin = 0;  // Metres: positions whose distance is at most this are hits.
  double radius = 0;  // Metres: radius around the edge (of a capsule, a rounded hull).
};

struct FeatureHit {
  std::uint32_t edge = 0;
  double t = 0;         // 0 at a, 1 at b.
  Vec3 point{};         // On the edge.
  double distance = 0;  // Metres: the field's value there less the radius.
  // Unit vector, out of the field's body. Zero if the field has no gradient there.
  Vec3 direction{};
};

// Returns one hit per interval: its deepest position. Hits are in the order of edges and of t.
// `hits` is cleared first and keeps its memory. Ends must be finite. Cost: about thirty nanoseconds
// per step.
void find_hits_edges_field(const BrickField& field, std::span<const FeatureEdge> edges,
                           const FeatureRequest& request, std::vector<FeatureHit>& hits);
// For a field of any kind; `cell` (metres) replaces the size of a cell.
void find_hits_edges_field(const AnyField& field, double cell, std::span<const FeatureEdge> edges,
                           const FeatureRequest& request, std::vector<FeatureHit>& hits);
// For voxmaps: equation 5 of SSL14 for support maps; otherwise the value of the voxel, and the
// direction from its neighbours. Their values jump, so that all steps are half a voxel.
void find_hits_edges_field(const Voxmap& voxmap, std::span<const FeatureEdge> edges,
                           const FeatureRequest& request, std::vector<FeatureHit>& hits);

// Points of a shell against one triangle of a surface: a mesh without a field, or a height field.
//
// The one-sided rule. A triangle is solid behind its face, down to `thickness`, straight below it:
// a prism. A point is a hit if it is in the prism, or straight above the face by no more than the
// margin. Its distance is that to the triangle's plane, and its direction is the triangle's normal.
// Edges between triangles of a flat surface therefore cannot catch a body that slides over them.
// Behind a valley's edge, the prisms of its two triangles leave a gap: a point that enters only
// there is missed. `widen` makes prisms a little wider.

struct TriangleRequest {
  double margin = 0;     // Metres, in front.
  double thickness = 0;  // Metres, behind.
  double widen = 0;      // Metres, sideways.
};

// Corners are in the field frame of the placement (whose field_scale is ignored), counter-clockwise
// seen from outside. Appends to `hits`, in the order of points, in metres of the world. A triangle
// without area has no hits. Cost: a few nanoseconds per tested sphere and point.
void find_hits_triangle(const PointSphereTree& tree, const ShellPlacement& placement, const Vec3& a,
                        const Vec3& b, const Vec3& c, const TriangleRequest& request,
                        std::vector<ShellHit>& hits);

}  // namespace isotact
