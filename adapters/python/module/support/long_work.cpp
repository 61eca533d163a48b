#include "long_work.h"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <thread>

namespace isotact::python {
namespace {

// What the worker says, and the caller shows.
struct Board {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false, news = false;
  std::string task;
  std::uint64_t count = 0, total = 0;
};

py::object choose_bar(const py::object& progress) {
  if (progress.is(py::bool_(false))) return py::none();
  if (progress.is_none() || progress.is(py::bool_(true)))
    return py::module_::import("isotact._progress").attr("make_bar")(progress);
  if (!PyCallable_Check(progress.ptr()))
    throw py::type_error(
        "progress: expected None, a truth value, or a callable that takes (task, "
        "done, total)");
  return progress;
}

void end(const py::object& bar) {
  if (!bar.is_none() && py::hasattr(bar, "close")) bar.attr("close")();
}

}  // namespace

void handle_signals() {
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

void run_long(const py::object& progress, const std::function<void(const Monitor&)>& work) {
  const py::object bar = choose_bar(progress);
  Board board;
  CancelToken token;
  Monitor monitor{.cancel = &token};
  if (!bar.is_none())
    monitor.on_progress = [&board](const ProgressReport& r) {
      const std::scoped_lock lock(board.mutex);
      board.task = r.task;
      board.count = r.done;
      board.total = r.total;
      board.news = true;
    };
  std::exception_ptr failure, interrupt;
  std::thread worker([&] {
    try {
      work(monitor);
    } catch (...) {
      failure = std::current_exception();
    }
    const std::scoped_lock lock(board.mutex);
    board.done = true;
    board.changed.notify_one();
  });
  constexpr auto kPause = std::chrono::milliseconds(50);
  for (bool done = false; !done;) {
    bool news = false;
    std::string task;
    std::uint64_t count = 0, total = 0;
    {
      const py::gil_scoped_release unlocked;
      std::unique_lock lock(board.mutex);
      board.changed.wait_for(lock, kPause, [&] { return board.done; });
      done = board.done;
      news = board.news;
      board.news = false;
      task = board.task;
      count = board.count;
      total = board.total;
    }
    if (interrupt) continue;  // Only waits for the end.
    try {
      handle_signals();
      if (news) bar(task, count, total);
    } catch (...) {
      interrupt = std::current_exception();
      token.cancel();
    }
  }
  {
    const py::gil_scoped_release unlocked;
    worker.join();
  }
  try {
    end(bar);
  } catch (...) {
    if (!interrupt) interrupt = std::current_exception();
  }
  if (interrupt) std::rethrow_exception(interrupt);
  if (failure) std::rethrow_exception(failure);
}

}  // namespace isotact::python
