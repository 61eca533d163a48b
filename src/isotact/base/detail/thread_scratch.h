// What a function writes to while it runs and nobody reads afterwards, kept by each thread for the
// next call: no allocations after the first calls, and memory that is still in the caches.
//
//   ThreadScratch<Work> work;
//   work->places.clear();
//
// It stays as large as the largest call made it. Nothing may depend on what is in it. A call within
// a call gets another one, also where that is the work of a parallel loop which the same thread
// happens to take on while it waits.
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
    s.free.reserve(++s.lent);  // so that giving back does not allocate
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
