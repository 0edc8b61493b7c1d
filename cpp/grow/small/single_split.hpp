// Splits the rows of a single task's node by the best test.
#pragma once
#include "grow/large/fork.hpp"
#include "single_node.hpp"

namespace crosscut::CROSSCUT_LEVEL {

template <class Code> struct SingleSplit {
  Worker& w;
  const LocalTable& table;
  const Bundle& bundle;
  const SingleNode<Code>& x;
  const Best& best;

  SingleSplit(Worker& worker, const LocalTable& t, const Bundle& of, const SingleNode<Code>& node,
              const Best& best_test)
      : w(worker), table(t), bundle(of), x(node), best(best_test) {}

  // check_gain: the gain may be below min_impurity_decrease. Returns false if the node stays a
  // leaf.
  bool take(bool check_gain, NodeSplit<Code>& out) {
    const int f = best.feature[0];
    const bool nominal = w.run.p.columns[f].nominal;
    int j = 0;
    while (x.columns[j] != f) j++;
    return nominal || check_gain ? take_any(x.lists[j], out) : take_list(f, x.lists[j], out);
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
  // entries: of all branches, one after the other; branch b starts at start[b].
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
      u64* rest = bits + largest * words;  // the rows of the largest branch: all others removed
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
  bool take_any(const u32* list, NodeSplit<Code>& out) {
    const SingleRows rows{x.n, list, table};
    Forking<SingleRows> forking(w, bundle, rows, best);
    forking.take_tests();
    if (forking.leaves) return false;
    const Test& test = forking.tests[0];
    const auto n = static_cast<u32>(test.n_branches);
    u32 *entries = w.scratch.take<u32>(x.n), *start = w.scratch.take<u32>(n + 2);
    std::fill_n(start, n + 2, 0u);
    for (u32 i = 0; i < x.n; i++) start[test.branch(list[i] >> 16) + 2]++;
    for (u32 b = 0; b < n; b++) start[b + 2] += start[b + 1];
    for (u32 i = 0; i < x.n; i++) entries[start[test.branch(list[i] >> 16) + 1]++] = list[i];
    u32 kept = 0;  // the node has only the branches with rows
    for (u32 b = 0; b < n; b++)
      if (start[b] < start[b + 1]) start[kept++] = start[b];
    start[kept] = x.n;
    return split_into(kept, entries, start, out);
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL
