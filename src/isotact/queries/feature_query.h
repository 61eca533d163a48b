// Sharp features of a body in the field of another: its edges, corners, and the segments inside of
// capsules and balls.
//
// Points of a pointshell see how far their own body goes into another. What they do not see is a
// corner or an edge of the other body that goes in between them. So the other body's edges are
// walked through the field: along each, the stretches that are near enough are found, and of each
// stretch the deepest place.
//
// Soundness: from a place whose value is above the limit, the walk goes as far as SafeStep
// (field/trace_ray.h) allows, and half a cell at least. It may pass over a stretch that is shorter
// than half a cell, and over no other. (Outside of the field's box, which matters for radii beyond
// its padding, distances are those to a place of the surface that was searched for: nothing seems
// nearer than it is, and something may seem a little further.) Inside of a stretch steps are half a
// cell, or longer where the slope's bound says that nothing deeper can lie between.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isotact/field/any_field.h"
#include "isotact/field/brick_field.h"
#include "isotact/field/voxmap.h"

namespace isotact {

// In the field's frame, metres. A corner is an edge with two equal ends.
struct FeatureEdge {
  Vec3 a{}, b{};
};

struct FeatureRequest {
  double margin = 0;  // metres: places whose distance is at most this are hits
  double radius = 0;  // metres: of what is around the edge (of a capsule, a rounded hull)
};

struct FeatureHit {
  std::uint32_t edge = 0;
  double t = 0;         // 0 at a, 1 at b
  Vec3 point{};         // on the edge
  double distance = 0;  // metres: the field's value there less the radius
  Vec3 direction{};     // unit, out of the field's body; zero where the field has none
};

// One hit for each stretch: its deepest place. In the order of edges and of t; `hits` is cleared
// first and keeps its memory. Ends must be finite. Cost: some thirty nanoseconds a step.
void find_hits_edges_field(const BrickField& field, std::span<const FeatureEdge> edges,
                           const FeatureRequest& request, std::vector<FeatureHit>& hits);
// Of a field of any kind; `cell` (metres) stands for the size of a cell.
void find_hits_edges_field(const AnyField& field, double cell, std::span<const FeatureEdge> edges,
                           const FeatureRequest& request, std::vector<FeatureHit>& hits);
// Voxelmaps: equation 5 of SSL14 for support maps; of the others, the value of the voxel, and the
// direction from its neighbours. Their values jump, so that all steps are half a voxel.
void find_hits_edges_field(const Voxmap& voxmap, std::span<const FeatureEdge> edges,
                           const FeatureRequest& request, std::vector<FeatureHit>& hits);

}  // namespace isotact
