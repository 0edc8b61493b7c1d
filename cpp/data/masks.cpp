// Masks of folds: the mask of a row depends only on its fold, so a table over folds gives it.
#include "masks.hpp"

#include <algorithm>
#include <vector>

#include "row_parts.hpp"

namespace crosscut {

std::size_t mark_rows(std::uint16_t* masks, std::uint16_t bit, const std::int64_t* rows,
                      std::size_t n) {
  std::size_t repeated = 0;
  for (std::size_t i = 0; i < n; i++) {
    std::uint16_t& mask = masks[rows[i]];
    repeated += (mask & bit) != 0;
    mask = static_cast<std::uint16_t>(mask | bit);
  }
  return repeated;
}

std::size_t first_marked(const std::uint16_t* masks, std::uint16_t bit, const std::int64_t* rows,
                         std::size_t n) {
  for (std::size_t i = 0; i < n; i++)
    if (masks[rows[i]] & bit) return i;
  return n;
}

void rows_by_fold(const std::int64_t* folds, std::size_t n_rows, std::size_t n_folds,
                  std::int64_t* ordered, std::int64_t* first, int n_threads) {
  // key 0 is fold -1
  const auto key = [&](std::size_t r) { return static_cast<std::size_t>(folds[r] + 1); };
  RowParts parts(n_rows, n_folds + 1, n_threads);
  parts.count(key);
  first[0] = 0;
  for (std::size_t k = 0; k < n_folds; k++) first[k + 1] = parts.start(k + 1, first[k]);
  parts.place(key, [&](std::size_t r, std::int64_t at) {
    if (folds[r] >= 0) ordered[at] = static_cast<std::int64_t>(r);
  });
}

void masks_without(const std::int64_t* folds, std::size_t n_rows, std::size_t n_folds,
                   const std::int64_t* left_out, const std::int64_t* first, std::size_t n_tasks,
                   std::uint16_t* masks, int n_threads) {
  parallel_for(static_cast<std::int64_t>(n_rows), kRowsPerThread, n_threads,
               [&](std::int64_t begin, std::int64_t end) {
                 std::vector<std::uint16_t> of_fold(n_folds + 1);  // of the rows of fold -1, 0, ...
                 for (std::size_t task = 0; task < n_tasks; task += kBlock) {
                   const std::size_t n = std::min(kBlock, n_tasks - task);
                   std::fill(of_fold.begin(), of_fold.end(),
                             static_cast<std::uint16_t>((1u << n) - 1));
                   for (std::size_t t = 0; t < n; t++)
                     for (std::int64_t k = first[task + t]; k < first[task + t + 1]; k++) {
                       std::uint16_t& mask = of_fold[static_cast<std::size_t>(left_out[k] + 1)];
                       mask = static_cast<std::uint16_t>(mask & ~(1u << t));
                     }
                   std::uint16_t* line = masks + task / kBlock * n_rows;
                   const std::uint16_t* mask = of_fold.data() + 1;
                   for (std::int64_t r = begin; r < end; r++) line[r] = mask[folds[r]];
                 }
               });
}

}  // namespace crosscut
