#include "isotact/queries/detail/front_kernel.h"

namespace isotact::detail {

const FrontKernels kAvx2FrontKernels = FrontKernel<Lanes<float, 8>>::kAll;

}  // namespace isotact::detail
