// The accelerations that can be switched off one by one, to measure what each gains
// (benchmarks/ablation.py) and to see which test guards it. In normal builds off() is a constant
// and costs nothing. The CMake option CROSSCUT_ABLATION makes it a run-time switch.
#pragma once

namespace crosscut {

enum class Acceleration {
  interval_bounds,  // large bundles: only intervals that can hold the best cut are opened
  interval_parts,   // opened intervals of many rows are divided before their rows are sorted
  fast_comparison,  // cuts that cannot be the best are rejected without a division
  fold_rows,        // rows that train all tasks except one are counted once
  overlap_bundles,  // child sets of different tests are refined together where their rows overlap
  held_statistics,  // statistics of children are derived; neighbours of a cut are found by interval
  local_tables,     // small bundles are finished task by task in a sorted copy
  lanes_of_cuts,    // consecutive cuts of a sorted list are evaluated together
  row_bits,         // columns with few values: rows are bits instead of lists (classes)
  value_sums,       // columns with few values: sums by value instead of lists (regression)
  few_rows,         // nodes of few rows are finished by sets of rows
  many_folds,       // many tasks that hold out few rows each are refined as groups
  row_copies,       // rows that count several times are copied, task by task
  own_grids,        // targets of a wide range get grids of their own
  shared_subtrees,  // tasks with the same rows at a node share its subtree
  subset_lanes,     // subsets of categories are evaluated eight at a time
  xlog_table,       // v·log2(v) of counts is looked up
};
constexpr const char* kAccelerations[] = {
    "interval_bounds", "interval_parts", "fast_comparison", "fold_rows", "overlap_bundles",
    "held_statistics", "local_tables",   "lanes_of_cuts",   "row_bits",  "value_sums",
    "few_rows",        "many_folds",     "row_copies",      "own_grids", "shared_subtrees",
    "subset_lanes",    "xlog_table",
};
constexpr int kAccelerationCount = sizeof kAccelerations / sizeof kAccelerations[0];

#ifdef CROSSCUT_ABLATION
extern bool accelerations_off[kAccelerationCount];
__attribute__((always_inline)) inline bool off(Acceleration a) {
  return accelerations_off[static_cast<int>(a)];
}
#else
constexpr bool off(Acceleration) { return false; }
#endif

}  // namespace crosscut
