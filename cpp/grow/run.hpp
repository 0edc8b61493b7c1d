// A run: what all threads share, what one thread owns, and the nodes they leave behind.
#pragma once
#include <atomic>
#include <chrono>
#include <limits>

#include "memo.hpp"
#include "problem.hpp"

namespace crosscut::CROSSCUT_LEVEL {

using i64 = std::int64_t;
constexpr double kNever = -std::numeric_limits<double>::infinity();

// A node of one task's tree. `stats` are its integer statistics; the exact sums that leaf values come from are filled in at
// leaves and added up towards the root when the tree is written out.
struct Node {
  Node* children;
  int n_children, feature, missing, depth;
  double threshold;
  float low, high;
  std::int32_t* branches;
  int n_branches;
  bool pure;       // regression: all targets are the same
  double first;    // regression: the first target seen
  i64 n_rows;
  double* stats;
  Exact* exact;  // [n_exact]
  Node* below;   // while sums are added up: the inner node to be done next
};

struct Stopped {};  // thrown when the user interrupts

struct Run {
  const Problem& p;
  Judge judge;
  bool counted;   // class statistics are plain row counts
  bool weighted;  // rows have grid weights or multiplicities
  enum class Family { binary_gini, many_gini, any_classes, moments } family;  // which running statistics serve the run
  bool shares;     // tasks with the same rows at a node have the same subtree (memo.hpp)
  bool remembers;  // ... also in another block
  std::atomic<int> halt{0};
  std::atomic<u64> rows_done{0};  // training rows, over all tasks, that have reached their leaves, or are part of the way there

  explicit Run(const Problem& problem)
      : p(problem),
        judge{problem.criterion, problem.n_classes ? problem.n_classes : 2},
        counted(problem.n_classes && !problem.weight && !problem.multiplicity),
        weighted(problem.weight || problem.multiplicity),
        family(!problem.n_classes                                   ? Family::moments
               : !counted || problem.criterion != Criterion::gini ? Family::any_classes
               : problem.n_classes == 2                            ? Family::binary_gini
                                                                   : Family::many_gini),
        shares(!problem.multiplicity && !problem.features),
        remembers(problem.n_tasks > kBlockTasks) {
    for (int t = 0; t < problem.n_tasks; t++) shares &= !(problem.limits[t].min_decrease > 0);
  }
  int K() const { return judge.K; }
  // 32 bits that say all a scan needs of a row: its mask below, the mask of class 1 or the class above
  CC_INLINE u32 describe(u32 mask, u32 cls) const {
    return mask | (family == Family::binary_gini ? (cls ? mask << 16 : 0) : cls << 16);
  }
  CC_INLINE u32 mask_and_class(u32 description) const {
    return family == Family::binary_gini ? (description & 0xffff) | static_cast<u32>(description >> 16 != 0) << 16 : description;
  }
};

struct Pending;  // a bundle that waits to be grown

struct Worker {
  Run& run;
  int nesting = 0;             // bundles being refined, one inside the other
  Pending* deferred = nullptr; // bundles too deep inside others: grown when those are done, so that the stack stays small
  Arena held;                  // their rows
  int block = 0;
  bool caller = false;  // the thread that may ask Python about signals
  Arena scratch, nodes;
  Memo memo;
  LevelCounts levels[kLevels] = {};
  u64 intervals = 0, opened = 0;
  double root_total[kLanes] = {};  // weight of each task's training rows

  explicit Worker(Run& r) : run(r) {}

  void poll() {
    if (caller && run.p.poll && run.p.poll(run.p.poll_argument, static_cast<double>(run.rows_done.load(std::memory_order_relaxed))))
      run.halt.store(1);
    if (run.halt.load(std::memory_order_relaxed)) throw Stopped{};
  }
  Node* new_nodes(int n) {
    Node* made = nodes.take<Node>(static_cast<std::size_t>(n));
    for (int i = 0; i < n; i++) {
      Node& x = made[i];
      x = Node{};
      x.feature = -1, x.missing = -1;
      x.threshold = std::numeric_limits<double>::quiet_NaN();
      x.low = x.high = std::numeric_limits<float>::quiet_NaN();
    }
    return made;
  }
};

inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The tasks of a bundle, one per lane, and the node each of them has there.
struct Team {
  int n = 0, depth = 0;
  u32 lanes = 0;       // lanes that still want a test
  u8 task[kLanes];     // task within the block
  Node* node[kLanes];
  i64 min_leaf[kLanes];
  double to_do = 1;    // share of the work on its rows that is still to be done
};

constexpr int kNesting = 128;  // deeper bundles are deferred

struct Pending {
  Pending* next;
  Team team;
  u32 n;
  u32* ids;
  u16* masks;
};

inline Pending* new_pending(Arena& arena, const Team& team, u32 n) {
  Pending* p = arena.take<Pending>(1);
  *p = {nullptr, team, n, arena.take<u32>(n + 1), arena.take<u16>(n + 1)};
  return p;
}

// The best test of every lane so far: highest quality, then lowest feature, then lowest key (the order within a feature).
struct Best {
  double q[kLanes];
  int feature[kLanes];
  u64 key[kLanes];
  i64 n_left[kLanes];
  double* left;  // [kLanes][K], numeric tests only
  int K;

  void start(int k, double* storage) {
    K = k, left = storage;
    for (int t = 0; t < kLanes; t++) q[t] = kNever, feature[t] = -1, key[t] = 0;
  }
  bool beats(int t, double quality, int f, u64 order) const {
    return quality > q[t] || (quality == q[t] && quality > kNever && (f < feature[t] || (f == feature[t] && order < key[t])));
  }
  bool offer_left(const Judge& judge, const Team& team, int t, int f, u64 order, i64 n, const double* stats) {
    const Node& node = *team.node[t];
    if (n < team.min_leaf[t] || node.n_rows - n < team.min_leaf[t]) return false;
    const double quality = judge.binary(stats, node.stats);
    if (!beats(t, quality, f, order)) return false;
    q[t] = quality, feature[t] = f, key[t] = order, n_left[t] = n;
    for (int c = 0; c < K; c++) left[t * K + c] = stats[c];
    return true;
  }
};

// Order of the tests of a numeric column: missing right, present | missing, missing left; then the cut.
enum : u64 { kMissingRight = 0, kPresence = 1, kMissingLeft = 2 };
constexpr u64 numeric_key(u64 phase, u32 cut) { return phase << 40 | cut; }
constexpr u64 phase_of(u64 key) { return key >> 40; }
constexpr u32 cut_of(u64 key) { return static_cast<u32>(key); }

// A lane's missing rows in the column being searched, and what a cut means for it: without own values above the cut "missing right" is
// the test "present | missing"; without own values below it "missing left" is that test mirrored, which is no candidate.
struct MissingRows {
  i64 n[kLanes] = {};
  CC_INLINE bool meaning(int k, i64 left, i64 rows, u64& key) const {
    if (!n[k]) return true;
    if (phase_of(key) == kMissingLeft) return left != n[k];
    if (phase_of(key) == kMissingRight && left == rows - n[k]) key = numeric_key(kPresence, 0);
    return true;
  }
};

// scikit-learn's gap rule: neighbours closer than this are not parted (float arithmetic)
inline bool apart(float a, float b) { return a + 1e-7f < b; }

}  // namespace crosscut::CROSSCUT_LEVEL
