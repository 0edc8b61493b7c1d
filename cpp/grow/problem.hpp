// The input and output of growing: plain data, shared by the binding and by every build of the
// kernels.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/exact_sums.hpp"
#include "accelerations.hpp"
#include "criteria/criteria.hpp"

namespace crosscut {

constexpr int kLanes = 16;       // of a bundle
constexpr int kBlockTasks = 15;  // one lane is spare: the cell of rows that train every task

struct Column {
  bool nominal, has_missing;
  std::uint32_t n_values;  // ranks are 0..n_values-1; a missing value has rank n_values
  std::uint32_t n_coarse;  // coarse codes are 0..n_coarse-1; missing is n_coarse
  // the gap rule: values whose ranks differ by more than this differ by more than 1e-7
  std::uint32_t close;
  const std::uint32_t* ranks;  // [n_rows]; null if the coarse codes are the ranks
  const std::uint8_t* coarse;  // [n_rows]; nominal: the ranks, null if they need more than a byte
  const std::uint32_t* coarse_first;  // [n_coarse + 1] first rank of every coarse interval
  const float* values;                // [n_values] ascending, null for nominal columns
  const double* edges;                // binned mode: threshold after each bin; null otherwise

  std::uint32_t rank(std::size_t row) const { return ranks ? ranks[row] : coarse[row]; }
};

// Does any coarse interval have several values?
inline bool has_intervals(const Column& c) { return !c.nominal && c.n_coarse < c.n_values; }

struct TaskLimits {
  std::int64_t max_depth, min_split, min_leaf;
  double min_decrease;
};

struct Table {
  std::size_t n_rows;
  int n_features;
  const Column* columns;  // [n_features]
};

struct Target {
  int n_classes;                // 0: regression
  const std::int32_t* classes;  // [n_rows], classification
  const double* weight;         // [n_rows] on the grid, null when every row counts once
  const double* product;        // [n_rows] on the grid, regression
  const double* target;         // [n_rows] regression targets, to find pure nodes
  ExactRows exact;
  double least_weight;                   // on the grid
  bool weight_rounded, product_rounded;  // the grid is coarser than the numbers
  // means that differ by more than this on the grid are different doubles; infinity if unknown
  double mean_step;
};

// The weights of a task's classes, if all its rows of a class have the same weight. Then the
// statistics of classes are row counts, and the sum of a class is its count times its weight.
struct ClassWeights {
  const double* weight;        // [n_classes] on the grid
  const std::int64_t* digits;  // [n_classes][Target::exact.width] of the weights
  double least, most;          // of the weights on the grid
  bool rounded;                // the grid is coarser than the weights
};

struct Tasks {
  int n_tasks;
  // [n_blocks][n_rows], bit t: the row trains task block·15 + t
  const std::uint16_t* masks;
  const std::uint8_t* multiplicity;   // [n_tasks][n_rows] or null
  const std::uint8_t* copies;         // the same, if rows are copied instead (copies.hpp); or null
  const std::uint8_t* features;       // [n_tasks][n_features] or null
  const TaskLimits* limits;           // [n_tasks]
  const ClassWeights* class_weights;  // [n_tasks] or null; then Target::weight is null
  // [n_tasks] weight that a decrease of impurity is divided by; null: the weight of the root
  const double* totals;
};

struct Growth {
  const Criterion* criterion;
  bool multiway;
  bool bundling, two_resolutions;  // switched off only for comparisons
  std::size_t local_rows;          // bundles up to this size finish in a local copy
};

struct Problem : Table, Target, Tasks, Growth {
  // class statistics are row counts
  bool counted() const { return n_classes && !weight && !multiplicity; }
  // statistics are sums on a grid; exact sums decide where the grid rounded
  bool on_grid() const { return !n_classes || weight || class_weights; }
  const ClassWeights* weights_of(std::size_t task) const {
    return class_weights ? class_weights + task : nullptr;
  }
  // digits of a node's exact sums
  int n_sums() const { return n_classes ? n_classes * exact.width : exact.width; }
  int n_threads;
  bool (*poll)(void*, double);  // called by the main thread now and then; true means stop
  void* poll_argument;
};

constexpr int kLevels = 64;  // deeper levels are counted with the last
// The work done on each level. With one thread the counts depend only on the problem, except that
// wider vectors let a few more cuts pass the fast comparison. Tests guard the counts, so that lost
// accelerations are noticed.
#define CROSSCUT_COUNTS(X)                                                                     \
  X(bundles)       /* including nodes of single tasks */                                       \
  X(rows)          /* in all bundles */                                                        \
  X(cuts)          /* evaluated by running statistics, by sets of rows or by sums of values */ \
  X(lane_cuts)     /* of these, evaluated by lanes of cuts */                                  \
  X(lane_subsets)  /* subsets of categories, evaluated by lanes */                             \
  X(exact)         /* tests evaluated by the formula that decides, or by exact sums */         \
  X(intervals)     /* opened, to search the cuts inside */                                     \
  X(parts)         /* of divided intervals that are opened in turn */                          \
  X(fold_rows)     /* rows of large bundles that are counted once for all their tasks */       \
  X(derived_rows)  /* rows of large bundles that are not counted, thanks to a sibling */       \
  X(lists)         /* sorted lists split */                                                    \
  X(moved)         /* their entries */                                                         \
  X(coded_columns) /* searched by bits of rows or sums of values, without a list */            \
  X(few_nodes)     /* nodes finished by sets of rows */                                        \
  X(groups)        /* nodes of groups of tasks (many/) */                                      \
  X(group_tasks)   /* tasks with held-out rows there */                                        \
  X(group_cuts)    /* cuts evaluated for one of these tasks */                                 \
  X(new_grids)     /* nodes whose targets were put on a finer grid */                          \
  X(known_nodes)   /* nodes whose subtree another task had grown */                            \
  X(xlogs)         /* entries in the table of v·log2(v) */

struct LevelCounts {
#define CROSSCUT_COUNT(name) std::uint64_t name;
  CROSSCUT_COUNTS(CROSSCUT_COUNT)
#undef CROSSCUT_COUNT
  double seconds;

  void add(const LevelCounts& other) {
#define CROSSCUT_COUNT(name) name += other.name;
    CROSSCUT_COUNTS(CROSSCUT_COUNT)
#undef CROSSCUT_COUNT
    seconds += other.seconds;
  }
};

enum class Outcome : int { done, stopped, no_memory };
struct Grown {
  Outcome outcome;
  LevelCounts levels[kLevels];
};

}  // namespace crosscut
