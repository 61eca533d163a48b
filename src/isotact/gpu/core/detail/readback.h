// Transfer of results to the CPU while the GPU continues: a buffer that both access.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "isotact/gpu/core/buffer.h"

namespace isotact::detail {

// Ownership as in buffer.h.
class Readback {
 public:
  // Throws Error if the memory is not available.
  explicit Readback(std::size_t bytes);
  Readback(const Readback&) = delete;
  Readback& operator=(const Readback&) = delete;
  ~Readback();

  // Starts to copy the first bytes of a buffer, after all work submitted before.
  void begin(const GpuBuffer& from, std::size_t bytes);
  // Waits for it. The bytes stay valid until the next begin; any thread may read them.
  std::span<const std::byte> wait();

 private:
  std::uint32_t name_ = 0;
  const std::byte* data_ = nullptr;
  std::size_t bytes_ = 0, used_ = 0;
  void* fence_ = nullptr;
};

}  // namespace isotact::detail
