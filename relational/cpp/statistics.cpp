// Class counts and exact sums by fold. A task's statistics are those of all folds less its own, so
// a bundle is summed once for all tasks.
#include "statistics.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace crosscut::query {

namespace {

std::vector<std::int64_t> whole(const double* digits, std::size_t n) {
  return {digits, digits + n};
}

}  // namespace

double Moments::mean(const double* digits) const {
  const auto own = whole(digits, width());
  return n(digits) > 0
             ? exact_ratio(grids.grid[0], own.data(), grids.grid[1], own.data() + grids.grid[0].n)
             : 0.0;
}

std::pair<double, double> Moments::about(const double* digits) const {
  double sum = 0, size = 0;
  for (int d = 0; d < grids.grid[0].n; d++) {
    const double part = std::ldexp(digits[d], grids.grid[0].unit + d * grids.grid[0].bits);
    sum += part;
    size += std::fabs(part);
  }
  return {sum, 1e-15 * size};
}

double Moments::squares(const double* digits) const {
  const auto own = whole(digits, width());
  return exact_value(grids.grid[2], own.data() + grids.grid[0].n + grids.grid[1].n);
}

double Moments::deviations(const double* digits) const {
  return n(digits) * exact_variance(grids, whole(digits, width()).data());
}

Statistics::Statistics(Target target, std::vector<std::int32_t> folds)
    : target_(std::move(target)), words_((folds.size() + 63) / 64), folds_(std::move(folds)) {
  const std::size_t n = folds_.size();
  std::int32_t n_folds = 0;
  for (std::int32_t fold : folds_) n_folds = std::max(n_folds, fold + 1);
  fold_bits_.assign(static_cast<std::size_t>(n_folds), std::vector<std::uint64_t>(words_, 0));
  for (std::size_t e = 0; e < n; e++)
    if (folds_[e] >= 0)
      fold_bits_[static_cast<std::size_t>(folds_[e])][e / 64] |= std::uint64_t{1} << e % 64;
}

void Statistics::add_sums(const std::uint64_t* bits, std::span<const std::int32_t> rows,
                          std::span<const std::int32_t> examples,
                          std::span<const std::int32_t> tasks, std::span<std::int32_t> n_yes,
                          std::vector<double>& sums) const {
  const std::size_t n = width(), n_groups = fold_bits_.size() + 1, words = (n_yes.size() + 63) / 64;
  std::vector<double> per_fold(n_yes.size() * n_groups * n, 0.0);  // last those of no fold
  for (std::size_t i = 0; i < examples.size(); i++) {
    const auto e = static_cast<std::size_t>(examples[i]);
    const std::size_t group = folds_[e] < 0 ? n_groups - 1 : static_cast<std::size_t>(folds_[e]);
    const double* own = target_.digits.data() + e * n;
    for (std::size_t w = 0; w < words; w++)
      for (std::uint64_t set = bits[static_cast<std::size_t>(rows[i]) * words + w]; set;
           set &= set - 1) {
        double* at =
            per_fold.data() +
            ((w * 64 + static_cast<std::size_t>(std::countr_zero(set))) * n_groups + group) * n;
        for (std::size_t k = 0; k < n; k++) at[k] += own[k];
      }
  }
  std::vector<double> all(n);
  for (std::size_t q = 0; q < n_yes.size(); q++) {
    const double* own = per_fold.data() + q * n_groups * n;
    all.assign(n, 0.0);
    for (std::size_t i = 0; i < n_groups * n; i++) all[i % n] += own[i];
    n_yes[q] = static_cast<std::int32_t>(target_.moments.n(all.data()));
    for (std::int32_t fold : tasks)
      for (std::size_t k = 0; k < n; k++)
        sums.push_back(all[k] - (fold < 0 ? 0.0 : own[static_cast<std::size_t>(fold) * n + k]));
  }
}

std::vector<double> Statistics::totals(std::span<const std::int32_t> tasks) const {
  const std::size_t w = width(), n_folds = fold_bits_.size();
  std::vector<double> sums((n_folds + 1) * w, 0.0), result;  // per fold, and of all
  for (std::size_t e = 0; e < n_examples(); e++)
    for (const std::size_t at :
         {folds_[e] < 0 ? n_folds : static_cast<std::size_t>(folds_[e]), n_folds}) {
      double* own = sums.data() + at * w;
      if (!is_regression()) own[target_.codes[e]]++;
      for (std::size_t k = 0; is_regression() && k < w; k++) own[k] += target_.digits[e * w + k];
      if (folds_[e] < 0) break;
    }
  for (std::int32_t task : tasks)
    for (std::size_t c = 0; c < w; c++)
      result.push_back(sums[n_folds * w + c] -
                       (task < 0 ? 0.0 : sums[static_cast<std::size_t>(task) * w + c]));
  return result;
}

double Statistics::n(std::span<const double> totals) const {
  if (!is_regression()) return std::accumulate(totals.begin(), totals.end(), 0.0);
  double sum = 0;
  for (std::size_t i = 0; i < totals.size(); i += width()) sum += moments().n(totals.data() + i);
  return sum;
}

bool Statistics::leave_out(std::int32_t fold, std::vector<std::uint64_t>& mask) const {
  const auto& out = fold_bits_[static_cast<std::size_t>(fold)];
  std::uint64_t any = 0;
  for (std::size_t w = 0; w < words_; w++) {
    any |= mask[w] & out[w];
    mask[w] &= ~out[w];
  }
  return any != 0;
}

}  // namespace crosscut::query
