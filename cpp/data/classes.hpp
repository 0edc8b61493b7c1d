// Classes of rows: their codes, and how their rows are dealt out to folds.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace crosscut {

// Numbers integer labels from 0 in ascending order. False if their range is larger than max_span;
// then nothing is filled.
bool code_classes(const std::int64_t* labels, std::size_t n, std::int64_t max_span,
                  std::vector<std::int64_t>& classes, std::int32_t* codes);

using Shuffle = std::function<void(std::int64_t* folds, std::size_t n)>;

// Stratified folds as scikit-learn makes them: classes are sorted by their first row, and the rows
// of the whole list dealt out in turn give the number of a class's rows in each fold; these fill
// the class from its first row on, or as `shuffle` leaves them. Returns the number of rows of each
// class. The codes must be from 0 to n_classes - 1.
std::vector<std::int64_t> deal_folds(const std::int32_t* codes, std::size_t n,
                                     std::size_t n_classes, std::int64_t n_folds,
                                     const Shuffle& shuffle, std::int64_t* folds, int n_threads);

}  // namespace crosscut
