// Statistics of all tasks. Tasks are the final tree (fold -1) and folds' trees, which train on
// everything except their fold: S(T_i) = S(D) - S(D_i).
#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/exact_sums.hpp"

namespace crosscut::query {

// What is known of some numbers from the exact digits of their sums: of y, of 1 and of y². Digits
// are so short that doubles add them without rounding; whatever is computed from them is rounded
// once, so that nothing but the numbers themselves matters.
struct Moments {
  ExactRows grids{};
  std::size_t width() const { return static_cast<std::size_t>(grids.width); }
  double n(const double* digits) const { return digits[grids.grid[0].n]; }
  double mean(const double* digits) const;
  // About the sum of y, and how far that may be from it.
  std::pair<double, double> about(const double* digits) const;
  double squares(const double* digits) const;     // sum of y²
  double deviations(const double* digits) const;  // sum of squared deviations from the mean
};

// Classes as codes, or numbers as digits.
struct Target {
  std::size_t n_classes = 0;  // 0 for regression
  std::vector<std::int32_t> codes;
  Moments moments;
  std::vector<double> digits;  // (examples, width)
};

class Statistics {
 public:
  Statistics(Target target, std::vector<std::int32_t> folds);
  // Class counts, or digits, of all examples that each task trains on.
  std::vector<double> totals(std::span<const std::int32_t> tasks) const;
  std::size_t width() const {
    return target_.n_classes > 0 ? target_.n_classes : target_.moments.width();
  }
  double n(std::span<const double> totals) const;  // examples, of all tasks whose totals these are
  const Moments& moments() const { return target_.moments; }
  bool is_regression() const { return target_.n_classes == 0; }
  std::size_t n_examples() const { return folds_.size(); }
  std::size_t n_folds() const { return fold_bits_.size(); }
  const Target& target() const { return target_; }
  std::int32_t fold_of(std::size_t example) const { return folds_[example]; }
  bool leave_out(std::int32_t fold,
                 std::vector<std::uint64_t>& mask) const;  // whether there were any to take out
  const std::vector<std::uint64_t>& fold(std::int32_t number) const {
    return fold_bits_[static_cast<std::size_t>(number)];
  }
  // Of tests: adds, test by test and task by task, the digits of the task's examples that pass, and
  // counts all that do in `n_yes` (one per test). The truth of the i-th example is row rows[i] of
  // `bits`.
  void add_sums(const std::uint64_t* bits, std::span<const std::int32_t> rows,
                std::span<const std::int32_t> examples, std::span<const std::int32_t> tasks,
                std::span<std::int32_t> n_yes, std::vector<double>& sums) const;

 private:
  Target target_;
  std::size_t words_;
  std::vector<std::int32_t> folds_;
  std::vector<std::vector<std::uint64_t>> fold_bits_;
};

}  // namespace crosscut::query
