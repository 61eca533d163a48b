#include "isotact/field/build/detail/distance_kernel.h"

namespace isotact::detail {

using BaselineKernel = DistanceKernel<Lanes<float, 4>>;

const DistanceKernels kBaselineDistanceKernels = {
    BaselineKernel::refine, BaselineKernel::refine_by_search, BaselineKernel::find_packet};

}  // namespace isotact::detail
