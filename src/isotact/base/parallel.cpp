#include "isotact/base/parallel.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>

#ifdef ISOTACT_THREADING_TBB
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/version.h>
#else
#include <atomic>
#include <system_error>
#endif

namespace isotact {
namespace {

// Keeps the exception of the lowest chunk, so the error that a user sees does not depend on which
// thread came first.
class FirstError {
 public:
  void keep(std::size_t chunk, std::exception_ptr error) {
    const std::scoped_lock lock(mutex_);
    if (chunk < chunk_) {
      chunk_ = chunk;
      error_ = std::move(error);
    }
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::size_t chunk_ = std::numeric_limits<std::size_t>::max();
  std::exception_ptr error_;
};

void run_one(std::size_t chunk, detail::ChunkBody body, void* context, FirstError& first_error) {
  try {
    body(context, chunk);
  } catch (...) {
    first_error.keep(chunk, std::current_exception());
  }
}

#ifdef ISOTACT_THREADING_TBB

void run_on_threads(std::size_t chunk_count, int threads, detail::ChunkBody body, void* context,
                    FirstError& first_error) {
  const auto loop = [&] {
    tbb::parallel_for(
        tbb::blocked_range<std::size_t>(0, chunk_count, 1),
        [&](const tbb::blocked_range<std::size_t>& range) {
          for (std::size_t i = range.begin(); i != range.end(); ++i)
            run_one(i, body, context, first_error);
        },
        tbb::simple_partitioner());
  };
  // A request for more than the host program allows would only cause a warning on stderr.
  const std::size_t allowed =
      tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
  threads = static_cast<int>(std::min(static_cast<std::size_t>(threads), allowed));
  if (threads == tbb::this_task_arena::max_concurrency()) {
    loop();
  } else {
    tbb::task_arena(threads).execute(loop);
  }
}

#else

void run_on_threads(std::size_t chunk_count, int threads, detail::ChunkBody body, void* context,
                    FirstError& first_error) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < chunk_count; i = next++)
      run_one(i, body, context, first_error);
  };
  std::vector<std::thread> helpers;
  try {
    for (int i = 1; i < threads; ++i) helpers.emplace_back(work);
  } catch (const std::system_error&) {
    // The system has no more threads to give: those that run, and this one, do all the work.
  }
  work();
  for (std::thread& helper : helpers) helper.join();
}

#endif

}  // namespace

int resolve(Threads threads) {
  if (threads.count > 0) return threads.count;
#ifdef ISOTACT_THREADING_TBB
  return tbb::this_task_arena::max_concurrency();
#else
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
#endif
}

#define ISOTACT_TEXT_OF(x) #x
#define ISOTACT_TEXT(x) ISOTACT_TEXT_OF(x)

const char* thread_backend() {
#ifdef ISOTACT_THREADING_TBB
  return "oneTBB " ISOTACT_TEXT(TBB_VERSION_MAJOR) "." ISOTACT_TEXT(TBB_VERSION_MINOR);
#else
  return "std::thread";
#endif
}

void detail::run_isolated(void (*body)(void* context), void* context) {
#ifdef ISOTACT_THREADING_TBB
  tbb::this_task_arena::isolate([&] { body(context); });
#else
  body(context);
#endif
}

void detail::run_chunks(std::size_t chunk_count, Threads threads, ChunkBody body, void* context) {
  FirstError first_error;
  const int wanted = static_cast<int>(
      std::min<std::size_t>(static_cast<std::size_t>(resolve(threads)), chunk_count));
  if (wanted <= 1) {
    for (std::size_t i = 0; i < chunk_count; ++i) run_one(i, body, context, first_error);
  } else {
    run_on_threads(chunk_count, wanted, body, context, first_error);
  }
  first_error.rethrow();
}

}  // namespace isotact
