// Large bundles in two resolutions (DESIGN.md 3.4). First every column's histogram over coarse intervals gives the exact quality at
// the intervals' borders; then only intervals whose bound beats the best test found so far over all columns are opened: their
// rows are counted in finer intervals if they are many, then sorted by full rank and scanned. Threads share the columns; the best test
// does not depend on who found it.
#pragma once
#include "division.hpp"
#include "histogram.hpp"
#include "sorting.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace crosscut::CROSSCUT_LEVEL {

constexpr u32 kFineRows = 1 << 12;  // rows in opened intervals from which dividing them pays
constexpr u32 kPartRows = 16;       // rows a part should have, about
constexpr std::size_t kFineBytes = std::size_t{1} << 18;  // a histogram of parts should stay in the second-level cache

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
    const u8* whole = nullptr;    // [bins] undivided intervals, known not to hold a better cut; null: none are divided
    Vec<u32, W>* counts = nullptr;
    Vec<double, W>* values = nullptr;
    double* squares = nullptr;
  };
  int parts() const { return w.run.counted ? w.run.K() : p.parts(); }

  static std::size_t bytes(const Run& run, int f) {
    const Column& c = run.p.columns[f];
    const std::size_t bins = (c.nominal ? c.n_values : c.n_coarse) + 1;
    return run.counted ? bins * static_cast<std::size_t>(run.K()) * sizeof(Vec<u32, W>)
                       : bins * (static_cast<std::size_t>(run.p.n_classes ? run.K() + 1 : 3) * sizeof(Vec<double, W>) + 24);
  }
  Histogram fill(int f) {
    const Column& c = w.run.p.columns[f];
    rows.copy_codes(f);
    Histogram h;
    h.bins = c.nominal ? c.n_values : c.n_coarse, h.missing = c.has_missing, h.firsts = c.coarse_first;
    if (const u8* codes = rows.codes->column[f]) fill_with(h, sorted, codes);
    else fill_with(h, sorted, WideCodes{c.ranks, rows.codes});
    return h;
  }
  template <class Numbers>
  void fill_with(Histogram& h, const SortedRows& from, Numbers codes) {
    const u32 total = h.bins + 1;
    if (w.run.counted) {
      h.counts = w.scratch.take<Vec<u32, W>>(static_cast<std::size_t>(total) * static_cast<std::size_t>(w.run.K()));
      fill_counts<W>(from, codes, w.run.K(), total, h.counts);
    } else {
      h.values = w.scratch.take<Vec<double, W>>(static_cast<std::size_t>(total) * static_cast<std::size_t>(parts()));
      double* sums = w.scratch.take<double>(2 * total);
      h.squares = w.scratch.take<double>(total);
      fill_values<W>(w.run, from, codes, total, h.values, h.squares, sums);
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

  // Intervals to be opened: in which phase (the second sends missing values left), and in any.
  struct Opened {
    u32 n[2] = {0, 0};
    u8 *in[2], *any;
  };

  void open_intervals(int f, const Histogram& h) {
    const Column& c = w.run.p.columns[f];
    if (c.nominal || c.n_coarse == c.n_values) return;
    const u32 lanes = allowed_lanes(w, team, f);
    if (!lanes) return;
    count_missing(h);
    const auto mark = w.scratch.mark();
    const Opened opened = find_opened(h, lanes);
    if (opened.n[0] + opened.n[1]) {
      ByteSet wanted;
      for (u32 b = 0; b < h.bins; b++)
        if (opened.any[b]) wanted.add(b);
      u32* found = w.scratch.take<u32>(rows.n);
      const u32 n = rows.find(f, wanted, found);
      if (n <= kFineRows || !open_divided(f, h, opened, lanes, found, n)) scan_opened(f, h, opened, lanes, found, n);
    }
    w.scratch.release(mark);
  }

  // Might a cut inside beat a lane's best test?
  Opened find_opened(const Histogram& h, u32 lanes) {
    Opened out;
    out.any = w.scratch.take<u8>(h.bins + 1);
    std::fill_n(out.any, h.bins + 1, u8{0});
    for (u32 phase = 0; phase < 2; phase++) {
      if (phase && !h.missing) break;
      out.in[phase] = w.scratch.take<u8>(h.bins);
      p.clear();
      if (phase) p.add_cell(bin(h, h.bins));
      for (u32 b = 0; b < h.bins; b++) {
        const V* x = bin(h, b);
        const bool yes = h.firsts[b + 1] - h.firsts[b] > 1 && !(h.whole && h.whole[b]) &&
                         (!w.run.p.two_resolutions || (p.alive(x, h.squares ? h.squares[b] : 0) & lanes) != 0);
        out.in[phase][b] = yes, out.any[b] |= yes, out.n[phase] += yes;
        p.add_cell(x);
      }
      w.intervals += h.bins, w.opened += out.n[phase];
    }
    return out;
  }

  // The same with the opened intervals divided: their borders are judged, and only parts that might still hold a better cut are scanned.
  bool open_divided(int f, const Histogram& h, const Opened& opened, u32 lanes, u32* found, u32 n) {
    const Column& c = w.run.p.columns[f];
    const auto size = static_cast<std::size_t>(parts());
    const auto fit = static_cast<u32>(kFineBytes / (size * (w.run.counted ? sizeof(Vec<u32, W>) : sizeof(Vec<double, W>))));
    Division division;
    if (!w.run.p.two_resolutions || !Division::of(w.scratch, c, opened.any, fit < n / kPartRows ? fit : n / kPartRows, division)) return false;
    u32* number = w.scratch.take<u32>(n);
    for (u32 i = 0; i < n; i++) number[i] = division.bin(rows.code(f, found[i]), rows.rank(f, found[i]));
    Histogram finer;
    finer.bins = division.bins, finer.missing = h.missing, finer.firsts = division.firsts, finer.whole = division.whole;
    fill_with(finer, SortedRows::some(w, all_rows, found, n), number);
    const auto copy = [&](u32 from, u32 to) {
      for (std::size_t i = 0; i < size && h.counts; i++) finer.counts[to * size + i] = h.counts[from * size + i];
      for (std::size_t i = 0; i < size && h.values; i++) finer.values[to * size + i] = h.values[from * size + i];
      if (h.squares) finer.squares[to] = h.squares[from];
    };
    for (u32 b = 0; b < h.bins; b++)
      if (!opened.any[b]) copy(b, division.base[b]);
    copy(h.bins, finer.bins);
    search_borders(f, finer);
    const Opened left = find_opened(finer, lanes);
    u32 kept = 0;
    for (u32 i = 0; i < n; i++) found[kept] = found[i], kept += left.any[number[i]];
    scan_opened(f, finer, left, lanes, found, kept);
    return true;
  }

  void scan_opened(int f, const Histogram& h, const Opened& opened, u32 lanes, const u32* found, u32 n) {
    const Column& c = w.run.p.columns[f];
    SortKey *keys = w.scratch.take<SortKey>(n), *room = w.scratch.take<SortKey>(n);
    for (u32 i = 0; i < n; i++) keys[i].v = static_cast<u64>(rows.rank(f, found[i])) << 32 | found[i];
    keys = sort_keys<32>(keys, room, n, c.n_values);
    for (u32 phase = 0; phase < 2; phase++)
      if (opened.n[phase]) scan_opened(f, h, opened.in[phase], phase ? kMissingLeft : kMissingRight, lanes, keys, n);
  }
  void scan_opened(int f, const Histogram& h, const u8* opened, u64 phase, u32 lanes, const SortKey* keys, u32 n) {
    const Column& c = w.run.p.columns[f];
    const bool close = c.close && !c.edges;
    u32 i = 0;
    p.clear();
    if (phase == kMissingLeft) p.add_cell(bin(h, h.bins));
    for (u32 b = 0; b < h.bins && i < n; b++) {
      const u32 begin = i, end_rank = h.firsts[b + 1];
      u32 end = i;
      while (end < n && keys[end].v >> 32 < end_rank) end++;
      if (opened[b]) {
        fine.copy(p);
        for (; i < end; i++) {
          fine.add(all_rows, static_cast<u32>(keys[i].v));
          if (i + 1 == end || keys[i].v >> 32 == keys[i + 1].v >> 32) continue;
          u32 m = fine.promising() & lanes;
          if (m && close) m = parted_rows(m, c, keys, begin, i, end);
          if (m) judge(fine, m, f, numeric_key(phase, static_cast<u32>(keys[i].v >> 32)));
        }
      }
      i = end;
      p.add_cell(bin(h, b));
    }
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
void search_large_with(Worker** helpers, [[maybe_unused]] int n_helpers, const Team& team, const LargeRows& rows, const SortedRows& sorted,
                       const LocalRows& all_rows, Best& best) {
  using Search = LargeSearch<P>;
  Run& run = helpers[0]->run;
  const int F = run.p.n_features;
  std::atomic<int> failed{0};
  for (int begin = 0; begin < F;) {
    std::size_t bytes = 0;
    int end = begin;
    while (end < F && (end == begin || bytes + Search::bytes(run, end) <= kHistogramBytes)) bytes += Search::bytes(run, end++);
    std::atomic<int> next{begin}, next_to_open{begin};
    const auto before = helpers[0]->scratch.mark();
    using Histogram = typename Search::Histogram;
    Histogram* histograms = helpers[0]->scratch.take<Histogram>(static_cast<std::size_t>(end - begin));
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
      Best mine;
      Search* search = nullptr;
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
        for (int f; (f = next.fetch_add(1)) < end;) {
          w.poll();
          histograms[f - begin] = search->fill(f);
          search->search_borders(f, histograms[f - begin]);
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
        for (int f; (f = next_to_open.fetch_add(1)) < end;) {
          w.poll();
          search->open_intervals(f, histograms[f - begin]);
        }
      });
#ifdef _OPENMP
#pragma omp barrier
#pragma omp critical(crosscut_merge)
#endif
      if (!failed.load()) merge_best(best, mine);
      w.scratch.release(mark);
    }
    helpers[0]->scratch.release(before);
    if (failed.load() == 1) throw Stopped{};
    if (failed.load()) throw std::bad_alloc();
    begin = end;
  }
}

inline void search_large(Worker** helpers, int n_helpers, const Team& team, const LargeRows& rows, Best& best) {
  Worker& w = *helpers[0];
  const auto mark = w.scratch.mark();
  const Problem& p = w.run.p;
  const int W = large_width(p.multiplicity ? kLanes : team.n);
  const SortedRows sorted = SortedRows::of(w, team, rows, W);
  u32* info = w.scratch.take<u32>(rows.n);
  for (u32 i = 0; i < rows.n; i++) info[i] = w.run.describe(rows.masks[i], p.n_classes ? static_cast<u32>(p.classes[rows.row(i)]) : 0);
  LocalRows all_rows{info, nullptr, nullptr, nullptr};
  const auto row = [&](u32 i) { return rows.row(i); };
  all_rows.weight = gathered(w.scratch, p.weight, rows.n, row), all_rows.product = gathered(w.scratch, p.product, rows.n, row);
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
