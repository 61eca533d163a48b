#include "isotact/queries/detail/shell_kernel.h"

namespace isotact::detail {

const ShellKernels& shell_kernels_baseline() {
  static const ShellKernels kernels = ShellKernel<Lanes<float, 4>>::kernels();
  return kernels;
}

const ShellKernels& choose_shell_kernels([[maybe_unused]] SimdLevel level) {
#if defined(ISOTACT_HAS_AVX2_KERNELS)
  if (level == SimdLevel::kAvx2) return shell_kernels_avx2();
#endif
  return shell_kernels_baseline();
}

}  // namespace isotact::detail
