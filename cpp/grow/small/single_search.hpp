// Finds the best test of one task's node in a local table from the sorted lists. kCuts consecutive
// cuts are evaluated at once, which makes small classification tables 1.5 times and regression
// tables 1.2 times faster.
#pragma once
#include "grow/criteria/running_statistics.hpp"
#include "single_node.hpp"

namespace crosscut::CROSSCUT_LEVEL {

template <class P> struct SingleSearch : Search<P> {
  Worker& w;
  const LocalTable& table;
  const ScanRows rows;
  const SingleRows all;
  using Base = Search<P>;
  using Base::best, Base::p, Base::stats, Base::work, Base::missing_rows, Base::bundle;

  template <class Code>
  SingleSearch(Worker& worker, const LocalTable& t, const Bundle& b, const SingleNode<Code>& x,
               const ScanRows& r, Best& so_far)
      : Base(worker, b, so_far), w(worker), table(t), rows(r), all{x.n, x.any_list(), t} {
    this->bundle_rows = &all;
    this->same_split = &split_alike<SingleRows>;
    if (w.run.most_copies > 1) {
      constexpr u32 row_mask = Code::kEachRow ? 0xffff : kRowMask;
      this->rows_once =
          new (w.scratch.take<RowsOnce>(1)) RowsOnce{x.n, x.listed_rows(w), row_mask, t};
      this->enough_once = &enough_without_copies<RowsOnce>;
    }
    if (w.run.rounded() && !w.run.class_weights)
      this->first_rows.bits = w.scratch.take<u64>(kRowWords);
  }

  // Does the cut have the statistics of the best test? It comes later, so it loses the tie.
  bool repeats_best(int f) {
    if (w.run.rounded() || best.feature[0] < 0 || f < best.feature[0] ||
        p.rows_left(0) != best.n_left[0])
      return false;
    p.left(0, stats);
    for (int c = 0; c < best.K; c++)
      if (stats[c] != best.left[c]) return false;
    return true;
  }
  void evaluate(int f, u64 key) {
    if constexpr (requires { p.quality(); }) {
      if (!best.rivals) return evaluate_counts(f, key);
    }
    if (!repeats_best(f)) Base::evaluate(p, 1, f, key);
  }
  void evaluate_counts(int f, u64 key) {
    work.exact++;
    const double quality = p.quality();
    const i64 left = p.rows_left(0);
    const i64 n = bundle.node[0]->n_rows;
    const i64 least = bundle.min_leaf[0];
    if (left < least || n - left < least || !missing_rows.admissible(0, left, n, key) ||
        !best.beats(0, quality, f, key) ||
        (w.run.most_copies > 1 && !Base::enough_rows(0, f, key, left)))
      return;
    p.left(0, stats);
    best.take(0, quality, f, key, left, stats);
    p.lower(best, 0);
  }
  // Gap rule: are the values of two neighbouring entries far enough apart?
  bool separable(int f, u32 a, u32 b) const {
    const u32* ranks = table.columns[f].global;
    return crosscut::CROSSCUT_LEVEL::separable(w.run.p.columns[f], ranks[a >> 16], ranks[b >> 16]);
  }

  // Evaluates the cuts after the entries of a list, on top of the rows that are on the left
  // already. Cuts that leave too few rows for a leaf are skipped.
  void scan(int f, const u32* list, u32 n, u64 phase) {
    const bool close = w.run.p.columns[f].close != 0;
    const i64 least = bundle.min_leaf[0];
    const i64 before = p.rows_left(0);
    const i64 remaining = bundle.node[0]->n_rows - before;
    const u32 first =
        least > before + 1 ? static_cast<u32>(std::min<i64>(least - before - 1, n)) : 0;
    const u32 end = remaining - least < static_cast<i64>(n) - 1
                        ? static_cast<u32>(std::max<i64>(remaining - least, 0))
                        : n - 1;
    work.cuts += end;
    if constexpr (requires { typename P::Cuts; }) {
      constexpr bool any_rows = requires { P::Cuts::kAnyRows; };
      if ((any_rows || (!w.run.weighted && w.run.p.n_classes <= kListClasses)) &&
          !off(Acceleration::lanes_of_cuts)) {
        work.lane_cuts += end;
        if constexpr (requires { P::Cuts::kMost; }) return scan_sums(f, list, first, end, phase);
        else return scan_together(f, list, first, end, phase, close);
      }
    }
    for (u32 i = 0; i < end; i++) {
      p.add(rows, list[i] & kRowMask);
      if (i < first || list[i] >> 16 == list[i + 1] >> 16 || !Base::may_beat(p) ||
          (close && !separable(f, list[i], list[i + 1])))
        continue;
      const u64 key = numeric_key(phase, list[i] >> 16);
      if constexpr (requires {
                      p.quality();
                    }) {  // with many classes, most cuts of a small node are ties
        if (!best.rivals && !best.beats(0, p.quality(), f, key)) continue;
      }
      evaluate(f, key);
    }
  }
  // Finds the promising ones of up to 64 cuts at once, so that a short list has only one
  // unpredictable branch.
  void scan_sums(int f, const u32* list, u32 first, u32 end, u64 phase) {
    typename P::Cuts cuts(p);
    for (u32 i = 0; i < end; i += P::Cuts::kMost) {
      const u32 n = std::min(end - i, P::Cuts::kMost);
      u64 m = cuts.next(p, rows, list + i, n), changes = 0;
      if (!m) continue;
      for (u32 j = 0; j < n; j += kCuts)
        changes |= static_cast<u64>(value_changes(list + i + j)) << j;
      m &= changes;
      if (i < first) m &= first - i < P::Cuts::kMost ? ~u64{0} << (first - i) : 0;
      evaluate_cuts(
          f, cuts, m, phase, [&](u32 k) { return list[i + k] >> 16; },
          [&](u32 k) { return list[i + k + 1] >> 16; });
    }
  }
  // Evaluates the cuts in `m`, the best first. below(k), above(k): the ranks on both sides of cut
  // k.
  template <class Cuts, class Below, class Above>
  void evaluate_cuts(int f, Cuts& cuts, u64 m, u64 phase, Below below, Above above) {
    while (m) {
      const u32 k = cuts.best(p, m);
      m &= ~(u64{1} << k);
      if (w.run.p.columns[f].close && !separable(f, below(k) << 16, above(k) << 16)) continue;
      const double q = best.q[0];
      cuts.put(p, k);
      evaluate(f, numeric_key(phase, below(k)));
      if (best.q[0] != q) m = cuts.still_promising(p, m);
    }
  }
  void scan_together(int f, const u32* list, u32 first, u32 end, u64 phase, bool close) {
    typename P::Cuts cuts(p);
    for (u32 i = 0; i < end; i += kCuts) {
      cuts.next(p, rows, list + i);
      u32 m = cuts.promising(p);
      if (!m) continue;
      m &= value_changes(list + i);
      if (i < first) m &= first - i < u32{kCuts} ? ~0u << (first - i) : 0;
      if (end - i < u32{kCuts}) m &= (1u << (end - i)) - 1;
      while (m) {
        // after the best cut, most others are below the new limit
        const u32 k = largest_of<kCuts>(cuts.gains(p), m);
        m &= ~(1u << k);
        if (close && !separable(f, list[i + k], list[i + k + 1])) continue;
        const double q = best.q[0];
        cuts.put(p, k);
        evaluate(f, numeric_key(phase, list[i + k] >> 16));
        if (best.q[0] != q) m &= cuts.promising(p);
      }
    }
  }

  // Puts all rows of the node on the left, except the entries [begin, end).
  void put_others(const u32* list, u32 begin, u32 end) {
    const Node& node = *bundle.node[0];
    sum_entries(list, begin, end, stats);
    for (int c = 0; c < w.run.K(); c++) stats[c] = node.stats[c] - stats[c];
    p.put_left(stats, node.n_rows - (end - begin));
  }
  void search_numeric(int f, const u32* list, u32 n) {
    const u32 missing = table.columns[f].missing_rank;
    u32 present = n;
    while (present > 0 && list[present - 1] >> 16 == missing) present--;
    p.clear();
    if (present == n) return scan(f, list, n, kMissingRight);
    missing_rows.n[0] = n - present;
    scan(f, list, present, kMissingRight);
    put_others(list, present, n);
    if (Base::may_beat(p)) evaluate(f, numeric_key(kPresence, 0));
    sum_entries(list, present, n, stats);
    p.put_left(stats, n - present);
    scan(f, list, present, kMissingLeft);
    missing_rows = {};
  }

  // Sums the statistics of the entries [begin, end).
  void sum_entries(const u32* list, u32 begin, u32 end, double* s) const {
    const Problem& problem = w.run.p;
    const int C = problem.n_classes;
    std::fill_n(s, w.run.K(), 0.0);
    for (u32 i = begin; i < end; i++) {
      const u32 row = list[i] & kRowMask;
      const double times = rows.times ? rows.times[row * kLanes] : 1;
      const double weight = times * (rows.weight ? rows.weight[row] : 1);
      if (C)
        s[C <= kListClasses ? list[i] >> 12 & 15
                            : static_cast<u32>(problem.classes[table.ids[row]])] += weight;
      else {
        s[0] += times * rows.product[row];
        s[1] += weight;
      }
    }
  }
  void search_nominal(int f, const u32* list, u32 n) {
    const auto mark = w.scratch.mark();
    const auto K = static_cast<std::size_t>(w.run.K());
    const u32 most = std::min(n, table.columns[f].n_ranks);
    double* sums = w.scratch.take<double>(K * most);
    i64* count = w.scratch.take<i64>(most);
    u32 m = 0,
        *first = w.scratch.take<u32>(most);  // number of categories; [category] its first entry
    for (u32 begin = 0, end = 0; begin < n; begin = end, m++) {
      while (end < n && list[end] >> 16 == list[begin] >> 16) end++;
      sum_entries(list, begin, end, sums + K * m);
      count[m] = end - begin;
      first[m] = begin;
    }
    evaluate_categories(
        f, sums, count, m, [&](int v) { return table.target[list[first[v]] & kRowMask]; },
        ListedSums{w, bundle, table, list, first, count});
    w.scratch.release(mark);
  }

  // The rows of the categories of a column, and their exact sums.
  struct ListedSums {
    Worker& w;
    const Bundle& bundle;
    const LocalTable& table;
    const u32 *list, *first;
    const i64* count;

    template <class F> void each_row(int v, F f) const {
      for (u32 i = first[v], end = i + static_cast<u32>(count[v]); i < end; i++)
        f(list[i] & kRowMask);
    }
    const i64* operator()(int v) const {
      i64* sums = empty_sums(w);
      each_row(v, [&](u32 row) { add_exactly(w, bundle, 0, table.ids[row], sums); });
      return sums;
    }
  };

  template <class Single, class Exact>
  void evaluate_categories(int f, const double* sums, const i64* count, u32 m, Single single,
                           Exact exact) {
    if (m > 2 || Base::worth(0, sums, count[0]))
      Base::evaluate_nominal(0, f, sums, count, m, single, exact);
  }

  template <class Code> void run(const SingleNode<Code>& x) {
    for (int j = 0; j < x.n_columns; j++) {
      const int f = x.columns[j];
      prefetch_list(x.lists, j + 1, x.n_columns, x.n);
      if (!allowed_lanes(w, bundle, f)) continue;
      if (w.run.p.columns[f].nominal) search_nominal(f, x.lists[j], x.n);
      else search_numeric(f, x.lists[j], x.n);
      // the first column shows whether the node needs a new grid
      if (!j && best.rivals && best.rivals[0].contested && is_narrow(table, x)) return;
    }
  }
};

template <class Code>
void search_single(Worker& w, const LocalTable& table, const Bundle& bundle, SingleNode<Code>& x,
                   const ScanRows& rows, Best& best) {
  with_running_statistics<true>(w.run, [&]<template <int> class P>() {
    if constexpr (Code::template kServes<P<1>>)
      typename Code::template Search<P<1>>(w, table, bundle, x, rows, best).run(x);
    else
      throw std::logic_error(
          "the code of this table's columns does not serve these running statistics");
  });
}

}  // namespace crosscut::CROSSCUT_LEVEL
