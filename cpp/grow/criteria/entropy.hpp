// Entropy. With x(v) = v·log2(v), a branch of weight L adds Σ x(l_c) − x(L) to the quality of a
// test.
#pragma once
#include <cmath>

#include "criterion.hpp"

namespace crosscut {

struct Entropy {
  static constexpr const char* kName = "entropy";
  static constexpr Targets kTargets = kClasses;
  static constexpr Running kRunning = Running::class_by_class;
  static constexpr Removal kRemoval = Removal::of_bits;
  static constexpr bool kAdds = true;
  static constexpr bool kSquares = false;
  static constexpr bool kMirrors = true;
  static constexpr bool kNeedsGain = false;
  static constexpr bool kLogarithms = true;

  static double part(const Terms& terms, const double* s, double weight) {
    double sum = 0;
    for (int c = 0; c < terms.K; c++) sum += terms.x(s[c]);
    return sum - terms.x(weight);
  }
  static double test(const Terms&, double parts, const double*, int, const double*) {
    return parts;
  }

  static double impurity(const double* value, int n_classes, double weight) {
    double impurity = 0.0;
    for (int c = 0; c < n_classes; c++) {
      const double share = value[c] / weight;
      if (share > 0) impurity -= share * std::log2(share);
    }
    return impurity;
  }

  // Error of Q on the grid, for weights from 1e-300 to 1e300.
  static double error(const GridOfNode& grid, double) {
    return grid.weight * (112 * grid.off + 1200 * grid.formula);
  }

  // For the running statistics (any_classes.hpp): by how much the quality of a cut exceeds `best`.
  template <class D, class Cut> static D surplus(const Cut&, D parts, D sides, double best) {
    return parts - sides - best;
  }
  // The error of a surplus, given that of the sums.
  static double slack(double error, double) { return error; }
  // May a cut inside the following interval have a quality above `best`?
  template <class Cut> static bool may_beat_inside(const Cut& cut, double best) {
    double q = 0;
    return !bound_inside(cut, q) || q > best - cut.rounding();
  }
  // Bound of Q inside an interval. Q = Σ_c φ_c(l_c) + g(l), where φ_c(v) = x(v) + x(n_c − v) is
  // convex and g(l) = −x(l) − x(n − l) is concave. In the interval φ_c is below its chord and g is
  // below its tangent at the middle. The sum of both is linear in the rows moved of each class, so
  // its maximum moves each class completely or not at all. Returns false if there is no tangent.
  template <class Cut> static bool bound_inside(const Cut& cut, double& q) {
    const double size = cut.size();
    const double middle = cut.l + size / 2;
    const double rest = cut.n - middle;
    if (!(middle > 0 && rest > 0)) return false;
    const double tangent = __builtin_log2(rest / middle);
    q = -xlog(middle) - xlog(rest) - tangent * size / 2;
    for (int c = 0; c < cut.n_classes; c++) {
      const double left = cut.left(c);
      const double right = cut.node(c) - left;
      const double moved = cut.moved(c);
      const double start = cut.x(left) + cut.x(right);
      const double gain =
          moved > 0 ? cut.x(left + moved) + cut.x(right - moved) - start + tangent * moved : 0;
      q += start + (gain > 0 ? gain : 0);
    }
    return true;
  }
};

}  // namespace crosscut
