#include "isotact/queries/detail/front_kernel.h"

namespace isotact::detail {

const FrontKernels kBaselineFrontKernels = FrontKernel<Lanes<float, 4>>::kAll;

const FrontKernels& choose_front_kernels([[maybe_unused]] SimdLevel level) {
#if defined(ISOTACT_HAS_AVX2_KERNELS)
  if (level == SimdLevel::kAvx2) return kAvx2FrontKernels;
#endif
  return kBaselineFrontKernels;
}

}  // namespace isotact::detail
