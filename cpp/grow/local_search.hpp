// The search for the best tests of a bundle inside a local table.
#pragma once
#include "lane_statistics.hpp"
#include "local_table.hpp"

namespace crosscut::CROSSCUT_LEVEL {

template <class P>
struct LocalSearch : Search<P> {
  const LocalTable& table;
  const LocalBundle& bundle;
  Worker& w;
  const ScanRows rows;
  const LocalRows all;
  using Base = Search<P>;
  using V = typename P::V;
  using Base::best, Base::p, Base::stats, Base::missing_rows, Base::W;

  LocalSearch(Worker& worker, const LocalTable& t, const LocalBundle& b, Best& so_far)
      : Base(worker, b, so_far), table(t), bundle(b), w(worker), rows{b.info, t.weight, t.product, t.times}, all(t, b) {
    this->bundle_rows = &all, this->same_split = &split_alike<LocalRows>;
  }

  void judge(u32 lanes, int f, u64 key) { Base::judge(p, lanes, f, key); }

  // Gap rule: the cut after list[i].
  u32 parted(u32 lanes, int f, const u32* list, u32 i, u32 n) const {
    const auto own = [&](u32 x, int k) { return rows.info[list[x] & 0xffff] >> k & 1; };
    const auto value = [&](u32 x) { return w.run.p.columns[f].values[table.columns[f].global[list[x] >> 16]]; };
    return Base::parted(lanes, i, i + 1, 0, n - 1, own, value, value);
  }

  // One task alone, a stretch of cuts at a time.
  void scan_stretches(int f, const u32* list, u32 n, u64 phase) {
    constexpr u32 step = P::kStretch;
    const bool close = table.columns[f].any_close;
    u32 i = 0;
    for (; i + 1 < n; i += step) {
      const u32 here = n - i < step ? n - i : step, cuts = n - 1 - i < step ? n - 1 - i : step;
      // What is behind the end of a list may be anything, also no row: a short stretch is filled up with row 0.
      u32 last[step] = {};
      for (u32 k = 0; here < step && k < here; k++) last[k] = list[i + k];
      const auto s = p.stretch(rows, here < step ? last : list + i);
      u32 m = p.promising(s) & ((1u << cuts) - 1);
      while (m) {
        u32 k = static_cast<u32>(__builtin_ctz(m));
        if (m & (m - 1)) {  // the most promising first: most others are then below the new limit
          const auto gains = p.gains(s);
          each_bit(m, [&](int j) { k = gains[j] > gains[k] ? static_cast<u32>(j) : k; });
        }
        const u32 e = list[i + k];
        m &= ~(1u << k);
        if (e >> 16 == list[i + k + 1] >> 16 || (close && !parted(1, f, list, i + k, n))) continue;
        const double q = best.q[0];
        p.at(s, k);
        judge(1, f, numeric_key(phase, e >> 16));
        if (best.q[0] != q) m &= p.promising(s);
      }
      p.at(s, here - 1);
    }
    if (i < n) p.add(rows, list[n - 1] & 0xffff);
  }

  void scan(int f, const u32* list, u32 n, u32 lanes, u64 phase) {
    if constexpr (requires { P::kStretch; } && W == 1) {
      if (!w.run.weighted) return scan_stretches(f, list, n, phase);
    }
    const bool close = table.columns[f].any_close;
    for (u32 i = 0; i + 1 < n; i++) {
      const u32 e = list[i], next = list[i + 1];
      p.add(rows, e & 0xffff);
      if (e >> 16 == next >> 16) continue;
      if constexpr (P::kRuns) {
        // inside a run of one class the quality is strictly convex, so its best cut is at an end or where a lane becomes
        // admissible (or where the gap rule allows one: not looked into); a run is seen only where values do not repeat
        if (!close && P::class_of(rows.info[e & 0xffff]) == P::class_of(rows.info[next & 0xffff]) && (i == 0 || list[i - 1] >> 16 != e >> 16) &&
            i + 2 < n && list[i + 2] >> 16 != next >> 16 && !p.at_edge())
          continue;
      }
      u32 m = p.promising() & lanes;
      if (!m) continue;
      if (close) m = parted(m, f, list, i, n);
      judge(m, f, numeric_key(phase, e >> 16));
    }
    if (n) p.add(rows, list[n - 1] & 0xffff);
  }

  void search_list(int f, const u32* list, u32 n, u32 lanes) {
    const u32 missing = table.columns[f].missing_rank;
    u32 present = n;
    while (present > 0 && list[present - 1] >> 16 == missing) present--;
    if (present < n) add_missing(list, present, n);
    p.clear();
    scan(f, list, present, lanes, kMissingRight);
    if (present == n || present == 0) return;
    judge(p.promising() & lanes, f, numeric_key(kPresence, 0));
    add_missing(list, present, n);
    scan(f, list, present, lanes, kMissingLeft);
    missing_rows = {};
  }
  void add_missing(const u32* list, u32 present, u32 n) {
    p.clear();
    for (u32 i = present; i < n; i++) p.add(rows, list[i] & 0xffff);
    count_missing();
  }
  void count_missing() {
    each_bit(bundle.lanes, [&](int k) { missing_rows.n[k] = p.rows_left(k); });
  }

  // Statistics per value and lane; count: the bundle's rows of each value.
  V* statistics(int f, u32* count) {
    const LocalColumn& column = table.columns[f];
    const std::size_t parts = static_cast<std::size_t>(p.parts());
    V* cells = w.scratch.take<V>(parts * column.n_ranks);
    for (std::size_t i = 0; i < parts * column.n_ranks; i++) cells[i] = V{};
    for (u32 v = 0; v < column.n_ranks; v++) count[v] = 0;
    for (u32 i = 0; i < bundle.n_rows; i++) {
      const u32 row = bundle.rows[i], v = column.rank[row];
      p.add_to(cells + parts * v, rows, row), count[v]++;
    }
    return cells;
  }

  // Gap rule: the cut between v and the next value present in the bundle.
  u32 parted_cells(u32 lanes, int f, const V* cells, const u32* count, u32 v, u32 next, u32 end) {
    const std::size_t parts = static_cast<std::size_t>(p.parts());
    const auto own = [&](u32 x, int k) { return count[x] && p.cell_stats(cells + parts * x, k, stats) > 0; };
    const auto value = [&](u32 x) { return w.run.p.columns[f].values[table.columns[f].global[x]]; };
    return Base::parted(lanes, v, next, 0, end - 1, own, value, value);
  }

  void search_cells(int f, u32 lanes) {
    const LocalColumn& column = table.columns[f];
    const auto mark = w.scratch.mark();
    const std::size_t parts = static_cast<std::size_t>(p.parts());
    u32* count = w.scratch.take<u32>(column.n_ranks);
    const V* cells = statistics(f, count);
    const bool missing = column.missing_rank != ~u32{0} && count[column.missing_rank];
    const u32 end = column.missing_rank == ~u32{0} ? column.n_ranks : column.missing_rank;
    if (missing) p.clear(), p.add_cell(cells + parts * column.missing_rank), count_missing();
    for (u64 phase : {kMissingRight, kMissingLeft}) {
      if (phase == kMissingLeft && !missing) break;
      p.clear();
      if (phase == kMissingLeft) p.add_cell(cells + parts * column.missing_rank);
      u32 v = 0;
      while (v < end && !count[v]) v++;
      while (v < end) {
        u32 next = v + 1;
        while (next < end && !count[next]) next++;
        p.add_cell(cells + parts * v);
        if (next < end) {
          u32 m = p.promising() & lanes;
          if (m && column.any_close) m = parted_cells(m, f, cells, count, v, next, end);
          if (m) judge(m, f, numeric_key(phase, v));
        } else if (missing && phase == kMissingRight) {
          judge(p.promising() & lanes, f, numeric_key(kPresence, 0));
        }
        v = next;
      }
    }
    missing_rows = {};
    w.scratch.release(mark);
  }

  void search_nominal(int f, u32 lanes) {
    const LocalColumn& column = table.columns[f];
    const auto mark = w.scratch.mark();
    const std::size_t parts = static_cast<std::size_t>(p.parts());
    const std::size_t K = static_cast<std::size_t>(w.run.K());
    u32* count = w.scratch.take<u32>(column.n_ranks);
    const V* cells = statistics(f, count);
    double* table_of_k = w.scratch.take<double>(K * column.n_ranks);
    i64* n = w.scratch.take<i64>(column.n_ranks);
    each_bit(lanes, [&](int k) {
      for (u32 v = 0; v < column.n_ranks; v++) n[v] = p.cell_stats(cells + parts * v, k, table_of_k + K * v);
      Base::judge_nominal(k, f, table_of_k, n, column.n_ranks);
    });
    w.scratch.release(mark);
  }

  void search_sorting(int f, u32 lanes) {  // few rows of a column with many values: sort them here
    const auto mark = w.scratch.mark();
    ListKey* keys = w.scratch.take<ListKey>(bundle.n_rows + kListRoom);
    const u16* rank = table.columns[f].rank;
    for (u32 i = 0; i < bundle.n_rows; i++) keys[i].v = static_cast<u32>(rank[bundle.rows[i]]) << 16 | bundle.rows[i];
    if (bundle.n_rows <= 32) insertion_sort(keys, bundle.n_rows);
    else std::sort(keys, keys + bundle.n_rows);
    if (keys[0].v >> 16 != keys[bundle.n_rows - 1].v >> 16) search_list(f, &keys[0].v, bundle.n_rows, lanes);
    w.scratch.release(mark);
  }

  void run() {
    for (int j = 0; j < bundle.n_features; j++) {
      const int f = bundle.features[j];
      const u32 lanes = allowed_lanes(w, bundle, f);
      if (!lanes) continue;
      const LocalColumn& column = table.columns[f];
      switch (column.mode) {
        case Mode::list: search_list(f, bundle.lists[f], bundle.n_rows, lanes); break;
        case Mode::cells:
          if (bundle.n_rows * 2 < column.n_ranks) search_sorting(f, lanes);
          else search_cells(f, lanes);
          break;
        case Mode::nominal: search_nominal(f, lanes); break;
        case Mode::constant: break;
      }
    }
  }
};

template <template <int> class P>
void search_local_as(Worker& w, const LocalTable& table, const LocalBundle& bundle, Best& best) {
  const auto mark = w.scratch.mark();
  if (bundle.n == 1) LocalSearch<P<1>>(w, table, bundle, best).run();
  else if (bundle.n <= 8) LocalSearch<P<8>>(w, table, bundle, best).run();
  else LocalSearch<P<16>>(w, table, bundle, best).run();
  w.scratch.release(mark);
}

inline Best search_local(Worker& w, const LocalTable& table, const LocalBundle& bundle) {
  Best best(w, bundle);
  switch (w.run.family) {
    case Run::Family::binary_gini: search_local_as<BinaryGini>(w, table, bundle, best); break;
    case Run::Family::many_gini: search_local_as<ManyGini>(w, table, bundle, best); break;
    case Run::Family::any_classes: search_local_as<AnyClasses>(w, table, bundle, best); break;
    case Run::Family::moments: search_local_as<Moments>(w, table, bundle, best); break;
  }
  return best;
}

}  // namespace crosscut::CROSSCUT_LEVEL
