// What traces of a shell write to while they run, and what they remember.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "isotact/queries/detail/swept_front.h"
#include "isotact/queries/detail/swept_search.h"
#include "isotact/queries/swept.h"

namespace isotact {

namespace detail {

struct SweptWork {
  ShellPath path{};
  FrontLook fronts{};
  std::uint64_t searcher = 0;  // the number of the tracer that `search` is of
  std::optional<SweptSearch> search{};
  std::vector<PieceOfPoint> pieces{};
  std::vector<Segment> segments{};
  SegmentResults traced{};
  std::vector<SegmentInterval> room{};  // of one segment
};

}  // namespace detail

struct SweptMemory::State {
  std::uint64_t tracer = 0;  // the number of the tracer that it is of; 0: none yet
  PointSphereTree tree{};
  detail::SweptFront front{};
};

}  // namespace isotact
