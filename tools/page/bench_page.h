// The report: every table and figure of the papers, with the papers' numbers, ours and the peers'.
#pragma once

#include <string>
#include <vector>

#include "bench_results.h"

namespace isotact::tool {

struct BenchTally {
  std::size_t programs = 0, failed_programs = 0;  // failed: without a result, or part of it
  std::uint64_t checks = 0, failed_checks = 0;
};
BenchTally count_results(const std::vector<BenchRun>& runs);

// Writes FILE.html or FILE.md. One run a machine; `is_partial` where only some programs were asked
// for. Throws UsageError for other extensions, Error where it can not be written.
void write_bench_page(const std::string& file, const std::vector<BenchRun>& runs, bool is_partial);

}  // namespace isotact::tool
