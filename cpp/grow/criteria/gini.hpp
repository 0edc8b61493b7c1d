// Gini: a branch of weight L adds Σ l_c² / L to the quality of a test.
#pragma once
#include "criterion.hpp"

namespace crosscut {

struct Gini {
  static constexpr const char* kName = "gini";
  static constexpr Targets kTargets = kClasses;
  static constexpr Running kRunning = Running::class_squares;
  static constexpr Removal kRemoval = Removal::of_squares;
  static constexpr bool kAdds = true;
  static constexpr bool kSquares = true;
  static constexpr bool kMirrors = true;
  static constexpr bool kNeedsGain = false;
  static constexpr bool kLogarithms = false;

  static double part(const Terms& terms, const double* s, double weight) {
    return terms.sum(s, [](double v) { return v * v; }) / weight;
  }
  static double part_of_two(double a, double b) {
    const double weight = a + b;
    return weight > 0 ? (a * a + b * b) / weight : 0;
  }
  static double test(const Terms&, double parts, const double*, int, const double*) {
    return parts;
  }

  static double impurity(const double* value, int n_classes, double weight) {
    double squares = 0;
    for (int c = 0; c < n_classes; c++) {
      if (value[c] == 0) continue;  // most classes, if there are many
      const double share = value[c] / weight;
      squares += share * share;
    }
    return 1.0 - squares;
  }

  // By how much rounding to the grid can change a quality (Run::margin).
  static double error(const GridOfNode& grid, double q) {
    return q * (4 * grid.off + grid.formula);
  }
};

}  // namespace crosscut
