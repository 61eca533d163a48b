// Segments and spheres through a field of any kind, of which only values and a bound on its slope
// are known.
#pragma once

#include <span>

#include "isotact/field/any_field.h"
#include "isotact/queries/detail/swept_lanes.h"
#include "isotact/queries/swept.h"

namespace isotact::detail {

// As find_touching (swept_lanes.h), one after the other: a place whose value is v above iso is at
// least v / slope from all that is at or below it.
struct AnySpace {
  const AnyField& field;
  double iso;
  double block;  // metres
};
unsigned find_touching_any(const AnySpace& space, const SphereLanes& spheres, const SweptTask& task,
                           SweptTimes& times);

// As SegmentTracer::trace. Parts of a segment that stay nearer to the isosurface than a thousandth
// of a cell are not looked into: what slides along it would take as many values as there are
// floats.
struct AnyTrace {
  const AnyField& field;
  double iso;
  double cell;  // metres
  SegmentMode mode;
};
std::size_t trace_any(const AnyTrace& how, const Segment& segment,
                      std::span<SegmentInterval> intervals, SegmentCounts& counts);
void trace_any(const AnyTrace& how, std::span<const Segment> segments, SegmentResults& results,
               SegmentCounts& counts);

}  // namespace isotact::detail
