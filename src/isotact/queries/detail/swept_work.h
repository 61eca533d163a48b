// What traces of a shell write to while they run, and keep from one to the next.
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
  std::optional<SweptSearch> search{};  // made when it is needed
  std::vector<PieceOfPoint> pieces{};
  std::vector<Segment> segments{};
  SegmentResults traced{};
};

}  // namespace detail

struct SweptMemory::State {
  std::uint64_t tracer = 0;  // whose number it is; 0: none yet
  PointSphereTree tree{};
  detail::SweptFront front{};
  detail::SweptWork work{};
};

}  // namespace isotact
