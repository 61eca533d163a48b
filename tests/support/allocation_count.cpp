#include "support/allocation_count.h"

#include <atomic>
#include <cstdlib>
#include <new>

#ifdef ISOTACT_SANITIZED
// Of sanitizer/allocator_interface.h, which gcc keeps out of the way.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void*,
                                                                           std::size_t),
                                                         void (*on_free)(const volatile void*));
#endif

namespace {

std::atomic<std::size_t> count{0};

#ifdef ISOTACT_SANITIZED
// Sanitizers have an allocator of their own, which tells of each call.
[[maybe_unused]] const int kInstalled = __sanitizer_install_malloc_and_free_hooks(
    [](const volatile void*, std::size_t) { ++count; }, [](const volatile void*) {});
#endif

}  // namespace

namespace isotact {

std::size_t allocation_count() { return count; }

}  // namespace isotact

#ifndef ISOTACT_SANITIZED
void* operator new(std::size_t size) {
  ++count;
  if (void* p = std::malloc(size == 0 ? 1 : size)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
#endif
