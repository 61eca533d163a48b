// Segments against the triangles themselves. This is the oracle for the results of a field, and it
// classifies their differences.
//
// A field's error is up to near_error (brick_field.h), so its results may differ, but only if the
// surface is that near. account_for_differences takes every time interval in which the two disagree
// and classifies it. It counts those that the stored error does not allow.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isotact/field/models/brick_field.h"
#include "isotact/field/models/exact_field.h"
#include "isotact/field/surface/surface.h"
#include "isotact/queries/segments/segment.h"

namespace isotact {

// A crossing of the surface from one side to the other.
struct SurfaceCrossing {
  double time = 0;             // 0 to 1.
  std::uint32_t triangle = 0;  // Index into the surface's mesh.

  friend bool operator==(const SurfaceCrossing&, const SurfaceCrossing&) = default;
};

// The side changes at each crossing.
struct ExactCrossings {
  bool starts_inside = false;
  std::vector<SurfaceCrossing> crossings;  // By ascending time.
};

// Immutable: any number of threads may use it.
class ExactSegmentTracer {
 public:
  // Needs a signed surface as returned by prepare_surface (asserted).
  explicit ExactSegmentTracer(const Surface& surface, Threads threads = {});

  const ExactField& field() const { return field_; }
  // Unit vector, outward. Zero for a triangle without area.
  Vec3 normal(std::uint32_t triangle) const;

  // Uses all hits of the hierarchy, and the sign of the exact field between consecutive hits. A
  // segment that touches the surface, or hits both triangles of an edge, has a crossing only if the
  // sign changes. Hits within 2^-22 of each other count as one: floats cannot resolve more. Cost:
  // microseconds per hit. The result keeps its memory between calls.
  void trace(const Segment& segment, ExactCrossings& result) const;

 private:
  TriangleMesh mesh_;
  ExactField field_;
};

// Every crossing of both sides, and every time interval in which they disagree, is counted once:
//   exact_crossings = same + shifted + 2 (exact_grazes + lost_features) + exact_cut
//   field_crossings = same + shifted + 2 field_grazes + field_cut
struct CrossingAccount {
  std::uint64_t segments = 0;
  std::uint64_t exact_crossings = 0, field_crossings = 0;
  std::uint64_t same = 0;     // At the same time, up to rounding.
  std::uint64_t shifted = 0;  // The same crossing earlier or later.
  // Two crossings that only one side has: in and out again, or out and in again.
  std::uint64_t exact_grazes = 0;
  std::uint64_t field_grazes = 0;
  // Such crossings of the triangles if the normals of the two faces differ by more than a right
  // angle: a wall, a gap or an edge that falls between samples.
  std::uint64_t lost_features = 0;
  // The segment begins or ends between the two. Either one side has a crossing that the other would
  // have beyond the end, or neither has one.
  std::uint64_t exact_cut = 0, field_cut = 0, cut = 0;
  // Intervals that the errors do not explain. At some time of them, the surface is further away
  // than near_error (and rounding), the distance is outside distance_bounds, or the oracle
  // contradicts itself. Must be zero.
  std::uint64_t unexplained = 0;
  double largest_distance = 0;  // Metres to the surface while they disagree.
  double largest_shift = 0;     // Metres along the segment.
  double total_shift = 0;       // Sum over all shifted crossings.

  std::uint64_t matched() const { return same + shifted; }
  std::uint64_t differences() const {
    return shifted + exact_grazes + field_grazes + lost_features + exact_cut + field_cut + cut;
  }
  bool adds_up() const;
  CrossingAccount& operator+=(const CrossingAccount& other);
};

// Adds one segment. `exact` has the triangles' crossings (of the tracer or from elsewhere).
// `intervals` are those that a SegmentTracer of the field found at margin 0 (Mode::kAll). The field
// must have been built from the tracer's surface. Tests nine times of each interval of
// disagreement, including its ends.
void account_for_differences(const BrickField& field, const ExactSegmentTracer& tracer,
                             const Segment& segment, const ExactCrossings& exact,
                             std::span<const SegmentInterval> intervals, CrossingAccount& account);

}  // namespace isotact
