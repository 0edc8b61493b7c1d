// Decides which nodes stay leaves, and sums the values of leaves.
#pragma once
#include "bundle.hpp"

namespace crosscut::CROSSCUT_LEVEL {

inline bool is_pure(const double* s, int K) {
  int present = 0;
  for (int c = 0; c < K; c++) present += s[c] > 0;
  return present <= 1;
}

inline bool wants_test(const Run& run, const Node& node, const TaskLimits& limits) {
  return node.depth < limits.max_depth && node.n_rows >= limits.min_split &&
         node.n_rows >= 2 * limits.min_leaf && !(run.p.n_classes && is_pure(node.stats, run.K()));
}

// May a node of n rows, of which some may be copies, be split by its limits? count() returns its
// rows, each counted once.
template <class Count>
bool enough_rows(const Run& run, i64 n, const TaskLimits& limits, Count count) {
  const i64 least = std::max(limits.min_split, 2 * limits.min_leaf);
  return run.most_copies == 1 || n >= least * run.most_copies || count() >= least;
}

// Sums the values of leaves, one per lane. A row that trains all of them but one is added to the
// cell of that lane only; then S(T_i) = S(D) − S(D_i). This makes regression with bins on large
// tables 1.1 times faster.
class LeafSums {
  const Worker& w_;
  const Bundle& bundle_;
  u32 lanes_;
  i64* sums_[kLanes];      // of each leaf
  i64* cells_[kLanes + 1]  // the last: of rows that train all leaves
      = {};                // null if rows are added lane by lane

 public:
  // leaf(k): of lane k; at most n_rows rows are added
  template <class Leaf>
  LeafSums(Worker& w, const Bundle& bundle, u32 lanes, u32 n_rows, const Leaf& leaf)
      : w_(w), bundle_(bundle), lanes_(lanes) {
    each_bit(lanes, [&](int k) {
      start_sums(w, *leaf(k));
      sums_[k] = leaf(k)->exact;
    });
    const int n = __builtin_popcount(lanes);
    if (n < 3 || w.run.p.multiplicity || static_cast<u32>(n * w.run.p.n_sums()) > n_rows) return;
    each_bit(lanes, [&](int k) { cells_[k] = empty_sums(w); });
    cells_[kLanes] = empty_sums(w);
  }
  CC_INLINE void add(u32 mask, std::size_t row) {
    const u32 out = lanes_ & ~mask;
    if (cells_[kLanes] && !(out & (out - 1)))
      add_exactly(w_, bundle_, 0, row, cells_[out ? __builtin_ctz(out) : kLanes]);
    else each_bit(mask & lanes_, [&](int k) { add_exactly(w_, bundle_, k, row, sums_[k]); });
  }
  void finish() {
    i64* all = cells_[kLanes];
    if (!all) return;
    for (int d = 0; d < w_.run.p.n_sums(); d++) {
      each_bit(lanes_, [&](int k) { all[d] += cells_[k][d]; });
      each_bit(lanes_, [&](int k) { sums_[k][d] += all[d] - cells_[k][d]; });
    }
  }
};

// Makes the nodes of these lanes leaves and sums their values.
template <class Rows>
void close_lanes(Worker& w, const Bundle& bundle, const Rows& rows, u32 lanes) {
  if (w.run.counted || !lanes) return;
  const auto mark = w.scratch.mark();
  LeafSums sums(w, bundle, lanes, rows.n, [&](int k) { return bundle.node[k]; });
  for (u32 i = 0; i < rows.n; i++) sums.add(rows.mask(i), rows.row(i));
  sums.finish();
  w.scratch.release(mark);
}

// Regression: closes the lanes whose rows all have the same target.
template <class Rows> void close_pure_lanes(Worker& w, Bundle& bundle, const Rows& rows) {
  if (w.run.p.n_classes) return;
  const double* y = w.run.p.target;
  double first[kLanes];
  u32 seen = 0, impure = 0;
  for (u32 i = 0; i < rows.n && impure != bundle.lanes; i++) {
    const u32 m = rows.mask(i) & bundle.lanes & ~impure;
    const double v = y[rows.row(i)];
    each_bit(m, [&](int k) {
      if (!(seen >> k & 1)) {
        seen |= 1u << k;
        first[k] = v;
      } else if (v != first[k]) impure |= 1u << k;
    });
  }
  close_lanes(w, bundle, rows, bundle.lanes & ~impure);
  bundle.lanes &= impure;
}

}  // namespace crosscut::CROSSCUT_LEVEL
