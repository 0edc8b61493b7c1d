// What follows a search: every task of a bundle takes its test, tasks that split alike share it, and the child sets are joined
// into child bundles by overlap (DESIGN.md 3.2). Rows are read through an accessor, so large and local bundles share this code:
//   n; mask(i); rank(f, i); row(i) (row of the table); value_rank(f, r): the table's rank of the accessor's rank r.
#pragma once
#include "neighbours.hpp"
#include "nominal.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// A test that one or more tasks of a bundle have chosen. Tasks are alike if they send every row of theirs the same way; each
// keeps its own threshold.
struct Test {
  int feature, n_branches;
  bool nominal;
  u64 phase;
  u32 low, high;           // numeric: every task's neighbours are at most low and at least high
  u32 missing_rank;
  u32 lanes;
  std::int32_t* map;       // nominal: branch of every rank, −1 unseen
  Node** child;            // [n_branches][kLanes], null where a task has no such branch
  u32* open;               // [n_branches] lanes whose child wants a test

  CC_INLINE int branch(u32 rank) const {
    if (nominal) return map[rank];
    if (rank == missing_rank) return phase != kMissingLeft;
    return rank > low;
  }
};

inline bool is_pure(const double* s, int K) {
  int present = 0;
  for (int c = 0; c < K; c++) present += s[c] > 0;
  return present <= 1;
}

inline bool wants_test(const Run& run, const Node& node, const TaskLimits& limits) {
  return node.depth < limits.max_depth && node.n_rows >= limits.min_split && node.n_rows >= 2 * limits.min_leaf &&
         !(run.p.n_classes && is_pure(node.stats, run.K()));
}

inline const TaskLimits& limits_of(const Worker& w, const Team& team, int k) {
  return w.run.p.limits[w.block * kBlockTasks + team.task[k]];
}

// The lanes of a team whose tasks may use column f.
inline u32 allowed_lanes(const Worker& w, const Team& team, int f) {
  const Problem& p = w.run.p;
  if (!p.features) return team.lanes;
  u32 bits = 0;
  each_bit(team.lanes, [&](int k) {
    const std::size_t task = static_cast<std::size_t>(w.block * kBlockTasks + team.task[k]);
    bits |= static_cast<u32>(p.features[task * static_cast<std::size_t>(p.n_features) + static_cast<std::size_t>(f)] != 0) << k;
  });
  return bits;
}

template <class Rows>
void add_exact(const Worker& w, const Team& team, const Rows& rows, u32 i, int k, Node& leaf) {
  const Problem& p = w.run.p;
  const std::size_t row = rows.row(i);
  const i64 times = p.multiplicity ? p.multiplicity[static_cast<std::size_t>(w.block * kBlockTasks + team.task[k]) * p.n_rows + row] : 1;
  if (p.n_classes) {  // class weights
    Exact& e = leaf.exact[p.classes[row]];
    e.hi += times * (p.n_exact ? p.exact[0][row].hi : 1), e.lo += times * (p.n_exact ? p.exact[0][row].lo : 0);
    return;
  }
  if (leaf.exact[0].hi == 0 && leaf.exact[0].lo == 0) leaf.first = p.target[row];
  leaf.pure &= p.target[row] == leaf.first;
  for (int q = 0; q < 3; q++) leaf.exact[q].hi += times * p.exact[q][row].hi, leaf.exact[q].lo += times * p.exact[q][row].lo;
}

inline void give_exact(Worker& w, Node& leaf) {
  const int n = w.run.p.n_classes ? w.run.p.n_classes : 3;
  leaf.exact = w.nodes.take<Exact>(static_cast<std::size_t>(n));
  std::fill_n(leaf.exact, n, Exact{0, 0});
  leaf.pure = true;
}

// The lanes' nodes stay leaves: sum what their values come from.
template <class Rows>
void close_lanes(Worker& w, const Team& team, const Rows& rows, u32 lanes) {
  if (w.run.counted || !lanes) return;
  each_bit(lanes, [&](int k) { give_exact(w, *team.node[k]); });
  for (u32 i = 0; i < rows.n; i++) each_bit(rows.mask(i) & lanes, [&](int k) { add_exact(w, team, rows, i, k, *team.node[k]); });
}

// Regression: lanes whose rows all have the same target are done.
template <class Rows>
u32 pure_lanes(const Worker& w, const Team& team, const Rows& rows) {
  const double* y = w.run.p.target;
  double first[kLanes];
  u32 seen = 0, impure = 0;
  for (u32 i = 0; i < rows.n && impure != team.lanes; i++) {
    const u32 m = rows.mask(i) & team.lanes & ~impure;
    const double v = y[rows.row(i)];
    each_bit(m, [&](int k) {
      if (!(seen >> k & 1)) seen |= 1u << k, first[k] = v;
      else if (v != first[k]) impure |= 1u << k;
    });
  }
  return team.lanes & ~impure;
}

// Statistics per category of a column: lane k has table[k], [V][K], and n[k], [V]. A row that at most one of the lanes lacks is counted once,
// for all, and taken from that lane again; sums on the grid are exact.
struct CategoryTables {
  u32 V;
  double* table[kLanes];
  i64* n[kLanes];

  template <class Rows>
  static CategoryTables of(Worker& w, const Team& team, const Rows& rows, int f, u32 lanes) {
    const Problem& p = w.run.p;
    CategoryTables out;
    out.V = rows.n_ranks(f);
    const std::size_t K = static_cast<std::size_t>(w.run.K()), size = out.V * K;
    const auto empty = [&](double*& sums, i64*& counts) {
      sums = w.scratch.take<double>(size), counts = w.scratch.take<i64>(out.V);
      std::fill_n(sums, size, 0.0), std::fill_n(counts, out.V, i64{0});
    };
    double* all;
    i64* all_n;
    empty(all, all_n);
    each_bit(lanes, [&](int k) { empty(out.table[k], out.n[k]); });
    for (u32 i = 0; i < rows.n; i++) {
      const u32 m = rows.mask(i) & lanes, absent = lanes & ~m;
      if (!m) continue;
      const std::size_t row = rows.row(i), v = rows.rank(f, i);
      const auto add = [&](double* sums, i64* counts, double times, i64 sign) {
        const double weight = times * (p.weight ? p.weight[row] : 1);
        counts[v] += sign;
        if (p.n_classes) sums[v * K + static_cast<std::size_t>(p.classes[row])] += weight;
        else sums[v * 2] += times * p.product[row], sums[v * 2 + 1] += weight;
      };
      if (p.multiplicity) {
        each_bit(m, [&](int k) {
          add(out.table[k], out.n[k], p.multiplicity[static_cast<std::size_t>(w.block * kBlockTasks + team.task[k]) * p.n_rows + row], 1);
        });
      } else if (absent & (absent - 1)) {
        each_bit(m, [&](int k) { add(out.table[k], out.n[k], 1, 1); });
      } else {
        add(all, all_n, 1, 1);
        each_bit(absent, [&](int k) { add(out.table[k], out.n[k], -1, -1); });
      }
    }
    each_bit(lanes, [&](int k) {
      for (std::size_t j = 0; j < size; j++) out.table[k][j] += all[j];
      for (u32 v = 0; v < out.V; v++) out.n[k][v] += all_n[v];
    });
    return out;
  }
};

inline Node* add_children(Worker& w, Node& node, int n) {
  node.children = w.new_nodes(n), node.n_children = n;
  double* stats = w.nodes.take<double>(static_cast<std::size_t>(n) * static_cast<std::size_t>(w.run.K()));
  for (int j = 0; j < n; j++, stats += w.run.K()) node.children[j].depth = node.depth + 1, node.children[j].stats = stats;
  return node.children;
}

inline double midpoint(float a, float b) {
  const double mid = static_cast<double>(a) / 2.0 + static_cast<double>(b) / 2.0;
  return mid == static_cast<double>(b) || mid == std::numeric_limits<double>::infinity() || mid == -std::numeric_limits<double>::infinity()
             ? static_cast<double>(a)
             : mid;
}

// Gives lane k's node its numeric test: children, their statistics, the task's own threshold.
template <class Rows>
void take_numeric(Worker& w, const Rows& rows, const Best& best, int k, Node& node, u32 below, u32 above) {
  const int f = best.feature[k], K = w.run.K();
  const Column& column = w.run.p.columns[f];
  const u64 phase = phase_of(best.key[k]);
  Node* child = add_children(w, node, 2);
  node.feature = f;
  for (int c = 0; c < K; c++) {
    child[0].stats[c] = best.left[k * K + c];
    child[1].stats[c] = node.stats[c] - best.left[k * K + c];
  }
  child[0].n_rows = best.n_left[k], child[1].n_rows = node.n_rows - best.n_left[k];
  node.missing = child[0].n_rows > child[1].n_rows ? 0 : 1;
  if (phase == kPresence) {
    node.threshold = std::numeric_limits<double>::infinity(), node.missing = 1;
    return;
  }
  const u32 a = rows.value_rank(f, below), b = rows.value_rank(f, above);
  if (column.edges) node.threshold = column.edges[a];
  else node.low = column.values[a], node.high = column.values[b], node.threshold = midpoint(node.low, node.high);
}

template <class Rows>
struct Settler {
  Worker& w;
  Team& team;
  const Rows& rows;
  const Best& best;
  Arena& arena;
  Test* tests;
  int n_tests = 0;
  u32 leaves = 0;

  Settler(Worker& worker, Team& t, const Rows& r, const Best& b)
      : w(worker), team(t), rows(r), best(b), arena(worker.scratch), tests(arena.take<Test>(kLanes)) {}

  // Every lane takes its test or becomes a leaf; afterwards tests[0..n_tests) are the bundle's different tests.
  void take_tests() {
    u32 numeric = 0, nominal = 0;
    each_bit(team.lanes, [&](int k) {
      if (best.feature[k] < 0 || !enough_decrease(k)) leaves |= 1u << k;
      else (w.run.p.columns[best.feature[k]].nominal ? nominal : numeric) |= 1u << k;
    });
    while (nominal) {
      const int f = best.feature[__builtin_ctz(nominal)];
      u32 same = 0;
      each_bit(nominal, [&](int k) { same |= static_cast<u32>(best.feature[k] == f) << k; });
      const CategoryTables tables = CategoryTables::of(w, team, rows, f, same);
      each_bit(same, [&](int k) { take_nominal(k, tables.V, tables.table[k], tables.n[k]); });
      nominal &= ~same;
    }
    while (numeric) {
      const int f = best.feature[__builtin_ctz(numeric)];
      u32 same = 0, below[kLanes], above[kLanes], cut[kLanes];
      each_bit(numeric, [&](int k) {
        if (best.feature[k] == f) same |= 1u << k, cut[k] = cut_of(best.key[k]);
      });
      const u32 missing = rows.missing_rank(f);
      own_neighbours(arena, rows, f, missing, same, cut, below, above);
      each_bit(same, [&](int k) {
        take_numeric(w, rows, best, k, *team.node[k], below[k], above[k]);
        const u64 phase = phase_of(best.key[k]);
        // With missing rows of its own the task has learnt a direction; otherwise they go with the majority.
        if (phase == kMissingLeft) team.node[k]->missing = 0;
        else if (phase == kMissingRight && has_missing_rows(f, k, missing)) team.node[k]->missing = 1;
        join_numeric(k, f, phase, missing, below[k], above[k]);
      });
      numeric &= ~same;
    }
    if (leaves) close_lanes(w, team, rows, leaves);
  }

  // Which children want a test of their own; sums for those that stay leaves.
  void open_children() {
    for (int j = 0; j < n_tests; j++) {
      Test& t = tests[j];
      t.open = arena.take<u32>(static_cast<std::size_t>(t.n_branches));
      u32 any_leaf = 0;
      u32* closed = arena.take<u32>(static_cast<std::size_t>(t.n_branches));
      for (int b = 0; b < t.n_branches; b++) {
        t.open[b] = closed[b] = 0;
        each_bit(t.lanes, [&](int k) {
          Node* c = t.child[b * kLanes + k];
          if (!c) return;
          const bool open = wants_test(w.run, *c, limits_of(w, team, k));
          (open ? t.open[b] : closed[b]) |= 1u << k;
          if (!open && !w.run.counted) give_exact(w, *c);
        });
        any_leaf |= closed[b];
      }
      if (w.run.counted || !any_leaf) continue;
      for (u32 i = 0; i < rows.n; i++) {
        const u32 m = rows.mask(i) & any_leaf;
        if (!m) continue;
        const int b = t.branch(rows.rank(t.feature, i));
        if (b < 0) continue;
        each_bit(m & closed[b], [&](int k) { add_exact(w, team, rows, i, k, *t.child[b * kLanes + k]); });
      }
    }
  }

 private:
  bool enough_decrease(int k) const {
    const double least = limits_of(w, team, k).min_decrease;
    if (!(least > 0)) return true;
    const Node& node = *team.node[k];
    const Judge& judge = w.run.judge;
    const double gain_q = judge.criterion == Criterion::gain_ratio ? entropy_of_choice(k) : 0;
    const double gain = judge.improvement(node.stats, best.q[k], gain_q) / w.root_total[team.task[k]];
    return gain * w.run.p.decrease_scale + 2.220446049250313e-16 >= least;
  }
  // Gain ratio's improvement is the entropy gain: Σ of the branches' parts of Q.
  double entropy_of_choice(int k) const {
    const int f = best.feature[k], K = w.run.K();
    const Node& node = *team.node[k];
    const Judge& judge = w.run.judge;
    const auto mark = arena.mark();
    double sum = 0;
    if (!w.run.p.columns[f].nominal) {
      double* right = arena.take<double>(static_cast<std::size_t>(K));
      for (int c = 0; c < K; c++) right[c] = node.stats[c] - best.left[k * K + c];
      sum = 0.0 + judge.branch(best.left + k * K) + judge.branch(right);
    } else {
      const CategoryTables tables = CategoryTables::of(w, team, rows, f, 1u << k);
      const u32 V = tables.V;
      const double* table = tables.table[k];
      const i64* n = tables.n[k];
      std::int32_t* map = arena.take<std::int32_t>(V);
      choose_nominal(w.run, table, n, static_cast<int>(V), node, team.min_leaf[k], arena, map);
      double* part = arena.take<double>(static_cast<std::size_t>(K));
      for (int b = 0, found = 1; found; b++) {
        found = 0;
        std::fill_n(part, K, 0.0);
        for (u32 v = 0; v < V; v++)
          if (map[v] == b) {
            found = 1;
            for (int c = 0; c < K; c++) part[c] += table[static_cast<int>(v) * K + c];
          }
        if (found) sum += judge.branch(part);
      }
    }
    arena.release(mark);
    return sum;
  }
  bool has_missing_rows(int f, int k, u32 missing) const {
    if (!w.run.p.columns[f].has_missing) return false;
    for (u32 i = 0; i < rows.n; i++)
      if (rows.mask(i) >> k & 1 && rows.rank(f, i) == missing) return true;
    return false;
  }
  Test& new_test(int f, int n_branches, bool nominal) {
    Test& t = tests[n_tests++];
    t = Test{};
    t.feature = f, t.n_branches = n_branches, t.nominal = nominal;
    t.child = arena.take<Node*>(static_cast<std::size_t>(n_branches * kLanes));
    std::fill_n(t.child, n_branches * kLanes, nullptr);
    return t;
  }
  void join_numeric(int k, int f, u64 phase, u32 missing, u32 below, u32 above) {
    Test* t = nullptr;
    for (int j = 0; j < n_tests && !t; j++) {
      Test& o = tests[j];
      if (o.feature != f || o.phase != phase) continue;
      const u32 low = below > o.low ? below : o.low, high = above < o.high ? above : o.high;
      if (phase != kPresence && low >= high) continue;
      t = &o, o.low = low, o.high = high;
    }
    if (!t) {
      t = &new_test(f, 2, false);
      t->phase = phase, t->missing_rank = missing, t->low = below, t->high = above;
      if (phase == kPresence) t->low = ~u32{0} - 1;
    }
    t->lanes |= 1u << k;
    for (int b = 0; b < 2; b++) t->child[b * kLanes + k] = team.node[k]->children + b;
  }
  void take_nominal(int k, u32 V, const double* table, const i64* n) {
    const int f = best.feature[k], K = w.run.K();
    Node& node = *team.node[k];
    std::int32_t* map = arena.take<std::int32_t>(V);
    choose_nominal(w.run, table, n, static_cast<int>(V), node, team.min_leaf[k], arena, map);
    int n_branches = 0;
    for (u32 v = 0; v < V; v++) n_branches = map[v] + 1 > n_branches ? map[v] + 1 : n_branches;
    Node* child = add_children(w, node, n_branches);
    node.feature = f;
    for (int b = 0; b < n_branches; b++) std::fill_n(child[b].stats, K, 0.0);
    const Column& column = w.run.p.columns[f];
    node.n_branches = static_cast<int>(column.n_values) + 1;
    node.branches = w.nodes.take<std::int32_t>(static_cast<std::size_t>(node.n_branches));
    std::fill_n(node.branches, node.n_branches, -1);
    for (u32 v = 0; v < V; v++)
      if (map[v] >= 0) {
        node.branches[rows.value_rank(f, v)] = map[v];
        child[map[v]].n_rows += n[v];
        for (int c = 0; c < K; c++) child[map[v]].stats[c] += table[static_cast<int>(v) * K + c];
      }
    node.missing = node.branches[column.n_values];
    if (node.missing < 0) {
      if (w.run.p.multiway) {
        node.missing = 0;
        for (int b = 1; b < n_branches; b++)
          if (child[b].n_rows > child[node.missing].n_rows) node.missing = b;
      } else {
        node.missing = child[0].n_rows > child[1].n_rows ? 0 : 1;
      }
    }
    join_nominal(k, f, V, map);
  }
  // Multiway tests on one column are always alike: their branches are the categories. Subsets are if they agree on what both saw.
  void join_nominal(int k, int f, u32 V, const std::int32_t* map) {
    const bool multiway = w.run.p.multiway;
    Test* t = nullptr;
    for (int j = 0; j < n_tests && !t; j++) {
      Test& o = tests[j];
      if (o.feature != f) continue;
      bool alike = true;
      if (!multiway)
        for (u32 v = 0; v < V; v++) alike &= map[v] < 0 || o.map[v] < 0 || map[v] == o.map[v];
      if (alike) t = &o;
    }
    if (!t) {
      t = &new_test(f, multiway ? static_cast<int>(V) : 2, true);
      t->map = arena.take<std::int32_t>(V);
      std::fill_n(t->map, V, -1);
    }
    t->lanes |= 1u << k;
    Node* child = team.node[k]->children;
    for (u32 v = 0; v < V; v++)
      if (map[v] >= 0) {
        t->map[v] = multiway ? static_cast<std::int32_t>(v) : map[v];
        t->child[t->map[v] * kLanes + k] = child + map[v];
      }
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL
