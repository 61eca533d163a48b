// Operations on lanes of the stages of segment_batch.h beyond arithmetic. They turn rows of memory
// into columns of lanes and back, and pack lanes to the end of a table.
#pragma once

#include "isotact/queries/segments/detail/segment_batch.h"

namespace isotact::detail {

template <typename F>
struct BatchLanes {
  static constexpr unsigned kLanes = F::kWidth;
  static constexpr unsigned kAll = (1U << kLanes) - 1;
  using Ints = decltype(F{} < F{});  // As many integers of 32 bits.

  static ISOTACT_INLINE Ints to_ints(F a) { return __builtin_convertvector(a.v, Ints); }
  static ISOTACT_INLINE F to_floats(Ints a) { return __builtin_convertvector(a, typename F::Raw); }
  static ISOTACT_INLINE Ints bits_as_ints(F a) { return reinterpret_cast<Ints>(a.v); }
  static ISOTACT_INLINE F bits_as_floats(Ints a) { return reinterpret_cast<typename F::Raw>(a); }
  static ISOTACT_INLINE F absolute(F a) { return greater(a, -a); }

#if defined(__AVX2__)
  static ISOTACT_INLINE void transpose(const __m256* r, F* column) {
    __m256 a[8], b[8];
    for (int i = 0; i < 8; i += 2) {
      a[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
      a[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
      b[i] = _mm256_shuffle_ps(a[i], a[i + 2], 0x44);
      b[i + 1] = _mm256_shuffle_ps(a[i], a[i + 2], 0xee);
      b[i + 2] = _mm256_shuffle_ps(a[i + 1], a[i + 3], 0x44);
      b[i + 3] = _mm256_shuffle_ps(a[i + 1], a[i + 3], 0xee);
    }
    for (int i = 0; i < 4; ++i) {
      column[i] = _mm256_permute2f128_ps(b[i], b[i + 4], 0x20);
      column[i + 4] = _mm256_permute2f128_ps(b[i], b[i + 4], 0x31);
    }
  }
#endif

  // column[k] has number k of each row.
  static ISOTACT_INLINE void load_columns(const float* const* row, F* column) {
#if defined(__AVX2__)
    if constexpr (kLanes == 8) {
      __m256 r[8];
      for (int i = 0; i < 8; ++i) r[i] = _mm256_loadu_ps(row[i]);
      transpose(r, column);
      return;
    }
#endif
    for (int k = 0; k < 8; ++k) {
      float numbers[kLanes];
      for (unsigned lane = 0; lane < kLanes; ++lane) numbers[lane] = row[lane][k];
      column[k] = load<F>(numbers);
    }
  }

  // Stores rows of eight, one after the other.
  static ISOTACT_INLINE void store_rows(const F* column, float* rows) {
#if defined(__AVX2__)
    if constexpr (kLanes == 8) {
      __m256 c[8];
      F row[8];
      for (int i = 0; i < 8; ++i) c[i] = column[i].v;
      transpose(c, row);
      for (int i = 0; i < 8; ++i) store(row[i], rows + 8 * i);
      return;
    }
#endif
    for (unsigned k = 0; k < 8; ++k) {
      float numbers[kLanes];
      store(column[k], numbers);
      for (unsigned lane = 0; lane < kLanes; ++lane) rows[8 * lane + k] = numbers[lane];
    }
  }

  // Loads the corrections at the corners of a cell in a SampleBlock, from one address per lane. Two
  // times eight bytes are read, of which 0, 1, 5 and 6 are used.
  static ISOTACT_INLINE void load_corner_bytes(const std::int8_t* const* from, F* corner) {
    constexpr std::size_t kSlice = kBlockNodes * kBlockNodes;
#if defined(__SSE4_1__)
    const __m128i wanted = _mm_setr_epi8(0, 1, 5, 6, 8, 9, 13, 14, -1, -1, -1, -1, -1, -1, -1, -1);
    __m128i r[kLanes], pair[kLanes / 2], four[kLanes / 2];
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      long long slice[2];
      __builtin_memcpy(&slice[0], from[lane], 8);
      __builtin_memcpy(&slice[1], from[lane] + kSlice, 8);
      r[lane] =
          _mm_shuffle_epi8(_mm_insert_epi64(_mm_cvtsi64_si128(slice[0]), slice[1], 1), wanted);
    }
    // Interleaves the bytes of lanes: of two, then of four.
    for (unsigned i = 0; i < kLanes / 2; ++i) pair[i] = _mm_unpacklo_epi8(r[2 * i], r[2 * i + 1]);
    for (unsigned i = 0; i < kLanes / 4; ++i) {
      four[2 * i] = _mm_unpacklo_epi16(pair[2 * i], pair[2 * i + 1]);  // Corners 0 to 3.
      four[2 * i + 1] = _mm_unpackhi_epi16(pair[2 * i], pair[2 * i + 1]);
    }
#if defined(__AVX2__)
    if constexpr (kLanes == 8) {
      for (unsigned half = 0; half < 2; ++half) {
        const __m128i low = _mm_unpacklo_epi32(four[half], four[half + 2]),
                      high = _mm_unpackhi_epi32(four[half], four[half + 2]);
        F* to = corner + 4 * half;
        to[0] = _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(low));
        to[1] = _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_srli_si128(low, 8)));
        to[2] = _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(high));
        to[3] = _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_srli_si128(high, 8)));
      }
      return;
    }
#endif
    if constexpr (kLanes == 4) {
      for (unsigned half = 0; half < 2; ++half) {
        const __m128i all = four[half];
        F* to = corner + 4 * half;
        to[0] = _mm_cvtepi32_ps(_mm_cvtepi8_epi32(all));
        to[1] = _mm_cvtepi32_ps(_mm_cvtepi8_epi32(_mm_srli_si128(all, 4)));
        to[2] = _mm_cvtepi32_ps(_mm_cvtepi8_epi32(_mm_srli_si128(all, 8)));
        to[3] = _mm_cvtepi32_ps(_mm_cvtepi8_epi32(_mm_srli_si128(all, 12)));
      }
      return;
    }
#endif
    for (unsigned k = 0; k < 8; ++k) {
      std::int8_t bytes[kLanes];
      for (unsigned lane = 0; lane < kLanes; ++lane)
        bytes[lane] = from[lane][(k & 1U) + (k >> 1U & 1U) * kBlockNodes + (k >> 2U) * kSlice];
      corner[k] = load_bytes<F>(bytes);
    }
  }

  // ---- packing --------------------------------------------------------------------------------

  // For each set of lanes, their numbers in order.
  struct Orders {
    std::uint8_t lane[1U << kLanes][8];

    constexpr Orders() : lane() {
      for (unsigned bits = 0; bits <= kAll; ++bits) {
        unsigned n = 0;
        for (unsigned i = 0; i < kLanes; ++i)
          if ((bits >> i & 1U) != 0) lane[bits][n++] = static_cast<std::uint8_t>(i);
      }
    }
  };
  static constexpr Orders kOrders{};

  static ISOTACT_INLINE Ints load_order(unsigned bits) {
    const std::uint8_t* from = kOrders.lane[bits];
#if defined(__AVX2__)
    if constexpr (kLanes == 8)
      return reinterpret_cast<Ints>(
          _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
#endif
    Ints order;
    for (unsigned i = 0; i < kLanes; ++i) order[i] = from[i];
    return order;
  }
  static ISOTACT_INLINE F permute(F a, Ints order) {
#if defined(__AVX2__)
    if constexpr (kLanes == 8)
      return _mm256_permutevar8x32_ps(a.v, reinterpret_cast<__m256i>(order));
#endif
#if defined(__SSE4_1__)
    if constexpr (kLanes == 4) {
      const Ints bytes = order * 0x04040404 + 0x03020100;
      return reinterpret_cast<typename F::Raw>(
          _mm_shuffle_epi8(reinterpret_cast<__m128i>(a.v), reinterpret_cast<__m128i>(bytes)));
    }
#endif
    F result;
    for (unsigned i = 0; i < kLanes; ++i) result.v[i] = a.v[order[i]];
    return result;
  }

  // Appends the lanes whose bits are set.
  template <std::size_t N>
  static ISOTACT_INLINE void push(BatchWork& w, Table<N>& table, unsigned bits, const F* number) {
    if (table.raw.size + kLanes > table.raw.capacity) w.grow(w, table.raw);
    const Ints order = load_order(bits);
    float* to = table.raw.data + table.raw.size;
    const std::size_t stride = table.raw.capacity;
    for (std::size_t k = 0; k < N; ++k, to += stride) store(permute(number[k], order), to);
    table.raw.size += static_cast<unsigned>(__builtin_popcount(bits));
  }

  // Fills a table to whole groups of lanes: entries after its end repeat the last item.
  template <std::size_t N>
  static ISOTACT_INLINE void pad(BatchWork& w, Table<N>& table) {
    const std::size_t n = table.raw.size;
    if (n == 0) return;
    if (n + kLanes > table.raw.capacity) {
      w.grow(w, table.raw);
      if (w.overflow) return;
    }
    for (std::size_t k = 0; k < N; ++k) store(F(table.column(k)[n - 1]), table.column(k) + n);
  }
  static ISOTACT_INLINE unsigned live_lanes(std::size_t size, std::size_t begin) {
    return size - begin < kLanes ? (1U << (size - begin)) - 1 : kAll;
  }
};

}  // namespace isotact::detail
