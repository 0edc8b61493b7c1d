// Decisions by exact sums (base/exact_sums.hpp). Statistics are on a grid; where the grid leaves a
// decision open, the exact sums of a task's own rows decide (docs/semantics.md). Compiled once, for
// all builds of the kernels.
#pragma once
#include <vector>

#include "grow/problem.hpp"

namespace crosscut {

double exact_weight(const Problem&, const std::int64_t* sums);  // weight of a node
// mean of a node of a regression, rounded once
double exact_mean(const Problem&, const std::int64_t* sums);
// fraction of a class in a node's weight, rounded once
double exact_share(const Problem&, const std::int64_t* sums, int c);
// Do all rows of a class have the same weight?
bool same_weights_in_classes(const Problem&);
// Mean and variance of two numbers, each rounded once. Returns false if that needs long numbers.
bool moments_of_two(double a, double b, double& mean, double& variance);
// Writes the digits of w (classes: y is null) or of w·y, w and w·y·y of n rows.
void exact_digits(const ExactRows& grids, std::size_t n, const double* y, const double* w,
                  std::int64_t* digits);

// Compares two tests of a regression: 1 if the first is better, 0 if they are equal, −1 otherwise.
// Arguments: statistics (P, W) of the node and of the first branch of each test, on a grid that did
// not round.
int compare_tests(const double* node, const double* a, const double* b);
bool same_mean(const double* a, const double* b);  // of two such branches

// Finds the best of the tests of a node by the exact sums of their branches. A branch has
// Problem::n_sums() digits, like a node.
class Contest {
  struct State;
  State* state_;

 public:
  Contest(const Problem&, const std::int64_t* node);
  Contest(const Contest&) = delete;
  Contest& operator=(const Contest&) = delete;
  ~Contest();
  bool offer(const std::int64_t* branches, int n);  // true if it is better than all before
  // The best quality so far: a fraction whose numbers are words from the lowest on or, if there are
  // no words, a double.
  double quality(std::vector<std::uint64_t>& above, std::vector<std::uint64_t>& below) const;
  double improvement(const std::int64_t* branches, int n) const;  // Quality::improvement
};

}  // namespace crosscut
