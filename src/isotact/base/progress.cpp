#include "isotact/base/progress.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

#include "isotact/base/error.h"

namespace isotact {
namespace {

std::string format_rate(double per_second) {
  if (per_second >= 1e9) return fmt::format("{:.1f}G/s", per_second / 1e9);
  if (per_second >= 1e6) return fmt::format("{:.1f}M/s", per_second / 1e6);
  if (per_second >= 1e3) return fmt::format("{:.1f}k/s", per_second / 1e3);
  return fmt::format("{:.1f}/s", per_second);
}

std::string format_seconds(double seconds) {
  if (seconds >= 5400) return fmt::format("{:.1f} h", seconds / 3600);
  if (seconds >= 90) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.0f} s", seconds);
}

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool stderr_is_terminal() { return isatty(STDERR_FILENO) == 1; }

}  // namespace

void Monitor::check() const {
  if (cancel != nullptr && cancel->is_cancelled()) throw Cancelled();
}

std::string format_progress(const ProgressReport& report, double elapsed_seconds) {
  constexpr int kWidth = 24;
  const auto done = static_cast<double>(report.done);
  const double rate = elapsed_seconds > 0 ? done / elapsed_seconds : 0;
  if (report.total == 0)
    return fmt::format("{} {} {}", report.task, report.done, format_rate(rate));
  const double share = std::clamp(done / static_cast<double>(report.total), 0.0, 1.0);
  const int filled = static_cast<int>(share * kWidth);
  std::string bar(static_cast<std::size_t>(filled), '=');
  if (filled < kWidth) bar += '>';
  bar.resize(kWidth, ' ');
  std::string line =
      fmt::format("{} [{}] {:3.0f}% {}", report.task, bar, 100 * share, format_rate(rate));
  if (rate > 0 && share < 1)
    line +=
        fmt::format(" {} left", format_seconds((static_cast<double>(report.total) - done) / rate));
  return line;
}

ProgressBar::ProgressBar(When when)
    : enabled_(when == When::kAlways || (when == When::kOnTerminal && stderr_is_terminal())) {}

ProgressBar::~ProgressBar() {
  if (drawn_) std::fputs("\r\x1b[K", stderr);
}

Monitor ProgressBar::monitor(const CancelToken* cancel) {
  Monitor m{.cancel = cancel};
  if (enabled_) m.on_progress = [this](const ProgressReport& r) { update(r); };
  return m;
}

void ProgressBar::update(const ProgressReport& report) {
  if (!enabled_) return;
  const double now = steady_seconds();
  if (report.task != task_) {
    task_ = report.task;
    task_start_ = now;
  } else if (now - last_draw_ < 0.1 && report.done != report.total) {
    return;
  }
  last_draw_ = now;
  fmt::print(stderr, "\r{}\x1b[K",
             without_control_codes(format_progress(report, now - task_start_)));
  std::fflush(stderr);
  drawn_ = true;
}

}  // namespace isotact
