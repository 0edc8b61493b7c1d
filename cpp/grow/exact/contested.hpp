// Compares the tests that the grid cannot distinguish by the exact sums of the task's own rows:
// highest quality, then lowest feature, then lowest key. Works on one task at a time and takes time
// proportional to its rows and the columns in question.
#pragma once
#include "exact_nominal.hpp"
#include "grow/search.hpp"
#include "grow/simd/sorting.hpp"

namespace crosscut::CROSSCUT_LEVEL {

template <class Rows> struct ExactSearch {
  Worker& w;
  const Bundle& bundle;
  const Rows& rows;
  Best& best;
  const int k, T;  // lane; digits of a node's sums
  const Node& node;
  double least;  // tests below this on the grid cannot be the best
  u32 n = 0, *members;
  i64 *sums, *branches;
  double found = kNever;  // tests below this cannot be better than the best one by exact sums
  double* left;           // statistics of the first branch on the grid
  std::int32_t* map;
  Contest contest;

  static i64* sums_of(Worker& w, const Bundle& bundle, const Rows& rows, int k) {
    i64* sums = empty_sums(w);
    for (u32 i = 0; i < rows.n; i++)
      if (rows.mask(i) >> k & 1) add_exactly(w, bundle, k, rows.row(i), sums);
    return sums;
  }
  ExactSearch(Worker& worker, const Bundle& b, const Rows& r, Best& so_far, int lane,
              std::int32_t* room)
      : w(worker),
        bundle(b),
        rows(r),
        best(so_far),
        k(lane),
        T(worker.run.p.n_sums()),
        node(*b.node[lane]),
        least(so_far.lowest[lane]),
        members(worker.scratch.take<u32>(r.n)),
        sums(sums_of(worker, b, r, lane)),
        branches(empty_sums(worker, 2)),
        left(worker.scratch.take<double>(static_cast<std::size_t>(worker.run.K()))),
        map(room),
        contest(worker.run.p, sums) {
    for (u32 i = 0; i < rows.n; i++) {
      members[n] = i;
      n += rows.mask(i) >> k & 1;
    }
  }

  // The best test on the grid may not exist: another order of the categories may apply, or it may
  // have no gain. Then tests that lost to it may be the best, so all columns are searched.
  void run() {
    const int f = best.feature[k];
    const bool exists = !best.rivals[k].keep ||
                        (f >= 0 && !w.run.p.columns[f].nominal && !w.run.criterion().needs_gain);
    if (exists) search(best.rivals[k]);
    if (exists && best.feature[k] >= 0) return;
    Rivals all;
    all.n = Rivals::kMost + 1;
    least = kNever;
    search(all);
  }

  void search(const Rivals& rivals) {
    best.feature[k] = -1;
    for (int f = 0; f < w.run.p.n_features; f++) {
      // too many rivals to list: search every allowed column
      bool wanted = rivals.n > Rivals::kMost && allowed_lanes(w, bundle, f) >> k & 1;
      for (int i = 0; i < rivals.n && rivals.n <= Rivals::kMost; i++)
        wanted |= rivals.column[i] == f;
      // constant columns of a local table have no ranks
      if (!wanted || rows.n_ranks(f) < 2) continue;
      const auto mark = w.scratch.mark();
      if (w.run.p.columns[f].nominal) search_nominal(f);
      else search_numeric(f);
      w.scratch.release(mark);
    }
  }

  void clear() {
    std::fill_n(branches, 2 * T, i64{0});
    std::fill_n(left, w.run.K(), 0.0);
  }
  void add(u32 i, i64* exactly, double* on_grid) {
    const Problem& p = w.run.p;
    const std::size_t row = rows.row(i);
    const double times = times_of(w, bundle, k, row);
    const double weight = times * (p.weight ? p.weight[row] : 1);
    add_exactly(w, bundle, k, row, exactly);
    if (p.n_classes) on_grid[p.classes[row]] += weight;
    else {
      if constexpr (requires { rows.product(i); }) on_grid[0] += times * rows.product(i);
      else on_grid[0] += times * p.product[row];
      on_grid[1] += weight;
    }
  }
  void add(u32 i) { add(i, branches, left); }
  // May the test with the sums `left` be the best? If it has no gain on the grid, exact sums must
  // tell.
  bool may_win() {
    const double q = best.quality_of(k, left);
    if (!(q >= least) || (q > kNever && q < found)) return false;
    w.level(bundle.depth).exact++;
    return true;
  }
  // After a test was better than all before by exact sums.
  void keep_found() {
    const double q = best.quality_of(k, left);
    if (q > kNever) found = std::max(found, best.less_margin(k, q));
  }
  bool offer() {  // the first branch and the other rows
    for (int d = 0; d < T; d++) branches[T + d] = sums[d] - branches[d];
    if (!contest.offer(branches, 2)) return false;
    keep_found();
    return true;
  }

  void search_numeric(int f) {
    const Column& column = w.run.p.columns[f];
    const u32 missing = rows.missing_rank(f);
    SortKey *keys = w.scratch.take<SortKey>(n), *room = w.scratch.take<SortKey>(n);
    for (u32 i = 0; i < n; i++)
      keys[i].v = static_cast<u64>(rows.rank(f, members[i])) << 32 | members[i];
    keys = sort_keys<32>(keys, room, n, rows.n_ranks(f));
    const auto rank = [&](u32 i) { return static_cast<u32>(keys[i].v >> 32); };
    u32 present = n;
    while (present > 0 && rank(present - 1) == missing) present--;
    const auto evaluate = [&](u64 key, i64 n_left) {
      if (n_left < bundle.min_leaf[k] || node.n_rows - n_left < bundle.min_leaf[k]) return;
      if (!may_win() || !offer()) return;
      best.feature[k] = f;
      best.key[k] = key;
      best.n_left[k] = n_left;
      std::copy_n(left, best.K, best.left + k * best.K);
    };
    for (const u64 phase : {kMissingRight, kMissingLeft}) {
      clear();
      i64 n_left = 0;
      for (u32 i = present; i < n && phase == kMissingLeft; i++) {
        add(static_cast<u32>(keys[i].v));
        n_left++;
      }
      for (u32 i = 0; i < present; i++) {
        add(static_cast<u32>(keys[i].v));
        n_left++;
        if (i + 1 == present || rank(i) == rank(i + 1)) continue;
        if (column.edges || apart(column.values[rows.value_rank(f, rank(i))],
                                  column.values[rows.value_rank(f, rank(i + 1))]))
          evaluate(numeric_key(phase, rank(i)), n_left);
      }
      if (present == n || present == 0) return;
      if (phase == kMissingRight) evaluate(numeric_key(kPresence, 0), n_left);
    }
  }

  void search_nominal(int f) {
    const u32 V = rows.n_ranks(f);
    const auto K = static_cast<std::size_t>(w.run.K());
    i64 *table = empty_sums(w, static_cast<int>(V)), *count = w.scratch.take<i64>(V);
    double* on_grid = w.scratch.take<double>(V * K);
    std::fill_n(count, V, i64{0});
    std::fill_n(on_grid, V * K, 0.0);
    for (u32 i = 0; i < n; i++) {
      const u32 v = rows.rank(f, members[i]);
      add(members[i], table + static_cast<int>(v) * T, on_grid + v * K);
      count[v]++;
    }
    const Categories categories{table, count,       static_cast<int>(V),
                                sums,  node.n_rows, bundle.min_leaf[k]};
    const GridSums<ExactSearch> grid{on_grid, w.run.K(), best.weights[k], *this};
    if (offer_nominal(w.run.p, categories, grid, w.scratch, contest, map)) {
      best.feature[k] = f;
      best.key[k] = 0;
      best.map[k] = map;
    }
  }
};

template <class Rows>
void decide_contested(Worker& w, const Bundle& bundle, const Rows& rows, Best& best) {
  if (!best.rivals) return;
  each_bit(bundle.lanes, [&](int k) {
    if (!best.rivals[k].contested) return;
    u32 ranks = 0;
    for (int f = 0; f < w.run.p.n_features; f++)
      if (w.run.p.columns[f].nominal && rows.n_ranks(f) > ranks) ranks = rows.n_ranks(f);
    std::int32_t* map = w.scratch.take<std::int32_t>(ranks);
    const auto mark = w.scratch.mark();
    ExactSearch<Rows>(w, bundle, rows, best, k, map).run();
    w.scratch.release(mark);
  });
}

// By how much lane k's test lowers the impurity, as a fraction of the weight of all rows of its
// task. map: the branches of a nominal test, by category.
template <class Rows>
double exact_decrease(Worker& w, const Bundle& bundle, const Rows& rows, const Best& best, int k,
                      const std::int32_t* map) {
  const int f = best.feature[k], T = w.run.p.n_sums();
  const bool nominal = w.run.p.columns[f].nominal;
  const u32 missing = rows.missing_rank(f);
  const auto mark = w.scratch.mark();
  int n = 2;
  for (u32 r = 0; nominal && r < rows.n_ranks(f); r++) n = std::max(n, map[r] + 1);
  i64 *sums = empty_sums(w), *branches = empty_sums(w, n);
  for (u32 i = 0; i < rows.n; i++) {
    if (!(rows.mask(i) >> k & 1)) continue;
    const u32 r = rows.rank(f, i);
    const int b = nominal ? map[r] : !goes_left(r, best.key[k], missing);
    add_exactly(w, bundle, k, rows.row(i), sums);
    add_exactly(w, bundle, k, rows.row(i), branches + b * T);
  }
  const double decrease =
      Contest(w.run.p, sums).improvement(branches, n) / w.root_total[bundle.task[k]];
  w.scratch.release(mark);
  return decrease;
}

}  // namespace crosscut::CROSSCUT_LEVEL
