// AddErrs of C4.5 (release 8): the upper confidence limit of a binomial proportion. It is exact for
// no error, interpolated up to one error, and a normal approximation above.
#include "base/additional_errors.hpp"

#include <cmath>
#include <cstddef>

namespace crosscut {
namespace {

// C4.5 interpolates the normal deviate of a confidence level in this table.
constexpr double confidences[] = {0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00};
constexpr double deviations[] = {4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00};

double deviation(double confidence) {
  std::size_t i = 1;
  while (i < 8 && confidence > confidences[i]) i++;
  return deviations[i - 1] + (deviations[i] - deviations[i - 1]) *
                                 (confidence - confidences[i - 1]) /
                                 (confidences[i] - confidences[i - 1]);
}

}  // namespace

double additional_errors(double n, double errors, double confidence) {
  if (errors < 1e-6) return n * (1 - std::exp(std::log(confidence) / n));
  if (errors < 0.9999) {
    const double none = n * (1 - std::exp(std::log(confidence) / n));
    return none + errors * (additional_errors(n, 1.0, confidence) - none);
  }
  if (errors + 0.5 >= n) return 0.67 * (n - errors);
  const double squared = deviation(confidence) * deviation(confidence), shifted = errors + 0.5;
  const double limit =
      (shifted + squared / 2 + std::sqrt(squared * (shifted * (1 - shifted / n) + squared / 4))) /
      (n + squared);
  return n * limit - errors;
}

}  // namespace crosscut
