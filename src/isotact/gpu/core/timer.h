// How long the GPU works, by its own clock. Ownership as in buffer.h.
#pragma once

#include <cstdint>

namespace isotact {

// Software Mesa defers work: there, wall time around finish_gpu() is what counts.
class GpuTimer {
 public:
  GpuTimer();
  GpuTimer(const GpuTimer&) = delete;
  GpuTimer& operator=(const GpuTimer&) = delete;
  ~GpuTimer();

  void begin();
  void end();
  double milliseconds() const;  // from begin to end; waits for the result

 private:
  std::uint32_t queries_[2]{};
};

}  // namespace isotact
