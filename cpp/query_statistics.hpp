// Statistics of candidate tests for all tasks of a bundle, and each task's best test. Tasks are the final tree (fold -1)
// and folds' trees, which train on everything but their fold: S(T_i) = S(D) - S(D_i).
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "query_cells.hpp"
#include "query_refine.hpp"
#include "query_truth.hpp"

namespace crosscut::query {

enum class Criterion { gain, gain_ratio, gini, variance };

// Classes as codes, or numbers on a fixed-point grid (their sums are exact).
struct Target {
  std::size_t n_classes = 0;  // 0 for regression
  std::vector<std::int32_t> codes;
  std::vector<double> values, squares;
};

struct Best {
  std::int32_t candidate = -1;  // number among the candidates of the path; -1 if no test is admissible
  double quality = 0;
  std::vector<double> yes;      // regression: statistics of the branch where the test is true
};

struct Demand {
  Criterion criterion;
  std::int32_t minimal_cases;
  std::span<const std::int32_t> tasks;      // fold that each task leaves out, -1 for none
  std::span<const std::uint8_t> barred;     // per source of modes: whether it may not be used any more; empty for none
  std::span<const std::int32_t> ages;       // per variable of the path, component after component: 0 for the newest
};

class Statistics {
 public:
  Statistics(const Components& components, const Language& language, Target target, std::vector<std::int32_t> folds);
  // The sets of examples that tests of a node are counted on: its classes, and its classes in each fold left out.
  struct Cells {
    std::vector<std::uint64_t> bits;
    std::vector<Cell> sets;
  };
  Cells cells(const std::uint64_t* mask, std::span<const std::int32_t> tasks) const;
  // Class counts, or (n, sum of values, sum of squares), per task of the examples in `mask`.
  std::vector<double> totals(const std::uint64_t* mask, std::span<const std::int32_t> tasks, const Cells& cells) const;
  // The same per query, of the examples where it holds (its truth has to be known on `mask`).
  void count(std::span<const std::int32_t> queries, const Truth& truth, const std::uint64_t* mask,
             std::span<const std::int32_t> tasks, const Cells& cells, std::vector<double>& statistics) const;
  std::size_t width() const { return target_.n_classes > 0 ? target_.n_classes : 3; }
  bool is_regression() const { return target_.n_classes == 0; }
  std::size_t n_examples() const { return folds_.size(); }
  void leave_out(std::int32_t fold, std::vector<std::uint64_t>& mask) const;
  const std::vector<std::uint64_t>& fold(std::int32_t number) const { return fold_bits_[static_cast<std::size_t>(number)]; }
  // Each task's best test, given its totals. A lone task's fold is not in the mask.
  std::vector<Best> best(const Candidates& candidates, Truth& truth, const std::uint64_t* mask, const Cells& cells,
                         std::span<const double> totals, const Demand& demand) const;

 private:
  struct Whole;
  double quality(const std::int32_t* yes, const Whole& whole, const Demand& demand) const;
  double reduction(const double* yes, const double* all, const Demand& demand) const;
  const Components& components_;
  const Language& language_;
  Target target_;
  std::size_t words_;
  std::vector<std::int32_t> folds_;
  std::vector<std::vector<std::uint64_t>> class_bits_, fold_bits_;
  std::vector<std::uint64_t> fold_class_bits_;  // words of every class of every fold
  std::vector<double> x_log_x_;
};

}  // namespace crosscut::query
