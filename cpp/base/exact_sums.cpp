// Values, ratios and variances of exact sums, each rounded once.
//
// Most sums fit in 128 bits, or their products in 256. For them, quotients are computed from the
// leading bits: a quotient of at least 61 bits whose last bit also represents the remainder rounds
// like the exact one. Numbers of any size take the slow path through Natural.
#include "base/exact_sums.hpp"

#include <bit>

namespace crosscut {
namespace {

// Adds v·2^shift to a number in two's complement.
void add_shifted(Natural& words, i64 v, int shift) {
  auto i = static_cast<std::size_t>(shift / 64);
  const i128 t = static_cast<i128>(static_cast<u128>(static_cast<i128>(v)) << (shift % 64));
  u128 sum = static_cast<u128>(words[i]) + static_cast<u64>(t);
  words[i] = static_cast<u64>(sum);
  const u64 high = static_cast<u64>(static_cast<u128>(t) >> 64), sign = v < 0 ? ~u64{0} : 0;
  for (bool first = true; ++i < words.size(); first = false) {
    sum = static_cast<u128>(words[i]) + (first ? high : sign) + static_cast<u64>(sum >> 64);
    words[i] = static_cast<u64>(sum);
  }
}

// Returns v · 2^exponent; the fast path multiplies by a power of two that is built from its bits.
double scaled(double v, int exponent) {
  const double size = v < 0 ? -v : v;
  if (exponent > -900 && exponent < 900 && size < 0x1p100 && size > 0x1p-100)
    return v * std::bit_cast<double>(static_cast<u64>(1023 + exponent) << 52);
  return std::ldexp(v, exponent);
}

int leading_zeros(u128 v) {
  const u64 high = static_cast<u64>(v >> 64);
  return high ? __builtin_clzll(high) : 64 + __builtin_clzll(static_cast<u64>(v));
}

// Returns a / b · 2^exponent, rounded once. The first of the 128 bits of `a` is set; `more` tells
// whether lower bits follow.
double first_bits_ratio(u128 a, bool more, u64 b, int exponent) {
  const int shift = __builtin_clzll(b);
  b <<= shift;
  if (b << 1 == 0)
    return scaled(static_cast<double>(static_cast<u64>(a >> 64) |
                                      static_cast<u64>(more || static_cast<u64>(a))),
                  exponent + 1 + shift);
  more |= a & 3;
  a >>= 2;
  // 61 to 63 bits; the last one also represents the remainder
  const u64 q = static_cast<u64>(a / b);
  more |= a != static_cast<u128>(q) * b;
  return scaled(static_cast<double>(static_cast<i64>(q | static_cast<u64>(more))),
                exponent + 2 + shift);
}

// Whether doubles represent a and b, so that their quotient is rounded once and is normal.
bool fits_doubles(u128 a, u64 b, int exponent) {
  return a >> 53 == 0 && b >> 53 == 0 && exponent > -900;
}

double short_ratio(i128 a, u64 b, int exponent) {
  if (!a) return 0;
  if (!(b & (b - 1)) && (b == 1 || exponent > -900))
    return scaled(static_cast<double>(a), exponent - __builtin_ctzll(b));
  const u128 size = a < 0 ? -static_cast<u128>(a) : static_cast<u128>(a);
  if (fits_doubles(size, b, exponent))
    return scaled(static_cast<double>(static_cast<i64>(a)) / static_cast<double>(b), exponent);
  const int shift = leading_zeros(size);
  const double value = first_bits_ratio(size << shift, false, b, exponent - shift);
  return a < 0 ? -value : value;
}

// Returns (s·w − p²) / w² · 2^exponent; the digits `s` are not negative.
double short_variance(const DigitGrid& grid, const i64* s, i128 p, u64 w, int exponent) {
  // For few rows, both products have less than 128 bits. A digit is less than w · 2^bits, which
  // leaves `room` bits for the highest digit.
  const int below = (grid.n - 1) * grid.bits, of_w = 64 - __builtin_clzll(w),
            room = 126 - below - of_w;
  if (room > of_w && s[grid.n - 1] >> (room < 63 ? room : 63) == 0 && p < i128{1} << 62 &&
      p > -(i128{1} << 62)) {
    u128 sum = static_cast<u128>(s[0]);
    for (int d = 1; d < grid.n; d++) sum += static_cast<u128>(s[d]) << d * grid.bits;
    const i64 short_p = static_cast<i64>(p);
    const u128 small = sum * w - static_cast<u128>(static_cast<i128>(short_p) * short_p);
    if (!small) return 0;
    if (fits_doubles(small, w * w, exponent))
      return scaled(static_cast<double>(static_cast<i64>(small)) / static_cast<double>(w * w),
                    exponent);
    const int shift = leading_zeros(small);
    return first_bits_ratio(small << shift, false, w * w, exponent - shift);
  }
  // Both products have less than 256 bits: a low and a high half.
  const auto word = [](u128 v, int i) { return static_cast<u128>(static_cast<u64>(v >> 64 * i)); };
  const u128 first =
      static_cast<u128>(s[0]) + (grid.n > 1 ? static_cast<u128>(s[1]) << grid.bits : 0);
  // times 2^64
  const u128 second = grid.n > 2 ? static_cast<u128>(s[2]) << (2 * grid.bits - 64) : 0;
  const u128 s0 = word(first, 0) * w, s1 = word(first, 1) * w, s2 = word(second, 0) * w,
             s3 = word(second, 1) * w;
  const u128 s_middle = (s0 >> 64) + word(s1, 0) + word(s2, 0);
  u128 low = s_middle << 64 | word(s0, 0), high = (s_middle >> 64) + (s1 >> 64) + (s2 >> 64) + s3;
  const u128 size = p < 0 ? -static_cast<u128>(p) : static_cast<u128>(p);
  const u128 p0 = word(size, 0) * word(size, 0), p1 = word(size, 0) * word(size, 1),
             p2 = word(size, 1) * word(size, 1);
  const u128 p_middle = (p0 >> 64) + 2 * word(p1, 0), p_low = p_middle << 64 | word(p0, 0);
  high -= (p_middle >> 64) + 2 * (p1 >> 64) + p2 + (low < p_low);
  low -= p_low;
  if (!high && !low) return 0;
  if (!high) {
    high = low;
    low = 0;
    exponent -= 128;
  }
  const int shift = leading_zeros(high);
  if (shift) {
    high = high << shift | low >> (128 - shift);
    low <<= shift;
  }
  return first_bits_ratio(high, low != 0, w * w, exponent + 128 - shift);
}

}  // namespace

Integer integer(const DigitGrid& grid, const i64* sum) {
  Natural words(static_cast<std::size_t>((grid.n - 1) * grid.bits / 64 + 3));
  for (int d = 0; d < grid.n; d++) add_shifted(words, sum[d], d * grid.bits);
  Integer out;
  out.negative = words.back() >> 63;
  if (out.negative) {
    u64 carry = 1;
    for (std::size_t i = 0; i < words.size(); i++) {
      words[i] = ~words[i] + carry;
      carry = carry && !words[i];
    }
  }
  trim(words);
  out.size = std::move(words);
  return out;
}

double exact_value(const DigitGrid& grid, const i64* sum) {
  if (is_short(grid)) return scaled(static_cast<double>(short_integer(grid, sum)), grid.unit);
  const Integer v = integer(grid, sum);
  Natural one(1);
  one[0] = 1;
  const double size = ratio(v.size, one, grid.unit);
  return v.negative ? -size : size;
}

double exact_ratio(const DigitGrid& of_a, const i64* a, const DigitGrid& of_b, const i64* b) {
  if (is_short(of_a) && of_b.n == 1 && b[0] > 0)
    return short_ratio(short_integer(of_a, a), static_cast<u64>(b[0]), of_a.unit - of_b.unit);
  const Integer above = integer(of_a, a);
  const double size = ratio(above.size, integer(of_b, b).size, of_a.unit - of_b.unit);
  return above.negative ? -size : size;
}

double exact_variance(const ExactRows& rows, const i64* sums) {
  const DigitGrid* grid = rows.grid;
  const u64 w = static_cast<u64>(sums[grid[0].n]);
  if (is_short(grid[0]) && grid[1].n == 1 &&
      (grid[2].n <= 2 || (grid[2].n == 3 && grid[2].bits >= 32)) && w >> 32 == 0)
    return w ? short_variance(grid[2], sums + grid[0].n + 1, short_integer(grid[0], sums), w,
                              grid[2].unit - grid[1].unit)
             : 0;
  const Natural sum = integer(grid[0], sums).size, weight = integer(grid[1], sums + grid[0].n).size;
  Natural above = times(integer(grid[2], sums + grid[0].n + grid[1].n).size, weight);
  subtract(above, times(sum, sum));
  return ratio(above, times(weight, weight), grid[2].unit - grid[1].unit);
}

}  // namespace crosscut
