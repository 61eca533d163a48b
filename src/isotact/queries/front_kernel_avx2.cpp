#include "isotact/queries/detail/front_kernel.h"

namespace isotact::detail {

std::uint64_t find_awake_avx2(const FrontBlock* blocks, std::size_t block_count,
                              const Shift* shifts, std::size_t shift_count, std::uint8_t* awake) {
  return FrontKernel<Lanes<float, 8>>::run(blocks, block_count, shifts, shift_count, awake);
}

}  // namespace isotact::detail
