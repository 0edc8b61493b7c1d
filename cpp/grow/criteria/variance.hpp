// Variance, for regression. With P the sum of the targets, a branch of weight W adds P²/W to the
// quality of a test.
#pragma once
#include "criterion.hpp"

namespace crosscut {

struct Variance {
  static constexpr const char* kName = "variance";
  static constexpr Targets kTargets = kNumbers;
  static constexpr Running kRunning = Running::moments;
  static constexpr Removal kRemoval = Removal::of_squares;
  static constexpr bool kAdds = true;
  static constexpr bool kSquares = true;
  static constexpr bool kMirrors = true;
  static constexpr bool kNeedsGain = false;
  static constexpr bool kLogarithms = false;

  static double part(const Terms&, const double* s, double weight) { return s[0] * s[0] / weight; }
  static double part_of_two(double sum, double weight) {
    return weight > 0 ? sum * sum / weight : 0;
  }
  static double test(const Terms&, double parts, const double*, int, const double*) {
    return parts;
  }

  // Unused: leaves of a regression have the exact variance (packed_trees.cpp).
  static double impurity(const double*, int, double) { return 0; }

  // The error of Σ P²/W: |ΔP| ≤ W/2·least + 1 in every branch, and Σ|P| ≤ √(W·Q).
  static double error(const GridOfNode& grid, double q) {
    double error = 0;
    if (grid.product_rounded) {
      const double root = __builtin_sqrt(grid.weight * q) / grid.least;
      error = 1.25 * (root + 4 * __builtin_sqrt(q) + grid.weight / (grid.least * grid.least) + 4);
    }
    return error + q * (2 * grid.off + grid.formula);
  }
};

}  // namespace crosscut
