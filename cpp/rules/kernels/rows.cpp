// Sets of rows: the sorted rows of a bundle, the rows that satisfy a condition, and their number.
#include "lanes.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// The rows of an order that have a set; `kept` needs room for 16 more. Returns how many.
std::size_t keep_members(const std::int32_t* order, std::size_t n, const std::int32_t* set_of_row,
                         std::int32_t* kept) {
  std::size_t k = 0, i = 0;
#if defined(__AVX512F__)
  for (; i + 16 <= n; i += 16) {
    const __m512i rows = _mm512_loadu_si512(order + i),
                  of = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), 0xffff, rows, set_of_row,
                                                   4);
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

namespace {

// Which of 64 bytes are 1; sets all of them to 0.
inline std::uint64_t take_marks(std::uint8_t* marks) {
  std::uint64_t set = 0;
#if defined(__AVX512BW__)
  const __m512i own = _mm512_loadu_si512(marks);
  set = _mm512_test_epi8_mask(own, own);
#else
  for (int k = 0; k < 8; k++) {
    std::uint64_t eight;
    std::memcpy(&eight, marks + 8 * k, 8);
    set |= (eight * 0x0102040810204080ULL >> 56) << (8 * k);
  }
#endif
  std::memset(marks, 0, 64);
  return set;
}

}  // namespace

// Some rows in a given order, without those after its end; `sorted` needs room for 16 more. Marks
// (an octet per position, and one per 64 of them, both up to a multiple of 64) are 0 before and
// after. Returns how many.
std::size_t sort_few(const std::int32_t* rows, std::size_t n, const std::uint32_t* position,
                     const std::int32_t* order, std::size_t n_order, std::uint8_t* marks,
                     std::uint8_t* lines, std::size_t n_lines, std::int32_t* sorted) {
  for (std::size_t i = 0; i < n; i++) {
    const std::size_t own = position[rows[i]];
    marks[own] = 1;
    lines[own / 64] = 1;
  }
  std::size_t found = 0;
  for (std::size_t k = 0; k < n_lines; k += 64)
    for (std::uint64_t some = take_marks(lines + k); some; some &= some - 1) {
      const std::size_t first = (k + static_cast<std::size_t>(__builtin_ctzll(some))) * 64;
      std::uint64_t set = take_marks(marks + first);
      if (first + 64 > n_order)
        set &= first < n_order ? (std::uint64_t{1} << (n_order - first)) - 1 : 0;
#if defined(__AVX512F__)
      for (std::size_t q = 0; q < 64; q += 16, set >>= 16) {
        const auto own = static_cast<__mmask16>(set);
        _mm512_storeu_si512(
            sorted + found,
            _mm512_maskz_compress_epi32(own, _mm512_maskz_loadu_epi32(own, order + first + q)));
        found += static_cast<std::size_t>(__builtin_popcount(own));
      }
#else
      for (; set; set &= set - 1)
        sorted[found++] = order[first + static_cast<std::size_t>(__builtin_ctzll(set))];
#endif
    }
  return found;
}

namespace {

// Those of some rows whose rank is in an interval; 64 at most.
inline std::uint64_t inside(const std::uint32_t* ranks, std::size_t n, std::uint32_t low,
                            std::uint32_t size) {
  std::uint64_t in = 0;
  std::size_t i = 0;
  for (; i + W <= n; i += W) {
#if defined(__AVX512F__)
    const __m512i from_low =
        _mm512_sub_epi32(_mm512_loadu_si512(ranks + i), _mm512_set1_epi32(static_cast<int>(low)));
    in |=
        std::uint64_t{_mm512_cmplt_epu32_mask(from_low, _mm512_set1_epi32(static_cast<int>(size)))}
        << i;
#else
    in |= std::uint64_t{lanes_of(load<std::uint32_t>(ranks + i) - low < size)} << i;
#endif
  }
  for (; i < n; i++) in |= std::uint64_t{ranks[i] - low < size} << i;
  return in;
}

}  // namespace

// The rows, among some, that satisfy a condition.
void meet(const std::uint32_t* ranks, std::size_t n_rows, std::int32_t op, std::uint32_t rank,
          std::uint32_t n_values, const std::uint64_t* rows, std::uint64_t* met) {
  // every condition is an interval, or all present values outside one
  const std::uint32_t low = op == rules::at_most ? 0 : op == rules::above ? rank + 1 : rank;
  const std::uint32_t size = (op == rules::above ? n_values : rank + 1) - low;
  for (std::size_t first = 0; first < n_rows; first += 64) {
    std::uint64_t& own = met[first / 64] = rows[first / 64];
    if (!own) continue;
    const std::size_t n = n_rows - first < 64 ? n_rows - first : 64;
    const std::uint64_t in = inside(ranks + first, n, low, size);
    own &= op == rules::unequal ? ~in & inside(ranks + first, n, 0, n_values) : in;
  }
}

std::size_t count_bits(const std::uint64_t* x, std::size_t words) {
  std::size_t n = 0;
  for (std::size_t w = 0; w < words; w++) n += static_cast<std::size_t>(__builtin_popcountll(x[w]));
  return n;
}

std::size_t count_common_bits(const std::uint64_t* x, const std::uint64_t* y, std::size_t words) {
#if defined(__AVX512BW__)
  // half bytes, whose numbers of bits are in a table
  const __m512i bits = _mm512_maskz_broadcast_i32x4(
                    0xffff, _mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4)),
                half = _mm512_set1_epi8(15);
  __m512i total = _mm512_setzero_si512();
  for (std::size_t w = 0; w < words; w += 8) {
    const auto some = static_cast<__mmask8>(words - w < 8 ? (1u << (words - w)) - 1 : 0xff);
    const __m512i both = _mm512_and_si512(_mm512_maskz_loadu_epi64(some, x + w),
                                          _mm512_maskz_loadu_epi64(some, y + w));
    const __m512i low = _mm512_shuffle_epi8(bits, _mm512_and_si512(both, half));
    const __m512i high =
        _mm512_shuffle_epi8(bits, _mm512_and_si512(_mm512_srli_epi16(both, 4), half));
    total = _mm512_add_epi64(total,
                             _mm512_sad_epu8(_mm512_add_epi8(low, high), _mm512_setzero_si512()));
  }
  std::uint64_t parts[8];
  _mm512_storeu_si512(parts, total);
  return parts[0] + parts[1] + parts[2] + parts[3] + parts[4] + parts[5] + parts[6] + parts[7];
#else
  std::size_t n = 0;
  for (std::size_t w = 0; w < words; w++)
    n += static_cast<std::size_t>(__builtin_popcountll(x[w] & y[w]));
  return n;
#endif
}

}  // namespace crosscut::CROSSCUT_LEVEL
