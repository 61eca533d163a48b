// The bytes of a world's snapshot: values one after the other, without padding between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "isotact/base/error.h"

namespace isotact::detail {

class SnapshotWriter {
 public:
  template <typename T>
  void add(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* from = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), from, from + sizeof(T));
  }
  template <typename T>
  void add_all(const std::vector<T>& values) {
    add(static_cast<std::uint64_t>(values.size()));
    for (const T& v : values) add(v);
  }
  std::vector<std::byte> bytes;
};

// Throws Error if the bytes end too early.
class SnapshotReader {
 public:
  explicit SnapshotReader(std::span<const std::byte> bytes) : left_(bytes) {}
  template <typename T>
  T take() {
    static_assert(std::is_trivially_copyable_v<T>);
    if (left_.size() < sizeof(T)) throw Error("the snapshot is cut short");
    T value;
    std::memcpy(&value, left_.data(), sizeof(T));
    left_ = left_.subspan(sizeof(T));
    return value;
  }
  // Returns a count of items of that many bytes each. Throws Error if fewer bytes are left.
  std::uint64_t take_count(std::size_t bytes_each) {
    const auto n = take<std::uint64_t>();
    if (n > left_.size() / bytes_each) throw Error("the snapshot is cut short");
    return n;
  }
  // Reads as many as expected, if that is given.
  template <typename T>
  void take_all(std::vector<T>& values, std::optional<std::size_t> expected) {
    const std::uint64_t n = take_count(sizeof(T));
    if (expected && n != *expected) throw Error("the snapshot is one of other soft bodies");
    values.resize(n);
    for (T& v : values) v = take<T>();
  }
  bool is_done() const { return left_.empty(); }

 private:
  std::span<const std::byte> left_;
};

}  // namespace isotact::detail
