#include "isotact/queries/detail/shell_kernel.h"

namespace isotact::detail {

const ShellKernels& shell_kernels_avx2() {
  static const ShellKernels kernels = ShellKernel<Lanes<float, 8>>::kernels();
  return kernels;
}

}  // namespace isotact::detail
