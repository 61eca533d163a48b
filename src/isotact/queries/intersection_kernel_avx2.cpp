#include "isotact/queries/detail/intersection_kernel.h"

namespace isotact::detail {

const IdfKernels kAvx2IdfKernels = {IdfKernel<Lanes<float, 8>>::project,
                                    IdfKernel<Lanes<float, 8>>::descend};

}  // namespace isotact::detail
