// Ends a fuzzer with a message where what must hold does not.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace isotact::fuzz {

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

}  // namespace isotact::fuzz
