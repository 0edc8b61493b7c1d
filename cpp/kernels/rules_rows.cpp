// Sets of rows: those of a bundle in an order, those that meet a condition, and how many they are.
#include <cstring>
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#include "../rules_scan.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// The rows of an order that have a set, and these sets; `kept` and `sets` need room for 16 more. Returns how many.
std::size_t keep_members(const std::int32_t* order, std::size_t n, const std::int32_t* set_of_row, std::int32_t* kept, std::int32_t* sets) {
  std::size_t k = 0, i = 0;
#if defined(__AVX512F__)
  for (; i + 16 <= n; i += 16) {
    const __m512i rows = _mm512_loadu_si512(order + i), of = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), 0xffff, rows, set_of_row, 4);
    const __mmask16 in = _mm512_cmpge_epi32_mask(of, _mm512_setzero_si512());
    _mm512_storeu_si512(kept + k, _mm512_maskz_compress_epi32(in, rows));
    _mm512_storeu_si512(sets + k, _mm512_maskz_compress_epi32(in, of));
    k += static_cast<std::size_t>(__builtin_popcount(in));
  }
#endif
  for (; i < n; i++) {
    kept[k] = order[i];
    sets[k] = set_of_row[order[i]];
    k += sets[k] >= 0;
  }
  return k;
}

// The rows that meet a condition, as bits.
void meet(const std::uint32_t* ranks, std::size_t n_rows, std::int32_t op, std::uint32_t rank, std::uint32_t n_values, std::uint64_t* met) {
  // every condition asks for an interval, or for what is present and not in one
  const std::uint32_t low = op == rules::at_most ? 0 : op == rules::above ? rank + 1 : rank;
  const std::uint32_t high = op == rules::above ? n_values : rank + 1;
  const bool outside = op == rules::unequal;
  for (std::size_t w = 0; w * 64 < n_rows; w++) {
    const std::size_t n = n_rows - w * 64 < 64 ? n_rows - w * 64 : 64;
    std::uint8_t holds[64] = {};
    for (std::size_t j = 0; j < n; j++) {
      const std::uint32_t value = ranks[w * 64 + j];
      holds[j] = static_cast<std::uint8_t>(((value >= low && value < high) != outside) && value < n_values);
    }
    met[w] = 0;
    for (std::size_t k = 0; k < 8; k++) {  // eight octets of 0 or 1 to eight bits
      std::uint64_t eight;
      std::memcpy(&eight, holds + 8 * k, 8);
      met[w] |= (eight * 0x0102040810204080ULL >> 56) << (8 * k);
    }
  }
}

std::size_t count_bits(const std::uint64_t* x, std::size_t words) {
  std::size_t n = 0;
  for (std::size_t w = 0; w < words; w++) n += static_cast<std::size_t>(__builtin_popcountll(x[w]));
  return n;
}

std::size_t count_common_bits(const std::uint64_t* x, const std::uint64_t* y, std::size_t words) {
  std::size_t n = 0;
  for (std::size_t w = 0; w < words; w++) n += static_cast<std::size_t>(__builtin_popcountll(x[w] & y[w]));
  return n;
}

}  // namespace crosscut::CROSSCUT_LEVEL
