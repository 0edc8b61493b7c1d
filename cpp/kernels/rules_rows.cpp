// Sets of rows: those of a bundle in an order, those that meet a condition, and how many they are.
#include "rules_lanes.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// The rows of an order that have a set; `kept` needs room for 16 more. Returns how many.
std::size_t keep_members(const std::int32_t* order, std::size_t n, const std::int32_t* set_of_row, std::int32_t* kept) {
  std::size_t k = 0, i = 0;
#if defined(__AVX512F__)
  for (; i + 16 <= n; i += 16) {
    const __m512i rows = _mm512_loadu_si512(order + i), of = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), 0xffff, rows, set_of_row, 4);
    const __mmask16 in = _mm512_cmpge_epi32_mask(of, _mm512_setzero_si512());
    _mm512_storeu_si512(kept + k, _mm512_maskz_compress_epi32(in, rows));
    k += static_cast<std::size_t>(__builtin_popcount(in));
  }
#endif
  for (; i < n; i++) {
    kept[k] = order[i];
    k += set_of_row[order[i]] >= 0;
  }
  return k;
}

// Some rows in an order, those that are behind its end left out; `sorted` needs room for 16 more. Marks (a bit per position,
// and one per word that has any) are 0 before and after. Returns how many.
std::size_t sort_few(const std::int32_t* rows, std::size_t n, const std::uint32_t* position, const std::int32_t* order, std::size_t n_order,
                     std::uint64_t* marks, std::uint64_t* marked, std::size_t n_marked, std::int32_t* sorted) {
  std::size_t missing = 0;
  for (std::size_t i = 0; i < n; i++) {
    const std::size_t own = position[rows[i]];
    missing += own >= n_order;
    marks[own / 64] |= std::uint64_t{1} << (own % 64);
    marked[own / 4096] |= std::uint64_t{1} << (own / 64 % 64);
  }
  const std::size_t last = n_order - 1;
  std::size_t found = 0;
  for (std::size_t k = 0; k < n_marked; k++) {
    for (std::uint64_t words = marked[k]; words; words &= words - 1) {
      const std::size_t w = k * 64 + static_cast<std::size_t>(__builtin_ctzll(words));
      std::uint64_t set = marks[w];
      marks[w] = 0;
      const auto count = static_cast<std::size_t>(__builtin_popcountll(set));
      // four at a time, of which the last may be nothing: fewer branches that cannot be foreseen
      for (std::size_t i = 0; i < count; i += 4)
        for (std::size_t j = i; j < i + 4; j++, set &= set - 1) {
          const std::size_t own = w * 64 + (set ? static_cast<std::size_t>(__builtin_ctzll(set)) : 0);
          sorted[found + j] = order[own < last ? own : last];
        }
      found += count;
    }
    marked[k] = 0;
  }
  return found - missing;
}

// The rows that meet a condition, as bits.
void meet(const std::uint32_t* ranks, std::size_t n_rows, std::int32_t op, std::uint32_t rank, std::uint32_t n_values, std::uint64_t* met) {
  // every condition asks for an interval, or for what is present and not in one
  const std::uint32_t low = op == rules::at_most ? 0 : op == rules::above ? rank + 1 : rank;
  const std::uint32_t size = (op == rules::above ? n_values : rank + 1) - low;
  const bool outside = op == rules::unequal;
  std::memset(met, 0, (n_rows + 63) / 64 * sizeof(std::uint64_t));
  std::size_t i = 0;
  for (; i + W <= n_rows; i += W) {
    const auto value = load<std::uint32_t>(ranks + i);
    const I in = value - low < size, holds = outside ? ~in & (value < n_values) : in;
    met[i / 64] |= std::uint64_t{lanes_of(holds)} << i % 64;
  }
  for (; i < n_rows; i++) {
    const bool in = ranks[i] - low < size;
    met[i / 64] |= std::uint64_t{outside ? !in && ranks[i] < n_values : in} << i % 64;
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
