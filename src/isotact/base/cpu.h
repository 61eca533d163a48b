// Which SIMD kernels run. The library is compiled for x86-64-v2; wider kernels lie beside the
// narrow ones and are chosen here, at run time. All give the same bits.
#pragma once

#include <string_view>

namespace isotact {

enum class SimdLevel {
  kBaseline,  // x86-64-v2 (SSE4.2), or whatever another processor's baseline is
  kAvx2,      // AVX2 and BMI2; never fused multiply-add, which rounds differently
};

// The widest level that both the processor and the environment variable ISOTACT_SIMD allow
// (baseline or avx2; anything else is ignored). Read once, at the first call.
SimdLevel simd_level();

// What the processor could do, whatever ISOTACT_SIMD says.
SimdLevel simd_level_of_cpu();

std::string_view name(SimdLevel level);

}  // namespace isotact
