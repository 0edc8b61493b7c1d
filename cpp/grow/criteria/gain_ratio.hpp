// Gain ratio: the gain in entropy divided by the split information, which is the entropy of the
// branches' weights.
#pragma once
#include <limits>

#include "entropy.hpp"

namespace crosscut {

struct GainRatio {
  static constexpr const char* kName = "gain_ratio";
  static constexpr Targets kTargets = kClasses;
  static constexpr Running kRunning = Running::class_by_class;
  static constexpr Removal kRemoval = Removal::unknown;
  static constexpr bool kAdds = false;
  static constexpr bool kSquares = false;
  static constexpr bool kMirrors = false;  // split information rounds differently
  static constexpr bool kNeedsGain = true;
  static constexpr bool kLogarithms = true;
  static constexpr double kLeastGain = 1e-9;  // per weight of the node

  static double part(const Terms& terms, const double* s, double weight) {
    return Entropy::part(terms, s, weight);
  }

  static double test(const Terms& terms, double parts, const double* branches, int n,
                     const double* node) {
    const auto total = [&](const double* s) { return terms.sum(s, [](double v) { return v; }); };
    const double all = total(node);
    const double gain = parts - (all > 0 ? part(terms, node, all) : 0);
    double split = terms.x(all);
    for (int j = 0; j < n; j++) split -= terms.x(total(branches + j * terms.K));
    return gain > kLeastGain * all && split > 0 ? gain / split
                                                : -std::numeric_limits<double>::infinity();
  }

  static double impurity(const double* value, int n_classes, double weight) {
    return Entropy::impurity(value, n_classes, weight);
  }

  static double error(const GridOfNode& grid, double q) {
    return Entropy::error(grid, q) * (3 * (1 + q) / grid.least);
  }

  // Has a test with this gain on the grid surely a gain, or surely none? (A split with a gain of at
  // least 1e-9 per row has a split information far above its rounding.)
  static bool sure_of_gain(const GridOfNode& grid, double gain) {
    const double above = gain - kLeastGain * grid.weight;
    return (above < 0 ? -above : above) > 3 * Entropy::error(grid, 0);
  }

  // Of the gain less `best` times the split information.
  template <class D, class Cut> static D surplus(const Cut& cut, D parts, D sides, double best) {
    return parts - sides - cut.node_quality - best * (cut.x(cut.n) - sides);
  }
  static double slack(double error, double best) { return error * (1 + best); }
  // The bound of the gain divided by the least split information, which is at one end of the
  // interval.
  template <class Cut> static bool may_beat_inside(const Cut& cut, double best) {
    double q = 0;
    if (!Entropy::bound_inside(cut, q)) return true;
    const auto split_at = [&](double l) { return cut.x(cut.n) - cut.x(l) - cut.x(cut.n - l); };
    const double first = split_at(cut.l);
    const double last = split_at(cut.l + cut.size());
    const double split = first < last ? first : last;
    return split <= 0 || q - cut.node_quality > best * split - slack(cut.rounding(), best);
  }
};

}  // namespace crosscut
