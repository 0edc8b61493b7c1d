// The search for the best tests of a bundle inside a local block.
#pragma once
#include "local_block.hpp"

namespace crosscut::CROSSCUT_LEVEL {

template <class P>
struct TwigSearch {
  static constexpr int W = static_cast<int>(sizeof(typename P::V) / sizeof(typename P::T));
  using V = typename P::V;
  Worker& w;
  const Local& local;
  const Twig& twig;
  const LocalRows rows;
  Best& best;
  P p;
  double* stats;
  MissingRows missing_rows;

  TwigSearch(Worker& worker, const Local& l, const Twig& t, Best& b)
      : w(worker), local(l), twig(t), rows{t.info, l.weight, l.product, l.multiplicity}, best(b),
        p(worker.run, t.team, b, worker.scratch.take<double>(static_cast<std::size_t>(2 * worker.run.K() * W + 16))),
        stats(worker.scratch.take<double>(static_cast<std::size_t>(worker.run.K()))) {}

  __attribute__((noinline)) void judge(u32 lanes, int f, u64 key) {
    each_bit(lanes, [&](int k) {
      u64 order = key;
      const i64 left = p.rows_left(k);
      if (!missing_rows.meaning(k, left, twig.team.node[k]->n_rows, order)) return;
      p.left(k, stats);
      if (best.offer_left(w.run.judge, twig.team, k, f, order, left, stats)) p.lower(best, k);
    });
  }

  // The lanes whose own neighbours around the cut after list[i] are far enough apart (gap rule).
  u32 parted(u32 lanes, int f, const u32* list, u32 i, u32 n) const {
    const float* values = w.run.p.columns[f].values;
    const u32* global = local.columns[f].global;
    if (apart(values[global[list[i] >> 16]], values[global[list[i + 1] >> 16]])) return lanes;
    u32 ok = 0;
    each_bit(lanes, [&](int k) {
      u32 a = i, b = i + 1;
      while (a > 0 && !(rows.info[list[a] & 0xffff] >> k & 1)) a--;
      while (b + 1 < n && !(rows.info[list[b] & 0xffff] >> k & 1)) b++;
      ok |= static_cast<u32>(apart(values[global[list[a] >> 16]], values[global[list[b] >> 16]])) << k;
    });
    return ok;
  }

  // One task alone, a stretch of cuts at a time.
  void scan_stretches(int f, const u32* list, u32 n, u64 phase) {
    constexpr u32 step = P::kStretch;
    const bool close = local.columns[f].any_close;
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
    const bool close = local.columns[f].any_close;
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
    const u32 missing = local.columns[f].missing_rank;
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
    each_bit(twig.team.lanes, [&](int k) { missing_rows.n[k] = p.rows_left(k); });
  }

  V* fill_cells(int f, u32* count) {
    const LocalColumn& column = local.columns[f];
    const std::size_t parts = static_cast<std::size_t>(p.parts());
    V* cells = w.scratch.take<V>(parts * column.n_ranks);
    for (std::size_t i = 0; i < parts * column.n_ranks; i++) cells[i] = V{};
    for (u32 v = 0; v < column.n_ranks; v++) count[v] = 0;
    for (u32 i = 0; i < twig.n; i++) {
      const u32 row = twig.rows[i], v = column.rank[row];
      p.add_to(cells + parts * v, rows, row), count[v]++;
    }
    return cells;
  }

  // The same for cells: v and the next value present in the bundle.
  u32 parted_cells(u32 lanes, int f, const V* cells, const u32* count, u32 v, u32 next) {
    const float* values = w.run.p.columns[f].values;
    const LocalColumn& column = local.columns[f];
    if (apart(values[column.global[v]], values[column.global[next]])) return lanes;
    const std::size_t parts = static_cast<std::size_t>(p.parts());
    const u32 end = column.missing_rank == ~u32{0} ? column.n_ranks : column.missing_rank;
    u32 ok = 0;
    each_bit(lanes, [&](int k) {
      u32 a = v, b = next;
      const auto own = [&](u32 x) { return count[x] && p.cell_stats(cells + parts * x, k, stats) > 0; };
      while (a > 0 && !own(a)) a--;
      while (b + 1 < end && !own(b)) b++;
      ok |= static_cast<u32>(apart(values[column.global[a]], values[column.global[b]])) << k;
    });
    return ok;
  }

  void search_cells(int f, u32 lanes) {
    const LocalColumn& column = local.columns[f];
    const auto mark = w.scratch.mark();
    const std::size_t parts = static_cast<std::size_t>(p.parts());
    u32* count = w.scratch.take<u32>(column.n_ranks);
    const V* cells = fill_cells(f, count);
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
          if (m && column.any_close) m = parted_cells(m, f, cells, count, v, next);
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
    const LocalColumn& column = local.columns[f];
    const auto mark = w.scratch.mark();
    const std::size_t parts = static_cast<std::size_t>(p.parts());
    const std::size_t K = static_cast<std::size_t>(w.run.K());
    u32* count = w.scratch.take<u32>(column.n_ranks);
    const V* cells = fill_cells(f, count);
    double* table = w.scratch.take<double>(K * column.n_ranks);
    i64* n = w.scratch.take<i64>(column.n_ranks);
    each_bit(twig.team.lanes & lanes, [&](int k) {
      for (u32 v = 0; v < column.n_ranks; v++) n[v] = p.cell_stats(cells + parts * v, k, table + K * v);
      const NominalChoice c = choose_nominal(w.run, table, n, static_cast<int>(column.n_ranks), *twig.team.node[k], twig.team.min_leaf[k], w.scratch, nullptr);
      if (best.beats(k, c.q, f, c.key)) best.q[k] = c.q, best.feature[k] = f, best.key[k] = c.key, p.lower(best, k);
    });
    w.scratch.release(mark);
  }

  void search_sorting(int f, u32 lanes) {  // few rows of a column with many values: sort them here
    const auto mark = w.scratch.mark();
    ListKey* keys = w.scratch.take<ListKey>(twig.n + kListRoom);
    const u16* rank = local.columns[f].rank;
    for (u32 i = 0; i < twig.n; i++) keys[i].v = static_cast<u32>(rank[twig.rows[i]]) << 16 | twig.rows[i];
    if (twig.n <= 32) insertion_sort(keys, twig.n);
    else std::sort(keys, keys + twig.n);
    if (keys[0].v >> 16 != keys[twig.n - 1].v >> 16) search_list(f, &keys[0].v, twig.n, lanes);
    w.scratch.release(mark);
  }

  void run() {
    for (int j = 0; j < twig.n_features; j++) {
      const int f = twig.features[j];
      const u32 lanes = allowed_lanes(w, twig.team, f);
      if (!lanes) continue;
      const LocalColumn& column = local.columns[f];
      switch (column.mode) {
        case Mode::list: search_list(f, twig.lists[f], twig.n, lanes); break;
        case Mode::cells:
          if (twig.n * 2 < column.n_ranks) search_sorting(f, lanes);
          else search_cells(f, lanes);
          break;
        case Mode::nominal: search_nominal(f, lanes); break;
        case Mode::constant: break;
      }
    }
  }
};

template <template <int> class P>
void search_twig_as(Worker& w, const Local& local, const Twig& twig, Best& best) {
  const auto mark = w.scratch.mark();
  if (twig.team.n == 1) TwigSearch<P<1>>(w, local, twig, best).run();
  else if (twig.team.n <= 8) TwigSearch<P<8>>(w, local, twig, best).run();
  else TwigSearch<P<16>>(w, local, twig, best).run();
  w.scratch.release(mark);
}

inline void search_twig(Worker& w, const Local& local, const Twig& twig, Best& best) {
  switch (w.run.family) {
    case Run::Family::binary_gini: return search_twig_as<BinaryGini>(w, local, twig, best);
    case Run::Family::many_gini: return search_twig_as<ManyGini>(w, local, twig, best);
    case Run::Family::any_classes: return search_twig_as<AnyClasses>(w, local, twig, best);
    case Run::Family::moments: return search_twig_as<Moments>(w, local, twig, best);
  }
}

}  // namespace crosscut::CROSSCUT_LEVEL
