// Tasks as SIMD lanes: fixed-size vectors of float, double or counts with one lane per task. A
// row's bit mask selects lanes. Arithmetic uses the compiler's vector extension; only masks need
// intrinsics.
#pragma once
#include <cstdint>
#include <type_traits>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#define CC_INLINE inline __attribute__((always_inline))

namespace crosscut::CROSSCUT_LEVEL {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;

template <class T, int W> struct VecOf {
  typedef T type __attribute__((vector_size(sizeof(T) * W)));
};
template <class T> struct VecOf<T, 1> {
  typedef T type;
};
template <class T, int W> using Vec = typename VecOf<T, W>::type;

template <class T, int W> CC_INLINE Vec<T, W> all(T x) {
  if constexpr (W == 1) return x;
  else return Vec<T, W>{} + x;
}
template <class T, int W> CC_INLINE T lane(const Vec<T, W>& v, int k) {
  if constexpr (W == 1) {
    (void)k;
    return v;
  } else return v[k];
}
template <class T, int W> CC_INLINE void set_lane(Vec<T, W>& v, int k, T x) {
  if constexpr (W == 1) {
    (void)k;
    v = x;
  } else v[k] = x;
}

// 1 in the lanes of the mask, 0 elsewhere.
template <class T, int W> CC_INLINE Vec<T, W> ones(u32 mask) {
  if constexpr (W == 1) {
    return static_cast<T>(mask & 1);
  } else {
#if defined(__AVX512VL__)
    if constexpr (std::is_same_v<T, float> && W == 16)
      return (Vec<T, W>)_mm512_maskz_mov_ps(static_cast<__mmask16>(mask), _mm512_set1_ps(1));
    else if constexpr (std::is_same_v<T, float> && W == 8)
      return (Vec<T, W>)_mm256_maskz_mov_ps(static_cast<__mmask8>(mask), _mm256_set1_ps(1));
    else if constexpr (std::is_same_v<T, u16> && W == 16)
      return (Vec<T, W>)_mm256_maskz_set1_epi16(static_cast<__mmask16>(mask), 1);
    else if constexpr (std::is_same_v<T, u16> && W == 8)
      return (Vec<T, W>)_mm_maskz_set1_epi16(static_cast<__mmask8>(mask), 1);
    else if constexpr (std::is_same_v<T, u32> && W == 16)
      return (Vec<T, W>)_mm512_maskz_set1_epi32(static_cast<__mmask16>(mask), 1);
    else if constexpr (std::is_same_v<T, u32> && W == 8)
      return (Vec<T, W>)_mm256_maskz_set1_epi32(static_cast<__mmask8>(mask), 1);
    else if constexpr (std::is_same_v<T, double> && W == 8)
      return (Vec<T, W>)_mm512_maskz_mov_pd(static_cast<__mmask8>(mask), _mm512_set1_pd(1));
    else if constexpr (std::is_same_v<T, double> && W == 16) {
      union {
        Vec<T, W> v;
        __m512d h[2];
      } u;
      u.h[0] = _mm512_maskz_mov_pd(static_cast<__mmask8>(mask), _mm512_set1_pd(1));
      u.h[1] = _mm512_maskz_mov_pd(static_cast<__mmask8>(mask >> 8), _mm512_set1_pd(1));
      return u.v;
    } else
#endif
    {
#if defined(__AVX2__) && !defined(__AVX512VL__)
      if constexpr (std::is_same_v<T, u16>) {
        Vec<u16, W> bits;
        for (int k = 0; k < W; k++) bits[k] = static_cast<u16>(1u << k);
        return (Vec<u16, W>)(-((all<u16, W>(static_cast<u16>(mask)) & bits) == bits));
      }
      // compilers would split wider vectors lane by lane
      constexpr int n = (static_cast<int>(sizeof(T)) * W + 31) / 32;
      union {
        Vec<T, W> v;
        __m256i h[n];
      } u;
      for (int i = 0; i < n; i++) {
        if constexpr (sizeof(T) == 8) {
          const __m256i bits = _mm256_slli_epi64(_mm256_setr_epi64x(1, 2, 4, 8), 4 * i);
          const __m256i on =
              _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x(mask), bits), bits);
          u.h[i] = _mm256_and_si256(on, _mm256_castpd_si256(_mm256_set1_pd(1)));
        } else {
          const __m256i bits =
              _mm256_slli_epi32(_mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128), 8 * i);
          const __m256i on = _mm256_cmpeq_epi32(
              _mm256_and_si256(_mm256_set1_epi32(static_cast<int>(mask)), bits), bits);
          if constexpr (std::is_same_v<T, u32>) u.h[i] = _mm256_srli_epi32(on, 31);
          else u.h[i] = _mm256_and_si256(on, _mm256_castps_si256(_mm256_set1_ps(1)));
        }
      }
      return u.v;
#else
      using I = std::conditional_t<sizeof(T) == 8, std::int64_t,
                                   std::conditional_t<sizeof(T) == 4, std::int32_t, std::int16_t>>;
      Vec<I, W> bits;
      for (int k = 0; k < W; k++) bits[k] = static_cast<I>(I{1} << k);
      const Vec<I, W> on = (all<I, W>(static_cast<I>(mask)) & bits) == bits;  // −1 or 0
      if constexpr (std::is_same_v<T, u32> || std::is_same_v<T, u16>) return (Vec<T, W>)(-on);
      else return (Vec<T, W>)(on & (Vec<I, W>)all<T, W>(T{1}));
#endif
    }
  }
}

// The sum of the lanes, in all lanes.
template <class T, int W> CC_INLINE Vec<T, W> sum_of_lanes(const Vec<T, W>& v) {
#if defined(__AVX2__)
  if constexpr (std::is_same_v<T, u16>) {
    const auto four = [](__m128i x) {  // of each 64 bits, in all four places
      x = _mm_add_epi16(x, _mm_shuffle_epi32(x, 0xb1));
      return _mm_add_epi16(x, _mm_or_si128(_mm_slli_epi32(x, 16), _mm_srli_epi32(x, 16)));
    };
    __m128i sum;
    if constexpr (W == 16)
      sum = _mm_add_epi16(_mm256_castsi256_si128((__m256i)v),
                          _mm256_extracti128_si256((__m256i)v, 1));
    else sum = (__m128i)v;
    sum = four(_mm_add_epi16(sum, _mm_shuffle_epi32(sum, 0x4e)));
    if constexpr (W == 16) return (Vec<T, W>)_mm256_broadcastsi128_si256(sum);
    else return (Vec<T, W>)sum;
  }
#endif
  T sum = 0;
  for (int k = 0; k < W; k++) sum = static_cast<T>(sum + v[k]);
  return all<T, W>(sum);
}

// Bit k: a[k] > b[k].
template <class T, int W> CC_INLINE u32 greater(const Vec<T, W>& a, const Vec<T, W>& b) {
  if constexpr (W == 1) {
    return a > b;
  } else {
#if defined(__AVX512VL__)
    if constexpr (std::is_same_v<T, float> && W == 16)
      return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_GT_OQ);
    else if constexpr (std::is_same_v<T, float> && W == 8)
      return _mm256_cmp_ps_mask((__m256)a, (__m256)b, _CMP_GT_OQ);
    else if constexpr (std::is_same_v<T, double> && W == 8)
      return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_GT_OQ);
    else {
      union {
        Vec<T, W> v;
        __m512d h[2];
      } x, y;
      x.v = a;
      y.v = b;
      return static_cast<u32>(_mm512_cmp_pd_mask(x.h[0], y.h[0], _CMP_GT_OQ)) |
             static_cast<u32>(_mm512_cmp_pd_mask(x.h[1], y.h[1], _CMP_GT_OQ)) << 8;
    }
#elif defined(__AVX2__)
    constexpr int step = 32 / sizeof(T);
    union {
      Vec<T, W> v;
      __m256 f[sizeof(T) * W / 32];
      __m256d d[sizeof(T) * W / 32];
    } x, y;
    x.v = a;
    y.v = b;
    u32 bits = 0;
    for (int i = 0; i < W / step; i++)
      if constexpr (sizeof(T) == 4)
        bits |= static_cast<u32>(_mm256_movemask_ps(_mm256_cmp_ps(x.f[i], y.f[i], _CMP_GT_OQ)))
                << (i * step);
      else
        bits |= static_cast<u32>(_mm256_movemask_pd(_mm256_cmp_pd(x.d[i], y.d[i], _CMP_GT_OQ)))
                << (i * step);
    return bits;
#elif defined(__SSE2__)
    constexpr int step = 16 / sizeof(T);
    union {
      Vec<T, W> v;
      __m128 f[sizeof(T) * W / 16];
      __m128d d[sizeof(T) * W / 16];
    } x, y;
    x.v = a;
    y.v = b;
    u32 bits = 0;
    for (int i = 0; i < W / step; i++)
      if constexpr (sizeof(T) == 4)
        bits |= static_cast<u32>(_mm_movemask_ps(_mm_cmpgt_ps(x.f[i], y.f[i]))) << (i * step);
      else bits |= static_cast<u32>(_mm_movemask_pd(_mm_cmpgt_pd(x.d[i], y.d[i]))) << (i * step);
    return bits;
#else
    u32 bits = 0;
    for (int k = 0; k < W; k++) bits |= static_cast<u32>(a[k] > b[k]) << k;
    return bits;
#endif
  }
}

// Absolute values. Compilers would compare vectors wider than a register lane by lane.
template <int W> CC_INLINE Vec<double, W> magnitudes(const Vec<double, W>& v) {
  if constexpr (W == 1) return __builtin_fabs(v);
  else return (Vec<double, W>)((Vec<u64, W>)v & ~u64{0} >> 1);
}

// Square roots of positive numbers, too large by less than one in 5,000.
template <int W> CC_INLINE Vec<double, W> roots_above(Vec<double, W> x) {
  if constexpr (W == 1) {
    return __builtin_sqrt(x) * (1 + 1e-9);
  } else {
#if defined(__AVX512F__)
    union {
      Vec<double, W> v;
      __m512d h[W / 8];
    } inverse;
    inverse.v = x;
    // with an error below 2^-14; exact roots take four times as long
    for (__m512d& h : inverse.h) h = _mm512_rsqrt14_pd(h);
    return x * inverse.v * (1 + 0x1p-13);
#elif defined(__AVX2__)
    union {
      Vec<double, W> v;
      __m256d h[W / 4];
    } root;
    root.v = x;
    for (__m256d& h : root.h) h = _mm256_sqrt_pd(h);
    return root.v * (1 + 1e-9);
#else
    for (int k = 0; k < W; k++) x[k] = __builtin_sqrt(x[k]);
    return x * (1 + 1e-9);
#endif
  }
}

// Converts counts to floats or doubles.
template <class T, int W> CC_INLINE Vec<T, W> from_counts(const Vec<u32, W>& v) {
  if constexpr (W == 1) return static_cast<T>(v);
  else return __builtin_convertvector((Vec<std::int32_t, W>)v, Vec<T, W>);
}

// Reads the first n of eight counts; the others are 0.
CC_INLINE Vec<u32, 8> first_counts(const u32* from, int n) {
#if defined(__AVX512VL__)
  const auto mask = static_cast<__mmask8>(n < 8 ? (1u << n) - 1 : 0xff);
  return (Vec<u32, 8>)_mm256_maskz_loadu_epi32(mask, from);
#elif defined(__AVX2__)
  const __m256i places = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const __m256i mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(n), places);
  return (Vec<u32, 8>)_mm256_maskload_epi32(reinterpret_cast<const int*>(from), mask);
#else
  Vec<u32, 8> counts{};
  for (int i = 0; i < 8 && i < n; i++) counts[i] = from[i];
  return counts;
#endif
}

// Packs together the bits of `mask` that are set in `live`.
CC_INLINE u32 pack_bits(u32 mask, u32 live) {
#if defined(__BMI2__)
  return _pext_u32(mask, live);
#else
  u32 out = 0;
  for (int k = 0; live; live &= live - 1, k++) out |= (mask >> __builtin_ctz(live) & 1u) << k;
  return out;
#endif
}

CC_INLINE u64 pack_bits(u64 mask, u64 live) {
#if defined(__BMI2__)
  return _pext_u64(mask, live);
#else
  u64 out = 0;
  for (mask &= live; mask; mask &= mask - 1)
    out |= u64{1} << __builtin_popcountll(live & ((mask & -mask) - 1));
  return out;
#endif
}

// A set of bytes: bit h of low[l] stands for 16·h + l, bit h of high[l] for 16·(h + 8) + l.
struct ByteSet {
  alignas(16) u8 low[16] = {}, high[16] = {};

  void add(u32 x) { (x < 128 ? low : high)[x & 15] |= static_cast<u8>(1u << (x >> 4 & 7)); }
  CC_INLINE bool has(u8 x) const { return (x < 128 ? low : high)[x & 15] >> (x >> 4 & 7) & 1; }
  u32 size() const {
    u32 n = 0;
    for (int i = 0; i < 16; i++) n += static_cast<u32>(__builtin_popcount(low[i] | high[i] << 8));
    return n;
  }

  // Bit i of 64 bytes: is p[i] a member?
  CC_INLINE u64 members(const u8* p) const {
    u64 bits = 0;
#if defined(__AVX512BW__)
    const __m512i x = _mm512_loadu_si512(p), nibble = _mm512_set1_epi8(15);
    const auto lookup = [](const u8* table, __m512i at) {
      return _mm512_shuffle_epi8(
          _mm512_maskz_broadcast_i32x4(0xffff,
                                       _mm_load_si128(reinterpret_cast<const __m128i*>(table))),
          at);
    };
    const __m512i l = _mm512_and_si512(x, nibble);
    const __m512i h = _mm512_and_si512(_mm512_srli_epi16(x, 4), nibble);
    const __m512i row =
        _mm512_mask_blend_epi8(_mm512_movepi8_mask(x), lookup(low, l), lookup(high, l));
    bits = _mm512_test_epi8_mask(row, lookup(kBit, h));
#elif defined(__AVX2__)
    const auto lookup = [](const u8* table, __m256i at) {
      return _mm256_shuffle_epi8(
          _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(table))), at);
    };
    const __m256i nibble = _mm256_set1_epi8(15);
    for (int i = 0; i < 64; i += 32) {
      const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + i));
      const __m256i l = _mm256_and_si256(x, nibble);
      const __m256i h = _mm256_and_si256(_mm256_srli_epi16(x, 4), nibble);
      const __m256i row = _mm256_blendv_epi8(lookup(low, l), lookup(high, l), x),
                    bit = lookup(kBit, h);
      const __m256i in = _mm256_cmpeq_epi8(_mm256_and_si256(row, bit), bit);
      bits |= static_cast<u64>(static_cast<u32>(_mm256_movemask_epi8(in))) << i;
    }
#else
    for (int i = 0; i < 64; i++) bits |= static_cast<u64>(has(p[i])) << i;
#endif
    return bits;
  }

 private:
  alignas(16) static constexpr u8 kBit[16] = {1, 2, 4, 8, 16, 32, 64, 128,
                                              1, 2, 4, 8, 16, 32, 64, 128};
};

template <class F> CC_INLINE void each_bit(u32 bits, F f) {
  for (; bits; bits &= bits - 1) f(__builtin_ctz(bits));
}

}  // namespace crosscut::CROSSCUT_LEVEL
