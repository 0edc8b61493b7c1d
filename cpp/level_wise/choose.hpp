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
  bool counted;   // channels are classes; else the number of rows comes first
  // unless counted: the grids of what rows add to exact sums, without w·y·y
  ExactRows exact;
  bool multiway;
  const bool* nominal;  // [n_columns]
  StatisticsShape shape;
};

struct Branch {
  std::int64_t n_rows = 0;
  std::vector<double> stats;  // class sums; of a regression the weight
};

struct Choice {
  Branch node;
  double weight = 0, quality, improvement = 0;
  std::vector<std::uint64_t> above, below;  // of the quality, where it is a fraction
  int feature = -1, missing = -1;
  // numeric: last bin on the left; the number of bins for "present | missing"
  int cut = -1;
  // branch of every code of the column, the last of missing; −1 unseen
  std::vector<std::int32_t> branch_of;
  std::vector<Branch> branches;
};

// statistics: of the columns first..end of one bundle with L lanes. One choice per lane; feature −1
// if no test is admissible.
template <class T>
std::vector<Choice> choose_tests(const ChoiceProblem&, const T* statistics, int first, int end,
                                 int L, bool mixed, const std::int64_t* min_leaf);

}  // namespace crosscut
