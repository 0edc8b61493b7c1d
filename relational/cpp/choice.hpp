// Each task's best test among the candidates of a bundle and the cuts of attributes: all are
// evaluated and counted once for all tasks.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "attributes.hpp"
#include "counts.hpp"
#include "local_table.hpp"
#include "refine.hpp"
#include "statistics.hpp"
#include "truth.hpp"

namespace crosscut::query {

enum class Criterion { gain, gain_ratio, gini, variance };

struct Demand {
  Criterion criterion;
  std::int32_t minimal_cases;
  std::span<const std::int32_t> tasks;  // fold that each task leaves out, -1 for none
  // per source of modes: whether it may not be used any more; empty for none
  std::span<const std::uint8_t> barred;
  // per type variable: the type it is bound to on the path, or any_type
  std::span<const std::int32_t> bound;
  // per variable of the path, component after component: 0 for the newest
  std::span<const std::int32_t> ages;
  // those of the bundle; without the fold of a single task
  std::span<const std::uint64_t> examples;
  std::span<const double> totals;  // statistics of each task's examples
  LocalTable& table;  // theirs; the truth of tests is added to it where `keeps_tables` is false
  // whether the truth of tests that are quick to evaluate is kept for all bundles
  bool keeps_tables;
};

class Choice {
 public:
  Choice(const Components& components, Refinement& refinement, Truth& truth,
         const Statistics& statistics, const Attributes& attributes);
  // The number of each task's best test, -1 if none is admissible, that of candidates if it is one
  // of `cuts`; `passed`: its statistics over the examples where that test is true. Followers of
  // candidates are added to `candidates` if one of them may be admissible. Among tests of equal
  // quality, candidates come before cuts.
  void best(Candidates& candidates, const Demand& demand, std::vector<std::int32_t>& best_tests,
            std::vector<Cut>& cuts, std::vector<double>& passed);
  // Splits the examples of the last call by one of its candidates.
  void split(const Candidates& candidates, std::int32_t number, const Demand& demand,
             std::vector<std::uint64_t>& yes, std::vector<std::uint64_t>& no) const;

 private:
  // The truth of a block's tests: words of bits, and which row of them is that of an example.
  struct View {
    const std::uint64_t* bits;
    const std::int32_t*
        rows;  // by position; null where an example's number in the local table is its row
  };
  void arrange(const Demand& demand);
  View tabulate(const Block& block, const Demand& demand);
  const std::int32_t* rows_of(const View& view, const Demand& demand);
  void count_classes(const Block& block, const Demand& demand);
  void add_sums(const Block& block, const Demand& demand);
  // What the quality of a task's tests needs to know.
  struct Task {
    Whole whole;
    std::vector<std::int32_t> members;
    std::vector<double> split, kept;
  };
  // A cut of one task, by the value at which the examples of all tasks are split.
  struct Offer {
    double quality;
    Cut cut;
  };
  void prepare(Task& task, const double* all, const Demand& demand) const;
  double rate_classes(const Candidates& candidates, std::size_t group, const Whole& whole);
  // in cuts.cpp
  void rate_cuts(const Demand& demand);
  template <class AtCut, class AtExample>
  static void walk(std::span<const std::uint32_t> list, AtCut at_cut, AtExample at_example);
  std::vector<double> count_values(std::span<const std::uint32_t> list, bool missing);
  void scan_classes(std::size_t attribute, std::span<const std::uint32_t> list,
                    const Demand& demand);
  void scan_sums(std::size_t attribute, std::span<const std::uint32_t> list, const Demand& demand);
  // `value`: by the number in cut_at_
  std::int32_t count_known(std::size_t group) const;
  bool divides(std::size_t group, std::size_t cut) const;
  void rate_cuts_of(std::size_t attribute, bool above, bool missing,
                    std::span<const double> n_values, std::size_t n,
                    const std::function<double(std::size_t)>& value);
  Cut settle(const Cut& cut, std::int32_t fold, const Demand& demand, double* passed) const;
  std::vector<std::size_t> barred_among(const Candidates& candidates, const Demand& demand) const;

  const Components& components_;
  Refinement& refinement_;
  Truth& truth_;
  const Statistics& statistics_;
  const Attributes& attributes_;
  std::vector<double> x_log_x_;
  // of the bundle at hand
  std::vector<Task> tasks_;
  // Tests are counted over the examples that no task leaves out, then those of each fold that some
  // task does; class by class within.
  std::vector<std::size_t> groups_,
      group_of_fold_;  // of the fold that a task leaves out; of a fold. 0 for none
  std::size_t n_groups_ = 1;
  std::vector<std::int32_t> slots_;  // per example: its group and class; for numbers its group
  std::vector<std::int32_t> order_;  // examples by slot; for numbers as they come
  std::vector<std::uint32_t> ends_;  // of the slots in it
  std::vector<View> views_;          // per block
  std::vector<std::int32_t> counts_, rows_;
  std::vector<std::size_t> first_;  // per block: where its counts begin
  std::size_t n_counts_ = 0;
  std::vector<std::int32_t> n_yes_;  // of the last block: per entry, of the examples of all tasks
  // per block: its best quality for the task at hand, barred tests included
  std::vector<double> tops_;
  std::vector<double> qualities_, sums_;
  // of its cuts
  std::vector<std::vector<Offer>> offers_, above_;  // per task, each better than those before it
  std::vector<std::int32_t> cut_counts_, running_, known_;
  std::vector<std::size_t> cut_at_;  // in the list of an attribute: the last example below the cut
  std::vector<double> running_sums_, known_sums_;
};

// Qualities closer than this are equal: TILDE then compares the length of the tests and their
// order.
constexpr double tolerance = 1e-10;

// The reduction of variance as a share of the node's squared deviations.
double reduction(const Moments& moments, const double* yes, const double* all,
                 std::int32_t minimal_cases);

}  // namespace crosscut::query
