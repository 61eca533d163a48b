#include "isotact/queries/detail/batch_kernel.h"

namespace isotact::detail {

const BatchKernels kBaselineBatchKernels = {BatchKernel<Lanes<float, 4>>::run};

}  // namespace isotact::detail
