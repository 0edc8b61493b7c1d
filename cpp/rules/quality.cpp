// The quality of a rule: a pure function of exact sums, compiled once. So the rules of a task do
// not depend on the tasks that are searched with it, nor on the kernel's instruction set.
#include <cmath>

#include "search.hpp"

namespace crosscut::rules {

namespace {

double x_log_x(double x) { return x > 0 ? x * std::log2(x) : 0.0; }

}  // namespace

double quality(Kind kind, bool any, double n, const double* counts, std::size_t n_columns,
               const double* a, double b) {
  if (kind == Kind::entropy) {
    double sum = 0;
    for (std::size_t c = 0; c < n_columns; c++) sum += x_log_x(counts[c]);
    return (sum - x_log_x(n)) / n;
  }
  double best = 0;
  for (std::size_t c = 0; c < (any ? n_columns : 1); c++) {
    double value = 0;
    if (kind == Kind::ratio) value = (counts[c] + a[c]) / (n + b);
    if (kind == Kind::linear) value = counts[c] - n * a[c];
    if (kind == Kind::foil)
      value = counts[c] > 0 ? counts[c] * (std::log2(counts[c] / n) - a[c]) : 0.0;
    if (c == 0 || value > best) best = value;
  }
  return best;
}

}  // namespace crosscut::rules
