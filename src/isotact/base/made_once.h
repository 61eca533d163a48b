// A value that is made when it is first asked for, once, whichever thread asks.
//
//   MadeOnce<Bvh> bvh;
//   const Bvh& b = bvh.get([&] { return Bvh(mesh); });
//
// Threads that ask while it is being made wait. Making it may run parallel loops, also if the
// threads that ask are chunks of one (run_isolated, parallel.h). It may ask for other values, as
// long as nothing asks in circles. If making it throws, the next thread tries again.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <utility>

#include "isotact/base/parallel.h"
#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {

template <typename T>
class MadeOnce {
 public:
  MadeOnce() = default;
  MadeOnce(const MadeOnce&) = delete;
  MadeOnce& operator=(const MadeOnce&) = delete;

  template <typename Make>
  const T& get(Make&& make) const {
    if (const T* made = made_.load(std::memory_order_acquire)) return *made;
    const std::scoped_lock lock(mutex_);
    if (!value_) {
      run_isolated([&] { value_.emplace(make()); });
      made_.store(&*value_, std::memory_order_release);
    }
    return *value_;
  }

  // Null before it is made.
  const T* find() const { return made_.load(std::memory_order_acquire); }

 private:
  mutable std::mutex mutex_;
  mutable std::optional<T> value_{};
  mutable std::atomic<const T*> made_{nullptr};
};

}  // namespace isotact
