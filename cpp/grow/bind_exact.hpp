// Grids of exact sums, as Python gives them: (unit, bits, number of digits) of each quantity.
#pragma once
#include <nanobind/stl/tuple.h>

#include "../arrays.hpp"
#include "../checks.hpp"
#include "problem.hpp"

namespace crosscut {

inline ExactRows grids_of(const nanobind::list& grids, std::size_t n) {
  need(nanobind::len(grids) == n, "grids must be 3 for regression, 1 for classes");
  ExactRows rows{};
  for (std::size_t q = 0; q < n; q++) {
    const auto [unit, bits, n_digits] = nanobind::cast<std::tuple<int, int, int>>(grids[q]);
    need(bits >= 1 && bits <= 61 && n_digits >= 1 && n_digits <= 1 << 12, "a grid has digits of 1 to 61 bits");
    need(unit >= -(1 << 14) && unit <= 1 << 14, "a grid's unit must be within the cubes of all numbers");
    rows.grid[q] = {unit, bits, n_digits}, rows.width += n_digits;
  }
  return rows;
}

}  // namespace crosscut
