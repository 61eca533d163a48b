#include "isotact/queries/broad_phase/detail/box_tree_kernel.h"

namespace isotact::detail {

FindTreePairs find_tree_pairs_baseline() { return BoxTreeKernel<Lanes<float, 4>>::find_pairs; }

FindTreePairs choose_find_tree_pairs([[maybe_unused]] SimdLevel level) {
#if defined(ISOTACT_HAS_AVX2_KERNELS)
  if (level == SimdLevel::kAvx2) return find_tree_pairs_avx2();
#endif
  return find_tree_pairs_baseline();
}

}  // namespace isotact::detail
