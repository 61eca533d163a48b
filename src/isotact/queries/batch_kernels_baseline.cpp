#include "isotact/queries/detail/batch_kernel.h"

namespace isotact::detail {

const BatchKernels kBaselineBatchKernels = {BatchKernel<Lanes<float, 4>>::run,
                                            BatchKernel<Lanes<float, 4>>::look_only};

}  // namespace isotact::detail
