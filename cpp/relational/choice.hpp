// Each task's best test among the candidates of a bundle: the candidates are evaluated and counted once for all tasks.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "refine.hpp"
#include "statistics.hpp"
#include "truth.hpp"

namespace crosscut::query {

enum class Criterion { gain, gain_ratio, gini, variance };

struct Demand {
  Criterion criterion;
  std::int32_t minimal_cases;
  std::span<const std::int32_t> tasks;      // fold that each task leaves out, -1 for none
  std::span<const std::uint8_t> barred;     // per source of modes: whether it may not be used any more; empty for none
  std::span<const std::int32_t> bound;      // per type variable: the type it is bound to on the path, or any_type
  std::span<const std::int32_t> ages;       // per variable of the path, component after component: 0 for the newest
  std::span<const std::uint64_t> examples;  // those of the bundle; a lone task's fold is not among them
  std::span<const double> totals;           // statistics of each task's examples
};

class Choice {
 public:
  Choice(const Components& components, Refinement& refinement, Truth& truth, const Statistics& statistics);
  // The number of each task's best test, -1 if none is admissible; `passed`: its statistics over the examples where
  // that test is true. Followers of candidates are added to `candidates` if one of them may be admissible.
  void best(Candidates& candidates, const Demand& demand, std::vector<std::int32_t>& best_tests, std::vector<double>& passed);

 private:
  void count_classes(const Block& block, const Demand& demand);
  void add_sums(const Block& block, const Demand& demand);
  void rate_numbers(std::size_t task, std::size_t n_tasks, const double* all, std::int32_t minimal_cases);
  double rate_classes(const Candidates& candidates, std::size_t group, const double* all, const Demand& demand);
  std::vector<std::size_t> barred_among(const Candidates& candidates, const Demand& demand) const;

  const Components& components_;
  Refinement& refinement_;
  Truth& truth_;
  const Statistics& statistics_;
  std::vector<double> x_log_x_;
  // of the bundle at hand
  Segments segments_;
  std::vector<std::int32_t> counts_, members_, rows_;
  std::vector<std::size_t> first_;   // per block: where its counts begin
  std::size_t n_counts_ = 0;
  std::vector<std::int32_t> n_yes_;  // of the last block: per entry, of the examples of all tasks
  std::vector<double> tops_;         // per block: its best quality for the task at hand, barred tests included
  std::vector<double> qualities_, sums_, split_, kept_;
};

}  // namespace crosscut::query
