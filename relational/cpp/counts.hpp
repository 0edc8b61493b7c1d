// What the quality of a test needs to know about a node, computed once per node and task. With x
// log x written as x:
#pragma once
#include <cstddef>
#include <cstdint>

namespace crosscut::query {

struct Whole {
  std::size_t n_classes;
  const std::int32_t* counts;  // of the classes
  std::int32_t n, minimal_cases;
  double term;          // of the criterion: the sum of x(count), or of squares, over the classes
  const double* split;  // x(n) - x(yes) - x(n - yes), by the number of examples that pass the test
  // x(yes) + x(count - yes), by the number of those of a class; one class after the other
  const double* kept;
  bool gini, ratio;
  double tolerance;  // gains below this count as zero
};

}  // namespace crosscut::query
