#include "isotact/queries/detail/front_kernel.h"

namespace isotact::detail {

std::uint64_t find_awake_baseline(const FrontBlock* blocks, std::size_t block_count,
                                  const Shift* shifts, std::size_t shift_count,
                                  std::uint8_t* awake) {
  return FrontKernel<Lanes<float, 4>>::run(blocks, block_count, shifts, shift_count, awake);
}

FindAwake choose_find_awake([[maybe_unused]] SimdLevel level) {
#if defined(ISOTACT_HAS_AVX2_KERNELS)
  if (level == SimdLevel::kAvx2) return find_awake_avx2;
#endif
  return find_awake_baseline;
}

}  // namespace isotact::detail
