#include "isotact/queries/swept_memory.h"

#include "isotact/queries/detail/swept_work.h"

namespace isotact {

SweptMemory::SweptMemory() = default;
SweptMemory::SweptMemory(SweptMemory&&) noexcept = default;
SweptMemory& SweptMemory::operator=(SweptMemory&&) noexcept = default;
SweptMemory::~SweptMemory() = default;

void SweptMemory::forget() { state_.reset(); }

std::uint64_t SweptMemory::memory_bytes() const {
  if (state_ == nullptr) return 0;
  const detail::SweptWork& work = state_->work;
  return state_->front.memory_bytes() + work.pieces.capacity() * sizeof(detail::PieceOfPoint) +
         work.segments.capacity() * sizeof(Segment) +
         work.traced.first.capacity() * sizeof(std::uint64_t) +
         work.traced.intervals.capacity() * sizeof(SegmentInterval);
}

}  // namespace isotact
