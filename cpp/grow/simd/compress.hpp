// Copies selected elements of an array one after the other. Bit i % 64 of words[i / 64] selects
// element i.
#pragma once
#include "lanes.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// Bit i of 64 numbers: p[i] is not 0.
CC_INLINE u64 not_zero(const u16* p) {
  u64 bits = 0;
#if defined(__AVX512BW__)
  for (int i = 0; i < 64; i += 32) {
    const __m512i x = _mm512_loadu_si512(p + i);
    bits |= static_cast<u64>(_mm512_test_epi16_mask(x, x)) << i;
  }
#elif defined(__SSE2__)
  for (int i = 0; i < 64; i += 16) {
    const auto zero = [&](int at) {
      const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + i + at));
      return _mm_cmpeq_epi16(x, _mm_setzero_si128());
    };
    const int zeros = _mm_movemask_epi8(_mm_packs_epi16(zero(0), zero(8)));
    bits |= static_cast<u64>(~zeros & 0xffff) << i;
  }
#else
  for (int i = 0; i < 64; i++) bits |= static_cast<u64>(p[i] != 0) << i;
#endif
  return bits;
}

#if defined(__AVX2__)
// For every set of eight places: the shuffle that moves them to the front.
struct Shuffles {
  alignas(64) u64 of[256];
  constexpr Shuffles() : of() {
    for (u32 set = 0; set < 256; set++)
      for (u64 place = 0, to = 0; place < 8; place++)
        if (set >> place & 1) of[set] |= place << 8 * to++;
  }
};
inline constexpr Shuffles kShuffles;

// Writes eight elements, of which those of `set` come first.
template <class T> CC_INLINE void compress_eight(const T* from, u32 set, T* to) {
  const __m128i shuffle = _mm_cvtsi64_si128(static_cast<long long>(kShuffles.of[set]));
  if constexpr (sizeof(T) == 1) {
    const __m128i v = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_shuffle_epi8(v, shuffle));
  } else if constexpr (sizeof(T) == 2) {
    const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    const __m128i twice = _mm_slli_epi16(_mm_cvtepu8_epi16(shuffle), 1);
    const __m128i bytes =
        _mm_or_si128(_mm_or_si128(twice, _mm_slli_epi16(twice, 8)), _mm_set1_epi16(1 << 8));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_shuffle_epi8(v, bytes));
  } else {
    const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm256_permutevar8x32_epi32(v, _mm256_cvtepu8_epi32(shuffle)));
  }
}
#endif

// `end` is where the selected ones of n elements end; nothing behind it is written.
// (AVX-512's compress instructions gain at most 9% of growing on large tables.)
template <class T>
void compress(const T* from, u32 n, const u64* words, T* to, [[maybe_unused]] const T* end) {
  u32 w = 0;
#if defined(__AVX2__)
  for (; w < n / 64 && end - to >= 64; w++) {
    const T* at = from + std::size_t{64} * w;
    for (u64 bits = words[w], i = 0; i < 8; i++, bits >>= 8) {
      compress_eight(at + 8 * i, bits & 255, to);
      to += __builtin_popcountll(bits & 255);
    }
  }
#endif
  for (; 64 * w < n; w++)
    for (u64 m = words[w]; m; m &= m - 1)
      *to++ = from[std::size_t{64} * w + static_cast<u32>(__builtin_ctzll(m))];
}

}  // namespace crosscut::CROSSCUT_LEVEL
