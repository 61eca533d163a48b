// Results on their way to the processor while the GPU goes on: a buffer that both can see.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "isotact/gpu/buffer.h"

namespace isotact::detail {

// Ownership as in buffer.h.
class Readback {
 public:
  // Throws Error where the memory is not to be had.
  explicit Readback(std::size_t bytes);
  Readback(const Readback&) = delete;
  Readback& operator=(const Readback&) = delete;
  ~Readback();

  // Begins to copy the first bytes of a buffer, behind all that the GPU has been told before.
  void begin(const GpuBuffer& from, std::size_t bytes);
  // Waits for it. The bytes stay until the next begin; any thread may read them.
  std::span<const std::byte> wait();

 private:
  std::uint32_t name_ = 0;
  const std::byte* data_ = nullptr;
  std::size_t bytes_ = 0, used_ = 0;
  void* fence_ = nullptr;
};

}  // namespace isotact::detail
