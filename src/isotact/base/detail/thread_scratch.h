// Scratch memory of a function that nobody reads after the call. Each thread keeps it for the next
// call: there are no allocations after the first calls, and the memory is still in the caches.
//
//   ThreadScratch<Work> work;
//   work->places.clear();
//
// It stays as large as the largest call made it. Nothing may depend on its contents. A nested call
// gets another object. This includes work of a parallel loop that the same thread takes on while it
// waits.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace isotact {

template <typename T>
class ThreadScratch {
 public:
  ThreadScratch() {
    Shelf& s = shelf();
    s.free.reserve(++s.lent);  // So that giving back does not allocate.
    if (s.free.empty()) {
      mine_ = std::make_unique<T>();
    } else {
      mine_ = std::move(s.free.back());
      s.free.pop_back();
    }
  }
  ~ThreadScratch() { shelf().give_back(std::move(mine_)); }
  ThreadScratch(const ThreadScratch&) = delete;
  ThreadScratch& operator=(const ThreadScratch&) = delete;

  T& operator*() const { return *mine_; }
  T* operator->() const { return mine_.get(); }

 private:
  struct Shelf {
    std::vector<std::unique_ptr<T>> free;
    std::size_t lent = 0;

    void give_back(std::unique_ptr<T> scratch) {
      --lent;
      free.push_back(std::move(scratch));
    }
  };
  static Shelf& shelf() {
    thread_local Shelf shelf;
    return shelf;
  }

  std::unique_ptr<T> mine_;
};

}  // namespace isotact
