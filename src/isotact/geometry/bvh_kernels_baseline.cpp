#include "isotact/geometry/detail/closest_kernel.h"
#include "isotact/geometry/detail/ray_kernel.h"
#include "isotact/geometry/detail/winding_kernel.h"

namespace isotact::detail {

using BaselineClosest = ClosestKernel<Lanes<float, 4>, Lanes<double, 2>>;
using BaselineRay = RayKernel<Lanes<float, 4>, Lanes<double, 2>>;

const BvhKernels kBaselineKernels{&BaselineClosest::find, &BaselineRay::find_first,
                                  &BaselineRay::find_any, &BaselineRay::find_all};

double (*const kBaselineWinding)(const WindingSearch&) = &WindingKernel<Lanes<double, 2>>::find;

}  // namespace isotact::detail
