// One pass of level-wise growth over a batch of rows (the paper, 3.2.2). Nothing is stored per row:
// every row walks down the bundles grown so far and is added to the statistics of the frontier
// bundles that it reaches.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace crosscut {

constexpr int kCodes = 256;  // a code is one byte

// role of a bundle in a pass
enum class Place : std::uint8_t { done, inner, counted, gathered };

// The bundles as flat arrays. Inner bundle b has the splits from split_start[b] on. Split s tests
// feature[s] and has the children from child_start[s] on. A row with code v that trains the tasks m
// goes to child c with the tasks m & table[c][v].
struct BundleForest {
  std::size_t n_bundles;
  const Place* place;
  const std::int64_t* split_start;   // [n_bundles + 1]
  const std::int32_t* feature;       // [n_splits]
  const std::int64_t* child_start;   // [n_splits + 1]
  const std::int32_t* child;         // [n_children] bundles
  const std::uint64_t* table;        // [n_children][kCodes]
  const std::uint64_t* lanes;        // [n_bundles] tasks of the bundle
  const std::int32_t* first_column;  // [n_bundles] columns to count
  const std::int32_t* end_column;
  const std::int64_t* offset;        // [n_bundles] of a counted bundle in the statistics
  const std::int64_t* range_offset;  // [n_bundles] in the ranges, if there are any
};

struct BatchRows {
  std::size_t n_rows;
  int n_columns;
  const std::uint8_t* codes;   // [n_columns][n_rows]
  const std::uint64_t* masks;  // [n_rows] tasks the row trains
  const std::int32_t* slot;    // [n_rows] class, or 0
  // [n_rows][n_amounts] integers to add, null if rows are counted
  const std::int64_t* amounts;
  int n_amounts;
  const double* target;  // [n_rows] regression: to detect pure nodes; else null
};

// Statistics of a counted bundle: [column][bin][channel][cell]. S(T_k), the statistics of the k-th
// of L tasks, are the sum of all cells less cell k: S(D) − S(D_k). So a row that trains all tasks
// except the k-th is added to cell k, and a row that trains all tasks to cell L. Any other row is
// added to the cells of the tasks it does not train, or, if these are more, subtracted from the
// cells of those it trains; cell L then makes the sum right. Channels are the classes if rows are
// counted, else the number of rows and the sums of amounts.
struct StatisticsShape {
  const std::int64_t* first_bin;  // [n_columns + 1], missing values have their own bin
  int n_channels;
};
constexpr int n_cells(int n_lanes) { return n_lanes + 1; }
// The lowest and highest target of the rows in each cell, and of the other rows of each task.
constexpr int n_range_cells(int n_lanes) { return 2 * n_lanes + 1; }

struct GatheredRows {
  std::int32_t bundle;
  std::vector<std::uint32_t> rows;
  std::vector<std::uint64_t> masks;
};

template <class T>
void add_batch(const BundleForest&, const BatchRows&, const StatisticsShape&, T* statistics,
               double* ranges, int n_threads, std::vector<GatheredRows>& gathered);

// Turns the cells of a bundle with L tasks into [column][bin][channel][task], in the same place.
template <class T> void cells_to_lanes(T* statistics, std::size_t n_statistics, int L);

}  // namespace crosscut
