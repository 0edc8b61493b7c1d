// Numbers as integers on a grid (Python: crosscut.data.grid): which bits they have, how far they
// spread, and what they become.
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

// All numbers are multiples of 2^low, and below 2^high in magnitude; low > high if all are 0.
inline Bits bits_of(const double* numbers, std::size_t n) {
  Bits found;
  for (std::size_t i = 0; i < n; i++) {
    const auto bits = std::bit_cast<std::uint64_t>(numbers[i]);
    const int exponent = static_cast<int>(bits >> 52 & 0x7FF), unit = std::max(exponent, 1) - 1075;
    const std::uint64_t digits =
        (bits & ((std::uint64_t{1} << 52) - 1)) | std::uint64_t{exponent > 0} << 52;
    if (!digits) continue;
    found.low = std::min(found.low, unit + std::countr_zero(digits));
    found.high = std::max(found.high, unit + static_cast<int>(std::bit_width(digits)));
  }
  return found;
}

struct Spread {
  double sum = 0, total = 0;  // of the numbers, of their distances from the centre; both rounded
  bool whole = true;          // all distances are whole numbers
};

inline Spread spread_of(const double* numbers, std::size_t n, double centre) {
  constexpr std::size_t lanes = 8;
  double sum[lanes] = {}, total[lanes] = {};
  Spread found;
  for (std::size_t i = 0; i < n; i++) {
    const double distance = numbers[i] - centre;
    sum[i % lanes] += numbers[i];
    total[i % lanes] += std::fabs(distance);
    found.whole &= distance == std::rint(distance);
  }
  for (std::size_t k = 0; k < lanes; k++) {
    found.sum += sum[k];
    found.total += total[k];
  }
  return found;
}

// Writes rint((number - centre) * 2^exponent); true if none of them was rounded, not by the
// subtraction either (Knuth's TwoSum).
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
