// Statistics of candidate tests for all tasks of a bundle, and each task's best test. Tasks are the final tree (fold -1)
// and folds' trees, which train on everything but their fold: S(T_i) = S(D) - S(D_i).
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "refine.hpp"
#include "truth.hpp"

namespace crosscut::query {

enum class Criterion { gain, gain_ratio, gini, variance };

// Classes as codes, or numbers on a fixed-point grid (their sums are exact).
struct Target {
  std::size_t n_classes = 0;  // 0 for regression
  std::vector<std::int32_t> codes;
  std::vector<double> values, squares;
};

struct Demand {
  Criterion criterion;
  std::int32_t minimal_cases;
  std::span<const std::int32_t> tasks;      // fold that each task leaves out, -1 for none
  std::span<const std::uint8_t> barred;     // per source of modes: whether it may not be used any more; empty for none
  std::span<const std::int32_t> bound;      // per type variable: the type it is bound to on the path, or any_type
  std::span<const std::int32_t> ages;       // per variable of the path, component after component: 0 for the newest
};

// The examples of a node in the order in which its tests are counted: those that no task leaves out, then those of each
// fold that some task does; class by class within.
struct Segments {
  std::vector<std::int32_t> examples;  // as many as the last end says
  std::vector<std::uint32_t> ends;
  std::vector<std::size_t> groups;  // per task: which group of segments it leaves out; 0 for none
  std::vector<std::int32_t> folds;  // of the groups from 1 on
  std::vector<std::uint64_t> rest;  // examples of group 0
};

// Buffers that are kept from node to node.
struct Scratch {
  std::vector<std::int32_t> counts, members, rows;
  std::vector<std::size_t> first;  // per block: where its counts begin
  std::size_t n_counts = 0;
  std::vector<std::int32_t> n_yes; // of the last block: per entry, of the examples of all tasks
  std::vector<double> tops;  // per block: its best quality for the task at hand, barred tests included
  std::vector<double> qualities, sums, split, kept;
};

class Statistics {
 public:
  Statistics(const Components& components, const Language& language, Target target, std::vector<std::int32_t> folds);
  // The folds of `tasks` are taken apart. Empty for regression.
  void segments(const std::uint64_t* mask, std::span<const std::int32_t> tasks, Segments& result) const;
  // Class counts, or (n, sum of values, sum of squares), of all examples that each task trains on.
  std::vector<double> totals(std::span<const std::int32_t> tasks) const;
  std::size_t width() const { return target_.n_classes > 0 ? target_.n_classes : 3; }
  bool is_regression() const { return target_.n_classes == 0; }
  std::size_t n_examples() const { return folds_.size(); }
  void leave_out(std::int32_t fold, std::vector<std::uint64_t>& mask) const;
  const std::vector<std::uint64_t>& fold(std::int32_t number) const { return fold_bits_[static_cast<std::size_t>(number)]; }
  // The number of each task's best test, -1 if none is admissible, given its totals; `passed`: its statistics of the examples
  // where that test is true. A lone task's fold is not in the mask. Followers of candidates are added to `candidates` where
  // one of them may be admissible.
  void best(Candidates& candidates, Refinement& refinement, Truth& truth, const std::uint64_t* mask, const Segments& segments,
            std::span<const double> totals, const Demand& demand, Scratch& scratch, std::vector<std::int32_t>& best_tests,
            std::vector<double>& passed) const;

 private:
  void sums(const Block& block, Truth& truth, const std::uint64_t* mask, std::span<const std::int32_t> tasks, Scratch& scratch) const;
  void count_classes(const Block& block, Truth& truth, const std::uint64_t* mask, const Segments& segments, Scratch& scratch) const;
  double rate_classes(const Candidates& candidates, std::size_t group, const double* all, const Demand& demand, Scratch& scratch) const;
  std::vector<std::size_t> barred_among(const Candidates& candidates, const Demand& demand) const;
  double reduction(const double* yes, const double* all, const Demand& demand) const;
  const Components& components_;
  const Language& language_;
  Target target_;
  std::size_t words_;
  std::vector<std::int32_t> folds_;
  std::vector<std::vector<std::uint64_t>> class_bits_, fold_bits_;
  struct Span {
    std::size_t begin, end;
  };
  std::vector<Span> fold_words_;  // the words that hold examples of a fold
  std::vector<double> x_log_x_;
};

}  // namespace crosscut::query
