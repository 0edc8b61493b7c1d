#include "masks.hpp"

#include <vector>

namespace crosscut {

std::size_t mark_rows(std::uint16_t* masks, std::uint16_t bit, const std::int64_t* rows, std::size_t n) {
  std::size_t repeated = 0;
  for (std::size_t i = 0; i < n; i++) {
    std::uint16_t& mask = masks[rows[i]];
    repeated += (mask & bit) != 0;
    mask = static_cast<std::uint16_t>(mask | bit);
  }
  return repeated;
}

std::size_t first_marked(const std::uint16_t* masks, std::uint16_t bit, const std::int64_t* rows, std::size_t n) {
  for (std::size_t i = 0; i < n; i++)
    if (masks[rows[i]] & bit) return i;
  return n;
}

void rows_by_fold(const std::int64_t* folds, std::size_t n_rows, std::size_t n_folds, std::int64_t* ordered,
                  std::int64_t* first) {
  std::vector<std::int64_t> next(n_folds + 1);  // fold -1 counts at 0
  for (std::size_t r = 0; r < n_rows; r++) next[static_cast<std::size_t>(folds[r] + 1)]++;
  std::int64_t sum = 0;
  for (std::size_t k = 0; k < n_folds; k++) {
    first[k] = sum;
    sum += next[k + 1];
    next[k + 1] = first[k];
  }
  first[n_folds] = sum;
  for (std::size_t r = 0; r < n_rows; r++)
    if (folds[r] >= 0) ordered[next[static_cast<std::size_t>(folds[r] + 1)]++] = static_cast<std::int64_t>(r);
}

}  // namespace crosscut
