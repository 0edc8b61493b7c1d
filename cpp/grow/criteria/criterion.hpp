// What a criterion has to offer. A criterion is one type in a file of its own (gini.hpp,
// entropy.hpp, …), which owns its name, its formulas and what the accelerations need to know about
// it; criteria.hpp lists the types.
//
// The quality Q of a test is a pure function of the statistics of its branches (docs/semantics.md):
// K doubles per branch, which are the weights of the classes, or (P, W) for numbers. The formulas
// are compiled once, in quality.cpp, so that every instruction set and every engine decides alike.
// The templates at the end of a criterion only skip tests that cannot be the best. They are
// compiled for every instruction set.
#pragma once
#include <concepts>
#include <cstdint>

namespace crosscut {

double xlog(double v);  // v · log2(v)

// The numbers of classes that a criterion serves; 0 stands for numeric targets.
struct Targets {
  int least_classes;
  int most_classes;
  constexpr bool serve(int n_classes) const {
    return n_classes >= least_classes && n_classes <= most_classes;
  }
};
constexpr Targets kNumbers{0, 0};
constexpr Targets kClasses{1, 65535};

// Which running statistics evaluate the cuts of a criterion quickly (running_statistics.hpp).
enum class Running {
  class_squares,   // Q is Gini's: Σ of squared class weights over the weight
  class_by_class,  // the criterion's own may_beat() and may_beat_inside(), lane by lane
  moments,         // P²/W
};

// What the formulas share: the number of statistics per branch, and a table of xlog() for small
// counts.
constexpr std::uint32_t kXlogs = 1 << 16;
struct Terms {
  int K;
  const double* xlogs = nullptr;  // [kXlogs], if all statistics are counts
  __attribute__((always_inline)) double x(double v) const {
    return xlogs && v < kXlogs ? xlogs[static_cast<std::uint32_t>(v)] : xlog(v);
  }
  // The sum of f(s[c]): one after the other, but many classes eight at a time.
  template <class F>
  double sum(const double* s, F f) const {
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

template <class C>
concept CriterionType =
    requires(const Terms& terms, const double* s, double weight, double q, int n) {
      { C::kName } -> std::convertible_to<const char*>;
      { C::kTargets } -> std::convertible_to<Targets>;
      { C::kRunning } -> std::convertible_to<Running>;
      // Q is the sum of its branches' parts. Otherwise only test() knows Q, and parts say by how
      // much a test lowers the impurity: Σ of the branches' parts less the node's
      // (min_impurity_decrease, importances).
      { C::kAdds } -> std::convertible_to<bool>;
      // A branch adds Σ of squares over its weight, so that sums of weights are compared as
      // fractions of long integers.
      { C::kSquares } -> std::convertible_to<bool>;
      // Exchanging the two branches of a test changes no bit of Q.
      { C::kMirrors } -> std::convertible_to<bool>;
      // A test without gain is not admissible: its Q is −infinity.
      { C::kNeedsGain } -> std::convertible_to<bool>;
      // Formulas use xlog().
      { C::kLogarithms } -> std::convertible_to<bool>;
      // What a branch of this weight (> 0) adds to Q, or to the decrease of impurity; up to a
      // constant, −weight · impurity.
      { C::part(terms, s, weight) } -> std::same_as<double>;
      // Q of a test, from the sum of its branches' parts: sums of branches (n · K), their number,
      // the node's sums.
      { C::test(terms, q, s, n, s) } -> std::same_as<double>;
      // Impurity of a leaf of n classes of these weights.
      { C::impurity(s, n, weight) } -> std::same_as<double>;
    };

}  // namespace crosscut
