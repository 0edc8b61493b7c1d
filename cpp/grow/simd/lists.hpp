// Sorted lists of the rows of a local table, one per column. Here lanes are consecutive cuts, not
// tasks. An entry holds all that a scan needs, so nothing is gathered: rank << 16 | class << 12 |
// row (the class only if there are at most kListClasses).
#pragma once
#include "lanes.hpp"

namespace crosscut::CROSSCUT_LEVEL {

constexpr u32 kRowMask = 0xfff;                 // a local table with lists has at most 4096 rows
constexpr u32 kRowWords = (kRowMask + 1) / 64;  // of a bit per row
// entries behind the end of a list that a scan may read; they name row 0
constexpr u32 kListRoom = 16;
#if defined(__AVX512VL__)
constexpr int kCuts = 16, kDoubles = 8;
#else
constexpr int kCuts = 8, kDoubles = 4;
#endif

// For every byte m, places: the positions of its set bits, then of the others; others: the other
// way round; counts: the number of set bits up to each position.
struct ByteTables {
  alignas(64) u8 places[256][8], others[256][8], counts[256][8];
};
constexpr ByteTables kBytes = [] {
  ByteTables t{};
  for (int m = 0; m < 256; m++) {
    int set = 0, rest = __builtin_popcount(static_cast<unsigned>(m));
    for (int k = 0; k < 8; k++) {
      if (m >> k & 1) t.places[m][set++] = static_cast<u8>(k);
      else t.places[m][rest++] = static_cast<u8>(k);
      t.counts[m][k] = static_cast<u8>(set);
    }
    for (int k = 0; k < 8; k++) t.others[m][k] = t.places[m][(k + set) % 8];
  }
  return t;
}();

// The classes of the next kCuts entries of a list.
struct Classes {
#if defined(__AVX512VL__)
  __m512i classes;
  explicit CC_INLINE Classes(const u32* list)
      : classes(_mm512_and_si512(_mm512_loadu_si512(list), _mm512_set1_epi32(0xf000))) {}
#elif defined(__AVX2__)
  __m256i classes;
  explicit CC_INLINE Classes(const u32* list)
      : classes(_mm256_and_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(list)),
                                 _mm256_set1_epi32(0xf000))) {}
#else
  const u32* list;
  explicit CC_INLINE Classes(const u32* l) : list(l) {}
#endif

  // Bit k: entry k has class c.
  CC_INLINE u32 are(u32 c) const {
#if defined(__AVX512VL__)
    return _mm512_cmpeq_epi32_mask(classes, _mm512_set1_epi32(static_cast<int>(c << 12)));
#elif defined(__AVX2__)
    return static_cast<u32>(_mm256_movemask_ps(_mm256_castsi256_ps(
        _mm256_cmpeq_epi32(classes, _mm256_set1_epi32(static_cast<int>(c << 12))))));
#else
    u32 bits = 0;
    for (int k = 0; k < kCuts; k++) bits |= static_cast<u32>((list[k] >> 12 & 15) == c) << k;
    return bits;
#endif
  }
};
CC_INLINE u32 of_class(const u32* list, u32 c) { return Classes(list).are(c); }

// Bit k: list[k] and list[k + 1] have different values.
CC_INLINE u32 value_changes(const u32* list) {
#if defined(__AVX512VL__)
  const __m512i both = _mm512_xor_si512(_mm512_loadu_si512(list), _mm512_loadu_si512(list + 1));
  return _mm512_test_epi32_mask(both, _mm512_set1_epi32(static_cast<int>(0xffff0000)));
#elif defined(__AVX2__)
  const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(list));
  const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(list + 1));
  const __m256i same =
      _mm256_cmpeq_epi32(_mm256_srli_epi32(_mm256_xor_si256(a, b), 16), _mm256_setzero_si256());
  return ~static_cast<u32>(_mm256_movemask_ps(_mm256_castsi256_ps(same))) & 0xff;
#else
  u32 bits = 0;
  for (int k = 0; k < kCuts; k++) bits |= static_cast<u32>(list[k] >> 16 != list[k + 1] >> 16) << k;
  return bits;
#endif
}

// Loads the start of list j of a node. If the lists of all columns exceed the cache, each is read
// from memory, and the processor does not foresee where the next one starts. This makes trees of
// 20,000 columns 1.4 times faster.
CC_INLINE void prefetch_list(const u32* const* lists, int j, int n_columns, u32 n) {
  constexpr std::size_t kCached = std::size_t{1} << 18;
  constexpr u32 kStart = 1024, kLine = 16;
  if (j >= n_columns || static_cast<std::size_t>(n_columns) * n < kCached) return;
  for (u32 i = 0; i < std::min(n, kStart); i += kLine) __builtin_prefetch(lists[j] + i);
}

// The number of distinct values in the n entries of a list.
CC_INLINE u32 n_values(const u32* list, u32 n) {
  u32 n_distinct = 1;
  for (u32 i = 0; i + 1 < n; i += kCuts) {
    const u32 left = n - 1 - i;
    n_distinct += static_cast<u32>(
        __builtin_popcount(value_changes(list + i) & (left < kCuts ? (1u << left) - 1 : ~0u)));
  }
  return n_distinct;
}

// Prefix sums: v[0], v[0] + v[1], …
CC_INLINE Vec<double, kDoubles> running_sum(Vec<double, kDoubles> v) {
#if defined(__AVX512VL__)
  const Vec<double, 8> none{};
  v += __builtin_shufflevector(v, none, 8, 0, 1, 2, 3, 4, 5, 6);
  v += __builtin_shufflevector(v, none, 8, 8, 0, 1, 2, 3, 4, 5);
  return v + __builtin_shufflevector(v, none, 8, 8, 8, 8, 0, 1, 2, 3);
#elif defined(__AVX2__)
  __m256d x = (__m256d)v;
  x = _mm256_add_pd(x, _mm256_castsi256_pd(_mm256_slli_si256(_mm256_castpd_si256(x), 8)));
  return (Vec<double, 4>)_mm256_add_pd(
      x, _mm256_blend_pd(_mm256_setzero_pd(), _mm256_permute4x64_pd(x, 0x55), 0xc));
#else
  for (int k = 1; k < kDoubles; k++) v[k] += v[k - 1];
  return v;
#endif
}

// The number of set bits up to each position.
CC_INLINE Vec<float, kCuts> bit_counts(u32 bits) {
#if defined(__AVX512VL__)
  const __m128i low = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(kBytes.counts[bits & 0xff]));
  const __m128i high = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(kBytes.counts[bits >> 8]));
  const __m128i both = _mm_unpacklo_epi64(
      low, _mm_add_epi8(high, _mm_set1_epi8(static_cast<char>(kBytes.counts[bits & 0xff][7]))));
  return (Vec<float, 16>)_mm512_maskz_cvtepi32_ps(0xffff, _mm512_maskz_cvtepu8_epi32(0xffff, both));
#elif defined(__AVX2__)
  return (Vec<float, 8>)_mm256_cvtepi32_ps(
      _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(kBytes.counts[bits]))));
#else
  Vec<float, kCuts> v;
  for (int k = 0; k < kCuts; k++) v[k] = kBytes.counts[bits][k];
  return v;
#endif
}

// Broadcasts the last element.
template <class V> CC_INLINE V last_of(V v) {
  constexpr int W = sizeof v / sizeof v[0];
  if constexpr (W == 4) return __builtin_shufflevector(v, v, 3, 3, 3, 3);
  else if constexpr (W == 8) return __builtin_shufflevector(v, v, 7, 7, 7, 7, 7, 7, 7, 7);
  else
    return __builtin_shufflevector(v, v, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,
                                   15);
}

// The position of the largest element among those in the mask; none is negative.
template <int W> CC_INLINE u32 largest_of(Vec<float, W> v, u32 among) {
#if defined(__AVX2__)
  if constexpr (W == 8) {
    const __m256 x = (__m256)(ones<float, 8>(among) > 0.0f ? v : Vec<float, 8>{} - 1.0f);
    __m256 most = _mm256_max_ps(x, _mm256_permute2f128_ps(x, x, 1));
    most = _mm256_max_ps(most, _mm256_permute_ps(most, 0x4e));
    most = _mm256_max_ps(most, _mm256_permute_ps(most, 0xb1));
    return static_cast<u32>(
        __builtin_ctz(static_cast<u32>(_mm256_movemask_ps(_mm256_cmp_ps(x, most, _CMP_EQ_OQ)))));
  }
#endif
  u32 k = static_cast<u32>(__builtin_ctz(among));
  each_bit(among, [&](int j) { k = v[j] > v[k] ? static_cast<u32>(j) : k; });
  return k;
}

// Bit k: the row of list[k] is marked. Bytes are loaded one by one: gathering them, or putting them
// into a vector, takes twice as long on current processors.
CC_INLINE u32 marked(const u32* list, const u8* marks) {
  const auto eight = [marks](const u32* entry) {
    u64 bits = 0;
    for (int k = 7; k >= 0; k--) bits = 2 * bits + marks[static_cast<u16>(entry[k])];
    return static_cast<u32>(bits);
  };
  return kCuts == 16 ? eight(list) | eight(list + 8) << 8 : eight(list);
}

#if defined(__AVX2__) && !defined(__AVX512VL__)
// The entries at these positions.
CC_INLINE __m256i entries_at(const u32* list, const u8* places) {
  const __m256i at =
      _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(places)));
  return _mm256_permutevar8x32_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(list)),
                                     at);
}
#endif

// Copies the entries whose mask has bit k. `to` has room for kListRoom more entries, and `masks`
// has as many more.
CC_INLINE void keep_entries(const u32* list, u32 n, const u16* masks, int k, u32* to) {
#if defined(__AVX2__)
  const u32* const end = list + n;
  for (; list < end; list += kCuts, masks += kCuts) {
#if defined(__AVX512VL__)
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(masks));
    const u32 classes = _mm256_test_epi16_mask(bits, _mm256_set1_epi16(static_cast<short>(1 << k)));
    _mm512_storeu_si512(
        to, _mm512_maskz_compress_epi32(static_cast<__mmask16>(classes), _mm512_loadu_si512(list)));
#else
    const __m128i bits = _mm_sll_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(masks)),
                                       _mm_cvtsi32_si128(15 - k));
    const u32 classes =
        static_cast<u32>(_mm_movemask_epi8(_mm_packs_epi16(bits, _mm_setzero_si128())));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), entries_at(list, kBytes.places[classes]));
#endif
    to += __builtin_popcount(classes);
  }
#else
  for (u32 i = 0; i < n; i++) {
    *to = list[i];
    to += masks[i] >> k & 1;
  }
#endif
}

// Splits a list: entries whose row is marked go to `away`, the others to `stay`, which may be the
// list itself. Both have room for kListRoom more entries. marks: 0 or 1 by tag
// (small/local_table.hpp).
CC_INLINE void split_entries(const u32* list, u32 n, const u8* marks, u32* stay, u32* away) {
#if defined(__AVX2__)
  const auto part = [&](u32 gone) {
#if defined(__AVX512VL__)
    const __m512i e = _mm512_loadu_si512(list);
    _mm512_storeu_si512(stay, _mm512_maskz_compress_epi32(static_cast<__mmask16>(~gone), e));
    _mm512_storeu_si512(away, _mm512_maskz_compress_epi32(static_cast<__mmask16>(gone), e));
#else
    const __m256i here = entries_at(list, kBytes.others[gone]);
    const __m256i others = entries_at(list, kBytes.places[gone]);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(stay), here);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(away), others);
#endif
    const auto m = static_cast<u32>(__builtin_popcount(gone));
    away += m;
    stay += kCuts - m;
  };
  const u32* const end = list + n;
  for (; end - list >= kCuts; list += kCuts) part(marked(list, marks));
  if (list < end) part(marked(list, marks) & ((1u << (end - list)) - 1));
#else
  for (u32 i = 0; i < n; i++) {
    const u32 e = list[i], m = marks[static_cast<u16>(e)];
    *stay = *away = e;
    stay += !m;
    away += m;
  }
#endif
}

}  // namespace crosscut::CROSSCUT_LEVEL
