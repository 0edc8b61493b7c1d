// The interface of a criterion. Each criterion is one type in its own file (gini.hpp, entropy.hpp,
// …) with its name, its formulas and what the accelerations need to know. criteria.hpp lists the
// types.
//
// The quality Q of a test is a pure function of the statistics of its branches (docs/semantics.md).
// A branch has K doubles: the class weights or, for numeric targets, the sum and the weight (P, W).
// The formulas are compiled once, in quality.cpp, so that every instruction set and engine makes
// the same decisions. The templates at the end of a criterion only skip tests that cannot be the
// best; they are compiled for every instruction set.
#pragma once
#include <concepts>
#include <cstdint>

namespace crosscut {

double xlog(double v);  // v · log2(v)

// The numbers of classes that a criterion supports; 0 stands for numeric targets.
struct Targets {
  int least_classes;
  int most_classes;
  constexpr bool serve(int n_classes) const {
    return n_classes >= least_classes && n_classes <= most_classes;
  }
};
constexpr Targets kNumbers{0, 0};
constexpr Targets kClasses{1, 65535};

// The running statistics that evaluate the cuts of a criterion (running_statistics.hpp).
enum class Running {
  class_squares,   // Q is Gini's: sum of squared class weights over the weight
  class_by_class,  // the criterion's own may_beat() and may_beat_inside(), lane by lane
  moments,         // P²/W
};

// What removing few rows can do to the cuts of a node, for many tasks that hold out few rows each
// (grow/many/).
enum class Removal {
  of_squares,  // squared distances from the mean of the branch (squares_bound.hpp)
  of_bits,     // bits of the classes (entropy_bound.hpp)
  unknown,     // such tasks are grown as others
};

// Shared by all formulas: the number of statistics per branch and a table of xlog() for small
// counts. The table makes entropy on large tables 2.4 times faster.
constexpr std::uint32_t kXlogs = 1 << 16;
struct Terms {
  int K;
  const double* xlogs = nullptr;  // [kXlogs]; only if all statistics are counts
  // [K] the statistics are row counts of classes with these weights; null: they are weights
  const double* weights = nullptr;
  __attribute__((always_inline)) double x(double v) const {
    return xlogs && v < kXlogs ? xlogs[static_cast<std::uint32_t>(v)] : xlog(v);
  }
  // Sum of f(s[c]). The order is part of the result: one by one, or eight at a time from 64
  // classes.
  template <class F> double sum(const double* s, F f) const {
    double all = 0;
    int c = 0;
    if (K >= 64) {
      double lane[8] = {};
      for (; c + 8 <= K; c += 8)
        for (int i = 0; i < 8; i++) lane[i] += f(s[c + i]);
      for (const double one : lane) all += one;
    }
    for (; c < K; c++) all += f(s[c]);
    return all;
  }
};

// Rounding of a node's sums on the grid, from which a criterion computes the error of a quality.
struct GridOfNode {
  double weight;   // of the node
  double least;    // least weight of a row
  double off;      // largest relative error of a weight
  double formula;  // relative rounding error of the formula
  // products have an error of half a unit plus the rounding of w·(y − c), at most 1 in all
  bool product_rounded;
};

template <class C>
concept CriterionType = requires(const Terms& terms, const double* s, double weight, double q,
                                 int n, const GridOfNode& grid) {
  { C::kName } -> std::convertible_to<const char*>;
  { C::kTargets } -> std::convertible_to<Targets>;
  { C::kRunning } -> std::convertible_to<Running>;
  { C::kRemoval } -> std::convertible_to<Removal>;
  // Q is the sum of its branches' parts. Otherwise only test() computes Q, and the parts are
  // used for the decrease of impurity: their sum less the part of the node
  // (min_impurity_decrease, importances).
  { C::kAdds } -> std::convertible_to<bool>;
  // A branch adds its sum of squares over its weight. Exact sums are then compared as fractions
  // of long integers.
  { C::kSquares } -> std::convertible_to<bool>;
  // Q does not change in any bit if the two branches are exchanged.
  { C::kMirrors } -> std::convertible_to<bool>;
  // A test without gain is not allowed: its Q is −infinity. Then sure_of_gain(grid, gain) says
  // whether the grid cannot have hidden that a test has a gain, or none.
  { C::kNeedsGain } -> std::convertible_to<bool>;
  // The formulas use xlog().
  { C::kLogarithms } -> std::convertible_to<bool>;
  // What a branch of this weight (> 0) adds to Q or to the decrease of impurity: −weight ·
  // impurity, up to a constant.
  { C::part(terms, s, weight) } -> std::same_as<double>;
  // Q of a test. Arguments: the sum of its branches' parts, the sums of the branches (n · K),
  // their number n, the sums of the node.
  { C::test(terms, q, s, n, s) } -> std::same_as<double>;
  // Impurity of a leaf with these class weights.
  { C::impurity(s, n, weight) } -> std::same_as<double>;
  // By how much rounding to the grid can change a quality q (Run::margin).
  { C::error(grid, q) } -> std::same_as<double>;
};

}  // namespace crosscut
