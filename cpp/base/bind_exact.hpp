// Grids of exact sums, as Python gives them: (unit, bits, number of digits) of each quantity.
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
         "a grid has digits of 1 to 61 bits");
    need(unit >= -(1 << 14) && unit <= 1 << 14,
         "a grid's unit must be within the cubes of all numbers");
    rows.grid[q] = {unit, bits, n_digits};
    rows.width += n_digits;
  }
  return rows;
}

// Rows may add this many times to sums that have at most `bits` bits.
inline std::size_t most_rows(const ExactRows& rows, int bits) {
  return std::size_t{1} << std::max(
             0, bits - std::max({rows.grid[0].bits, rows.grid[1].bits, rows.grid[2].bits}));
}

// Digits as exact_digits makes them; NaN is none.
template <class T>
void need_digits(const Matrix<T>& digits, const ExactRows& rows) {
  const auto width = static_cast<std::size_t>(rows.width);
  bool fit = digits.shape(1) == width;
  std::size_t first = 0;
  for (const DigitGrid& grid : rows.grid)
    for (int d = 0; d < grid.n; d++, first++) {
      const auto end = static_cast<T>(std::int64_t{1} << grid.bits);
      for (std::size_t at = first; fit && at < digits.size(); at += width)
        fit = digits.data()[at] > -end && digits.data()[at] < end;
    }
  need(fit, "digits must be those of the grids, for every row");
}

}  // namespace crosscut
