// What Debian 12's emscripten, whose standard library is of 2022, lacks of C++20. Only what we use.
#pragma once

#include <atomic>
#include <bit>

// NOLINTBEGIN(cert-dcl58-cpp): only where it is missing
#if !defined(__cpp_lib_bit_cast)
namespace std {
template <typename To, typename From>
constexpr To bit_cast(const From& from) noexcept {
  return __builtin_bit_cast(To, from);
}
}  // namespace std
#endif

#if !defined(__cpp_lib_atomic_ref)
namespace std {
template <typename T>
class atomic_ref {
 public:
  explicit atomic_ref(T& value) : value_(value) {}
  void store(T value, memory_order order) const {
    __atomic_store_n(&value_, value, static_cast<int>(order));
  }

 private:
  T& value_;
};
}  // namespace std
#endif
// NOLINTEND(cert-dcl58-cpp)
