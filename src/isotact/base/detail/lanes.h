// N numbers that move through arithmetic together. Every operation rounds each lane as the scalar
// operation would. A formula written once over a lane type therefore gives the same bits for any
// width, plain float and double included. Everything is inlined by force: files that are compiled
// for different processors must not share a symbol of this header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#define ISOTACT_INLINE __attribute__((always_inline)) inline

namespace isotact::detail {

template <typename T, int N>
struct RawLanes;
template <>
struct RawLanes<float, 4> {
  typedef float Type __attribute__((vector_size(16)));
};
template <>
struct RawLanes<double, 2> {
  typedef double Type __attribute__((vector_size(16)));
};
#if defined(__AVX2__)
template <>
struct RawLanes<float, 8> {
  typedef float Type __attribute__((vector_size(32)));
};
template <>
struct RawLanes<double, 4> {
  typedef double Type __attribute__((vector_size(32)));
};
#endif

template <typename T, int N>
struct Lanes {
  using Raw = typename RawLanes<T, N>::Type;
  static constexpr int kWidth = N;

  Raw v;

  Lanes() = default;
  ISOTACT_INLINE Lanes(Raw raw) : v(raw) {}
  ISOTACT_INLINE Lanes(T scalar) : v(scalar - Raw{}) {}

  friend ISOTACT_INLINE Lanes operator+(Lanes a, Lanes b) { return a.v + b.v; }
  friend ISOTACT_INLINE Lanes operator-(Lanes a, Lanes b) { return a.v - b.v; }
  friend ISOTACT_INLINE Lanes operator*(Lanes a, Lanes b) { return a.v * b.v; }
  friend ISOTACT_INLINE Lanes operator/(Lanes a, Lanes b) { return a.v / b.v; }
  friend ISOTACT_INLINE Lanes operator-(Lanes a) { return -a.v; }
  friend ISOTACT_INLINE auto operator<(Lanes a, Lanes b) { return a.v < b.v; }
  friend ISOTACT_INLINE auto operator<=(Lanes a, Lanes b) { return a.v <= b.v; }
  friend ISOTACT_INLINE auto operator>(Lanes a, Lanes b) { return a.v > b.v; }
  friend ISOTACT_INLINE auto operator>=(Lanes a, Lanes b) { return a.v >= b.v; }
  friend ISOTACT_INLINE auto operator!=(Lanes a, Lanes b) { return a.v != b.v; }
};

// If a is a NaN, lesser and greater return b, as the SSE instructions do. (GCC 12 does not find
// those instructions by itself.)
template <typename T, int N>
ISOTACT_INLINE Lanes<T, N> lesser(Lanes<T, N> a, Lanes<T, N> b) {
#if defined(__AVX2__)
  if constexpr (sizeof(a) == 32 && sizeof(T) == 4) return _mm256_min_ps(a.v, b.v);
  if constexpr (sizeof(a) == 32 && sizeof(T) == 8) return _mm256_min_pd(a.v, b.v);
#endif
#if defined(__SSE2__)
  if constexpr (sizeof(a) == 16 && sizeof(T) == 4) return _mm_min_ps(a.v, b.v);
  if constexpr (sizeof(a) == 16 && sizeof(T) == 8) return _mm_min_pd(a.v, b.v);
#endif
  return a.v < b.v ? a.v : b.v;
}
template <typename T, int N>
ISOTACT_INLINE Lanes<T, N> greater(Lanes<T, N> a, Lanes<T, N> b) {
#if defined(__AVX2__)
  if constexpr (sizeof(a) == 32 && sizeof(T) == 4) return _mm256_max_ps(a.v, b.v);
  if constexpr (sizeof(a) == 32 && sizeof(T) == 8) return _mm256_max_pd(a.v, b.v);
#endif
#if defined(__SSE2__)
  if constexpr (sizeof(a) == 16 && sizeof(T) == 4) return _mm_max_ps(a.v, b.v);
  if constexpr (sizeof(a) == 16 && sizeof(T) == 8) return _mm_max_pd(a.v, b.v);
#endif
  return a.v > b.v ? a.v : b.v;
}
template <typename Mask, typename T, int N>
ISOTACT_INLINE Lanes<T, N> select(Mask mask, Lanes<T, N> a, Lanes<T, N> b) {
  return mask ? a.v : b.v;
}

template <typename T>
requires(sizeof(T) <= 8) ISOTACT_INLINE T lesser(T a, T b) { return a < b ? a : b; }
template <typename T>
requires(sizeof(T) <= 8) ISOTACT_INLINE T greater(T a, T b) { return a > b ? a : b; }
template <typename T>
requires(sizeof(T) <= 8) ISOTACT_INLINE T select(bool mask, T a, T b) { return mask ? a : b; }

template <typename T, int N>
ISOTACT_INLINE Lanes<T, N> square_root(Lanes<T, N> a) {
#if defined(__AVX2__)
  if constexpr (sizeof(a) == 32 && sizeof(T) == 4) return _mm256_sqrt_ps(a.v);
  if constexpr (sizeof(a) == 32 && sizeof(T) == 8) return _mm256_sqrt_pd(a.v);
#endif
#if defined(__SSE2__)
  if constexpr (sizeof(a) == 16 && sizeof(T) == 4) return _mm_sqrt_ps(a.v);
  if constexpr (sizeof(a) == 16 && sizeof(T) == 8) return _mm_sqrt_pd(a.v);
#endif
  for (int i = 0; i < N; ++i)
    a.v[i] = sizeof(T) == 4 ? static_cast<T>(__builtin_sqrtf(static_cast<float>(a.v[i])))
                            : static_cast<T>(__builtin_sqrt(a.v[i]));
  return a;
}

// Drops the fraction; for numbers that fit into an int.
template <typename T, int N>
ISOTACT_INLINE Lanes<T, N> truncate(Lanes<T, N> a) {
#if defined(__AVX2__)
  if constexpr (sizeof(a) == 32 && sizeof(T) == 4)
    return _mm256_cvtepi32_ps(_mm256_cvttps_epi32(a.v));
#endif
#if defined(__SSE2__)
  if constexpr (sizeof(a) == 16 && sizeof(T) == 4) return _mm_cvtepi32_ps(_mm_cvttps_epi32(a.v));
#endif
  for (int i = 0; i < N; ++i) a.v[i] = static_cast<T>(static_cast<int>(a.v[i]));
  return a;
}

// Drops the fraction and stores integers to memory, which need not be aligned; for numbers that
// fit.
template <int N>
ISOTACT_INLINE void store_truncated(Lanes<float, N> a, std::int32_t* to) {
#if defined(__AVX2__)
  if constexpr (N == 8) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_cvttps_epi32(a.v));
    return;
  }
#endif
#if defined(__SSE2__)
  if constexpr (N == 4) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_cvttps_epi32(a.v));
    return;
  }
#endif
  for (int i = 0; i < N; ++i) to[i] = static_cast<std::int32_t>(a.v[i]);
}

// Bit i is set if lane i of the mask is true.
template <typename Mask>
ISOTACT_INLINE unsigned bits_of(Mask mask) {
  if constexpr (std::is_arithmetic_v<Mask>) {
    return mask ? 1U : 0U;
#if defined(__AVX2__)
  } else if constexpr (sizeof(Mask) == 32 && sizeof(mask[0]) == 4) {
    return static_cast<unsigned>(_mm256_movemask_ps(reinterpret_cast<__m256>(mask)));
  } else if constexpr (sizeof(Mask) == 32 && sizeof(mask[0]) == 8) {
    return static_cast<unsigned>(_mm256_movemask_pd(reinterpret_cast<__m256d>(mask)));
#endif
#if defined(__SSE2__)
  } else if constexpr (sizeof(Mask) == 16 && sizeof(mask[0]) == 4) {
    return static_cast<unsigned>(_mm_movemask_ps(reinterpret_cast<__m128>(mask)));
  } else if constexpr (sizeof(Mask) == 16 && sizeof(mask[0]) == 8) {
    return static_cast<unsigned>(_mm_movemask_pd(reinterpret_cast<__m128d>(mask)));
#endif
  } else {
    unsigned bits = 0;
    for (unsigned i = 0; i < sizeof(Mask) / sizeof(mask[0]); ++i)
      bits |= (mask[i] != 0 ? 1U : 0U) << i;
    return bits;
  }
}

// Read from and write to memory, which need not be aligned.
template <typename L, typename T>
ISOTACT_INLINE L load(const T* from) {
  if constexpr (sizeof(L) == sizeof(T)) {
    return static_cast<L>(*from);
  } else {
    L lanes;
    __builtin_memcpy(&lanes.v, from, sizeof(lanes.v));
    return lanes;
  }
}
template <typename L, typename T>
ISOTACT_INLINE void store(const L& lanes, T* to) {
  __builtin_memcpy(to, &lanes, sizeof(lanes));
}

// Floats widened to doubles, which is exact.
template <typename L>
ISOTACT_INLINE L load_wide(const float* from) {
#if defined(__AVX2__)
  if constexpr (sizeof(L) == 32) return _mm256_cvtps_pd(_mm_loadu_ps(from));
#endif
#if defined(__SSE2__)
  if constexpr (sizeof(L) == 16)
    return _mm_cvtps_pd(_mm_castpd_ps(_mm_load_sd(reinterpret_cast<const double*>(from))));
#endif
  if constexpr (sizeof(L) == sizeof(double)) {
    return static_cast<double>(*from);
  } else {
    L lanes;
    for (int i = 0; i < L::kWidth; ++i) lanes.v[i] = static_cast<double>(from[i]);
    return lanes;
  }
}

// Small integers as floats, which is exact.
template <typename L>
ISOTACT_INLINE L load_bytes(const std::int8_t* from) {
#if defined(__AVX2__)
  if constexpr (L::kWidth == 8) {
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes));
  }
#endif
#if defined(__SSE4_1__)
  if constexpr (L::kWidth == 4) {
    int bytes;
    __builtin_memcpy(&bytes, from, sizeof(bytes));
    return _mm_cvtepi32_ps(_mm_cvtepi8_epi32(_mm_cvtsi32_si128(bytes)));
  }
#endif
  L lanes;
  for (int i = 0; i < L::kWidth; ++i) lanes.v[i] = static_cast<float>(from[i]);
  return lanes;
}

}  // namespace isotact::detail
