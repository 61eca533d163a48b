#include "isotact/queries/swept_memory.h"

#include "isotact/queries/detail/swept_work.h"

namespace isotact {

SweptMemory::SweptMemory() = default;
SweptMemory::SweptMemory(SweptMemory&&) noexcept = default;
SweptMemory& SweptMemory::operator=(SweptMemory&&) noexcept = default;
SweptMemory::~SweptMemory() = default;

void SweptMemory::forget() { state_.reset(); }

std::uint64_t SweptMemory::memory_bytes() const {
  return state_ == nullptr ? 0 : sizeof(State) + state_->front.memory_bytes();
}

}  // namespace isotact
