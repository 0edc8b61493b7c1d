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

// Makes the nodes of these lanes leaves and sums their values.
template <class Rows>
void close_lanes(Worker& w, const Bundle& bundle, const Rows& rows, u32 lanes) {
  if (w.run.counted || !lanes) return;
  each_bit(lanes, [&](int k) { start_sums(w, *bundle.node[k]); });
  for (u32 i = 0; i < rows.n; i++)
    each_bit(rows.mask(i) & lanes,
             [&](int k) { add_exactly(w, bundle, k, rows.row(i), bundle.node[k]->exact); });
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
