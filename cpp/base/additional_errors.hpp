// The errors that pessimistic pruning expects beside those seen: C4.5's function AddErrs. Both
// kinds of trees are pruned with it.
#pragma once

namespace crosscut {

// `errors` seen among n examples; a confidence above 0 and at most 1.
double additional_errors(double n, double errors, double confidence);

}  // namespace crosscut
