// The errors that pessimistic pruning adds to the observed errors: C4.5's function AddErrs, used
// for trees of tables and relational trees.
#pragma once

namespace crosscut {

// `errors` were observed among n examples; `confidence` is above 0 and at most 1.
double additional_errors(double n, double errors, double confidence);

}  // namespace crosscut
