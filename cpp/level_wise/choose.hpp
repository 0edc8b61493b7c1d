// The best test of every task of a bundle, from the bundle's statistics alone (level-wise growth).
#pragma once
#include <cstdint>
#include <vector>

#include "../grow/problem.hpp"
#include "pass.hpp"

namespace crosscut {

struct ChoiceProblem {
  const Criterion* criterion;
  int n_classes;  // 0: regression
  bool counted;   // channels are class counts; else the number of rows, then exact sums
  // unless counted: the grids of the exact sums, without w·y·y
  ExactRows exact;
  bool multiway;
  const bool* nominal;  // [n_columns]
  StatisticsShape shape;
};

struct Branch {
  std::int64_t n_rows = 0;
  std::vector<double> stats;  // class sums; for regression the weight
};

struct Choice {
  Branch node;
  double weight = 0, quality, improvement = 0;
  std::vector<std::uint64_t> above, below;  // quality as a fraction, if exact
  int feature = -1, missing = -1;
  // numeric tests: last bin on the left, or the number of bins for "present | missing"
  int cut = -1;
  // branch of each code of the column, the last for missing values; −1 if unseen
  std::vector<std::int32_t> branch_of;
  std::vector<Branch> branches;
};

// Returns one choice per lane, with feature −1 if no test is admissible. `statistics` are those of
// the columns first..end of one bundle with L lanes: [column][bin][channel][lane].
template <class T>
std::vector<Choice> choose_tests(const ChoiceProblem&, const T* statistics, int first, int end,
                                 int L, const std::int64_t* min_leaf);

}  // namespace crosscut
