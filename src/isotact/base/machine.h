// The machine: the SIMD kernels that it can run, and one rule for the memory that a build may use.
//
// The library is compiled for x86-64-v2. Wider kernels are compiled beside the narrow ones and are
// chosen here, at run time. All give the same bits.
#pragma once

#include <cstdint>
#include <string_view>

#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {

enum class SimdLevel {
  kBaseline,  // x86-64-v2 (SSE4.2), or the baseline of another processor.
  kAvx2,      // AVX2 and BMI2; never fused multiply-add, which rounds differently.
};

// Returns the widest level that both the processor and the environment variable ISOTACT_SIMD allow.
// The variable is baseline or avx2; other values are ignored. It is read once, at the first call.
SimdLevel simd_level();

// Returns the widest level of the processor, regardless of ISOTACT_SIMD.
SimdLevel simd_level_of_cpu();

std::string_view name(SimdLevel level);

// Returns the memory of the machine in bytes, or 0 if the system does not report them.
std::uint64_t physical_memory();

// Throws Error, with the figure, if `needed` bytes are more than `limit`. A limit of 0 stands for
// the memory of the machine. `needed` is a double, because a hostile lattice may ask for 2^93
// bytes.
void check_memory(double needed, std::uint64_t limit, std::string_view what);

}  // namespace isotact
