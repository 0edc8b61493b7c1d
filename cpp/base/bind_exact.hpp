// Conversion and checks of Python's grids of exact sums: (unit, bits, number of digits) of each
// quantity.
#pragma once
#include <nanobind/stl/tuple.h>

#include "base/arrays.hpp"
#include "base/checks.hpp"
#include "base/exact_sums.hpp"

namespace crosscut {

inline ExactRows grids_of(const nanobind::list& grids, std::size_t n) {
  need(nanobind::len(grids) == n, "grids must be 3 for regression, 1 for classes");
  ExactRows rows{};
  for (std::size_t q = 0; q < n; q++) {
    const auto [unit, bits, n_digits] = nanobind::cast<std::tuple<int, int, int>>(grids[q]);
    need(bits >= 1 && bits <= 61 && n_digits >= 1 && n_digits <= 1 << 12,
         "digits of a grid must have 1 to 61 bits, and there must be 1 to 4096 of them");
    need(unit >= -(1 << 14) && unit <= 1 << 14,
         "a grid's unit must be within the cubes of all numbers");
    rows.grid[q] = {unit, bits, n_digits};
    rows.width += n_digits;
  }
  return rows;
}

// Returns how many rows can be added without sums exceeding `bits` bits.
inline std::size_t most_rows(const ExactRows& rows, int bits) {
  return std::size_t{1} << std::max(
             0, bits - std::max({rows.grid[0].bits, rows.grid[1].bits, rows.grid[2].bits}));
}

// Checks that all digits are within the bits of their grids, which excludes NaN.
template <class T> void need_digits(const Matrix<T>& digits, const ExactRows& rows) {
  const auto width = static_cast<std::size_t>(rows.width);
  bool fit = digits.shape(1) == width;
  std::size_t first = 0;
  for (const DigitGrid& grid : rows.grid)
    for (int d = 0; d < grid.n; d++, first++) {
      const auto end = static_cast<T>(std::int64_t{1} << grid.bits);
      for (std::size_t at = first; fit && at < digits.size(); at += width)
        fit = digits.data()[at] > -end && digits.data()[at] < end;
    }
  need(fit, "digits must be within the bits of the grids, for every row");
}

}  // namespace crosscut
