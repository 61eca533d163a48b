// How programs of this folder measure: runs taken in turns, so that a noisy moment does not hit one
// contender alone, and medians of them.
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
  // Of all threads of this process, user and system: other work on the machine disturbs it less.
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

// The value below which the given part of the values lie; 0 without values.
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

struct Contender {
  std::function<void()> work;
  std::size_t runs = 1;  // slow ones may run less often
};

inline std::vector<Seconds> medians_of(const std::vector<Contender>& contenders) {
  std::size_t rounds = 0;
  for (const Contender& c : contenders) rounds = std::max(rounds, c.runs);
  std::vector<std::vector<Seconds>> times(contenders.size());
  for (std::size_t round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < contenders.size(); ++i)
      if (round < contenders[i].runs) times[i].push_back(seconds_of(contenders[i].work));
  std::vector<Seconds> result;
  result.reserve(times.size());
  for (const auto& runs : times) result.push_back(median(runs));
  return result;
}

}  // namespace isotact::bench
