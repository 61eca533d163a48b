// Seeds of random cases. ISOTACT_TEST_SEED changes them all, ISOTACT_TEST_CASES multiplies how many
// cases are run: fresh cases by the thousand, without a change to the tests. Shares of hits that
// tests expect hold for the usual seeds.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace isotact {

inline std::uint64_t test_seed(std::uint64_t usual) {
  const char* given = std::getenv("ISOTACT_TEST_SEED");
  return given == nullptr ? usual : usual + 1000 * std::strtoull(given, nullptr, 10);
}

inline int test_cases(int usual) {
  const char* given = std::getenv("ISOTACT_TEST_CASES");
  return given == nullptr ? usual : usual * std::atoi(given);
}

}  // namespace isotact
