// All kernels of this module, compiled with -mavx2. The driver of each, which also has the narrow
// kernel, chooses at run time. Include no header here whose inline functions other files share: the
// linker keeps one copy of each, and an AVX2 copy would crash the library on older processors.
#include "isotact/queries/broad_phase/detail/box_tree_kernel.h"
#include "isotact/queries/deformable/detail/object_tree_descent.h"
#include "isotact/queries/deformable/detail/object_tree_fit.h"
#include "isotact/queries/intersection/detail/intersection_kernel.h"
#include "isotact/queries/points/detail/shell_kernel.h"
#include "isotact/queries/segments/detail/batch_alone.h"
#include "isotact/queries/swept/detail/front_kernel.h"
#include "isotact/queries/swept/detail/swept_kernel.h"

namespace isotact::detail {
namespace {

using Wide = Lanes<float, 8>;

}  // namespace

FindTreePairs find_tree_pairs_avx2() { return BoxTreeKernel<Wide>::find_pairs; }

const TreeKernels kAvx2TreeKernels = {
    TreeFitKernel<Wide>::fit_part_boxes,
    TreeFitKernel<Wide>::fit_part,
    TreeFitKernel<Wide>::fit_top,
    TreeDescentKernel<Wide>::find<TreeEnds::kParts>,
    TreeDescentKernel<Wide>::find<TreeEnds::kLeaves>,
    TreeDescentKernel<Wide>::find<TreeEnds::kTriangles>,
};

const IdfKernels kAvx2IdfKernels = {IdfKernel<Wide>::project, IdfKernel<Wide>::filter,
                                    IdfKernel<Wide>::descend};

const ShellKernels& shell_kernels_avx2() {
  static const ShellKernels kernels = ShellKernel<Wide>::kernels();
  return kernels;
}

const BatchKernels kAvx2BatchKernels = {BatchKernel<Wide>::run, BatchAlone<Wide>::run};

const FrontKernels kAvx2FrontKernels = FrontKernel<Wide>::kAll;

unsigned find_touching_avx2(const FreeGrid& grid, const SphereLanes& spheres, const SweptTask& task,
                            SweptTimes& times) {
  return SweptKernel<Wide>::run(grid, spheres, task, times);
}

}  // namespace isotact::detail
