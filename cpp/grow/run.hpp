// The state of a run: what all threads share (Run) and what one thread owns (Worker).
#pragma once
#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <stdexcept>

#include "base/waiting.hpp"
#include "blocks.hpp"
#include "grow/small/memo.hpp"
#include "grow/exact/exact.hpp"
#include "grow/large/interval_parts.hpp"
#include "node.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// threads share the rows of a bundle in parts of at least kSharedRows rows, at most kMostParts
constexpr u32 kSharedRows = 1 << 13, kMostParts = 64;
constexpr int kListClasses = 16;  // the most classes that a list entry can name
// From this many rows of all tasks of a block on, scratch memory is freed before the nodes are
// packed.
constexpr std::size_t kFreedScratch = 1 << 17;
// From this many rows on, the memory of the nodes is freed tree by tree when they are packed.
// Smaller problems keep it: getting it again made fits take up to 1.6 times as long, and still 1.15
// times at 50,000 rows.
constexpr std::size_t kOwnNodes = 1 << 17;
constexpr double kNever = -std::numeric_limits<double>::infinity();

inline std::size_t rows_of_block(const Problem& p) {
  return p.n_rows * static_cast<std::size_t>(std::min(p.n_tasks, kBlockTasks));
}

// The running statistics of a run (criteria/running_statistics.hpp).
enum class Family { binary_gini, many_gini, weighted_gini, any_classes, moments };

inline Family family_of(const Problem& p) {
  switch (p.criterion->running) {
    case Running::class_squares:
      if (!p.counted()) return Family::weighted_gini;
      return p.n_classes == 2 ? Family::binary_gini : Family::many_gini;
    case Running::class_by_class:
      return Family::any_classes;
    case Running::moments:
      return Family::moments;
  }
  throw std::logic_error("unknown running statistics");
}

struct Run {
  const Problem& p;
  Quality quality;
  bool counted;        // class statistics are row counts
  bool weighted;       // rows have grid weights or multiplicities
  bool class_weights;  // all rows of a class have the same weight
  // statistics only propose tests: candidates within `margin` of the best are compared exactly
  bool on_grid;
  const Family family;
  bool shares;                // tasks share the subtrees of nodes with the same rows (memo.hpp)
  bool shares_across_blocks;  // ... also between blocks
  bool few_valued;            // most columns are numeric with few values
  bool own_grids;             // nodes may put their targets on grids of their own
  bool by_value;              // no column has intervals of several values
  // the nodes that local tables make have memory of their own for each task
  bool own_nodes;
  bool all_bits;  // no local table needs lists: all columns have few values (row_bits.hpp)
  std::atomic<int> halt{0};
  // training rows of all tasks that have reached a leaf, counting rows on their way in part
  std::atomic<u64> rows_done{0};
  double rows_per_copy = 1;  // converts these to rows without copies
  // Limits count the copies of a row once. So n copies satisfy a limit for sure from this many
  // times the limit on; below, the rows are counted. 1 without copies or limits.
  i64 most_copies = 1;
  Blocks blocks;                           // keeps at most the size of the table's codes
  std::unique_ptr<IntervalParts[]> parts;  // [n_features]; null if by_value
  std::atomic<std::size_t> held_bytes{0};  // of statistics (large/held_statistics.hpp)

  explicit Run(const Problem& problem)
      : p(problem),
        quality(*problem.criterion, problem.n_classes),
        counted(problem.counted()),
        weighted(problem.weight || problem.multiplicity),
        class_weights(problem.class_weights || same_weights_in_classes(problem)),
        on_grid(problem.on_grid()),
        family(family_of(problem)),
        shares(!problem.multiplicity && !problem.features && !problem.class_weights),
        shares_across_blocks(problem.n_tasks > kBlockTasks && !problem.copies),
        own_nodes(problem.n_rows >= kOwnNodes && !shares_across_blocks),
        blocks(problem.n_rows * static_cast<std::size_t>(problem.n_features)) {
    for (int t = 0; t < problem.n_tasks; t++) shares &= !(problem.limits[t].min_decrease > 0);
    int few = 0;
    u64 values = 0, most = 0;
    for (const Column* c = problem.columns; c < problem.columns + problem.n_features; c++) {
      few += !c->nominal && c->n_values <= 32;
      const u64 n_values = c->n_values + c->has_missing;
      values += n_values;
      most = std::max(most, n_values);
    }
    own_grids = !problem.n_classes && problem.product_rounded && !weighted &&
                !off(Acceleration::own_grids) &&
                std::none_of(problem.columns, problem.columns + problem.n_features,
                             [](const Column& c) { return c.nominal; });
    by_value = std::none_of(problem.columns, problem.columns + problem.n_features, has_intervals);
    if (!by_value) parts.reset(new IntervalParts[static_cast<std::size_t>(problem.n_features)]);
    few_valued = 2 * few > problem.n_features;
    // Measured: per row and column, lanes whose tasks differ take as long as a single task takes
    // for some 32 bits.
    all_bits =
        most <= 128 && !off(Acceleration::row_bits) && counted && shares &&
        problem.n_classes <= kListClasses &&
        values * static_cast<u64>(problem.n_classes) <= 32 * static_cast<u64>(problem.n_features);
  }
  int K() const { return quality.K; }
  // The numbers per bin and lane of a large bundle: row counts by class; weights by class and the
  // number of rows; or those of Moments.
  int bin_parts() const {
    if (p.n_classes) return counted ? K() : K() + 1;
    return 2 + weighted + has_squares();
  }
  // the part that counts rows, unless rows are counted by class
  int rows_part() const { return p.n_classes ? K() : 1 + weighted; }
  // sums of squares are needed to open intervals
  bool has_squares() const { return !p.n_classes && !by_value; }
  const Criterion& criterion() const { return *p.criterion; }
  bool counts_gini() const { return family == Family::binary_gini || family == Family::many_gini; }
  bool rounded() const { return p.weight_rounded || p.product_rounded; }
  // the statistics of a regression are exact
  bool decides() const { return !p.n_classes && !rounded(); }
  // If the qualities of two tests of a node differ by more than this, so do the exact ones, in the
  // same direction. n rows have a weight of at least n·least.
  // own: of the task, if its classes have weights.
  double margin(const double* node, double q, const ClassWeights* own = nullptr) const {
    const GridOfNode grid = grid_of(node, own);
    if (grid.off > 0.0625) return std::numeric_limits<double>::infinity();
    return 2 * with_criterion(criterion(), [&]<class C>() { return C::error(grid, q); });
  }
  GridOfNode grid_of(const double* node, const ClassWeights* own = nullptr) const {
    const double least = own ? own->least : p.least_weight;
    const bool rounded = own ? own->rounded : p.weight_rounded;
    return {total_of(node, own), least, rounded ? 1 / least : 0, 0x1p-50 * (quality.K + 8),
            p.product_rounded};
  }
  // The quality of tests for a task with class weights.
  Quality quality_of(const ClassWeights& own) const {
    Quality of_task = quality;
    of_task.weights = own.weight;
    return of_task;
  }
  // The quality of two branches, and the weight of a branch, for a task with or without them.
  CC_INLINE double quality_of(const double* left, const double* node,
                              const ClassWeights* own) const {
    return own ? quality_of(*own).binary(left, node) : quality.binary(left, node);
  }
  double total_of(const double* branch, const ClassWeights* own) const {
    return own ? quality_of(*own).total(branch) : quality.total(branch);
  }
  // Packs what a scan needs to know of a row: its mask (low bits), and its class or the mask of
  // class 1.
  CC_INLINE u32 describe(u32 mask, u32 cls) const {
    return mask | (family == Family::binary_gini ? (cls ? mask << 16 : 0) : cls << 16);
  }
};

constexpr int kManyClasses = 64, kPureRows = 8;

// Many of them exist, so huge pages would leave much of their memory unused.
struct NodeArena : Arena {
  NodeArena() : Arena(false) {}
};

struct Worker {
  Run& run;
  int block = 0;
  bool caller = false;  // the main thread, which may poll Python
  Arena scratch, nodes;
  std::unique_ptr<NodeArena[]> task_nodes;  // [task] if Run::own_nodes
  Arena* current_nodes = &nodes;
  std::size_t n_nodes = 0;  // made so far
  Memo memo;
  LevelCounts levels[kLevels] = {};
  double root_total[kLanes] = {};  // weight of each task's training rows
  double* pure = nullptr;          // [kPureRows][2 K]
  IdleThreads* threads = nullptr;  // the threads of this block; null: only this one
  Worker** team = nullptr;         // their workers
  int me = 0;                      // this worker's number in the team

  explicit Worker(Run& r)
      : run(r),
        task_nodes(r.own_nodes ? new NodeArena[static_cast<std::size_t>(r.p.n_tasks)] : nullptr) {}

  // Calls f() while new nodes get the memory of a task. Nodes made this way are shared only with
  // later tasks, so the memory of the last task can be freed first.
  template <class F> void with_nodes_of(std::size_t task, F f) {
    Arena* const before = current_nodes;
    if (task_nodes) current_nodes = &task_nodes[task];
    f();
    current_nodes = before;
  }

  // Shares n parts of work with idle threads. body(worker, parts) takes parts until none is left.
  template <class Body> void share(int n, const Body& body) {
    const auto work = [&](Worker& w, Parts& parts) {
      const auto mark = w.scratch.mark();
      body(w, parts);
      w.scratch.release(mark);
    };
    if (threads)
      return threads->share(me, n, [&](int thread, Parts& parts) { work(*team[thread], parts); });
    Parts parts;
    parts.start(n);
    work(*this, parts);
  }
  // The number of parts worth making of n rows now. Each part starts at a multiple of 64.
  int parts_of(u32 n) const {
    const u32 idle = threads ? static_cast<u32>(threads->n_idle()) : 0;
    const u32 most = 2 * (idle + 1) < kMostParts ? 2 * (idle + 1) : kMostParts;
    const u32 parts = n / kSharedRows < most ? n / kSharedRows : most;
    return idle && parts > 1 ? static_cast<int>(parts) : 1;
  }
  // Calls body(worker, begin, end, part) for parts that cover the rows 0..n.
  template <class Body> void share_rows(u32 n, int n_parts, const Body& body) {
    const auto first = [&](int i) {
      return i < n_parts
                 ? static_cast<u32>(u64{n} * static_cast<u64>(i) / static_cast<u64>(n_parts)) &
                       ~u32{63}
                 : n;
    };
    share(n_parts, [&](Worker& w, Parts& parts) {
      for (int i; (i = parts.take()) >= 0;) body(w, first(i), first(i + 1), i);
    });
  }
  template <class Body> void share_rows(u32 n, const Body& body) {
    share_rows(n, parts_of(n), [&](Worker&, u32 begin, u32 end, int) { body(begin, end); });
  }
  // Copies from[row(0)], …, from[row(n − 1)]; null if `from` is.
  template <class Row> const double* gathered(const double* from, u32 n, Row row) {
    if (!from) return nullptr;
    double* to = scratch.take<double>(n);
    share_rows(n, [&](u32 begin, u32 end) {
      for (u32 i = begin; i < end; i++) to[i] = from[row(i)];
    });
    return to;
  }
  // Packs selected rows one after the other. count(begin, end) counts the selected rows of a range;
  // write(begin, end, at) writes them from place `at` and returns how many there are.
  template <class Count, class Write> u32 pack_rows(u32 n, const Count& count, const Write& write) {
    const int n_parts = parts_of(n);
    if (n_parts == 1) return write(u32{0}, n, u32{0});
    u32 at[kMostParts + 1] = {};
    share_rows(n, n_parts,
               [&](Worker&, u32 begin, u32 end, int i) { at[i + 1] = count(begin, end); });
    for (int i = 0; i < n_parts; i++) at[i + 1] += at[i];
    share_rows(n, n_parts, [&](Worker&, u32 begin, u32 end, int i) { write(begin, end, at[i]); });
    return at[n_parts];
  }

  LevelCounts& level(int depth) { return levels[depth < kLevels ? depth : kLevels - 1]; }
  LevelCounts& count_visit(int depth, u32 n_rows) {
    LevelCounts& counts = level(depth);
    counts.bundles++;
    counts.rows += n_rows;
    return counts;
  }
  void poll() {
    if (caller && run.p.poll &&
        run.p.poll(run.p.poll_argument, run.rows_per_copy * static_cast<double>(run.rows_done.load(
                                                                std::memory_order_relaxed))))
      run.halt.store(1);
    if (run.halt.load(std::memory_order_relaxed)) throw Stopped{};
  }
  template <class T> T* keep(std::size_t n) {  // memory of nodes and their arrays
    return current_nodes->take<T, 16>(n);
  }
  // Prepares pure_stats(): statistics of n <= kPureRows rows of one class, as a window into a line
  // of zeros around one n.
  void prepare_pure() {
    const auto K = static_cast<std::size_t>(run.K());
    if (pure) return;
    pure = nodes.take<double, 16>(2 * K * kPureRows);
    std::fill_n(pure, 2 * K * kPureRows, 0.0);
    for (std::size_t n = 0; n < kPureRows; n++) pure[2 * K * n + K] = static_cast<double>(n + 1);
  }
  double* pure_stats(int c, int n) const { return pure + (2 * n - 1) * run.K() - c; }
  Node* new_nodes(int n, int depth) {  // leaves; the caller sets their statistics
    Node* made = keep<Node>(static_cast<std::size_t>(n));
    n_nodes += static_cast<std::size_t>(n);
    for (Node* x = made; x < made + n; x++) {
      x->n_rows = 0;
      x->n_children = 0;
      x->feature = x->missing = -1;
      x->depth = depth;
    }
    return made;
  }
};

inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace crosscut::CROSSCUT_LEVEL
