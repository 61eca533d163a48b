// The layout of the flat buffer of a SegmentIndex.
#pragma once

#include "isotact/queries/segments/segment_index.h"

namespace isotact::detail {

inline constexpr char kIndexMagic[8] = {'I', 'S', 'O', 'I', 'N', 'D', 'E', 'X'};
inline constexpr std::uint32_t kIndexVersion = 1;

// Fills in magic, version, offsets and size, from the counts.
SegmentIndexHeader plan_index(const SegmentIndexHeader& counts);

// Opens a buffer without any check.
SegmentIndex view_segment_index(const FlatBuffer& buffer);

}  // namespace isotact::detail
