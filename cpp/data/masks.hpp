// Which rows train which tasks: bits of 16-bit masks, 15 tasks to a block.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace crosscut {

// Sets a task's bit for the given rows; returns how many of them had it already. The rows must be
// in range.
std::size_t mark_rows(std::uint16_t* masks, std::uint16_t bit, const std::int64_t* rows,
                      std::size_t n);

// Position in rows of the first row that has the bit; n if none has it. The rows must be in range.
std::size_t first_marked(const std::uint16_t* masks, std::uint16_t bit, const std::int64_t* rows,
                         std::size_t n);

// Lists the rows of fold 0, then those of fold 1, ..., each in ascending order; rows of fold -1 are
// left out. first has n_folds + 1 offsets into ordered. The folds must be from -1 to n_folds - 1.
void rows_by_fold(const std::int64_t* folds, std::size_t n_rows, std::size_t n_folds,
                  std::int64_t* ordered, std::int64_t* first, int n_threads);

constexpr std::size_t kBlock = 15;  // tasks of a block

// Masks of tasks that train on every row but those of the folds they leave out; rows of fold -1
// train all of them. masks has a line of n_rows for each block. The folds must be from -1 to
// n_folds - 1, those left out from 0.
void masks_without(const std::int64_t* folds, std::size_t n_rows, std::size_t n_folds,
                   const std::vector<std::vector<std::int64_t>>& left_out, std::uint16_t* masks,
                   int n_threads);

}  // namespace crosscut
