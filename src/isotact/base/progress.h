// How long operations speak while they run, and how they are stopped.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace isotact {

struct ProgressReport {
  std::string_view task;  // "reading bunny.obj"
  std::uint64_t done = 0;
  std::uint64_t total = 0;  // 0: unknown
};

// Set from any thread; the operation notices soon and throws Cancelled.
class CancelToken {
 public:
  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  bool is_cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> cancelled_{false};
};

// What a long operation takes: both parts may be empty. on_progress is called from one thread at a
// time, not necessarily the caller's, and must not throw.
struct Monitor {
  std::function<void(const ProgressReport&)> on_progress{};
  const CancelToken* cancel = nullptr;

  void report(const ProgressReport& r) const {
    if (on_progress) on_progress(r);
  }
  // Throws Cancelled where that was asked for.
  void check() const;
};

// A bar with rate and time left on stderr, redrawn at most ten times a second. Silent where stderr
// is not a terminal, so that logs and pipes stay clean.
class ProgressBar {
 public:
  enum class When { kOnTerminal, kAlways, kNever };
  explicit ProgressBar(When when = When::kOnTerminal);
  ~ProgressBar();  // wipes the line
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // A monitor that draws here; this bar must outlive it.
  Monitor monitor(const CancelToken* cancel = nullptr);
  void update(const ProgressReport& report);

 private:
  using Clock = std::chrono::steady_clock;

  bool enabled_;
  bool drawn_ = false;
  std::string task_;
  Clock::time_point task_start_{};
  Clock::time_point last_draw_{};
};

// The line that a bar draws, without the carriage return: "task [=====>    ] 42% 1.2M/s 3 s left".
std::string format_progress(const ProgressReport& report, double elapsed_seconds);

}  // namespace isotact
