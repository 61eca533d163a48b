// The report: every table and figure of the papers, with the papers' numbers, ours and the peers'.
#pragma once

#include <string>
#include <vector>

#include "report/bench_results.h"

namespace isotact::tool {

struct BenchTally {
  // Failed: without a result, or without a part of it.
  std::size_t programs = 0, failed_programs = 0;
  std::uint64_t checks = 0, failed_checks = 0;
};
BenchTally count_results(const std::vector<BenchRun>& runs);

// Writes FILE.html or FILE.md. There is one run per machine. `is_partial`: only some programs were
// requested. Throws UsageError for other extensions, Error if it cannot be written.
void write_bench_page(const std::string& file, const std::vector<BenchRun>& runs, bool is_partial);

}  // namespace isotact::tool
