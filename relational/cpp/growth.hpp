// Growing the final tree and the trees of all folds in one run (the paper's Figure 2). Nodes of
// different tasks with the same path of tests are one bundle: candidates are generated, evaluated
// and counted once, each task picks its best test, and tasks that pick the same one stay together.
#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "choice.hpp"

namespace crosscut::query {

struct Settings {
  Criterion criterion = Criterion::gain_ratio;
  std::int32_t minimal_cases = 2;
  double accuracy = 1.0;
  bool last_of_ties = false;           // which of the classes that tie in a leaf is predicted
  std::int32_t max_depth = -1;         // -1: none
  std::vector<std::int32_t> max_uses;  // per source of modes, -1: any number
  std::vector<double> critical_f;      // regression: minimum F of a split of n examples, by n
  // false: every node evaluates all its tests again, as in the paper's serial procedure
  bool caching = true;
  // bytes of truth that are kept, by all threads; beyond that all is forgotten
  std::size_t memory = 0;
  std::size_t alone = 0;  // a bundle of no more examples is grown by one thread, with all below it
  std::int32_t n_threads = 1;
  bool names_all = false;  // see Refinement
};

// A test as it was added to a path: its literals over the path's variables (numbered in order of
// introduction).
struct Test {
  Code literals;
  std::int32_t query = -1;       // -1: `cut` is the test
  std::int32_t n_variables = 0;  // of the path, before the test
  Cut cut = {};
  double threshold = 0;
};

// One task's tree in preorder; the yes branch of node i is node i + 1.
struct Tree {
  std::vector<std::int32_t> test;  // number in the forest's tests, -1 at leaves
  std::vector<std::int32_t> no;    // node of the no branch, -1 at leaves
  std::vector<double> prediction;
  std::vector<double> statistics;  // `width` numbers per node
  std::size_t size() const { return test.size(); }
  void add(std::int32_t own_test, std::int32_t own_no, double own_prediction,
           std::span<const double> own) {
    test.push_back(own_test);
    no.push_back(own_no);
    prediction.push_back(own_prediction);
    statistics.insert(statistics.end(), own.begin(), own.end());
  }
};

struct Level {
  std::int64_t bundles = 0, nodes = 0, tests = 0, candidates = 0;
};

struct Forest {
  std::vector<Tree> trees;
  std::vector<Test> tests;
  std::vector<Level> levels;
};

// The query of a node: components, where each of its variables is, in order of introduction, and
// the modes used.
struct Path {
  std::vector<std::int32_t> components;
  std::vector<Place> variables;
  std::vector<std::int32_t> uses, ages;
  std::vector<std::int32_t> bound;  // per type variable: the type it is bound to, or any_type
  std::shared_ptr<const std::vector<Part>> blocks;  // of its candidates
  void set_ages(const Components& all);
};

class Growth;

// A bundle for a thread to grow, with all below it; but the children of a large bundle are jobs of
// their own. Which bundles are jobs does not depend on the number of threads, nor does what a job
// finds on what its thread did before.
struct Job {
  // what to grow: the examples that reach the bundle, of all its tasks, and each task's statistics
  // of its own among them
  Components words;  // of the path
  Path path;
  std::vector<std::uint64_t> own;
  LocalTable table;  // of the examples, or empty
  std::vector<std::int32_t> tasks;
  std::vector<double> totals;
  std::int32_t level = 0;
  const Growth* by = nullptr;  // whose queries the table has; afterwards whose the tests have
  // what has been grown
  // per task; test first_hole - c stands for the tree of the child c at place `no`
  std::vector<Tree> trees;
  std::vector<Test> tests;
  std::int32_t first_test = 0;  // of those, in the forest
  std::vector<std::unique_ptr<Job>> children;

  static constexpr std::int32_t first_hole = -2;
  Job *older = nullptr, *newer = nullptr;
  struct Keep {  // jobs belong to their parents
    void operator()(Job*) const {}
  };
  using Pointer = std::unique_ptr<Job, Keep>;
};

// What trees are grown from; components, truth and refinement are a thread's own.
struct Growing {
  Facts& facts;
  Components& components;
  Truth& truth;
  Refinement& refinement;
  const Statistics& statistics;
  const Attributes& attributes;
};

// One thread's part of the work.
class Growth {
 public:
  Growth(const Growing& own, const Settings& settings, std::span<const std::int32_t> folds,
         std::atomic<std::size_t>& handed_down)
      : with_(own),
        choice_(own.components, own.refinement, own.truth, own.statistics, own.attributes),
        settings_(settings),
        folds_(folds),
        places_(folds.size()),
        handed_down_(handed_down) {}
  void grow(Job& job);
  const Components& components() const { return with_.components; }
  const std::vector<Level>& levels() const { return levels_; }

 private:
  // Tasks that chose the same test, or cuts of one attribute that part each task's examples alike.
  struct Fork {
    std::int32_t candidate;
    std::size_t begin, end;  // of its tasks in `agreeing`
    Path path;
    Cut cut;  // between values that every task's threshold lies between
    std::vector<std::uint64_t> yes, no;
    LocalTable yes_table, no_table;  // of those, unless they are made when needed
  };
  // The working state of a bundle: growing tasks, their totals, best tests and statistics where
  // those hold; then the tasks that continue, fork by fork. There is one per level, to reuse its
  // buffers.
  struct Bundle {
    std::vector<std::int32_t> growing, best, splitting, agreeing,
        tests;  // `tests`: of those that agree
    std::vector<Cut> cuts;
    std::vector<double> all, passed, yes_totals, no_totals;
    std::vector<std::size_t> nodes;
    std::vector<Fork> forks;
  };
  // As in a job; the fold of a single task is left out. `table`: of the examples, or empty.
  // `level`: below the job's.
  void refine(Path& path, std::vector<std::uint64_t>& own, LocalTable table,
              std::span<const std::int32_t> tasks, std::span<const double> totals,
              std::int32_t level);
  void leave(const Path& path, std::vector<std::uint64_t>& own, LocalTable table,
             std::span<const std::int32_t> tasks, std::span<const double> totals,
             std::int32_t level);
  Tree& tree_of(std::int32_t task) {
    return job_->trees[static_cast<std::size_t>(places_[static_cast<std::size_t>(task)])];
  }
  void part(const Demand& demand, Bundle& bundle, std::int32_t level);
  void add_nodes(std::span<const std::int32_t> tasks, std::span<const double> totals,
                 std::int32_t level, Bundle& bundle);
  void fork(const Path& path, Bundle& bundle);
  bool stops(std::span<const double> all, std::int32_t level) const;
  bool accepts(std::span<const double> all, std::span<const double> yes) const;
  double prediction(std::span<const double> all) const;
  Path extend(const Path& path, const Chosen& chosen, Test& test);

  const Growing with_;
  Choice choice_;
  const Settings& settings_;
  std::span<const std::int32_t> folds_;  // of the tasks
  std::vector<std::int32_t> places_;     // of the tasks in the job
  Job* job_ = nullptr;
  // of the bundle at hand
  std::vector<std::int32_t> folds_here_;
  std::vector<std::uint8_t> barred_;
  Candidates candidates_;
  LocalTable table_;
  std::atomic<std::size_t>& handed_down_;  // bytes of tables, of all threads
  std::deque<Bundle> bundles_;             // by level
  // of `extend`
  Extension extension_;
  struct {
    std::vector<std::int32_t> moved, first, path_number;
  } scratch_of_extend_;
  std::vector<Level> levels_;
};

// `tasks`: the fold each tree leaves out, -1 for none. `root`: what every query starts with.
Forest grow(const Growing& from, const Settings& settings, std::span<const std::int32_t> tasks,
            const Extension& root);

// The tree after merging sibling leaves of one class and, optionally, replacing subtrees that C4.5
// expects to make no fewer errors than a leaf.
Tree prune(const Tree& tree, std::size_t width, bool pessimistic, double confidence);

// Adds each example of `reached` to the leaf it falls in: predictions[e] is that leaf's prediction,
// leaves[e] its number.
void route(const Tree& tree, const std::vector<Test>& tests, Truth& truth,
           const Attributes& attributes, const std::vector<std::uint64_t>& reached,
           double* predictions, std::int32_t* leaves);
// Splits the examples of `own` by a test.
void split(const Test& test, Truth& truth, const Attributes& attributes,
           const std::vector<std::uint64_t>& own, std::vector<std::uint64_t>& yes,
           std::vector<std::uint64_t>& no);

}  // namespace crosscut::query
