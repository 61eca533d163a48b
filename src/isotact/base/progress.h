// Progress reports of long operations, and their cancellation.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {

struct ProgressReport {
  std::string_view task;  // "reading bunny.obj"
  std::uint64_t done = 0;
  std::uint64_t total = 0;  // 0: unknown.
};

// Any thread may set it; the operation notices soon and throws Cancelled.
class CancelToken {
 public:
  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  bool is_cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> cancelled_{false};
};

// The progress callback and cancel token of a long operation; both may be empty. on_progress is
// called from one thread at a time, which need not be the caller's. It must not throw.
struct Monitor {
  std::function<void(const ProgressReport&)> on_progress{};
  const CancelToken* cancel = nullptr;

  void report(const ProgressReport& r) const {
    if (on_progress) on_progress(r);
  }
  // Throws Cancelled if the cancel token was set.
  void check() const;
};

// A bar on stderr with rate and remaining time, redrawn at most ten times per second. It is silent
// if stderr is not a terminal, so logs and pipes stay clean.
class ProgressBar {
 public:
  enum class When { kOnTerminal, kAlways, kNever };
  explicit ProgressBar(When when = When::kOnTerminal);
  ~ProgressBar();  // Clears the line.
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // Returns a monitor that draws here; this bar must outlive it.
  Monitor monitor(const CancelToken* cancel = nullptr);
  void update(const ProgressReport& report);

 private:
  bool enabled_;
  bool drawn_ = false;
  std::string task_;
  double task_start_ = 0, last_draw_ = 0;  // seconds of a steady clock
};

// Returns the line that a bar draws, without the carriage return: "task [=====>    ] 42% 1.2M/s 3 s
// left".
std::string format_progress(const ProgressReport& report, double elapsed_seconds);

}  // namespace isotact
