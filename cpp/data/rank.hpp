// Turns columns of numbers into dense ranks, coarse ranks and sorted distinct values, and codes of
// categories into ranks.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/strided.hpp"

namespace crosscut {

// Where the ranks of column f go: arrays of n_rows entries unless said otherwise.
struct RankedColumns {
  // of a nominal column, whose numbers are codes: at most max_categories; -1: of others
  const std::int32_t* n_categories;
  std::uint32_t* ranks;
  std::uint8_t* coarse;
  // n_values of them are filled, ascending; with bins 2 * max_coarse entries: lowest and highest of
  // each; none if nominal
  float* values;
  // max_coarse + 1 entries: first rank of each interval, then n_values
  std::uint32_t* coarse_first;
  std::int32_t* n_values;
  std::int32_t* n_coarse;
  std::int64_t* n_missing;
  bool* close;  // some neighbouring values are within scikit-learn's gap of 1e-7
};

// so that the number after the last, for missing values, fits a byte
constexpr std::size_t max_coarse = 255;
constexpr std::int32_t max_categories = 1 << 24;  // float tells these codes apart

struct Cell {
  std::ptrdiff_t column = -1, row = -1;
};

// Ranks every column. Returns the first infinite cell, if there is one; then the results are not
// valid. A code that is no category's counts as missing. At most max_intervals (2 to max_coarse)
// coarse intervals of numbers; with bins, these are the ranks.
template <class T>
Cell rank_columns(const Strided<T>& matrix, std::size_t max_intervals, bool bins,
                  const RankedColumns& out, int n_threads);

// Joins n neighbouring ranks into at most max_intervals intervals of about equal row count. end[r]
// counts the rows of ranks 0..r. Fills first (the first rank of each interval, then n) and returns
// the number of intervals.
std::size_t intervals(const std::uint32_t* end, std::size_t n, std::size_t max_intervals,
                      std::uint32_t* first);

}  // namespace crosscut
