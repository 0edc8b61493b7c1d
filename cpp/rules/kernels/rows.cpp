// Kernels on sets of rows: sorted subsets, rows that satisfy a condition, and counts.
#include "lanes.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// Copies the rows that are in the bundle and returns their number; `kept` needs space for 16 more.
std::size_t keep_members(const std::int32_t* order, std::size_t n, const std::int32_t* set_of_row,
                         std::int32_t* kept) {
  std::size_t k = 0, i = 0;
#if defined(__AVX512F__)
  for (; i + 16 <= n; i += 16) {
    const __m512i zero = _mm512_setzero_si512();
    const __m512i rows = _mm512_loadu_si512(order + i);
    const __m512i sets = _mm512_mask_i32gather_epi32(zero, 0xffff, rows, set_of_row, 4);
    const __mmask16 in = _mm512_cmpge_epi32_mask(sets, zero);
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

// Returns which of 64 bytes are 1, and sets all of them to 0.
inline std::uint64_t take_marks(std::uint8_t* marks) {
  std::uint64_t set = 0;
#if defined(__AVX512BW__)
  const __m512i bytes = _mm512_loadu_si512(marks);
  set = _mm512_test_epi8_mask(bytes, bytes);
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

// Sorts rows by their position in an order, leaves out positions after its end, and returns their
// number; `sorted` needs space for 16 more. `marks` has a byte per position and `lines` a byte per
// 64 positions, both padded to multiples of 64; they must be 0, and are 0 again afterwards.
std::size_t sort_few(const std::int32_t* rows, std::size_t n, const std::uint32_t* position,
                     const std::int32_t* order, std::size_t n_order, std::uint8_t* marks,
                     std::uint8_t* lines, std::size_t n_lines, std::int32_t* sorted) {
  for (std::size_t i = 0; i < n; i++) {
    const std::size_t at = position[rows[i]];
    marks[at] = 1;
    lines[at / 64] = 1;
  }
  std::size_t count = 0;
  for (std::size_t k = 0; k < n_lines; k += 64)
    for (std::uint64_t some = take_marks(lines + k); some; some &= some - 1) {
      const std::size_t first = (k + static_cast<std::size_t>(__builtin_ctzll(some))) * 64;
      std::uint64_t set = take_marks(marks + first);
      if (first + 64 > n_order)
        set &= first < n_order ? (std::uint64_t{1} << (n_order - first)) - 1 : 0;
#if defined(__AVX512F__)
      for (std::size_t q = 0; q < 64; q += 16, set >>= 16) {
        const auto part = static_cast<__mmask16>(set);
        _mm512_storeu_si512(
            sorted + count,
            _mm512_maskz_compress_epi32(part, _mm512_maskz_loadu_epi32(part, order + first + q)));
        count += static_cast<std::size_t>(__builtin_popcount(part));
      }
#else
      for (; set; set &= set - 1)
        sorted[count++] = order[first + static_cast<std::size_t>(__builtin_ctzll(set))];
#endif
    }
  return count;
}

namespace {

// Returns which of at most 64 rows have a rank in [low, low + size), as bits.
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

// Computes which of `rows` satisfy a condition.
void meet(const std::uint32_t* ranks, std::size_t n_rows, std::int32_t op, std::uint32_t rank,
          std::uint32_t n_values, const std::uint64_t* rows, std::uint64_t* met) {
  // a condition is an interval of ranks, or all present values outside an interval
  const std::uint32_t low = op == rules::at_most ? 0 : op == rules::above ? rank + 1 : rank;
  const std::uint32_t size = (op == rules::above ? n_values : rank + 1) - low;
  for (std::size_t first = 0; first < n_rows; first += 64) {
    std::uint64_t& word = met[first / 64] = rows[first / 64];
    if (!word) continue;
    const std::size_t n = n_rows - first < 64 ? n_rows - first : 64;
    const std::uint64_t in = inside(ranks + first, n, low, size);
    word &= op == rules::unequal ? ~in & inside(ranks + first, n, 0, n_values) : in;
  }
}

std::size_t count_bits(const std::uint64_t* x, std::size_t words) {
  std::size_t n = 0;
  for (std::size_t w = 0; w < words; w++) n += static_cast<std::size_t>(__builtin_popcountll(x[w]));
  return n;
}

std::size_t count_common_bits(const std::uint64_t* x, const std::uint64_t* y, std::size_t words) {
#if defined(__AVX512BW__)
  // counts the bits of each half byte by a table look-up
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
