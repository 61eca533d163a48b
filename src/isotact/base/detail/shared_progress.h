// Progress of loops that run on many threads.
#pragma once

#include <cstdint>
#include <mutex>
#include <string_view>

#include "isotact/base/progress.h"

namespace isotact {

// Counts the work of all threads and calls the monitor from one thread at a time. The monitor and
// the task's name must outlive it.
class SharedProgress {
 public:
  SharedProgress(const Monitor& monitor, std::string_view task, std::uint64_t total)
      : monitor_(monitor), task_(task), total_(total) {}

  // Throws Cancelled if the cancel token was set.
  void advance(std::uint64_t by) {
    monitor_.check();
    if (!monitor_.on_progress) return;
    const std::lock_guard lock(mutex_);
    done_ += by;
    monitor_.report({.task = task_, .done = done_, .total = total_});
  }

 private:
  const Monitor& monitor_;
  std::string_view task_;
  std::uint64_t total_;
  std::mutex mutex_;
  std::uint64_t done_ = 0;
};

}  // namespace isotact
