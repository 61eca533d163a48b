#include "isotact/queries/deformable/detail/object_tree_descent.h"
#include "isotact/queries/deformable/detail/object_tree_fit.h"

namespace isotact::detail {

const TreeKernels kBaselineTreeKernels = {
    TreeFitKernel<Lanes<float, 4>>::fit_part_boxes,
    TreeFitKernel<Lanes<float, 4>>::fit_part,
    TreeFitKernel<Lanes<float, 4>>::fit_top,
    TreeDescentKernel<Lanes<float, 4>>::find<TreeEnds::kParts>,
    TreeDescentKernel<Lanes<float, 4>>::find<TreeEnds::kLeaves>,
    TreeDescentKernel<Lanes<float, 4>>::find<TreeEnds::kTriangles>,
};

const TreeKernels& choose_tree_kernels([[maybe_unused]] SimdLevel level) {
#if defined(ISOTACT_HAS_AVX2_KERNELS)
  if (level == SimdLevel::kAvx2) return kAvx2TreeKernels;
#endif
  return kBaselineTreeKernels;
}

}  // namespace isotact::detail
