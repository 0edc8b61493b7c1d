// What a test's quality needs to know of a node, computed once per node and task.
#pragma once
#include <cstddef>
#include <cstdint>

namespace crosscut::query {

struct Whole {
  std::size_t n_classes;
  const std::int32_t* counts;  // of the classes
  std::int32_t n, minimal_cases;
  double term;                 // of the criterion: the sum of x log x, or of squares, over the classes
  double n_log_n;
  const double* x_log_x;       // for every number of examples
  bool gini, ratio;
  double tolerance;            // gains below count as none
};

}  // namespace crosscut::query
