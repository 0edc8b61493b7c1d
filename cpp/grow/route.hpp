// Where the rows of a bundle go. Different tests have different tasks, so with binary tests one mask per row, the tasks whose test sends
// it left, says it all. With multiway tests every test's branch of a row leads to the child bundle that holds it.
#pragma once
#include "test.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// A child bundle: child sets of different tasks, given as branches of tests.
struct ChildBundle {
  u32 lanes;
  u32 left, right;  // binary tests: the tasks that are here with their first and with their second branch
  int n_sets;
  struct Sets {     // the child sets of the tasks that share a test
    int test, branch;
  } sets[kLanes];
  u64 sample[8];    // sampled rows it would hold
  double cost;
  u32 n = 0;        // its rows...
  u32* ids;         // ...in the parent's codes...
  u16* masks;       // ...and their lanes here
};

struct ChildBundles {
  ChildBundle* bundle;
  int n;
};

// Adds the tasks of all tests of column f: codes tell where a row goes, except in the intervals of the cuts.
template <class Rows>
void add_lanes_left(Worker& w, int n_threads, const Rows& rows, int f, const Test* tests, int n_tests, u16* left) {
  const Column& c = rows.columns[f];
  u16 of_code[256] = {};
  ByteSet cut;
  bool any_cut = false;
  for (int j = 0; j < n_tests; j++) {
    const Test& t = tests[j];
    if (t.feature != f) continue;
    const u32 n_codes = c.nominal ? c.n_values : c.n_coarse;
    for (u32 x = 0; x < n_codes; x++) {
      const u32 first = c.nominal ? x : c.coarse_first[x], last = c.nominal ? x : c.coarse_first[x + 1] - 1;
      if (t.branch(last) == 0) of_code[x] |= static_cast<u16>(t.lanes);
      else if (t.branch(first) == 0) cut.add(x), any_cut = true;
    }
    if (c.has_missing && t.branch(c.n_values) == 0) of_code[n_codes] |= static_cast<u16>(t.lanes);
  }
  w.run.share_rows(n_threads, rows.n, [&](u32 begin, u32 end, int) {
    for (u32 i = begin; i < end; i++) left[i] |= of_code[rows.code(f, i)];
  });
  if (!any_cut) return;
  const auto mark = w.scratch.mark();
  u32* at = w.scratch.take<u32>(rows.n);
  const u32 n = rows.find(f, cut, at);
  for (int j = 0; j < n_tests; j++)
    for (u32 i = 0; i < n && tests[j].feature == f; i++)
      if (tests[j].branch(rows.rank(f, at[i])) == 0) left[at[i]] |= static_cast<u16>(tests[j].lanes);
  w.scratch.release(mark);
}

// left[i]: the tasks whose test sends row i left; null if there are multiway tests.
template <class Rows>
const u16* lanes_left(Worker& w, int n_threads, const Rows& rows, const Fork& fork) {
  if (w.run.p.multiway) return nullptr;
  u16* left = w.scratch.take<u16>(rows.n + 32);
  for (u32 i = 0; i < rows.n; i++) left[i] = 0;
  const Test* tests = fork.tests;
  for (int j = 0; j < fork.n_tests; j++) {
    const Test& t = tests[j];
    if constexpr (requires { rows.codes; }) {
      if (rows.codes->column[t.feature]) {
        bool first = true;
        for (int i = 0; i < j; i++) first = first && tests[i].feature != t.feature;
        if (first) add_lanes_left(w, n_threads, rows, t.feature, tests + j, fork.n_tests - j, left);
        continue;
      }
    }
    const u32 lanes = t.lanes, low = t.low;
    if (t.nominal || t.missing_rank != ~u32{0})
      for (u32 i = 0; i < rows.n; i++) left[i] |= static_cast<u16>(t.branch(rows.rank(t.feature, i)) == 0 ? lanes : 0);
    else
      for (u32 i = 0; i < rows.n; i++) left[i] |= static_cast<u16>(rows.rank(t.feature, i) <= low ? lanes : 0);
  }
  return left;
}

// The child bundle that every branch of every test leads to, −1 if its child sets are leaves: where(j, b).
class Leads {
  int** of_test_;

 public:
  Leads(Arena& arena, const Fork& fork, const ChildBundles& children) : of_test_(arena.take<int*>(static_cast<std::size_t>(fork.n_tests))) {
    for (int j = 0; j < fork.n_tests; j++) {
      of_test_[j] = arena.take<int>(static_cast<std::size_t>(fork.tests[j].n_branches));
      std::fill_n(of_test_[j], fork.tests[j].n_branches, -1);
    }
    for (int c = 0; c < children.n; c++)
      for (int i = 0; i < children.bundle[c].n_sets; i++) of_test_[children.bundle[c].sets[i].test][children.bundle[c].sets[i].branch] = c;
  }
  CC_INLINE int operator()(int test, int branch) const { return branch < 0 ? -1 : of_test_[test][branch]; }
};

inline void take_rows(Worker& w, ChildBundle& child, u32 n) {
  child.n = 0, child.ids = w.scratch.take<u32>(n + 1), child.masks = w.scratch.take<u16>(n + 1);
}

template <class Rows>
void route_binary(Worker& w, int n_threads, const Rows& rows, const u16* left, ChildBundle& c) {
  take_rows(w, c, rows.n);
  const bool pack = !w.run.p.multiplicity;
  const u32 lanes = c.lanes, first = c.left, second = c.right;
  const auto here = [&](u32 i) { return rows.mask(i) & ((left[i] & first) | (~u32{left[i]} & second)); };
  const auto count = [&](u32 begin, u32 end) {
    u32 n = 0;
    for (u32 i = begin; i < end; i++) n += here(i) != 0;
    return n;
  };
  c.n = w.run.pack_rows(n_threads, rows.n, count, [&](u32 begin, u32 end, u32 at) {
    u32 n = at;
    for (u32 i = begin; i < end; i++) {
      const u32 m = here(i);
      if (!m) continue;
      c.ids[n] = rows.ids[i], c.masks[n++] = static_cast<u16>(pack ? pack_bits(m, lanes) : m);
    }
    return n - at;
  });
}

template <class Rows>
void route_multiway(Worker& w, const Rows& rows, const Fork& fork, const ChildBundles& children) {
  const Leads where(w.scratch, fork, children);
  const bool pack = !w.run.p.multiplicity;
  u32* lanes_in = w.scratch.take<u32>(static_cast<std::size_t>(children.n));  // the row's lanes in each child bundle; 0 between rows
  std::fill_n(lanes_in, children.n, 0u);
  for (const bool fill : {false, true}) {
    for (u32 i = 0; i < rows.n; i++) {
      int found[kLanes], n_found = 0;
      for (int j = 0; j < fork.n_tests; j++) {
        const Test& t = fork.tests[j];
        const u32 mine = rows.mask(i) & t.lanes;
        const int b = mine ? t.branch(rows.rank(t.feature, i)) : -1, c = where(j, b);
        const u32 m = c < 0 ? 0 : mine & t.open[b];
        if (!m) continue;
        if (!lanes_in[c]) found[n_found++] = c;
        lanes_in[c] |= m;
      }
      for (int k = 0; k < n_found; k++) {
        ChildBundle& child = children.bundle[found[k]];
        const u32 m = lanes_in[found[k]];
        lanes_in[found[k]] = 0;
        if (fill) child.ids[child.n] = rows.ids[i], child.masks[child.n] = static_cast<u16>(pack ? pack_bits(m, child.lanes) : m);
        child.n++;
      }
    }
    for (int c = 0; c < children.n && !fill; c++) take_rows(w, children.bundle[c], children.bundle[c].n);
  }
}

}  // namespace crosscut::CROSSCUT_LEVEL
