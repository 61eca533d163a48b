// Compiled with -mavx2. Include no header here whose inline functions other files share: the linker
// keeps one copy of each, and an AVX2 copy would crash the library on older processors.
#include "isotact/geometry/bvh/detail/closest_kernel.h"
#include "isotact/geometry/bvh/detail/pair_kernel.h"
#include "isotact/geometry/bvh/detail/ray_kernel.h"
#include "isotact/geometry/bvh/detail/winding_kernel.h"

namespace isotact::detail {

using Avx2Closest = ClosestKernel<Lanes<float, 8>, Lanes<double, 4>>;
using Avx2Ray = RayKernel<Lanes<float, 8>, Lanes<double, 4>>;

const BvhKernels kAvx2Kernels{&Avx2Closest::find, &Avx2Ray::find_first, &Avx2Ray::find_any,
                              &Avx2Ray::find_all};

FindNearestPair find_nearest_pair_avx2() {
  return &PairKernel<Lanes<float, 8>, Lanes<double, 4>>::find;
}

double (*const kAvx2Winding)(const WindingSearch&) = &WindingKernel<Lanes<double, 4>>::find;

}  // namespace isotact::detail
