// Statistics of many tests at once. The truth of a node's tests is a table with a row of bits per
// example, so that one pass over the node's examples counts all tests: 64 bits are added to 64
// counters of a byte each.
#include <cstddef>
#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "counts.hpp"

namespace crosscut::CROSSCUT_LEVEL {

namespace {

constexpr std::size_t chunk = 255;  // the largest count of a byte
constexpr std::size_t block = 16;   // tests rated together

// One by one: gather instructions are slower than loads on many machines. (The empty statement
// keeps compilers from using them.)
inline void look_up(const double* table, const std::int32_t* at, double* out) {
  for (std::size_t i = 0; i < block; i++) {
    out[i] = table[at[i]];
    asm volatile("");
  }
}

#if !defined(__AVX2__)
// The bits of a byte as eight bytes, each 0 or 1.
inline std::uint64_t spread(std::uint64_t byte) {
  const std::uint64_t copies = byte * 0x0101010101010101ull & 0x8040201008040201ull;
  return (copies + 0x7F7F7F7F7F7F7F7Full) >> 7 & 0x0101010101010101ull;
}
#endif

}  // namespace

// counts[segment][test]: examples of the segment where the test holds; `width` words of tests per
// row of the table.
void count_rows(const std::uint64_t* table, std::size_t width, const std::int32_t* rows,
                const std::uint32_t* ends, std::size_t n_segments, std::int32_t* counts) {
  std::size_t begin = 0;
  for (std::size_t s = 0; s < n_segments; s++) {
    std::int32_t* own = counts + s * width * 64;
    for (std::size_t i = 0; i < width * 64; i++) own[i] = 0;
    for (; begin < ends[s];) {
      const std::size_t end = ends[s] - begin > chunk ? begin + chunk : ends[s];
      for (std::size_t w = 0; w < width; w++) {
        alignas(64) std::uint8_t sums[64];
#if defined(__AVX512BW__)
        __m512i sum = _mm512_setzero_si512();
        const __m512i one = _mm512_set1_epi8(1);
        for (std::size_t e = begin; e < end; e++)
          sum = _mm512_mask_add_epi8(sum, table[static_cast<std::size_t>(rows[e]) * width + w], sum,
                                     one);
        _mm512_store_si512(sums, sum);
#elif defined(__AVX2__)
        // bytes 0..3 and 4..7 of the word, eight times each; in each copy one bit is looked at, and
        // -1 taken off where it is set
        const __m256i low_bytes =
            _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
        const __m256i high_bytes = _mm256_add_epi8(low_bytes, _mm256_set1_epi8(4));
        const __m256i bit = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201ull));
        __m256i low = _mm256_setzero_si256(), high = _mm256_setzero_si256();
        for (std::size_t e = begin; e < end; e++) {
          const __m256i bits = _mm256_set1_epi64x(
              static_cast<long long>(table[static_cast<std::size_t>(rows[e]) * width + w]));
          low = _mm256_sub_epi8(
              low,
              _mm256_cmpeq_epi8(_mm256_and_si256(_mm256_shuffle_epi8(bits, low_bytes), bit), bit));
          high = _mm256_sub_epi8(
              high,
              _mm256_cmpeq_epi8(_mm256_and_si256(_mm256_shuffle_epi8(bits, high_bytes), bit), bit));
        }
        _mm256_store_si256(reinterpret_cast<__m256i*>(sums), low);
        _mm256_store_si256(reinterpret_cast<__m256i*>(sums + 32), high);
#else
        std::uint64_t parts[8] = {};
        for (std::size_t e = begin; e < end; e++) {
          const std::uint64_t bits = table[static_cast<std::size_t>(rows[e]) * width + w];
          for (int p = 0; p < 8; p++) parts[p] += spread(bits >> 8 * p & 255);
        }
        for (int p = 0; p < 8; p++)
          for (int b = 0; b < 8; b++)
            sums[8 * p + b] = static_cast<std::uint8_t>(parts[p] >> 8 * b);
#endif
        for (std::size_t i = 0; i < 64; i++) own[w * 64 + i] += sums[i];
      }
      begin = end;
    }
  }
}

// The quality of n tests for one task, whose counts are those of `all` less those of `left_out`
// (null for none), one array of `stride` counts per class. -1 where a test is not admissible; gains
// are per example. Returns the best of them.
double rate(const query::Whole& whole, const std::int32_t* all, const std::int32_t* left_out,
            std::size_t stride, std::size_t n, double* qualities) {
  std::int32_t yes[block], n_yes[block];
  double a[block], b[block], split[block], most[8];
  for (double& each : most) each = -1.0;
  const std::size_t k = whole.n_classes;
  const double size = whole.n, least = whole.tolerance * size;
  for (std::size_t first = 0; first < n; first += block) {
    const std::size_t m = n - first < block ? n - first : block;
    const auto of_class = [&](std::size_t c) {
      const std::int32_t* plus = all + c * stride + first;
      if (left_out == nullptr)
        for (std::size_t i = 0; i < block; i++) yes[i] = plus[i];
      else
        for (std::size_t i = 0; i < block; i++) yes[i] = plus[i] - left_out[c * stride + first + i];
    };
    for (std::size_t i = 0; i < block; i++) {
      n_yes[i] = 0;
      a[i] = 0;
      b[i] = 0;
    }
    for (std::size_t c = 0; c < k; c++) {
      of_class(c);
      for (std::size_t i = 0; i < block; i++) n_yes[i] += yes[i];
    }
    // tests that hold for too few or nearly all examples come in runs: rare constants, predicates
    // without facts
    int admissible = 0;
    for (std::size_t i = 0; i < m; i++)
      admissible += (n_yes[i] >= whole.minimal_cases) & (whole.n - n_yes[i] >= whole.minimal_cases);
    if (admissible == 0) {
      for (std::size_t i = 0; i < m; i++) qualities[first + i] = -1.0;
      continue;
    }
    if (whole.gini) {
      for (std::size_t c = 0; c < k; c++) {
        of_class(c);
        for (std::size_t i = 0; i < block; i++) {
          const double in = yes[i], out = whole.counts[c] - yes[i];
          a[i] += in * in;
          b[i] += out * out;
        }
      }
      for (std::size_t i = 0; i < block; i++)
        a[i] = (a[i] / n_yes[i] + b[i] / (whole.n - n_yes[i]) - whole.term / size) / size;
    } else {
      look_up(whole.split, n_yes, split);
      for (std::size_t i = 0; i < block; i++) a[i] = split[i] - whole.term;
      const double* kept = whole.kept;
      for (std::size_t c = 0; c < k; c++) {
        of_class(c);
        look_up(kept, yes, b);
        for (std::size_t i = 0; i < block; i++) a[i] += b[i];
        kept += whole.counts[c] + 1;
      }
      if (whole.ratio)
        for (std::size_t i = 0; i < block; i++) a[i] = a[i] / (a[i] <= least ? size : split[i]);
      else
        for (std::size_t i = 0; i < block; i++) a[i] /= size;
    }
    for (std::size_t i = 0; i < m; i++) {
      const bool is = n_yes[i] >= whole.minimal_cases && whole.n - n_yes[i] >= whole.minimal_cases;
      qualities[first + i] = is ? a[i] : -1.0;
      a[i] = qualities[first + i];
    }
    for (std::size_t i = m; i < block; i++) a[i] = -1.0;
    // in eight lanes, so that no comparison waits for the previous one
    for (std::size_t i = 0; i < block; i += 8)
      for (std::size_t j = 0; j < 8; j++) most[j] = a[i + j] > most[j] ? a[i + j] : most[j];
  }
  for (double each : most) most[0] = each > most[0] ? each : most[0];
  return most[0];
}

}  // namespace crosscut::CROSSCUT_LEVEL
