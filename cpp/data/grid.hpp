// Numbers as integers on a grid (Python: crosscut.data.grid): their bits, their spread, and their
// conversion to integers.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace crosscut {

struct Bits {
  int low = std::numeric_limits<int>::max(), high = std::numeric_limits<int>::min();
};

// All numbers are multiples of 2^low and below 2^high in magnitude; low > high if all are 0. Both
// are read from the exponent and the lowest set bit of the mantissa.
inline Bits bits_of(const double* numbers, std::size_t n) {
  Bits result;
  for (std::size_t i = 0; i < n; i++) {
    const auto bits = std::bit_cast<std::uint64_t>(numbers[i]);
    const int exponent = static_cast<int>(bits >> 52 & 0x7FF), unit = std::max(exponent, 1) - 1075;
    const std::uint64_t digits =
        (bits & ((std::uint64_t{1} << 52) - 1)) | std::uint64_t{exponent > 0} << 52;
    if (!digits) continue;
    result.low = std::min(result.low, unit + std::countr_zero(digits));
    result.high = std::max(result.high, unit + static_cast<int>(std::bit_width(digits)));
  }
  return result;
}

struct Spread {
  double sum = 0;     // of the numbers, rounded
  double total = 0;   // of the absolute distances from the centre, rounded
  bool whole = true;  // whether all distances are integers
};

// Eight partial sums, so that the additions do not wait for each other.
inline Spread spread_of(const double* numbers, std::size_t n, double centre) {
  constexpr std::size_t lanes = 8;
  double sum[lanes] = {}, total[lanes] = {};
  Spread result;
  for (std::size_t i = 0; i < n; i++) {
    const double distance = numbers[i] - centre;
    sum[i % lanes] += numbers[i];
    total[i % lanes] += std::fabs(distance);
    result.whole &= distance == std::rint(distance);
  }
  for (std::size_t k = 0; k < lanes; k++) {
    result.sum += sum[k];
    result.total += total[k];
  }
  return result;
}

// Writes rint((number - centre) * 2^exponent). Returns true if neither the subtraction, whose error
// Knuth's TwoSum gives, nor rint rounded any number.
inline bool put_on_grid(const double* numbers, std::size_t n, double centre, int exponent,
                        double* integers) {
  const bool scales = std::abs(exponent) < 1000;
  const double scale = scales ? std::ldexp(1.0, exponent) : 0;
  bool exact = true;
  for (std::size_t i = 0; i < n; i++) {
    const double y = numbers[i], difference = y - centre, part = difference - y;
    const double scaled = scales ? difference * scale : std::ldexp(difference, exponent);
    integers[i] = std::rint(scaled);
    exact &= (integers[i] == scaled) & ((y - (difference - part)) - (centre + part) == 0);
  }
  return exact;
}

}  // namespace crosscut
