// Loops over threads whose result never depends on the number of threads. The grain alone divides
// work into chunks, and reductions fold the chunks in their order.
#pragma once

#include <cassert>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {

// 0: as many as the machine has. 1: everything on the calling thread.
struct Threads {
  int count = 0;
};

// Returns the number of threads that a loop with this setting would use.
int resolve(Threads threads);

// "oneTBB 2021.8" or "std::thread".
const char* thread_backend();

namespace detail {
using ChunkBody = void (*)(void* context, std::size_t chunk);
// Calls body once for every chunk in [0, chunk_count), on up to `threads` threads. All chunks run
// even if some throw; then the exception of the lowest one is rethrown.
void run_chunks(std::size_t chunk_count, Threads threads, ChunkBody body, void* context);
void run_isolated(void (*body)(void* context), void* context);
}  // namespace detail

// Calls body(). While a loop in it waits for other threads, the calling thread takes up no chunks
// of loops outside of it. Hence body may run under a lock which such chunks take, too.
template <typename Body>
void run_isolated(Body&& body) {
  using Plain = std::remove_reference_t<Body>;
  detail::run_isolated([](void* context) { (*static_cast<Plain*>(context))(); },
                       const_cast<std::remove_const_t<Plain>*>(std::addressof(body)));
}

// Calls body(begin, end) for consecutive ranges of at most `grain` elements that cover [0, count).
// Ranges run in any order, at the same time: they must not write to the same memory. Loops may be
// nested. Cost: a few microseconds; choose a grain of 10 microseconds of work or more.
template <typename Body>
void parallel_for(std::size_t count, std::size_t grain, Threads threads, Body&& body) {
  assert(grain > 0);
  if (count == 0) return;
  struct Context {
    std::size_t count, grain;
    std::remove_reference_t<Body>* body;
  } context{count, grain, &body};
  detail::run_chunks((count - 1) / grain + 1, threads,
                     [](void* opaque, std::size_t chunk) {
                       auto& c = *static_cast<Context*>(opaque);
                       const std::size_t begin = chunk * c.grain;
                       const std::size_t left = c.count - begin;
                       (*c.body)(begin, begin + (left < c.grain ? left : c.grain));
                     },
                     &context);
}

// Folds map(begin, end) over the same ranges, from left to right, starting at `identity`:
// join(join(identity, map(first range)), map(second range)) ... Floating-point sums therefore have
// the same bits with any number of threads.
template <typename T, typename Map, typename Join>
T parallel_reduce(std::size_t count, std::size_t grain, Threads threads, T identity, Map&& map,
                  Join&& join) {
  assert(grain > 0);
  static_assert(!std::is_same_v<T, bool>, "std::vector<bool> packs bits: chunks would race");
  std::vector<T> parts(count == 0 ? 0 : (count - 1) / grain + 1, identity);
  parallel_for(count, grain, threads,
               [&](std::size_t begin, std::size_t end) { parts[begin / grain] = map(begin, end); });
  for (T& part : parts) identity = join(std::move(identity), std::move(part));
  return identity;
}

}  // namespace isotact
