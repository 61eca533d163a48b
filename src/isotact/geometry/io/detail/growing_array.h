// An array whose final size is not known while it grows. It grows by blocks instead of doubling
// one, so that it never needs more than its contents and one block, also while it becomes a vector.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace isotact::detail {

template <typename T>
class GrowingArray {
 public:
  // Where the final size is known: take() then moves instead of copying. Does nothing after the
  // first values, or another call: only the last block may have free places.
  void expect(std::size_t count) {
    if (count > 0 && blocks_.empty()) add_block(count);
  }
  void push_back(const T& value) {
    if (free_ == 0) add_block(next_block_size());
    blocks_.back().push_back(value);
    --free_;
  }
  void append(std::span<const T> values) {
    while (!values.empty()) {
      if (free_ == 0) add_block(next_block_size());
      const std::size_t count = std::min(free_, values.size());
      blocks_.back().insert(blocks_.back().end(), values.begin(),
                            values.begin() + static_cast<std::ptrdiff_t>(count));
      free_ -= count;
      values = values.subspan(count);
    }
  }
  std::size_t size() const { return capacity_ - free_; }

  // The contents, in a vector without slack; leaves this empty.
  std::vector<T> take() {
    std::vector<T> all;
    if (blocks_.size() == 1 && free_ == 0) {
      all = std::move(blocks_.front());
    } else {
      all.reserve(size());
      for (std::vector<T>& block : blocks_) {
        all.insert(all.end(), block.begin(), block.end());
        std::vector<T>().swap(block);
      }
    }
    *this = {};
    return all;
  }

 private:
  static constexpr std::size_t kSmallestBlock = 64;
  static constexpr std::size_t kLargestBlock = (std::size_t{1} << 20U) / sizeof(T);

  std::size_t next_block_size() const {
    return std::clamp(capacity_, kSmallestBlock, kLargestBlock);
  }
  void add_block(std::size_t count) {
    blocks_.emplace_back().reserve(count);
    free_ = count;
    capacity_ += count;
  }

  std::vector<std::vector<T>> blocks_;
  std::size_t capacity_ = 0;
  std::size_t free_ = 0;  // places left in the last block
};

}  // namespace isotact::detail
