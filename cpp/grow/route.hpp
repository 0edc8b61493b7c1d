// Where the rows of a bundle go. Different tests have different tasks, so with binary tests one mask per row, the tasks whose test sends
// it left, says it all. With multiway tests every test's branch of a row leads to the child bundle that holds it.
#pragma once
#include "settle.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// A child bundle in the making: (test, branch) items of different tasks.
struct Cluster {
  u32 lanes;
  u32 left, right;  // binary tests: the tasks that are here with their first and with their second branch
  int n_items;
  struct Item {
    int test, branch;
  } items[kLanes];
  u64 rows[8];  // sampled rows it would hold
  double cost;
};

// Adds the tasks of all tests of column f: codes tell where a row goes, except in the intervals of the cuts.
template <class Rows>
void add_lanes_left(Worker& w, const Rows& rows, int f, const Test* tests, int n_tests, u16* left) {
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
  for (u32 i = 0; i < rows.n; i++) left[i] |= of_code[rows.code(f, i)];
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
const u16* lanes_left(Worker& w, const Rows& rows, const Test* tests, int n_tests) {
  if (w.run.p.multiway) return nullptr;
  u16* left = w.scratch.take<u16>(rows.n + 32);
  for (u32 i = 0; i < rows.n; i++) left[i] = 0;
  for (int j = 0; j < n_tests; j++) {
    const Test& t = tests[j];
    if constexpr (requires { rows.codes; }) {
      if (rows.codes->column[t.feature]) {
        bool first = true;
        for (int i = 0; i < j; i++) first = first && tests[i].feature != t.feature;
        if (first) add_lanes_left(w, rows, t.feature, tests + j, n_tests - j, left);
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

// The cluster every branch of every test belongs to, −1 if its child sets are leaves: where(j, b).
class Places {
  int** of_test_;

 public:
  Places(Arena& arena, const Test* tests, int n_tests, const Cluster* clusters, int n)
      : of_test_(arena.take<int*>(static_cast<std::size_t>(n_tests))) {
    for (int j = 0; j < n_tests; j++) {
      of_test_[j] = arena.take<int>(static_cast<std::size_t>(tests[j].n_branches));
      std::fill_n(of_test_[j], tests[j].n_branches, -1);
    }
    for (int c = 0; c < n; c++)
      for (int i = 0; i < clusters[c].n_items; i++) of_test_[clusters[c].items[i].test][clusters[c].items[i].branch] = c;
  }
  CC_INLINE int operator()(int test, int branch) const { return branch < 0 ? -1 : of_test_[test][branch]; }
};

// The rows of a child bundle by their position in the parent, and each row's lanes there.
struct Child {
  u32 n;
  u32* at;
  u16* lanes;
};

template <class Rows>
Child route_binary(Worker& w, const Rows& rows, const u16* left, const Cluster& c) {
  Child out{0, w.scratch.take<u32>(rows.n + 1), w.scratch.take<u16>(rows.n + 1)};
  const bool pack = !w.run.p.multiplicity;
  for (u32 i = 0; i < rows.n; i++) {
    const u32 l = left[i], m = rows.mask(i) & ((l & c.left) | (~l & c.right));
    out.at[out.n] = i, out.lanes[out.n] = static_cast<u16>(pack ? pack_bits(m, c.lanes) : m), out.n += m != 0;
  }
  return out;
}

template <class Rows>
void route_multiway(Worker& w, const Rows& rows, const Test* tests, int n_tests, const Cluster* clusters, int n, Child* children) {
  const Places where(w.scratch, tests, n_tests, clusters, n);
  const bool pack = !w.run.p.multiplicity;
  u32* count = w.scratch.take<u32>(static_cast<std::size_t>(n));  // the row's lanes in each cluster; 0 between rows
  std::fill_n(count, n, 0u);
  for (int c = 0; c < n; c++) children[c] = {0, nullptr, nullptr};
  for (const bool fill : {false, true}) {
    for (u32 i = 0; i < rows.n; i++) {
      int found[kLanes], n_found = 0;
      for (int j = 0; j < n_tests; j++) {
        const u32 mine = rows.mask(i) & tests[j].lanes;
        const int b = mine ? tests[j].branch(rows.rank(tests[j].feature, i)) : -1, c = where(j, b);
        const u32 m = c < 0 ? 0 : mine & tests[j].open[b];
        if (!m) continue;
        if (!count[c]) found[n_found++] = c;
        count[c] |= m;
      }
      for (int k = 0; k < n_found; k++) {
        Child& child = children[found[k]];
        const u32 m = count[found[k]];
        count[found[k]] = 0;
        if (fill) child.at[child.n] = i, child.lanes[child.n] = static_cast<u16>(pack ? pack_bits(m, clusters[found[k]].lanes) : m);
        child.n++;
      }
    }
    for (int c = 0; c < n && !fill; c++)
      children[c] = {0, w.scratch.take<u32>(children[c].n + 1), w.scratch.take<u16>(children[c].n + 1)};
  }
}

// children[c]: the rows of clusters[c].
template <class Rows>
Child* route(Worker& w, const Rows& rows, const Test* tests, int n_tests, const u16* left, const Cluster* clusters, int n) {
  Child* children = w.scratch.take<Child>(static_cast<std::size_t>(n) + 1);
  if (!left) route_multiway(w, rows, tests, n_tests, clusters, n, children);
  for (int c = 0; c < n && left; c++) children[c] = route_binary(w, rows, left, clusters[c]);
  return children;
}

}  // namespace crosscut::CROSSCUT_LEVEL
