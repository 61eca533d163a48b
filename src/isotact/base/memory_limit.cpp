#include "isotact/base/memory_limit.h"

#include <fmt/format.h>
#include <unistd.h>

#include "isotact/base/error.h"

namespace isotact {

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
