// 16-bit masks of the tasks that each row trains, 15 tasks per block.
#pragma once
#include <cstddef>
#include <cstdint>

namespace crosscut {

// Sets a task's bit for the given rows; returns how many of them already had it. Rows must be in
// range.
std::size_t mark_rows(std::uint16_t* masks, std::uint16_t bit, const std::int64_t* rows,
                      std::size_t n);

// Returns the position in `rows` of the first row with the bit, or n. Rows must be in range.
std::size_t first_marked(const std::uint16_t* masks, std::uint16_t bit, const std::int64_t* rows,
                         std::size_t n);

// Lists the rows of fold 0, then of fold 1, and so on, each in ascending order, without the rows of
// fold -1. `first` gets n_folds + 1 offsets into `ordered`. Folds must be from -1 to n_folds - 1.
void rows_by_fold(const std::int64_t* folds, std::size_t n_rows, std::size_t n_folds,
                  std::int64_t* ordered, std::int64_t* first, int n_threads);

constexpr std::size_t kBlock = 15;  // tasks per block

// Masks of tasks that train on all rows except those of the folds they leave out; rows of fold -1
// train all tasks. Task t leaves out left_out[first[t]] .. left_out[first[t + 1] - 1]. `masks` has
// n_rows entries for each block. Folds must be from -1 to n_folds - 1, and folds that are left out
// from 0.
void masks_without(const std::int64_t* folds, std::size_t n_rows, std::size_t n_folds,
                   const std::int64_t* left_out, const std::int64_t* first, std::size_t n_tasks,
                   std::uint16_t* masks, int n_threads);

}  // namespace crosscut
