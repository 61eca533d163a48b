#include "isotact/base/cpu.h"

#include <cstdlib>

namespace isotact {

SimdLevel simd_level_of_cpu() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")) return SimdLevel::kAvx2;
#endif
  return SimdLevel::kBaseline;
}

SimdLevel simd_level() {
  static const SimdLevel level = [] {
    const char* wanted = std::getenv("ISOTACT_SIMD");
    if (wanted != nullptr && std::string_view(wanted) == name(SimdLevel::kBaseline))
      return SimdLevel::kBaseline;
    return simd_level_of_cpu();
  }();
  return level;
}

std::string_view name(SimdLevel level) { return level == SimdLevel::kAvx2 ? "avx2" : "baseline"; }

}  // namespace isotact
