// Time that the GPU works, by its own clock. Ownership as in buffer.h.
#pragma once

#include <cstdint>

#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {

// Software Mesa defers work: measure wall time around finish_gpu() there.
class GpuTimer {
 public:
  GpuTimer();
  GpuTimer(const GpuTimer&) = delete;
  GpuTimer& operator=(const GpuTimer&) = delete;
  ~GpuTimer();

  void begin();
  void end();
  double milliseconds() const;  // From begin to end. Waits for the result.

 private:
  std::uint32_t queries_[2]{};
};

}  // namespace isotact
