#include "isotact/queries/broad_phase/detail/box_tree_kernel.h"

namespace isotact::detail {

FindTreePairs find_tree_pairs_avx2() { return BoxTreeKernel<Lanes<float, 8>>::find_pairs; }

}  // namespace isotact::detail
