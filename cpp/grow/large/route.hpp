// Sends the rows of a bundle to its child bundles.
// Every task has one test. With binary tests one mask per row is enough: the tasks whose test sends
// the row left. With multiway tests each branch of each test leads to the child bundle that holds
// it.
#pragma once
#include "codes.hpp"
#include "grow/simd/compress.hpp"
#include "test.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// The lanes of a row in a child bundle, from the row's mask and `left` and the child's tasks by
// first and second branch.
CC_INLINE u16 lanes_in(u16 mask, u16 left, u16 first, u16 second) {
  return static_cast<u16>(mask & ((left & first) | (~left & second)));
}

// A child bundle: child sets of different tasks, as branches of tests.
struct ChildBundle {
  u32 lanes;
  // binary tests: tasks whose first branch is here, and tasks whose second branch is here
  u32 left, right;
  int n_sets;
  struct Sets {  // the child sets of the tasks that share a test
    int test, branch;
  } sets[kLanes];
  u64 sample[8];  // which sampled rows it would hold
  double cost;
  u32 n = 0;   // rows
  u64* words;  // binary tests: which rows of the parent these are, as bits
  u32* rows;   // [n] of the table
  u16* masks;  // [n] lanes of each row in this child
};

struct ChildBundles {
  ChildBundle* bundle;
  int n;
  // [row] tasks whose test sends the row left; null if there are multiway tests
  const u16* left = nullptr;
  int n_parts = 1;    // of the rows
  u32* at = nullptr;  // [part][child] where the rows of a part begin in the child

  // The lanes of some rows in a child bundle, if all tests are binary.
  CC_INLINE void find_lanes(const ChildBundle& child, const LargeRows& rows, u32 begin, u32 n_rows,
                            u16* lanes) const {
    const u16 first = static_cast<u16>(child.left), second = static_cast<u16>(child.right);
    const u16 *mask = rows.masks + begin, *goes_left = left + begin;
    for (u32 i = 0; i < n_rows; i++) lanes[i] = lanes_in(mask[i], goes_left[i], first, second);
  }
};

// Where the tests of column f send a row. The code of the row decides, except in the intervals that
// contain a cut.
struct LeftByCode {
  int f;
  bool any_cut = false;
  ByteSet cut;
  u16 lanes[256] = {};

  LeftByCode(const Column& c, int feature, const Test* tests, int n_tests) : f(feature) {
    for (int j = 0; j < n_tests; j++) {
      const Test& t = tests[j];
      if (t.feature != f) continue;
      const u32 n_codes = c.nominal ? c.n_values : c.n_coarse;
      for (u32 x = 0; x < n_codes; x++) {
        const u32 first = c.nominal ? x : c.coarse_first[x];
        const u32 last = c.nominal ? x : c.coarse_first[x + 1] - 1;
        if (t.branch(last) == 0) lanes[x] |= static_cast<u16>(t.lanes);
        else if (t.branch(first) == 0) {
          cut.add(x);
          any_cut = true;
        }
      }
      if (c.has_missing && t.branch(c.n_values) == 0) lanes[n_codes] |= static_cast<u16>(t.lanes);
    }
  }
};

// Returns [row] the tasks whose test sends the row left; null if there are multiway tests.
inline const u16* lanes_left(Worker& w, const LargeRows& rows, const Fork& fork) {
  if (w.run.p.multiway) return nullptr;
  u16* left = w.scratch.take<u16>(rows.n + 32);
  LeftByCode* by_code = w.scratch.take<LeftByCode>(static_cast<std::size_t>(fork.n_tests));
  int n_coded = 0;
  const auto coded = [&](const Test& t) { return rows.codes->column[t.feature] != nullptr; };
  for (const Test* t = fork.tests; t < fork.tests + fork.n_tests; t++)
    if (coded(*t) && std::none_of(by_code, by_code + n_coded,
                                  [&](const LeftByCode& x) { return x.f == t->feature; }))
      new (by_code + n_coded++)
          LeftByCode(rows.columns[t->feature], t->feature, fork.tests, fork.n_tests);
  w.share_rows(rows.n, w.parts_of(rows.n), [&](Worker& worker, u32 begin, u32 end, int) {
    std::fill(left + begin, left + end, u16{0});
    for (const LeftByCode* x = by_code; x < by_code + n_coded; x++) {
      for (u32 i = begin; i < end; i++) left[i] |= x->lanes[rows.codes->column[x->f][i]];
      if (!x->any_cut) continue;
      const auto mark = worker.scratch.mark();
      u32* at = worker.scratch.take<u32>(end - begin);
      const u32 n = rows.find(x->f, x->cut, begin, end, at);
      for (const Test* t = fork.tests; t < fork.tests + fork.n_tests; t++)
        for (u32 i = 0; i < n && t->feature == x->f; i++)
          if (t->branch(rows.rank(x->f, at[i])) == 0) left[at[i]] |= static_cast<u16>(t->lanes);
      worker.scratch.release(mark);
    }
    for (const Test* t = fork.tests; t < fork.tests + fork.n_tests; t++)
      for (u32 i = begin; i < end && !coded(*t); i++)
        left[i] |= static_cast<u16>(t->branch(rows.rank(t->feature, i)) == 0 ? t->lanes : 0);
  });
  return left;
}

// where(test, branch): the child bundle that holds a branch of a test, −1 if it has only leaves.
class Leads {
  int** of_test_;

 public:
  Leads(Arena& arena, const Fork& fork, const ChildBundles& children)
      : of_test_(arena.take<int*>(static_cast<std::size_t>(fork.n_tests))) {
    for (int j = 0; j < fork.n_tests; j++) {
      of_test_[j] = arena.take<int>(static_cast<std::size_t>(fork.tests[j].n_branches));
      std::fill_n(of_test_[j], fork.tests[j].n_branches, -1);
    }
    for (int c = 0; c < children.n; c++)
      for (int i = 0; i < children.bundle[c].n_sets; i++)
        of_test_[children.bundle[c].sets[i].test][children.bundle[c].sets[i].branch] = c;
  }
  CC_INLINE int operator()(int test, int branch) const {
    return branch < 0 ? -1 : of_test_[test][branch];
  }
};

// Finds the rows of each child bundle and counts them.
inline void count_binary(Worker& w, const LargeRows& rows, ChildBundles& children) {
  const auto n = static_cast<std::size_t>(children.n);
  children.n_parts = w.parts_of(rows.n);
  children.at = w.scratch.take<u32>(static_cast<std::size_t>(children.n_parts + 1) * n);
  std::fill_n(children.at, n, 0u);
  for (std::size_t c = 0; c < n; c++)
    children.bundle[c].words = w.scratch.take<u64>((rows.n + 63) / 64);
  w.share_rows(rows.n, children.n_parts, [&](Worker&, u32 begin, u32 end, int part) {
    for (std::size_t c = 0; c < n; c++) {
      const ChildBundle& child = children.bundle[c];
      u32 n_here = 0;
      alignas(64) u16 lanes[64] = {};
      for (u32 i = begin; i < end; i += 64) {
        if (end - i < 64) {
          std::fill_n(lanes, 64, u16{0});
          children.find_lanes(child, rows, i, end - i, lanes);
        } else {
          children.find_lanes(child, rows, i, 64, lanes);
        }
        child.words[i / 64] = not_zero(lanes);
        n_here += static_cast<u32>(__builtin_popcountll(child.words[i / 64]));
      }
      children.at[static_cast<std::size_t>(part + 1) * n + c] = n_here;
    }
  });
  for (std::size_t i = n; i < static_cast<std::size_t>(children.n_parts + 1) * n; i++)
    children.at[i] += children.at[i - n];
  for (std::size_t c = 0; c < n; c++)
    children.bundle[c].n = children.at[static_cast<std::size_t>(children.n_parts) * n + c];
}

inline void route_binary(Worker& w, const LargeRows& rows, const ChildBundles& children) {
  const bool pack = !w.run.p.multiplicity;
  w.share_rows(rows.n, children.n_parts, [&](Worker& worker, u32 begin, u32 end, int part) {
    u16* lanes = worker.scratch.take<u16>(end - begin);
    for (int c = 0; c < children.n; c++) {
      const ChildBundle& child = children.bundle[c];
      const u32 at = children.at[part * children.n + c];
      const u32 end_at = children.at[(part + 1) * children.n + c];
      const u64* words = child.words + begin / 64;
      compress(rows.rows + begin, end - begin, words, child.rows + at, child.rows + end_at);
      if (pack && !(child.lanes & (child.lanes - 1))) {
        std::fill(child.masks + at, child.masks + end_at, u16{1});
        continue;
      }
      children.find_lanes(child, rows, begin, end - begin, lanes);
      compress(lanes, end - begin, words, child.masks + at, child.masks + end_at);
      for (u32 i = at; i < end_at && pack; i++)
        child.masks[i] = static_cast<u16>(pack_bits(u32{child.masks[i]}, child.lanes));
    }
  });
}

// Counts the rows of the child bundles and, if `fill` is set, writes them.
inline void route_multiway(Worker& w, const LargeRows& rows, const Fork& fork,
                           const ChildBundles& children, bool fill) {
  const Leads where(w.scratch, fork, children);
  const bool pack = !w.run.p.multiplicity;
  // lanes of the current row in each child bundle; all 0 between rows
  u32* lanes_of = w.scratch.take<u32>(static_cast<std::size_t>(children.n));
  std::fill_n(lanes_of, children.n, 0u);
  for (int c = 0; c < children.n; c++) children.bundle[c].n = 0;
  for (u32 i = 0; i < rows.n; i++) {
    int reached[kLanes], n_reached = 0;
    for (int j = 0; j < fork.n_tests; j++) {
      const Test& t = fork.tests[j];
      const u32 lanes = rows.mask(i) & t.lanes;
      const int b = lanes ? t.branch(rows.rank(t.feature, i)) : -1, c = where(j, b);
      const u32 m = c < 0 ? 0 : lanes & t.open[b];
      if (!m) continue;
      if (!lanes_of[c]) reached[n_reached++] = c;
      lanes_of[c] |= m;
    }
    for (int k = 0; k < n_reached; k++) {
      ChildBundle& child = children.bundle[reached[k]];
      const u32 m = lanes_of[reached[k]];
      lanes_of[reached[k]] = 0;
      if (fill) {
        child.rows[child.n] = rows.rows[i];
        child.masks[child.n] = static_cast<u16>(pack ? pack_bits(m, child.lanes) : m);
      }
      child.n++;
    }
  }
}

}  // namespace crosscut::CROSSCUT_LEVEL
