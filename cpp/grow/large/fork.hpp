// Step 3 of the paper's Figure 2: every task of a bundle takes its best test. Tasks whose tests
// split their rows alike stay together; the others fork.
// Large bundles and local tables share this code. They provide the rows as a type with n, mask(i),
// rank(f, i), row(i) (the row of the table) and value_rank(f, r) (the table's rank of rank r).
#pragma once
#include <numeric>

#include "grow/categories.hpp"
#include "grow/exact/contested.hpp"
#include "grow/leaves.hpp"
#include "neighbours.hpp"
#include "grow/search.hpp"
#include "test.hpp"

namespace crosscut::CROSSCUT_LEVEL {

inline Node* add_children(Worker& w, Node& node, int n) {
  node.children = w.new_nodes(n, node.depth + 1);
  node.n_children = n;
  double* stats = w.keep<double>(static_cast<std::size_t>(n) * static_cast<std::size_t>(w.run.K()));
  for (int j = 0; j < n; j++, stats += w.run.K()) node.children[j].stats = stats;
  return node.children;
}

// With many classes, small children of one class share precomputed statistics instead of storing K
// numbers each. Their memory must be what was allocated last.
inline void share_pure(Worker& w, Node* child) {
  const int K = w.run.K();
  for (int b = 2; b-- > 0;) {
    const double* s = child[b].stats;
    const auto c = static_cast<int>(std::find_if(s, s + K, [](double v) { return v != 0; }) - s);
    if (child[b].n_rows > kPureRows || c == K || s[c] != static_cast<double>(child[b].n_rows))
      continue;
    if (b == 0 && child[1].stats == s + K) {
      std::copy_n(s + K, K, child[0].stats);
      child[1].stats = child[0].stats;
    }
    w.current_nodes->give_back<double, 16>(static_cast<std::size_t>(K));
    child[b].stats = w.pure_stats(c, static_cast<int>(child[b].n_rows));
  }
}

// Gives a node its numeric test: two children with their statistics (`left`: of the first) and the
// task's own threshold between its neighbouring values.
template <class Rows>
void take_numeric(Worker& w, const Rows& rows, Node& node, int f, u64 phase, i64 n_left,
                  const double* left, u32 below, u32 above) {
  const Column& column = w.run.p.columns[f];
  const bool many = w.run.counted && w.run.K() >= kManyClasses;
  if (many) w.prepare_pure();
  Node* child = add_children(w, node, 2);
  node.feature = f;
  for (int c = 0; c < w.run.K(); c++) {
    child[0].stats[c] = left[c];
    child[1].stats[c] = node.stats[c] - left[c];
  }
  child[0].n_rows = n_left;
  child[1].n_rows = node.n_rows - n_left;
  if (many) share_pure(w, child);
  node.missing = child[0].n_rows > child[1].n_rows ? 0 : 1;
  if (phase == kPresence) {
    node.missing = 1;
    if (column.edges) node.threshold = std::numeric_limits<double>::infinity();
    else
      node.sides = {std::numeric_limits<float>::quiet_NaN(),
                    std::numeric_limits<float>::quiet_NaN()};
    return;
  }
  const u32 a = rows.value_rank(f, below), b = rows.value_rank(f, above);
  if (column.edges) node.threshold = column.edges[a];
  else node.sides = {column.values[a], column.values[b]};
}

// Gives a node its nominal test. The caller fills in the returned branches of n categories, in the
// order of their ranks.
inline CategoryBranches::Entry* start_nominal(Worker& w, Node& node, int f, int n_branches,
                                              std::size_t n) {
  using Entry = CategoryBranches::Entry;
  add_children(w, node, n_branches);
  node.feature = f;
  char* memory = w.keep<char>(sizeof(CategoryBranches) + n * sizeof(Entry));
  node.branches = new (memory) CategoryBranches{n};
  return node.branches->begin();
}

// The branch of the rows with missing values; −1 if the node has none.
inline int branch_of_missing(const Worker& w, const Node& node) {
  const CategoryBranches::Entry& last = node.branches->end()[-1];
  const u32 missing = w.run.p.columns[node.feature].n_values;
  if (last.category != missing) return -1;
  return w.run.p.multiway ? node.n_children - 1 : last.second;
}

template <class Rows> struct Forking {
  Worker& w;
  const Bundle& bundle;
  const Rows& rows;
  const Best& best;
  Arena& arena;
  Test* tests;
  int n_tests = 0;
  u32 leaves = 0;

  Forking(Worker& worker, const Bundle& b, const Rows& r, const Best& so_far)
      : w(worker),
        bundle(b),
        rows(r),
        best(so_far),
        arena(worker.scratch),
        tests(arena.take<Test>(kLanes)) {}

  // Every lane takes its test or becomes a leaf. Afterwards tests[0..n_tests) are the different
  // tests of the bundle.
  void take_tests() {
    u32 numeric = 0, nominal = 0;
    each_bit(bundle.lanes, [&](int k) {
      if (best.feature[k] < 0 || !enough_decrease(k)) leaves |= 1u << k;
      else (w.run.p.columns[best.feature[k]].nominal ? nominal : numeric) |= 1u << k;
    });
    while (nominal) {
      const int f = best.feature[__builtin_ctz(nominal)];
      u32 same = 0;
      each_bit(nominal, [&](int k) { same |= static_cast<u32>(best.feature[k] == f) << k; });
      const CategoryTables tables = CategoryTables::of(w, bundle, rows, f, same);
      each_bit(same, [&](int k) { take_nominal(k, tables.V, tables.table[k], tables.n[k]); });
      nominal &= ~same;
    }
    struct Tested {
      int f;
      u32 lanes;
    } tested[kLanes];  // columns with a chosen test
    int n_tested = 0;
    u32 below[kLanes], above[kLanes], cut[kLanes];
    while (numeric) {
      const int f = best.feature[__builtin_ctz(numeric)];
      u32 same = 0;
      each_bit(numeric, [&](int k) {
        if (best.feature[k] == f) {
          same |= 1u << k;
          cut[k] = cut_of(best.key[k]);
        }
      });
      tested[n_tested++] = {f, same};
      numeric &= ~same;
    }
    w.share(n_tested, [&](Worker& worker, Parts& parts) {
      for (int i; (i = parts.take()) >= 0;)
        own_neighbours(worker, rows, tested[i].f, rows.missing_rank(tested[i].f), tested[i].lanes,
                       cut, below, above);
    });
    for (const Tested* t = tested; t < tested + n_tested; t++) {
      const int f = t->f;
      const u32 missing = rows.missing_rank(f);
      each_bit(t->lanes, [&](int k) {
        const u64 phase = phase_of(best.key[k]);
        take_numeric(w, rows, *bundle.node[k], f, phase, best.n_left[k], best.left + k * best.K,
                     below[k], above[k]);
        // A task with missing values has learnt their direction. In other tasks they follow the
        // majority.
        if (phase == kMissingLeft) bundle.node[k]->missing = 0;
        else if (phase == kMissingRight && has_missing_rows(f, k, missing))
          bundle.node[k]->missing = 1;
        join_numeric(k, f, phase, missing, below[k], above[k]);
      });
    }
    if (leaves) close_lanes(w, bundle, rows, leaves);
  }
  // table: [V][K] statistics of the lane's categories; n: [V] rows.
  void take_nominal(int k, u32 V, const double* table, const i64* n) {
    const int f = best.feature[k], K = w.run.K();
    Node& node = *bundle.node[k];
    std::int32_t* map = arena.take<std::int32_t>(V);
    if (best.map[k]) {
      std::copy_n(best.map[k], V, map);
    } else {
      branches_of(k, table, n, V, map);
    }
    int n_branches = 0;
    std::size_t present = 0;
    for (u32 v = 0; v < V; v++) {
      n_branches = map[v] + 1 > n_branches ? map[v] + 1 : n_branches;
      present += map[v] >= 0;
    }
    CategoryBranches::Entry* entry = start_nominal(w, node, f, n_branches, present);
    Node* child = node.children;
    for (int b = 0; b < n_branches; b++) std::fill_n(child[b].stats, K, 0.0);
    for (u32 v = 0; v < V; v++)
      if (map[v] >= 0) {
        *entry++ = {rows.value_rank(f, v), !w.run.p.multiway && map[v] > 0};
        child[map[v]].n_rows += n[v];
        for (int c = 0; c < K; c++) child[map[v]].stats[c] += table[static_cast<int>(v) * K + c];
      }
    node.missing = branch_of_missing(w, node);
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

  // May the best test of a lane split its node, by min_impurity_decrease?
  bool enough_decrease(int k) const {
    const double least = limits_of(w, bundle, k).min_decrease;
    if (!(least > 0)) return true;
    if (w.run.on_grid) {
      const auto mark = arena.mark();
      const double gain = exact_decrease(w, bundle, rows, best, k, map_of(k));
      arena.release(mark);
      return gain + 2.220446049250313e-16 >= least;
    }
    const Node& node = *bundle.node[k];
    const Quality& quality = w.run.quality;
    const double parts = w.run.criterion().adds ? 0 : parts_of_choice(k);
    const double gain =
        quality.improvement(node.stats, best.q[k], parts) / w.root_total[bundle.task[k]];
    return gain + 2.220446049250313e-16 >= least;
  }

 private:
  // The branches of a lane's nominal test, by category.
  void branches_of(int k, const double* table, const i64* n, u32 V, std::int32_t* map) const {
    const auto mark = arena.mark();
    const int most = static_cast<int>(V);
    NominalColumn(w.run, best.weights[k], table, n, most, arena, NoTargets{},
                  ExactSums<Rows>{w, bundle, rows, k, best.feature[k]})
        .branches(best.key[k], map, most);
    arena.release(mark);
  }
  // The same of its best test; null for numeric tests.
  const std::int32_t* map_of(int k) const {
    const int f = best.feature[k];
    if (!w.run.p.columns[f].nominal || best.map[k]) return best.map[k];
    const CategoryTables tables = CategoryTables::of(w, bundle, rows, f, 1u << k);
    std::int32_t* map = arena.take<std::int32_t>(tables.V);
    branches_of(k, tables.table[k], tables.n[k], tables.V, map);
    return map;
  }
  // Sum of the parts of Q of the branches of the best test.
  double parts_of_choice(int k) const {
    const int f = best.feature[k], K = w.run.K();
    const Node& node = *bundle.node[k];
    const Quality& quality = w.run.quality;
    const auto mark = arena.mark();
    double sum = 0;
    if (!w.run.p.columns[f].nominal) {
      double* right = arena.take<double>(static_cast<std::size_t>(K));
      for (int c = 0; c < K; c++) right[c] = node.stats[c] - best.left[k * K + c];
      sum = 0.0 + quality.branch(best.left + k * K) + quality.branch(right);
    } else {
      const CategoryTables tables = CategoryTables::of(w, bundle, rows, f, 1u << k);
      const u32 V = tables.V;
      const double* table = tables.table[k];
      std::int32_t* map = arena.take<std::int32_t>(V);
      branches_of(k, table, tables.n[k], V, map);
      double* part = arena.take<double>(static_cast<std::size_t>(K));
      for (int b = 0, any = 1; any; b++) {
        any = 0;
        std::fill_n(part, K, 0.0);
        for (u32 v = 0; v < V; v++)
          if (map[v] == b) {
            any = 1;
            for (int c = 0; c < K; c++) part[c] += table[static_cast<int>(v) * K + c];
          }
        if (any) sum += quality.branch(part);
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
    t.feature = f;
    t.n_branches = n_branches;
    t.nominal = nominal;
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
      t = &o;
      o.low = low;
      o.high = high;
    }
    if (!t) {
      t = &new_test(f, 2, false);
      t->phase = phase;
      t->missing_rank = missing;
      t->low = below;
      t->high = above;
      if (phase == kPresence) t->low = ~u32{0} - 1;
    }
    t->lanes |= 1u << k;
    for (int b = 0; b < 2; b++) t->child[b * kLanes + k] = bundle.node[k]->children + b;
  }
  // Multiway tests of one column are always alike, because their branches are the categories.
  // Subset tests are alike if they agree on the categories that both tasks have.
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
    Node* child = bundle.node[k]->children;
    for (u32 v = 0; v < V; v++)
      if (map[v] >= 0) {
        t->map[v] = multiway ? static_cast<std::int32_t>(v) : map[v];
        t->child[t->map[v] * kLanes + k] = child + map[v];
      }
  }
};

// Finds the positions of the rows whose codes occur in the branches of a test with has(branch), and
// returns how many there are; all rows if they have no codes. Others in these intervals are among
// them, so the caller checks the branch.
template <class Has>
u32 find_rows_of(const LargeRows& rows, const Test& t, const Has& has, u32* positions) {
  const Column& c = rows.columns[t.feature];
  if (!rows.codes->column[t.feature]) {
    std::iota(positions, positions + rows.n, 0u);
    return rows.n;
  }
  ByteSet wanted;
  const auto wants = [&](u32 rank) {
    const int b = t.branch(rank);
    return b >= 0 && has(b);
  };
  const u32 n_codes = c.nominal ? c.n_values : c.n_coarse;
  for (u32 x = 0; x < n_codes; x++) {
    const u32 first = c.nominal ? x : c.coarse_first[x];
    const u32 last = c.nominal ? x : c.coarse_first[x + 1] - 1;
    if (wants(first) || wants(last)) wanted.add(x);
  }
  if (c.has_missing && wants(c.n_values)) wanted.add(n_codes);
  return rows.find(t.feature, wanted, positions);
}

// Finds the child sets that need a test (Test::open) and sums the values of those that stay leaves.
inline void open_child_sets(Worker& w, const Bundle& bundle, const LargeRows& rows,
                            const Fork& fork) {
  for (int j = 0; j < fork.n_tests; j++) {
    Test& t = fork.tests[j];
    t.open = w.scratch.take<u32>(static_cast<std::size_t>(t.n_branches));
    u32* closed = w.scratch.take<u32>(static_cast<std::size_t>(t.n_branches));
    u32 any_leaf = 0;
    for (int b = 0; b < t.n_branches; b++) {
      t.open[b] = closed[b] = 0;
      each_bit(t.lanes, [&](int k) {
        Node* c = t.child[b * kLanes + k];
        if (!c) return;
        const TaskLimits& limits = limits_of(w, bundle, k);
        const bool open =
            wants_test(w.run, *c, limits) && enough_rows(w.run, c->n_rows, limits, [&] {
              i64 n = 0;
              for (u32 i = 0; i < rows.n; i++)
                n += rows.mask(i) >> k & 1 && !rows.is_copy(i) &&
                     t.branch(rows.rank(t.feature, i)) == b;
              return n;
            });
        (open ? t.open[b] : closed[b]) |= 1u << k;
      });
      any_leaf |= closed[b];
    }
    if (w.run.counted || !any_leaf) continue;
    const auto mark = w.scratch.mark();
    LeafSums* sums = w.scratch.take<LeafSums>(static_cast<std::size_t>(t.n_branches));
    for (int b = 0; b < t.n_branches; b++)
      new (sums + b)
          LeafSums(w, bundle, closed[b], rows.n, [&](int k) { return t.child[b * kLanes + k]; });
    u32* at = w.scratch.take<u32>(rows.n);
    const u32 n = find_rows_of(rows, t, [&](int b) { return closed[b] != 0; }, at);
    for (u32 i = 0; i < n; i++) {
      constexpr u32 ahead = 16;  // rows are anywhere
      if (i + ahead < n) __builtin_prefetch(w.run.p.exact.row(rows.row(at[i + ahead])));
      const u32 m = rows.mask(at[i]) & any_leaf;
      const int b = m ? t.branch(rows.rank(t.feature, at[i])) : -1;
      if (b >= 0 && m & closed[b]) sums[b].add(m, rows.row(at[i]));
    }
    for (int b = 0; b < t.n_branches; b++) sums[b].finish();
    w.scratch.release(mark);
  }
}

inline Fork fork(Worker& w, const Bundle& bundle, const LargeRows& rows, Best& best) {
  decide_contested(w, bundle, rows, best);
  Forking<LargeRows> forking(w, bundle, rows, best);
  forking.take_tests();
  const Fork result{forking.tests, forking.n_tests};
  open_child_sets(w, bundle, rows, result);
  return result;
}

}  // namespace crosscut::CROSSCUT_LEVEL
