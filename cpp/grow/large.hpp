// Large bundles in two resolutions (DESIGN.md 3.4). First every column's histogram over coarse intervals gives the exact quality at
// the intervals' borders; then only intervals whose bound beats the best test found so far over all columns are opened: their
// rows are sorted by full rank and scanned. Threads share the columns; the best test does not depend on who found it.
#pragma once
#include "histogram.hpp"
#include "sorting.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace crosscut::CROSSCUT_LEVEL {

constexpr u32 kFineRows = 1 << 14;                    // rows in opened intervals from which fine ones pay
constexpr std::size_t kFineBytes = std::size_t{1} << 18;  // a histogram of fine intervals should stay in the second-level cache

template <class P>
struct LargeSearch {
  static constexpr int W = static_cast<int>(sizeof(typename P::V) / sizeof(typename P::T));
  using V = typename P::V;
  Worker& w;  // owner of the scratch this thread uses
  const Team& team;
  const LargeRows& rows;
  const SortedRows& sorted;
  const LocalRows& all_rows;  // by position in the bundle
  Best& best;
  P p, fine;
  double* stats;
  V* cell;
  MissingRows missing_rows;
  int n_fine = 0;  // columns counted in fine intervals

  static double* space(Worker& w) { return w.scratch.take<double>(static_cast<std::size_t>(2 * w.run.K() * W + 16)); }
  LargeSearch(Worker& worker, const Team& t, const LargeRows& r, const SortedRows& s, const LocalRows& a, Best& b)
      : w(worker), team(t), rows(r), sorted(s), all_rows(a), best(b), p(w.run, t, b, space(w)), fine(w.run, t, b, space(w)),
        stats(w.scratch.take<double>(static_cast<std::size_t>(w.run.K()))),
        cell(w.scratch.take<V>(static_cast<std::size_t>(w.run.K() + 3))) {
    if constexpr (requires { p.running; }) p.running = fine.running = false;
  }

  void refresh() {  // limits from the best tests known now
    each_bit(team.lanes, [&](int k) { p.lower(best, k), fine.lower(best, k); });
  }
  __attribute__((noinline)) void judge(P& state, u32 lanes, int f, u64 key) {
    each_bit(lanes, [&](int k) {
      u64 order = key;
      const i64 left = state.rows_left(k);
      if (!missing_rows.meaning(k, left, team.node[k]->n_rows, order)) return;
      state.left(k, stats);
      if (best.offer_left(w.run.judge, team, k, f, order, left, stats)) p.lower(best, k), fine.lower(best, k);
    });
  }

  // One column's histogram: counts or values per bin, a bin being a category or an interval.
  struct Histogram {
    u32 bins = 0;  // without missing
    bool missing = false;
    const u32* firsts = nullptr;  // [bins + 1] first ranks of intervals
    FineCodes fine;               // if they are fine ones
    Vec<u32, W>* counts = nullptr;
    Vec<double, W>* values = nullptr;
    double* squares = nullptr;
  };
  int parts() const { return w.run.counted ? w.run.K() : p.parts(); }

  static std::size_t bytes(const Run& run, int f, bool fine) {
    const Column& c = run.p.columns[f];
    const std::size_t bins = (c.nominal ? c.n_values : c.n_coarse) + 1;
    const std::size_t coarse = run.counted ? bins * static_cast<std::size_t>(run.K()) * sizeof(Vec<u32, W>)
                                           : bins * (static_cast<std::size_t>(run.p.n_classes ? run.K() + 1 : 3) * sizeof(Vec<double, W>) + 24);
    return fine && coarse < kFineBytes ? kFineBytes : coarse;
  }
  static bool fine_at_once(const Team& team, const LargeRows& rows) { return team.fine && rows.n > 4 * kFineRows; }
  Histogram fill(int f) {
    const Column& c = w.run.p.columns[f];
    FineCodes codes;
    if (fine_at_once(team, rows) && fine_codes(c, codes)) return fill_fine(c, codes);
    Histogram h;
    h.bins = c.nominal ? c.n_values : c.n_coarse, h.missing = c.has_missing, h.firsts = c.coarse_first;
    if (c.nominal) fill_with(h, c.ranks);
    else fill_with(h, c.coarse);
    return h;
  }
  Histogram fill_fine(const Column& c, const FineCodes& codes) {
    Histogram h;
    h.bins = codes.bins, h.missing = c.has_missing, h.firsts = codes.firsts, h.fine = codes;
    fill_with(h, codes);
    n_fine++;
    return h;
  }
  template <class Codes>
  void fill_with(Histogram& h, Codes codes) {
    const u32 total = h.bins + 1;
    if (w.run.counted) {
      h.counts = w.scratch.take<Vec<u32, W>>(static_cast<std::size_t>(total) * static_cast<std::size_t>(w.run.K()));
      fill_counts<W>(sorted, codes, w.run.K(), total, h.counts);
    } else {
      h.values = w.scratch.take<Vec<double, W>>(static_cast<std::size_t>(total) * static_cast<std::size_t>(parts()));
      double* sums = w.scratch.take<double>(2 * total);
      h.squares = w.scratch.take<double>(total);
      fill_values<W>(w.run, sorted, codes, total, h.values, h.squares, sums);
    }
  }
  CC_INLINE const V* bin(const Histogram& h, u32 b) {
    if constexpr (sizeof(typename P::T) == sizeof(double)) {
      if (h.values) return reinterpret_cast<const V*>(h.values + b * static_cast<u32>(parts()));
    }
    P::cell_of(h.counts + b * static_cast<u32>(w.run.K()), w.run.K(), cell);
    return cell;
  }
  bool empty_bin(const Histogram& h, u32 b, int k) {
    return p.cell_stats(bin(h, b), k, stats) == 0;
  }

  // Cuts between single values that are too close for some lanes' own neighbours (only columns with one value per interval).
  u32 parted(u32 lanes, int f, const Histogram& h, u32 b) {
    const Column& c = w.run.p.columns[f];
    const auto value = [&](u32 x) { return c.values[h.firsts[x]]; };
    if (apart(c.values[h.firsts[b + 1] - 1], value(b + 1))) return lanes;
    u32 ok = 0;
    each_bit(lanes, [&](int k) {
      u32 a = b, e = b + 1;
      while (a > 0 && empty_bin(h, a, k)) a--;
      while (e + 1 < h.bins && empty_bin(h, e, k)) e++;
      ok |= static_cast<u32>(apart(c.values[h.firsts[a + 1] - 1], value(e))) << k;
    });
    return ok;
  }

  void count_missing(const Histogram& h) {
    missing_rows = {};
    if (!h.missing) return;
    each_bit(team.lanes, [&](int k) { missing_rows.n[k] = p.cell_stats(bin(h, h.bins), k, stats); });
  }

  void search_borders(int f, const Histogram& h) {
    const Column& c = w.run.p.columns[f];
    const u32 lanes = allowed_lanes(w, team, f);
    if (!lanes) return;
    if (c.nominal) return search_nominal(f, h, lanes);
    const bool close = c.close && !c.edges;
    count_missing(h);
    for (u64 phase : {kMissingRight, kMissingLeft}) {
      if (phase == kMissingLeft && !h.missing) break;
      p.clear();
      if (phase == kMissingLeft) p.add_cell(bin(h, h.bins));
      for (u32 b = 0; b + 1 < h.bins; b++) {
        p.add_cell(bin(h, b));
        u32 m = p.promising() & lanes;
        if (m && close) m = parted(m, f, h, b);
        if (m) judge(p, m, f, numeric_key(phase, h.firsts[b + 1] - 1));
      }
      if (phase == kMissingRight && h.missing && h.bins) {
        p.add_cell(bin(h, h.bins - 1));
        judge(p, p.promising() & lanes, f, numeric_key(kPresence, 0));
      }
    }
  }

  void search_nominal(int f, const Histogram& h, u32 lanes) {
    const auto mark = w.scratch.mark();
    const std::size_t K = static_cast<std::size_t>(w.run.K());
    const u32 total = h.bins + 1;
    const std::size_t size = K * total;
    double* table = w.scratch.take<double>(size * kLanes);  // [lane][category][K]
    i64* n = w.scratch.take<i64>(static_cast<std::size_t>(total) * kLanes);
    for (u32 v = 0; v < total; v++) {
      const V* x = bin(h, v);
      each_bit(lanes, [&](int k) {
        n[static_cast<u32>(k) * total + v] = p.cell_stats(x, k, table + static_cast<std::size_t>(k) * size + K * v);
      });
    }
    each_bit(lanes, [&](int k) {
      const NominalChoice choice = choose_nominal(w.run, table + static_cast<std::size_t>(k) * size, n + static_cast<u32>(k) * total, static_cast<int>(total), *team.node[k], team.min_leaf[k], w.scratch, nullptr);
      if (best.beats(k, choice.q, f, choice.key))
        best.q[k] = choice.q, best.feature[k] = f, best.key[k] = choice.key, p.lower(best, k), fine.lower(best, k);
    });
    w.scratch.release(mark);
  }

  // Opens a column's intervals that might hold a better cut. In a large bundle without a clear test that would be most of them: their
  // rows are counted once more in finer ones first.
  void open_intervals(int f, const Histogram& h) {
    const Column& c = w.run.p.columns[f];
    if (c.nominal || c.n_coarse == c.n_values) return;
    const u32 lanes = allowed_lanes(w, team, f);
    if (!lanes) return;
    count_missing(h);
    const auto mark = w.scratch.mark();
    u32 opened[2];
    u8* alive[2];
    find_alive(h, lanes, alive, opened);
    const u32 most = opened[0] > opened[1] ? opened[0] : opened[1];
    FineCodes codes;
    if (!h.fine.firsts && static_cast<u64>(rows.n) * most / h.bins > kFineRows && fine_codes(c, codes)) {
      const Histogram finer = fill_fine(c, codes);
      search_borders(f, finer);
      find_alive(finer, lanes, alive, opened);
      scan_opened(f, finer, alive, opened, lanes);
    } else {
      scan_opened(f, h, alive, opened, lanes);
    }
    w.scratch.release(mark);
  }

  // Fine intervals whose borders are wide gaps, so that every lane's own neighbours there are far enough apart; false if they would be no
  // finer than the coarse ones, or if such gaps are too rare.
  bool fine_codes(const Column& c, FineCodes& codes) {
    if (!w.run.p.two_resolutions || c.nominal || c.n_coarse == c.n_values) return false;
    const std::size_t bin = static_cast<std::size_t>(parts()) * (w.run.counted ? sizeof(Vec<u32, W>) : sizeof(Vec<double, W>));
    u32 shift = 0;
    while (c.n_values >> shift > kFineBytes / bin) shift++;
    const u32 bins = ((c.n_values - 1) >> shift) + 1;
    if (bins < 2 * c.n_coarse || !shift) return false;
    u32* firsts = w.scratch.take<u32>(bins + 1);
    firsts[0] = 0, firsts[bins] = c.n_values;
    for (u32 b = 1; b < bins; b++) {
      u32 r = b << shift;
      const u32 end = (b + 1) << shift < c.n_values ? (b + 1) << shift : c.n_values;
      while (r < end && c.close && !c.edges && !apart(c.values[r - 1], c.values[r])) r++;
      if (r == end) return false;
      firsts[b] = r;
    }
    codes = {c.ranks, firsts, shift, c.n_values, bins};
    return true;
  }

  // alive[phase][bin]: might a cut inside beat a lane's best test? The second phase sends missing values left.
  void find_alive(const Histogram& h, u32 lanes, u8** alive, u32* opened) {
    for (u32 phase = 0; phase < 2; phase++) {
      opened[phase] = 0;
      if (phase && !h.missing) break;
      alive[phase] = w.scratch.take<u8>(h.bins + 1);
      alive[phase][h.bins] = 0;
      p.clear();
      if (phase) p.add_cell(bin(h, h.bins));
      for (u32 b = 0; b < h.bins; b++) {
        const V* x = bin(h, b);
        const bool yes = h.firsts[b + 1] - h.firsts[b] > 1 &&
                         (!w.run.p.two_resolutions || (p.alive(x, h.squares ? h.squares[b] : 0) & lanes) != 0);
        alive[phase][b] = yes, opened[phase] += yes;
        p.add_cell(x);
      }
      w.intervals += h.bins, w.opened += opened[phase];
    }
  }

  void scan_opened(int f, const Histogram& h, u8* const* alive, const u32* opened, u32 lanes) {
    for (u32 phase = 0; phase < 2; phase++)
      if (opened[phase]) scan_opened(f, h, alive[phase], lanes, phase ? kMissingLeft : kMissingRight);
  }
  // The positions of the rows in opened intervals. Coarse codes are small and quickly read: they choose first.
  u32 rows_in(const Column& c, const Histogram& h, const u8* alive, u32* found) {
    const u8* coarse_alive = alive;
    if (h.fine.firsts) {
      u8* around = w.scratch.take<u8>(c.n_coarse + 1);
      std::fill_n(around, c.n_coarse + 1, u8{0});
      for (u32 b = 0, i = 0; b < h.bins; b++) {
        while (c.coarse_first[i + 1] <= h.firsts[b]) i++;
        for (u32 j = i; alive[b] && j < c.n_coarse && c.coarse_first[j] < h.firsts[b + 1]; j++) around[j] = 1;
      }
      coarse_alive = around;
    }
    u32 n = 0, kept = 0;
    for (u32 i = 0; i < rows.n; i++) found[n] = i, n += coarse_alive[c.coarse[rows.ids[i]]];
    if (!h.fine.firsts) return n;
    for (u32 i = 0; i < n; i++) {
      const u32 at = found[i];
      found[kept] = at, kept += alive[h.fine[rows.ids[at]]];
    }
    return kept;
  }
  void scan_opened(int f, const Histogram& h, const u8* alive, u32 lanes, u64 phase) {
    const Column& c = w.run.p.columns[f];
    const auto mark = w.scratch.mark();
    u32* found = w.scratch.take<u32>(static_cast<std::size_t>(rows.n) + 1);
    const u32 n = rows_in(c, h, alive, found);
    SortKey *keys = w.scratch.take<SortKey>(n), *room = w.scratch.take<SortKey>(n);
    for (u32 i = 0; i < n; i++) keys[i].v = static_cast<u64>(c.ranks[rows.ids[found[i]]]) << 32 | found[i];
    keys = sort_keys<32>(keys, room, n, c.n_values);
    const bool close = c.close && !c.edges;
    u32 i = 0;
    p.clear();
    if (phase == kMissingLeft) p.add_cell(bin(h, h.bins));
    for (u32 b = 0; b < h.bins && i < n; b++) {
      if (alive[b]) {
        const u32 end_rank = h.firsts[b + 1];
        fine.copy(p);
        const u32 begin = i;
        u32 end = i;
        while (end < n && keys[end].v >> 32 < end_rank) end++;
        for (; i < end; i++) {
          fine.add(all_rows, static_cast<u32>(keys[i].v));
          if (i + 1 == end || keys[i].v >> 32 == keys[i + 1].v >> 32) continue;
          u32 m = fine.promising() & lanes;
          if (m && close) m = parted_rows(m, c, keys, begin, i, end);
          if (m) judge(fine, m, f, numeric_key(phase, static_cast<u32>(keys[i].v >> 32)));
        }
      }
      p.add_cell(bin(h, b));
    }
    w.scratch.release(mark);
  }

  // Gap rule inside an opened interval; its borders are wide enough by construction.
  u32 parted_rows(u32 lanes, const Column& c, const SortKey* keys, u32 begin, u32 i, u32 end) const {
    const auto value = [&](u32 j) { return c.values[keys[j].v >> 32]; };
    if (apart(value(i), value(i + 1))) return lanes;
    u32 ok = 0;
    each_bit(lanes, [&](int k) {
      const auto own = [&](u32 j) { return all_rows.info[static_cast<u32>(keys[j].v)] >> k & 1; };
      u32 a = i + 1, b = i + 1;
      while (a > begin && !own(a - 1)) a--;
      while (b < end && !own(b)) b++;
      ok |= static_cast<u32>(a == begin || b == end || apart(value(a - 1), value(b))) << k;
    });
    return ok;
  }
};

inline void merge_best(Best& into, const Best& from) {
  for (int k = 0; k < kLanes; k++)
    if (from.feature[k] >= 0 && into.beats(k, from.q[k], from.feature[k], from.key[k])) {
      into.q[k] = from.q[k], into.feature[k] = from.feature[k], into.key[k] = from.key[k], into.n_left[k] = from.n_left[k];
      for (int c = 0; c < into.K; c++) into.left[k * into.K + c] = from.left[k * into.K + c];
    }
}

constexpr std::size_t kHistogramBytes = std::size_t{128} << 20;  // columns are done in batches whose histograms fit into this

// All columns by all helpers (one worker per thread; helpers[0] is the caller).
template <class P>
void search_large_with(Worker** helpers, [[maybe_unused]] int n_helpers, Team& team, const LargeRows& rows, const SortedRows& sorted,
                       const LocalRows& all_rows, Best& best) {
  using Search = LargeSearch<P>;
  Run& run = helpers[0]->run;
  const int F = run.p.n_features;
  std::atomic<int> failed{0};
  int n_fine = 0;
  const bool fine = Search::fine_at_once(team, rows);
  for (int begin = 0; begin < F;) {
    std::size_t bytes = 0;
    int end = begin;
    while (end < F && (end == begin || bytes + Search::bytes(run, end, fine) <= kHistogramBytes)) bytes += Search::bytes(run, end++, fine);
    std::atomic<int> next{begin};
#ifdef _OPENMP
#pragma omp parallel num_threads(n_helpers) if (n_helpers > 1)
#endif
    {
#ifdef _OPENMP
      const int me = n_helpers > 1 ? omp_get_thread_num() : 0;
#else
      const int me = 0;
#endif
      Worker& w = *helpers[me];
      const auto mark = w.scratch.mark();
      using Histogram = typename Search::Histogram;
      Histogram* histograms = nullptr;
      Best mine;
      Search* search = nullptr;
      int* columns = nullptr;
      int n_mine = 0;
      const auto guarded = [&](auto&& work) {
        if (failed.load(std::memory_order_relaxed)) return;
        try {
          work();
        } catch (const Stopped&) {
          failed.store(1);
        } catch (...) {
          failed.store(2);
        }
      };
      guarded([&] {
        mine.start(run.K(), w.scratch.take<double>(static_cast<std::size_t>(kLanes * run.K())));
        merge_best(mine, best);
        search = new (w.scratch.take<char>(sizeof(Search))) Search(w, team, rows, sorted, all_rows, mine);
        histograms = w.scratch.take<Histogram>(static_cast<std::size_t>(end - begin));
        columns = w.scratch.take<int>(static_cast<std::size_t>(end - begin));
        for (int f; (f = next.fetch_add(1)) < end;) {
          w.poll();
          histograms[n_mine] = search->fill(f), columns[n_mine] = f;
          search->search_borders(f, histograms[n_mine++]);
        }
      });
#ifdef _OPENMP
#pragma omp critical(crosscut_merge)
#endif
      if (!failed.load()) merge_best(best, mine);
#ifdef _OPENMP
#pragma omp barrier  // bounds compare with the best border of all columns
#endif
      guarded([&] {
        merge_best(mine, best);
        search->refresh();
        for (int j = 0; j < n_mine; j++) {
          w.poll();
          search->open_intervals(columns[j], histograms[j]);
        }
      });
#ifdef _OPENMP
#pragma omp barrier
#pragma omp critical(crosscut_merge)
#endif
      if (!failed.load()) merge_best(best, mine), n_fine += search->n_fine;
      w.scratch.release(mark);
    }
    if (failed.load() == 1) throw Stopped{};
    if (failed.load()) throw std::bad_alloc();
    begin = end;
  }
  team.fine = 2 * n_fine > F;
}

inline void search_large(Worker** helpers, int n_helpers, Team& team, const LargeRows& rows, Best& best) {
  Worker& w = *helpers[0];
  const auto mark = w.scratch.mark();
  const Problem& p = w.run.p;
  const int W = large_width(p.multiplicity ? kLanes : team.n);
  const SortedRows sorted = SortedRows::of(w, team, rows, W);
  u32* info = w.scratch.take<u32>(rows.n);
  for (u32 i = 0; i < rows.n; i++) info[i] = w.run.describe(rows.masks[i], p.n_classes ? static_cast<u32>(p.classes[rows.ids[i]]) : 0);
  LocalRows all_rows{info, nullptr, nullptr, nullptr};
  const auto copy = [&](const double* from) -> const double* {
    if (!from) return nullptr;
    double* to = w.scratch.take<double>(rows.n);
    for (u32 i = 0; i < rows.n; i++) to[i] = from[rows.ids[i]];
    return to;
  };
  all_rows.weight = copy(p.weight), all_rows.product = copy(p.product);
  all_rows.multiplicity = sorted.multiplicity;  // with multiplicities every row is mixed, so positions agree
  const auto with = [&]<template <int> class P>() {
    if (W == 1) search_large_with<P<1>>(helpers, n_helpers, team, rows, sorted, all_rows, best);
    else if (W == 8) search_large_with<P<8>>(helpers, n_helpers, team, rows, sorted, all_rows, best);
    else search_large_with<P<16>>(helpers, n_helpers, team, rows, sorted, all_rows, best);
  };
  const bool floats = rows.n <= kFloatRows;
  switch (w.run.family) {
    case Run::Family::binary_gini: floats ? with.template operator()<BinaryGini>() : with.template operator()<WideBinaryGini>(); break;
    case Run::Family::many_gini: floats ? with.template operator()<ManyGini>() : with.template operator()<WideManyGini>(); break;
    case Run::Family::any_classes: with.template operator()<AnyClasses>(); break;
    case Run::Family::moments: with.template operator()<Moments>(); break;
  }
  w.scratch.release(mark);
}

}  // namespace crosscut::CROSSCUT_LEVEL
