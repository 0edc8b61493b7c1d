// What follows from exact sums (base/exact_sums.hpp): whatever the grid leaves open is decided by
// the exact sums of a task's own rows (docs/semantics.md). Compiled once, for all builds of the
// kernels.
#pragma once
#include <vector>

#include "grow/problem.hpp"

namespace crosscut {

double exact_weight(const Problem&, const std::int64_t* sums);  // of a node
// of a node of a regression, rounded once
double exact_mean(const Problem&, const std::int64_t* sums);
// of a class in a node's weight, rounded once
double exact_share(const Problem&, const std::int64_t* sums, int c);
// Mean and variance of two numbers, each rounded once, where that takes no long numbers; false
// elsewhere.
bool moments_of_two(double a, double b, double& mean, double& variance);
// Writes the digits of w (classes: y is null) or of w·y, w and w·y·y of n rows.
void exact_digits(const ExactRows& grids, std::size_t n, const double* y, const double* w,
                  std::int64_t* digits);

// Which of two tests of a regression is better: 1: the first, 0: they are as good, -1. Statistics
// (P, W) of the node, and of the first branch of each test, on a grid that did not round.
int compare_tests(const double* node, const double* a, const double* b);
bool same_mean(const double* a, const double* b);  // of two such branches

// Compares the tests of a node by the exact sums of their branches. Sums of a branch are those of a
// node: Problem::n_sums() digits.
class Contest {
  struct State;
  State* state_;

 public:
  Contest(const Problem&, const std::int64_t* node);
  Contest(const Contest&) = delete;
  Contest& operator=(const Contest&) = delete;
  ~Contest();
  bool offer(const std::int64_t* branches, int n);  // true if it is better than all before
  // Quality of the best so far: a fraction, its numbers as words from the lowest on; or, without
  // words, a double.
  double quality(std::vector<std::uint64_t>& above, std::vector<std::uint64_t>& below) const;
  double improvement(const std::int64_t* branches, int n) const;  // Quality::improvement
};

}  // namespace crosscut
