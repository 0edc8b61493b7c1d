// The search for the best test of one task's node in a local table.
#pragma once
#include "lane_statistics.hpp"
#include "local_table.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// One task's node. Its lists are its own: they are parted in place.
struct LoneNode {
  Node* node;
  u32 n;
  int n_columns;
  int* columns;  // those that are not constant here
  u32** lists;   // of these columns
  RowSet set;    // of its rows
};

template <class P>
struct LoneSearch : Search<P> {
  Worker& w;
  const LocalTable& table;
  const ScanRows rows;
  const LoneRows all;
  using Base = Search<P>;
  using Base::best, Base::p, Base::stats, Base::missing_rows, Base::bundle;

  LoneSearch(Worker& worker, const LocalTable& t, const Bundle& b, const LoneNode& x, const ScanRows& r, Best& so_far)
      : Base(worker, b, so_far), w(worker), table(t), rows(r), all{x.n, x.lists[0], t} {
    this->bundle_rows = &all, this->same_split = &split_alike<LoneRows>;
  }

  // A cut of the same statistics comes later than the best test, which wins the tie.
  bool known() {
    if (w.run.rounded() || best.feature[0] < 0 || p.rows_left(0) != best.n_left[0] || w.run.p.columns[best.feature[0]].nominal) return false;
    p.left(0, stats);
    for (int c = 0; c < best.K; c++)
      if (stats[c] != best.left[c]) return false;
    return true;
  }
  void judge(int f, u64 key) {
    if (!known()) Base::judge(p, 1, f, key);
  }
  // Gap rule: may the two neighbours be parted?
  bool parted(int f, u32 a, u32 b) const {
    const auto value = [&](u32 e) { return w.run.p.columns[f].values[table.columns[f].global[e >> 16]]; };
    return apart(value(a), value(b));
  }

  // Cuts after the entries of a list, behind the rows that are on the left already. Where a leaf would be too small none is looked at.
  void scan(int f, const u32* list, u32 n, u64 phase) {
    const bool close = table.columns[f].any_close;
    const i64 least = bundle.min_leaf[0], before = p.rows_left(0), here = bundle.node[0]->n_rows - before;
    const u32 first = least > before + 1 ? static_cast<u32>(std::min<i64>(least - before - 1, n)) : 0;
    const u32 end = here - least < static_cast<i64>(n) - 1 ? static_cast<u32>(std::max<i64>(here - least, 0)) : n - 1;
    if constexpr (requires { typename P::Cuts; }) {
      if constexpr (requires { P::Cuts::kMost; }) {
        if (!w.run.weighted) return scan_sums(f, list, first, end, phase, close);
      } else if (!w.run.weighted && w.run.p.n_classes <= kListClasses) {
        return scan_together(f, list, first, end, phase, close);
      }
    }
    for (u32 i = 0; i < end; i++) {
      p.add(rows, list[i] & kRowMask);
      if (i < first || list[i] >> 16 == list[i + 1] >> 16 || !p.promising() || (close && !parted(f, list[i], list[i + 1]))) continue;
      const u64 key = numeric_key(phase, list[i] >> 16);
      if constexpr (requires { p.quality(); }) {  // with many classes most cuts of a small node tie
        if (!best.beats(0, p.quality(), f, key)) continue;
      }
      judge(f, key);
    }
  }
  // Regression: which cuts are promising, for many at once, so that a short list has one branch that cannot be foreseen.
  void scan_sums(int f, const u32* list, u32 first, u32 end, u64 phase, bool close) {
    typename P::Cuts cuts(p);
    for (u32 i = 0; i < end; i += P::Cuts::kMost) {
      const u32 n = std::min(end - i, P::Cuts::kMost);
      u64 m = cuts.next(p, rows, list + i, n), changes = 0;
      if (!m) continue;
      for (u32 j = 0; j < n; j += kCuts) changes |= static_cast<u64>(value_changes(list + i + j)) << j;
      m &= changes;
      if (i < first) m &= first - i < P::Cuts::kMost ? ~u64{0} << (first - i) : 0;
      while (m) {
        const u32 k = cuts.best(p, m);
        m &= ~(u64{1} << k);
        if (close && !parted(f, list[i + k], list[i + k + 1])) continue;
        const double q = best.q[0];
        cuts.put(p, k);
        judge(f, numeric_key(phase, list[i + k] >> 16));
        if (best.q[0] != q) m = cuts.still_promising(p, m);
      }
    }
  }
  void scan_together(int f, const u32* list, u32 first, u32 end, u64 phase, bool close) {
    typename P::Cuts cuts(p);
    constexpr u32 step = P::Cuts::kStep;
    for (u32 i = 0; i < end; i += step) {
      cuts.next(p, rows, list + i);
      u32 m = cuts.promising(p);
      if (!m) continue;
      m &= value_changes(list + i);
      if (i < first) m &= first - i < step ? ~0u << (first - i) : 0;
      if (end - i < step) m &= (1u << (end - i)) - 1;
      while (m) {
        u32 k = static_cast<u32>(__builtin_ctz(m));
        if (m & (m - 1)) {  // the most promising first: most others are then below the new limit
          const auto gains = cuts.gains(p);
          each_bit(m, [&](int j) { k = gains[j] > gains[k] ? static_cast<u32>(j) : k; });
        }
        m &= ~(1u << k);
        if (close && !parted(f, list[i + k], list[i + k + 1])) continue;
        const double q = best.q[0];
        cuts.put(p, k);
        judge(f, numeric_key(phase, list[i + k] >> 16));
        if (best.q[0] != q) m &= cuts.promising(p);
      }
    }
  }

  void search_numeric(int f, const u32* list, u32 n) {
    const u32 missing = table.columns[f].missing_rank;
    u32 present = n;
    while (present > 0 && list[present - 1] >> 16 == missing) present--;
    p.clear();
    if (present == n) return scan(f, list, n, kMissingRight);
    const auto put_left = [&](u32 begin, u32 end) {
      p.clear();
      for (u32 i = begin; i < end; i++) p.add(rows, list[i] & kRowMask);
    };
    missing_rows.n[0] = n - present;
    scan(f, list, present, kMissingRight);
    put_left(0, present);
    if (p.promising()) judge(f, numeric_key(kPresence, 0));
    put_left(present, n);
    scan(f, list, present, kMissingLeft);
    missing_rows = {};
  }

  // Statistics of a category: the entries [begin, end).
  void sum_entries(const u32* list, u32 begin, u32 end, double* s) const {
    const Problem& problem = w.run.p;
    const int C = problem.n_classes;
    std::fill_n(s, w.run.K(), 0.0);
    if (w.run.counted && C <= kListClasses && end - begin >= static_cast<u32>(C)) {
      u32 rest = end - begin;
      for (int c = 1; c < C; c++) {
        u32 n = 0;
        for (u32 i = begin; i < end; i += kCuts) {
          const u32 own = end - i < static_cast<u32>(kCuts) ? (1u << (end - i)) - 1 : ~0u;
          n += static_cast<u32>(__builtin_popcount(of_class(list + i, static_cast<u32>(c)) & own));
        }
        s[c] = n, rest -= n;
      }
      s[0] = rest;
      return;
    }
    if (!C && !w.run.weighted) {
      for (u32 i = begin; i < end; i++) s[0] += rows.product[list[i] & kRowMask];
      s[1] = end - begin;
      return;
    }
    for (u32 i = begin; i < end; i++) {
      const u32 row = list[i] & kRowMask;
      const double times = rows.times ? rows.times[row * kLanes] : 1, weight = times * (rows.weight ? rows.weight[row] : 1);
      if (C) s[C <= kListClasses ? list[i] >> 12 & 15 : static_cast<u32>(problem.classes[table.ids[row]])] += weight;
      else s[0] += times * rows.product[row], s[1] += weight;
    }
  }
  void search_nominal(int f, const u32* list, u32 n) {
    const auto mark = w.scratch.mark();
    const auto K = static_cast<std::size_t>(w.run.K());
    const u32 most = std::min(n, table.columns[f].n_ranks);
    double* sums = w.scratch.take<double>(K * most);
    i64* count = w.scratch.take<i64>(most);
    u32 m = 0, *first = w.scratch.take<u32>(most);  // categories; their first entries
    for (u32 begin = 0, end = 0; begin < n; begin = end, m++) {
      while (end < n && list[end] >> 16 == list[begin] >> 16) end++;
      sum_entries(list, begin, end, sums + K * m), count[m] = end - begin, first[m] = list[begin];
    }
    const auto single = [&](int v) { return table.target[first[v] & kRowMask]; };
    Base::judge_nominal(0, f, sums, count, m, single, [&](const double* left, i64 n_left) {
      if constexpr (requires { p.put_left(left, n_left); }) {
        if (!best.rivals) return p.put_left(left, n_left), p.promising() != 0;
      }
      return true;
    });
    w.scratch.release(mark);
  }

  void run(const LoneNode& x) {
    for (int j = 0; j < x.n_columns; j++) {
      const int f = x.columns[j];
      if (!allowed_lanes(w, bundle, f)) continue;
      if (w.run.p.columns[f].nominal) search_nominal(f, x.lists[j], x.n);
      else search_numeric(f, x.lists[j], x.n);
    }
  }
};

inline void search_alone(Worker& w, const LocalTable& table, const Bundle& bundle, const LoneNode& x, const ScanRows& rows, Best& best) {
  switch (w.run.family) {
    case Run::Family::binary_gini: return LoneSearch<BinaryGini<1>>(w, table, bundle, x, rows, best).run(x);
    case Run::Family::many_gini: return LoneSearch<ManyGini<1>>(w, table, bundle, x, rows, best).run(x);
    case Run::Family::any_classes: return LoneSearch<AnyClasses<1>>(w, table, bundle, x, rows, best).run(x);
    case Run::Family::moments: return LoneSearch<Moments<1>>(w, table, bundle, x, rows, best).run(x);
  }
}

}  // namespace crosscut::CROSSCUT_LEVEL
