// A lone task takes the test that was found for its node: where its rows go.
#pragma once
#include "grow/large/fork.hpp"
#include "single_node.hpp"

namespace crosscut::CROSSCUT_LEVEL {

template <class Code>
struct SingleSplit {
  Worker& w;
  const LocalTable& table;
  const Bundle& bundle;
  const SingleNode<Code>& x;
  const Best& best;

  SingleSplit(Worker& worker, const LocalTable& t, const Bundle& of, const SingleNode<Code>& node,
              const Best& best_test)
      : w(worker), table(t), bundle(of), x(node), best(best_test) {}

  // judged: its gain may be too small. False if the node stays a leaf.
  bool take(bool check_gain, NodeSplit<Code>& out) {
    const int f = best.feature[0];
    const bool nominal = w.run.p.columns[f].nominal;
    int j = 0;
    while (x.columns[j] != f) j++;
    return nominal || check_gain ? take_any(x.lists[j], check_gain, out)
                                 : take_list(f, x.lists[j], out);
  }

  bool take_list(int f, const u32* list, NodeSplit<Code>& out) {
    const u64 phase = phase_of(best.key[0]);
    const u32 missing = table.columns[f].missing_rank;
    u32 present = x.n;
    while (list[present - 1] >> 16 == missing) present--;
    const u32 n_left = static_cast<u32>(best.n_left[0]);
    const u32 cut = phase == kMissingLeft ? n_left - (x.n - present) : n_left;
    take_numeric(w, SingleRows{x.n, list, table}, *x.node, f, phase, best.n_left[0], best.left,
                 list[cut - 1] >> 16, list[cut] >> 16);
    if (present < x.n && phase != kPresence) x.node->missing = phase != kMissingLeft;
    u32 *entries = w.scratch.take<u32>(x.n), *start = w.scratch.take<u32>(3);
    std::copy_n(list, x.n, entries);
    if (phase == kMissingLeft) {
      std::copy(list + present, list + x.n, entries + cut);
      std::copy(list + cut, list + present, entries + n_left);
    }
    start[0] = 0;
    start[1] = n_left;
    start[2] = x.n;
    return split_into(2, entries, start, out);
  }
  // The entries of all branches, one after the other.
  bool split_into(u32 n, const u32* entries, const u32* start, NodeSplit<Code>& out) {
    out = {n, w.scratch.take<Branch<Code>>(n), x.node->children};
    u32 largest = 0;
    for (u32 b = 0; b < n; b++) {
      out.branch[b] = {start[b + 1] - start[b], entries + start[b], {}};
      if (out.branch[b].n > out.branch[largest].n) largest = b;
    }
    if constexpr (Code::kEachRow) {
      const u32 words = x.code.all->words;
      u64* bits = x.code.all->no_rows(w, n);
      for (u32 b = 0; b < n; b++) out.branch[b].rows = {bits + b * words, x.code.all};
      u64* rest = bits + largest * words;  // what the others leave
      std::copy_n(x.code.rows, words, rest);
      for (u32 b = 0; b < n; b++) {
        if (b == largest) continue;
        for (u32 i = start[b]; i < start[b + 1]; i++)
          x.code.all->set(bits, b, x.code.all->bit[entries[i] & kRowMask]);
        for (u32 k = 0; k < words; k++) rest[k] &= ~bits[b * words + k];
      }
    }
    return true;
  }
  bool take_any(const u32* list, bool check_gain, NodeSplit<Code>& out) {
    const SingleRows rows{x.n, list, table};
    Forking<SingleRows> forking(w, bundle, rows, best);
    if (table.product && !w.run.weighted && !check_gain) {  // nominal
      const u32 V = rows.n_ranks(best.feature[0]);
      double* sums = w.scratch.take<double>(2 * V);
      i64* count = w.scratch.take<i64>(V);
      std::fill_n(sums, 2 * V, 0.0);
      std::fill_n(count, V, i64{0});
      for (u32 i = 0; i < x.n; i++) {
        sums[2 * (list[i] >> 16)] += table.product[rows.at(i)];
        count[list[i] >> 16]++;
      }
      for (u32 v = 0; v < V; v++) sums[2 * v + 1] = static_cast<double>(count[v]);
      forking.take_nominal(0, V, sums, count);
    } else {
      forking.take_tests();
    }
    if (forking.leaves) return false;
    const Test& test = forking.tests[0];
    const auto n = static_cast<u32>(test.n_branches);
    u32 *entries = w.scratch.take<u32>(x.n), *start = w.scratch.take<u32>(n + 2);
    std::fill_n(start, n + 2, 0u);
    for (u32 i = 0; i < x.n; i++) start[test.branch(list[i] >> 16) + 2]++;
    for (u32 b = 0; b < n; b++) start[b + 2] += start[b + 1];
    for (u32 i = 0; i < x.n; i++) entries[start[test.branch(list[i] >> 16) + 1]++] = list[i];
    u32 kept = 0;  // branches that have rows: those of the node
    for (u32 b = 0; b < n; b++)
      if (start[b] < start[b + 1]) start[kept++] = start[b];
    start[kept] = x.n;
    return split_into(kept, entries, start, out);
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL
