// How long work takes on the GPU.
#pragma once

#include <chrono>
#include <vector>

#include "measure.h"

namespace isotact::bench {

// Milliseconds by the GPU's own clock: `run` does the work and returns them. A GPU that was idle
// runs slowly for some tenths of a second, up to eight times so: the median of the last half of
// half a second's runs is taken, and of 11 at least. (Software takes as long at once; there, 3 are
// enough.)
template <typename Run>
double steady_milliseconds(const Run& run, bool software) {
  std::vector<double> times;
  const auto start = std::chrono::steady_clock::now();
  const auto enough = [&] {
    if (software) return times.size() >= 3;
    return times.size() >= 22 &&
           std::chrono::steady_clock::now() - start > std::chrono::milliseconds(500);
  };
  while (!enough()) times.push_back(run());
  times.erase(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
  return quantile(times, 0.5);
}

}  // namespace isotact::bench
