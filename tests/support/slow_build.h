// Sizes of tests. Sanitizers make them ten times slower, and look at how code runs rather than at
// what it computes: under them, tests may take fewer or smaller cases of the same kinds.
#pragma once

namespace isotact {

#ifdef ISOTACT_SANITIZED
inline constexpr bool kSlowBuild = true;
#else
inline constexpr bool kSlowBuild = false;
#endif

// What a test takes, and what it takes under sanitizers.
template <typename T>
constexpr T unless_slow(T usual, T sanitized) {
  return kSlowBuild ? sanitized : usual;
}

}  // namespace isotact
