#include "isotact/field/build/detail/distance_kernel.h"

namespace isotact::detail {

using WideKernel = DistanceKernel<Lanes<float, 8>>;

const DistanceKernels kAvx2DistanceKernels = {WideKernel::refine, WideKernel::refine_by_search,
                                              WideKernel::find_packet};

}  // namespace isotact::detail
