// Codes of classes, and stratified folds.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace crosscut {

// Numbers integer labels from 0 in ascending order. Returns false and fills nothing if their range
// is larger than max_span.
bool code_classes(const std::int64_t* labels, std::size_t n, std::int64_t max_span,
                  std::vector<std::int64_t>& classes, std::int32_t* codes, int n_threads);

using Shuffle = std::function<void(std::int64_t* folds, std::size_t n)>;

// Fills stratified folds like scikit-learn. All rows, with classes in the order of their first row,
// are dealt to the folds in turn, which gives the number of a class's rows in each fold. The rows
// of a class get these folds in ascending order, or in the order that `shuffle` gives them. Returns
// the number of rows of each class. Codes must be from 0 to n_classes - 1.
std::vector<std::int64_t> deal_folds(const std::int32_t* codes, std::size_t n,
                                     std::size_t n_classes, std::int64_t n_folds,
                                     const Shuffle& shuffle, std::int64_t* folds, int n_threads);

}  // namespace crosscut
