#include "isotact/queries/deformable/detail/object_tree_descent.h"
#include "isotact/queries/deformable/detail/object_tree_fit.h"

namespace isotact::detail {

const TreeKernels kAvx2TreeKernels = {
    TreeFitKernel<Lanes<float, 8>>::fit_part_boxes,
    TreeFitKernel<Lanes<float, 8>>::fit_part,
    TreeFitKernel<Lanes<float, 8>>::fit_top,
    TreeDescentKernel<Lanes<float, 8>>::find<TreeEnds::kParts>,
    TreeDescentKernel<Lanes<float, 8>>::find<TreeEnds::kLeaves>,
    TreeDescentKernel<Lanes<float, 8>>::find<TreeEnds::kTriangles>,
};

}  // namespace isotact::detail
