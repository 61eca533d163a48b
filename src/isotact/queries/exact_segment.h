// Segments against the triangles themselves: the oracle that a field's answers are held against,
// and the account of where the two differ.
//
// A field errs by up to near_error (brick_field.h), so it may answer differently, but only where
// the surface is that near. account_for_differences takes every time at which the two disagree,
// says of which kind the difference is, and counts those that the stored error does not allow.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isotact/field/brick_field.h"
#include "isotact/field/build/surface.h"
#include "isotact/field/exact_field.h"
#include "isotact/queries/segment.h"

namespace isotact {

// One passage through the surface, from one side to the other.
struct SurfaceCrossing {
  double time = 0;             // 0 to 1
  std::uint32_t triangle = 0;  // of the surface's mesh

  friend bool operator==(const SurfaceCrossing&, const SurfaceCrossing&) = default;
};

// Sides change at each crossing.
struct ExactCrossings {
  bool starts_inside = false;
  std::vector<SurfaceCrossing> crossings;  // by rising time
};

// Immutable: any number of threads may use it.
class ExactSegmentTracer {
 public:
  // Needs a signed surface as prepare_surface returns it (asserted).
  explicit ExactSegmentTracer(const Surface& surface, Threads threads = {});

  const ExactField& field() const { return field_; }
  Vec3 normal(std::uint32_t triangle) const;  // a unit vector, outwards; zero where it has no area

  // By all hits of the hierarchy, and the sign of the exact field between one hit and the next. A
  // segment that touches, or that hits the two triangles at an edge, has a crossing only where the
  // sign changes. Hits within 2^-22 of each other are one place: floats cannot tell more. Cost:
  // microseconds a hit. Keeps the memory of the result between calls.
  void trace(const Segment& segment, ExactCrossings& result) const;

 private:
  TriangleMesh mesh_;
  ExactField field_;
};

// Every crossing of both sides belongs to one line, and every stretch of time in which they
// disagree:
//   exact_crossings = same + shifted + 2 (exact_grazes + lost_features) + exact_cut
//   field_crossings = same + shifted + 2 field_grazes + field_cut
struct CrossingAccount {
  std::uint64_t segments = 0;
  std::uint64_t exact_crossings = 0, field_crossings = 0;
  std::uint64_t same = 0;     // at the same time, as far as rounding can tell
  std::uint64_t shifted = 0;  // the same crossing earlier or later
  // In and out again, or out and in again, seen by one alone: two crossings.
  std::uint64_t exact_grazes = 0;
  std::uint64_t field_grazes = 0;
  // Such ones of the triangles whose two faces look away from each other, by more than a right
  // angle: a wall, a gap or an edge that falls between samples.
  std::uint64_t lost_features = 0;
  // The segment begins or ends between the two: one of them has a crossing that the other would
  // have beyond the end, or neither has one.
  std::uint64_t exact_cut = 0, field_cut = 0, cut = 0;
  // Stretches with a place where the surface is further away than near_error (and rounding), where
  // the distance is out of distance_bounds, or where the oracle contradicts itself. Must be zero.
  std::uint64_t unexplained = 0;
  double largest_distance = 0;  // metres, to the surface, where they disagree
  double largest_shift = 0;     // metres along the segment
  double total_shift = 0;       // the same of all that are shifted

  std::uint64_t matched() const { return same + shifted; }
  std::uint64_t differences() const {
    return shifted + exact_grazes + field_grazes + lost_features + exact_cut + field_cut + cut;
  }
  bool adds_up() const;
  CrossingAccount& operator+=(const CrossingAccount& other);
};

// Adds one segment: the triangles' crossings (of the tracer or of anyone else) and the intervals
// that a SegmentTracer of the field found at iso 0 (kIntervals). The field must have been built
// from the tracer's surface. Looks at nine times of each stretch, the ends among them.
void account_for_differences(const BrickField& field, const ExactSegmentTracer& tracer,
                             const Segment& segment, const ExactCrossings& exact,
                             std::span<const SegmentInterval> intervals, CrossingAccount& account);

// The iso at which no segment is lost that comes within `slack` metres of the body (of a signed
// field) or of the triangles themselves (of a shell; needs shell_offset at most the band, and the
// isosurface in the box). Who must not get a false "no" asks at this one, and gets a "yes" up to
// twice near_error, the slack and rounding too early.
//
// There the distance less shell_offset is at most slack - shell_offset, and the field's value above
// it by near_error at most. A tracer rounds places to floats of cells in a handful of operations,
// each to 2^-24 of the box's longest side, and values likewise: 2^-20 covers them.
double covering_iso(const BrickField& field, double slack = 0);

}  // namespace isotact
