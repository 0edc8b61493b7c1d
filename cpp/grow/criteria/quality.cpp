// The formulas of all criteria, compiled once: they decide, so every instruction set and every
// engine must compute the same bits.
#include <cmath>
#include <stdexcept>
#include <string>

#include "criteria.hpp"

namespace crosscut {
namespace {

// The class weights of n branches whose statistics are row counts.
class Weighted {
  static constexpr int kRoom = 32;
  double room_[kRoom] = {};
  double* sums_;

 public:
  Weighted(const Terms& terms, const double* counts, int n)
      : sums_(n * terms.K > kRoom ? new double[static_cast<unsigned>(n * terms.K)] : room_) {
    for (int j = 0; j < n * terms.K; j += terms.K)
      for (int c = 0; c < terms.K; c++) sums_[j + c] = terms.weights[c] * counts[j + c];
  }
  Weighted(const Weighted&) = delete;
  Weighted& operator=(const Weighted&) = delete;
  ~Weighted() {
    if (sums_ != room_) delete[] sums_;
  }
  operator const double*() const { return sums_; }
};
Terms of_weights(Terms terms) {
  terms.weights = nullptr;
  return terms;
}

template <class C> double total_of(const Terms& terms, const double* s) {
  if constexpr (C::kTargets.serve(0)) return s[1];
  else return terms.sum(s, [](double v) { return v; });
}

template <class C> double branch_of(const Terms& terms, const double* s) {
  const double weight = total_of<C>(terms, s);
  return weight > 0 ? C::part(terms, s, weight) : 0;  // all weights may round to 0 on the grid
}

template <class C>
double several(const Terms& terms, const double* branches, int n, const double* node) {
  if (terms.weights)
    return several<C>(of_weights(terms), Weighted(terms, branches, n), n, Weighted(terms, node, 1));
  double parts = 0;
  for (int j = 0; j < n; j++) parts += branch_of<C>(terms, branches + j * terms.K);
  return C::test(terms, parts, branches, n, node);
}

template <class C> double binary(const Terms& terms, const double* left, const double* node) {
  if (terms.weights)
    return binary<C>(of_weights(terms), Weighted(terms, left, 1), Weighted(terms, node, 1));
  // A shortcut for two statistics: the same sums in the same order, so the same bits.
  if constexpr (requires { C::part_of_two(0.0, 0.0); }) {
    if (terms.K == 2)
      return C::part_of_two(left[0], left[1]) +
             C::part_of_two(node[0] - left[0], node[1] - left[1]);
  }
  double room[2 * 64];
  double* both = terms.K > 64 ? new double[2 * static_cast<unsigned>(terms.K)] : room;
  for (int c = 0; c < terms.K; c++) {
    both[c] = left[c];
    both[terms.K + c] = node[c] - left[c];
  }
  const double q = several<C>(terms, both, 2, node);
  if (both != room) delete[] both;
  return q;
}

template <class C> constexpr Criterion describe(int index) {
  return {index,    C::kName,    C::kTargets, C::kRunning,   C::kRemoval,
          C::kAdds, C::kSquares, C::kMirrors, C::kNeedsGain, C::kLogarithms,
          &C::part, &binary<C>,  &several<C>, &C::impurity};
}

std::string classes_of(int n) {
  return n ? std::to_string(n) + (n == 1 ? " class" : " classes") : "numbers";
}

}  // namespace

const std::array<Criterion, Criteria::kSize> kCriteria =
    []<class... Types>(CriterionList<Types...>) {
      int index = 0;
      return std::array{describe<Types>(index++)...};
    }(Criteria{});

const Criterion& criterion_named(const char* name) {
  std::string names;
  for (const Criterion& c : kCriteria) {
    if (std::string(name) == c.name) return c;
    names += (names.empty() ? "" : ", ") + std::string(c.name);
  }
  throw std::invalid_argument("criterion must be one of " + names + ", but '" + name +
                              "' was given");
}

void need_criterion_for(const Criterion& c, int n_classes) {
  if (c.targets.serve(n_classes)) return;
  const auto [least, most] = c.targets;
  std::string served = "numeric targets";
  if (most > 0)
    served = least == most                  ? classes_of(most)
             : most < kClasses.most_classes ? "up to " + classes_of(most)
                                            : "classes";
  throw std::invalid_argument("criterion '" + std::string(c.name) + "' serves " + served +
                              ", but the target has " + classes_of(n_classes));
}

double xlog(double v) { return v > 0 ? v * std::log2(v) : 0.0; }

double Quality::total(const double* s) const {
  if (weights) {
    double all = 0;
    for (int c = 0; c < K; c++) all += weights[c] * s[c];
    return all;
  }
  return criterion->targets.serve(0) ? s[1] : sum(s, [](double v) { return v; });
}

double Quality::branch(const double* s) const {
  const double weight = total(s);
  if (!(weight > 0)) return 0;
  if (weights) return criterion->part(of_weights(*this), Weighted(*this, s, 1), weight);
  return criterion->part(*this, s, weight);
}

}  // namespace crosscut
