#include "isotact/queries/detail/swept_kernel.h"

namespace isotact::detail {

unsigned find_touching_baseline(const FreeGrid& grid, const SphereLanes& spheres,
                                const SweptTask& task, SweptTimes& times) {
  return SweptKernel<Lanes<float, 4>>::run(grid, spheres, task, times);
}

FindTouching choose_find_touching([[maybe_unused]] SimdLevel level) {
#if defined(ISOTACT_HAS_AVX2_KERNELS)
  if (level == SimdLevel::kAvx2) return find_touching_avx2;
#endif
  return find_touching_baseline;
}

}  // namespace isotact::detail
