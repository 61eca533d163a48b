#include "isotact/base/machine.h"

#include <cstdlib>

#include <fmt/format.h>
#include <unistd.h>

#include "isotact/base/error.h"

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

std::uint64_t physical_memory() {
#if defined(_SC_PHYS_PAGES)
  const long pages = ::sysconf(_SC_PHYS_PAGES), size = ::sysconf(_SC_PAGESIZE);
  if (pages > 0 && size > 0)
    return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size);
#endif
  return 0;
}

void check_memory(double needed, std::uint64_t limit, std::string_view what) {
  constexpr double kMega = 1e6;
  if (limit != 0) {
    if (needed <= static_cast<double>(limit)) return;
    throw Error(fmt::format("{} would need {:.1f} MB, more than the limit of {:.1f} MB", what,
                            needed / kMega, static_cast<double>(limit) / kMega));
  }
  const auto machine = static_cast<double>(physical_memory());
  if (machine == 0 || needed <= machine) return;
  throw Error(fmt::format("{} would need {:.0f} MB, more than the {:.0f} MB of this machine", what,
                          needed / kMega, machine / kMega));
}

}  // namespace isotact
