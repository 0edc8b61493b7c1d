// Converts columns of numbers to dense ranks, coarse ranks and sorted distinct values, and codes of
// categories to ranks.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/strided.hpp"

namespace crosscut {

// Results of all columns: per column, arrays have n_rows entries unless noted.
struct RankedColumns {
  // at most max_categories for nominal columns, whose numbers are codes; -1 for other columns
  const std::int32_t* n_categories;
  std::uint32_t* ranks;  // null: not wanted, because the coarse ranks of all columns are the ranks
  std::uint8_t* coarse;
  // the first n_values are filled, ascending; with bins 2 * max_coarse entries: lowest and highest
  // value of each bin; unused for nominal columns
  float* values;
  // max_coarse + 1 entries: first rank of each interval, then n_values
  std::uint32_t* coarse_first;
  std::int32_t* n_values;
  std::int32_t* n_coarse;
  std::int64_t* n_missing;
  // values whose ranks differ by more than this are farther apart than scikit-learn's gap of 1e-7
  std::uint32_t* close;
};

// the next number, for missing values, still fits in a byte
constexpr std::size_t max_coarse = 255;
constexpr std::int32_t max_categories = 1 << 24;  // floats represent these codes exactly

struct Cell {
  std::ptrdiff_t column = -1, row = -1;
};

// Ranks every column. Numbers get at most max_intervals (2 to max_coarse) coarse intervals, which
// with `bins` are also the ranks. An invalid code counts as missing. Returns the first infinite
// cell, if there is one; then the results are invalid.
template <class T>
Cell rank_columns(const Strided<T>& matrix, std::size_t max_intervals, bool bins,
                  const RankedColumns& out, int n_threads);

// Joins n neighbouring ranks into at most max_intervals intervals of about equal row count. end[r]
// counts the rows of ranks 0..r. Fills first (the first rank of each interval, then n) and returns
// the number of intervals.
std::size_t intervals(const std::uint32_t* end, std::size_t n, std::size_t max_intervals,
                      std::uint32_t* first);

}  // namespace crosscut
