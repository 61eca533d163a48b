#include "isotact/queries/detail/batch_kernel.h"

namespace isotact::detail {

const BatchKernels kAvx2BatchKernels = {BatchKernel<Lanes<float, 8>>::run};

}  // namespace isotact::detail
