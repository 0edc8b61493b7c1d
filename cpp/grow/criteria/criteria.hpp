// The criteria that there are. A new one is a type like those included here, and its name in
// `Criteria`.
#pragma once
#include <array>

#include "entropy.hpp"
#include "gain_ratio.hpp"
#include "gini.hpp"
#include "variance.hpp"

namespace crosscut {

template <CriterionType... Types>
struct CriterionList {
  static constexpr int kSize = sizeof...(Types);
};
using Criteria = CriterionList<Gini, Entropy, GainRatio, Variance>;

// A criterion chosen by name at run time: the functions of its type.
struct Criterion {
  int index;  // in `Criteria`
  const char* name;
  Targets targets;
  Running running;
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
template <class F>
decltype(auto) with_criterion(const Criterion& criterion, const F& f) {
  return with_criterion_of(Criteria{}, criterion.index, f);
}

// The quality of tests: the one formula per criterion that decides.
struct Quality : Terms {
  const Criterion* criterion;
  Quality(const Criterion& of, int n_classes) : Terms{n_classes ? n_classes : 2}, criterion(&of) {}

  double total(const double* s) const;   // weight of a branch
  double branch(const double* s) const;  // what a branch adds to Q; 0 without weight
  // Q of left | node − left
  __attribute__((always_inline)) double binary(const double* left, const double* node) const {
    return criterion->binary(*this, left, node);
  }
  // Q of n branches, K doubles each
  __attribute__((always_inline)) double several(const double* branches, int n,
                                                const double* node) const {
    return criterion->several(*this, branches, n, node);
  }
  // How much a test of quality q lowers the impurity, times the weight; parts: Σ of branch(),
  // unless Q is that sum.
  __attribute__((always_inline)) double improvement(const double* node, double q,
                                                    double parts) const {
    return (criterion->adds ? q : parts) - branch(node);
  }
};

}  // namespace crosscut
