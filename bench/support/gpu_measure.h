// Time of work on the GPU.
#pragma once

#include <chrono>
#include <vector>

#include "measure.h"

namespace isotact::bench {

// Returns milliseconds by the GPU's own clock: `run` does the work and returns them. A GPU that was
// idle is slow for some tenths of a second, by up to eight times. The result is therefore the
// median of the last half of the runs within half a second, at least 11. (Software needs no such
// time; there, 3 runs suffice.)
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
