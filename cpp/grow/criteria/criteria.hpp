// The list of criteria. To add one, write a type like those included here and add it to `Criteria`.
#pragma once
#include <array>

#include "entropy.hpp"
#include "gain_ratio.hpp"
#include "gini.hpp"
#include "variance.hpp"

namespace crosscut {

template <CriterionType... Types> struct CriterionList {
  static constexpr int kSize = sizeof...(Types);
};
using Criteria = CriterionList<Gini, Entropy, GainRatio, Variance>;

// A criterion chosen by name at run time: pointers to the functions of its type.
struct Criterion {
  int index;  // in `Criteria`
  const char* name;
  Targets targets;
  Running running;
  Removal removal;
  bool adds, squares, mirrors, needs_gain, logarithms;  // CriterionType
  double (*part)(const Terms&, const double* s, double weight);
  double (*binary)(const Terms&, const double* left, const double* node);
  double (*several)(const Terms&, const double* branches, int n, const double* node);
  double (*impurity)(const double* value, int n_classes, double weight);
};
extern const std::array<Criterion, Criteria::kSize> kCriteria;
const Criterion& criterion_named(const char*);  // throws std::invalid_argument for an unknown name
// Throws std::invalid_argument if the criterion does not serve this number of classes (0: numbers).
void need_criterion_for(const Criterion&, int n_classes);

// Calls f.operator()<C>() with the type of a criterion.
template <class F, class First, class... Rest>
decltype(auto) with_criterion_of(CriterionList<First, Rest...>, int index, const F& f) {
  if constexpr (sizeof...(Rest) > 0) {
    if (index > 0) return with_criterion_of(CriterionList<Rest...>{}, index - 1, f);
  }
  return f.template operator()<First>();
}
template <class F> decltype(auto) with_criterion(const Criterion& criterion, const F& f) {
  return with_criterion_of(Criteria{}, criterion.index, f);
}

// The quality Q of tests. This formula decides; everything else only skips tests that cannot win.
struct Quality : Terms {
  const Criterion* criterion;
  Quality(const Criterion& of, int n_classes) : Terms{n_classes ? n_classes : 2}, criterion(&of) {}

  double total(const double* s) const;   // weight of a branch
  double branch(const double* s) const;  // what a branch adds to Q; 0 if it has no weight
  // Q of the two branches `left` and `node − left`.
  __attribute__((always_inline)) double binary(const double* left, const double* node) const {
    return criterion->binary(*this, left, node);
  }
  // Q of n branches of K statistics each.
  __attribute__((always_inline)) double several(const double* branches, int n,
                                                const double* node) const {
    return criterion->several(*this, branches, n, node);
  }
  // By how much a test of quality q lowers the impurity, times the weight. `parts` is the sum of
  // branch(); it is used only if Q is not that sum.
  __attribute__((always_inline)) double improvement(const double* node, double q,
                                                    double parts) const {
    return (criterion->adds ? q : parts) - branch(node);
  }
};

}  // namespace crosscut
