// An object that one thread may use at a time. A second one gets an Error in place of a race.
#pragma once

#include <atomic>
#include <string>
#include <utility>

#include "isotact/base/error.h"

namespace isotact::python {

template <typename T>
class Exclusive {
 public:
  template <typename... Parts>
  explicit Exclusive(const char* name, Parts&&... parts)
      : name_(name), value_(std::forward<Parts>(parts)...) {}

  // The object, until the end of its use.
  class Use {
   public:
    explicit Use(const Exclusive& owner) : owner_(owner) {
      if (owner.busy_.exchange(true, std::memory_order_acquire))
        throw Error(std::string(owner.name_) +
                    " is in use: another thread, or a progress function, asked for it");
    }
    ~Use() { owner_.busy_.store(false, std::memory_order_release); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

    T* operator->() const { return &owner_.value_; }
    T& operator*() const { return owner_.value_; }

   private:
    const Exclusive& owner_;
  };
  Use use() const { return Use(*this); }

 private:
  const char* name_;
  mutable std::atomic<bool> busy_{false};
  mutable T value_;
};

}  // namespace isotact::python
