// Sums of 16 lanes over rows, for walk.cpp. A row is a mask of lanes.
#pragma once
#include "lanes.hpp"

namespace crosscut::CROSSCUT_LEVEL {
namespace {

using rules::Walk;

// Adds 1 in these lanes.
inline F plus(F sum, std::uint32_t lanes) {
#if defined(__AVX512F__)
  return _mm512_mask_add_ps(sum, static_cast<__mmask16>(lanes), sum, _mm512_set1_ps(1.0f));
#else
  constexpr I bit = {1,      1 << 1, 1 << 2,  1 << 3,  1 << 4,  1 << 5,  1 << 6,  1 << 7,
                     1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15};
  const I in = ((I{} + static_cast<std::int32_t>(lanes)) & bit) == bit;
  return sum - __builtin_convertvector(in, F);
#endif
}

// The sums of 16 lanes, of the target (or the first class) and of the others.
struct Sums {
  F p[2] = {};
  F n() const { return p[0] + p[1]; }
  void add(std::uint32_t mask) {
    p[0] = plus(p[0], mask & 0xffff);
    p[1] = plus(p[1], mask >> 16);
  }
};

inline Sums operator+(const Sums& x, const Sums& y) { return {{x.p[0] + y.p[0], x.p[1] + y.p[1]}}; }
inline Sums operator-(const Sums& x, const Sums& y) { return {{x.p[0] - y.p[0], x.p[1] - y.p[1]}}; }

// Adds at most 255 rows, in bytes.
inline void add_rows(const Walk& s, std::size_t from, std::size_t to, std::uint8_t* octets) {
#if defined(__AVX512BW__)
  __m256i sum = _mm256_setzero_si256();
  for (std::size_t i = from; i < to; i++)
    sum = _mm256_mask_add_epi8(sum, s.masks[s.rows[i]], sum, _mm256_set1_epi8(1));
#else
  std::uint64_t sum[4] = {};
  for (std::size_t i = from; i < to; i++)
    for (int k = 0; k < 4; k++) {  // eight bits as eight bytes of 0 or 1
      const std::uint64_t eight =
          (s.masks[s.rows[i]] >> (8 * k) & 0xff) * 0x0101010101010101ULL & 0x8040201008040201ULL;
      sum[k] += (eight + 0x7f7f7f7f7f7f7f7fULL) >> 7 & 0x0101010101010101ULL;
    }
#endif
  std::memcpy(octets, &sum, 2 * W);
}

inline Sums sums_in(const std::uint8_t* octets) {
  return {{load<float>(octets), load<float>(octets + W)}};
}

Sums sums_of(const Walk& s, std::size_t from, std::size_t to) {
  Sums sums;
  for (; from < to; from += 255) {
    std::uint8_t octets[2 * W];
    add_rows(s, from, from + 255 < to ? from + 255 : to, octets);
    sums = sums + sums_in(octets);
  }
  return sums;
}

}  // namespace
}  // namespace crosscut::CROSSCUT_LEVEL
