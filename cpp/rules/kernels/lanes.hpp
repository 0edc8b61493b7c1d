// Vectors of 16 lanes, one rule per lane, and the qualities of 16 rules at once. Intrinsics replace
// portable vector extensions where compilers generate slow code.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "../scan.hpp"

namespace crosscut::CROSSCUT_LEVEL {
namespace {

constexpr std::size_t W = rules::group_lanes;

template <class T> struct Lanes {
  typedef T V __attribute__((vector_size(sizeof(T) * W)));
};
using F = Lanes<float>::V;
using I = Lanes<std::int32_t>::V;
typedef std::uint8_t Octets __attribute__((vector_size(32), aligned(1), may_alias));

template <class T, class From> typename Lanes<T>::V load(const From* p) {  // p need not be aligned
  typename Lanes<From>::V lanes;
  std::memcpy(&lanes, p, sizeof lanes);
  return __builtin_convertvector(lanes, typename Lanes<T>::V);
}
template <class T> void store(T* p, typename Lanes<T>::V lanes) {
  std::memcpy(p, &lanes, sizeof lanes);
}

// Compilers widen the bytes one by one.
template <> inline F load<float>(const std::uint8_t* p) {
#if defined(__AVX512F__)
  return _mm512_maskz_cvtepi32_ps(
      0xffff,
      _mm512_maskz_cvtepu8_epi32(0xffff, _mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
#elif defined(__AVX2__)
  __m256 half[2];
  for (int k = 0; k < 2; k++)
    half[k] = _mm256_cvtepi32_ps(
        _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p + 8 * k))));
  F lanes;
  std::memcpy(&lanes, half, sizeof lanes);
  return lanes;
#else
  F lanes;
  for (std::size_t l = 0; l < W; l++) lanes[l] = static_cast<float>(p[l]);
  return lanes;
#endif
}

template <class T> F to_float(typename Lanes<T>::V v) { return __builtin_convertvector(v, F); }

// The lanes in which a comparison holds, as bits.
inline std::uint32_t lanes_of(I mask) {
#if defined(__AVX512F__)
  __m512i m;
  std::memcpy(&m, &mask, sizeof m);
  return _mm512_test_epi32_mask(m, m);
#elif defined(__AVX2__)
  __m256 m[2];
  std::memcpy(m, &mask, sizeof m);
  return static_cast<std::uint32_t>(_mm256_movemask_ps(m[0])) |
         static_cast<std::uint32_t>(_mm256_movemask_ps(m[1])) << 8;
#else
  std::uint32_t lanes = 0;
  for (std::size_t l = 0; l < W; l++) lanes |= static_cast<std::uint32_t>(mask[l] & 1) << l;
  return lanes;
#endif
}

inline F max(F x, F y) { return x > y ? x : y; }
inline F min(F x, F y) { return x < y ? x : y; }

inline F none() { return F{} - __builtin_inff(); }

// Inserts a value per lane into the best values (width, stride), which ascend.
inline void insert(float* best, std::size_t width, std::size_t stride, F value) {
  for (std::size_t w = width; w-- > 0;) {
    const F kept = load<float>(best + w * stride);
    store(best + w * stride, max(kept, value));
    value = min(kept, value);
  }
}

inline float highest(F x) {
#if defined(__AVX512F__)
  return _mm512_reduce_max_ps(x);
#else
  float highest = x[0];
  for (std::size_t l = 1; l < W; l++) highest = x[l] > highest ? x[l] : highest;
  return highest;
#endif
}

// log2 with an error below 2e-5, without branches, for all lanes at once; 0 becomes about -127.
template <class X, class Bits> X quick_log2(X x, Bits bits) {
  std::memcpy(&bits, &x, sizeof bits);
  X exponent;
  if constexpr (sizeof x == sizeof(float)) exponent = static_cast<float>((bits >> 23) - 127);
  else exponent = __builtin_convertvector((bits >> 23) - 127, X);
  bits = (bits & 0x007fffff) | 0x3f800000;
  X m;
  std::memcpy(&m, &bits, sizeof m);
  return exponent +
         ((((0.0439286278f * m - 0.409475586f) * m + 1.61017755f) * m - 3.52021884f) * m +
          5.06975632f) *
             m -
         2.79415368f;
}
inline F quick_log2(F x) { return quick_log2(x, I{}); }
inline float quick_log2(float x) { return quick_log2(x, std::int32_t{}); }

// Whether rules that cover n, of which p is in a class, reach the quality `least`; for all lanes or
// one. For entropy it is a bound: minus entropy is at most log2(p / n) of the most frequent class.
template <rules::Kind kind, class X> auto reaches(X p, X n, X a, X b, X least) {
  if constexpr (kind == rules::Kind::ratio) return p + a >= least * (n + b);
  else if constexpr (kind == rules::Kind::linear) return p - n * a >= least;
  else if constexpr (kind == rules::Kind::foil)
    return p * (quick_log2(p) - quick_log2(n) - a) >= least;
  else return quick_log2(p) - quick_log2(n) >= least;
}

// The approximate quality of rules that cover n, of which p(c) is in class c; not for entropy.
template <rules::Kind kind, class P, class A> F quality_of(int n_classes, P p, A a, F n, F b) {
  F best{};
  for (int c = 0; c < n_classes; c++) {
    F value = p(c);
    if constexpr (kind == rules::Kind::ratio) value += a(c);
    else if constexpr (kind == rules::Kind::linear) value -= n * a(c);
    else value *= quick_log2(value) - quick_log2(n) - a(c);
    best = c == 0 ? value : max(best, value);
  }
  return kind == rules::Kind::ratio ? best / (n + b) : best;
}

}  // namespace
}  // namespace crosscut::CROSSCUT_LEVEL
