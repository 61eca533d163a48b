// Measurement in programs of this folder: contenders run alternately, so that noise does not affect
// one of them alone, and medians are taken.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <functional>
#include <vector>

namespace isotact::bench {

struct Seconds {
  double wall = 0;
  // All threads of this process, user and system: other work on the machine disturbs it less.
  double processor = 0;
};

inline Seconds seconds_of(const std::function<void()>& work) {
  const auto processor = [] {
    timespec time{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  const double processor_start = processor();
  const auto start = std::chrono::steady_clock::now();
  work();
  const auto end = std::chrono::steady_clock::now();
  return {std::chrono::duration<double>(end - start).count(), processor() - processor_start};
}

// Returns the value below which the given part of the values lie; 0 without values.
inline double quantile(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  const auto place = std::min(static_cast<std::size_t>(part * static_cast<double>(values.size())),
                              values.size() - 1);
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(place),
                   values.end());
  return values[place];
}

inline Seconds median(const std::vector<Seconds>& runs) {
  std::vector<double> wall, processor;
  for (const Seconds& run : runs) {
    wall.push_back(run.wall);
    processor.push_back(run.processor);
  }
  return {quantile(wall, 0.5), quantile(processor, 0.5)};
}

// Each runs at least once, then until it has used up its runs or its time.
struct Contender {
  std::function<void()> work;
  std::size_t max_runs = 7;
  double max_seconds = 2;  // By the clock.
};

inline std::vector<Seconds> medians_of(const std::vector<Contender>& contenders) {
  std::vector<std::vector<Seconds>> times(contenders.size());
  std::vector<double> used(contenders.size());
  for (bool is_running = true; is_running;) {
    is_running = false;
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      const Contender& c = contenders[i];
      if (!times[i].empty() && (times[i].size() >= c.max_runs || used[i] >= c.max_seconds))
        continue;
      times[i].push_back(seconds_of(c.work));
      used[i] += times[i].back().wall;
      is_running = true;
    }
  }
  std::vector<Seconds> result;
  result.reserve(times.size());
  for (const auto& runs : times) result.push_back(median(runs));
  return result;
}

}  // namespace isotact::bench
