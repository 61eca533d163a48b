#include "isotact/queries/detail/swept_kernel.h"

namespace isotact::detail {

unsigned find_touching_avx2(const FreeGrid& grid, const SphereLanes& spheres, const SweptTask& task,
                            SweptTimes& times) {
  return SweptKernel<Lanes<float, 8>>::run(grid, spheres, task, times);
}

}  // namespace isotact::detail
