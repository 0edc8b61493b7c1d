// The first resolution of a large bundle. Each column has statistics per coarse interval (or
// category); they give the exact quality of the tests at the borders of the intervals.
#pragma once
#include "grow/categories.hpp"
#include "statistics.hpp"

namespace crosscut::CROSSCUT_LEVEL {

template <class P> struct BorderSearch : Search<P> {
  using Base = Search<P>;
  using Base::bundle, Base::p, Base::stats, Base::missing_rows, Base::W;
  using typename Base::V;
  Worker& w;
  const LargeRows& rows;
  const CountedRows& counted;
  V* cell;

  BorderSearch(Worker& worker, const Bundle& b, const LargeRows& r, const CountedRows& c,
               Best& so_far)
      : Base(worker, b, so_far),
        w(worker),
        rows(r),
        counted(c),
        cell(worker.scratch.take<V>(static_cast<std::size_t>(worker.run.K() + 8))) {
    std::fill_n(cell, worker.run.K() + 8, V{});  // the end stays 0 (ClassSums)
    this->bundle_rows = &rows;
    this->same_split = &split_alike<LargeRows>;
    this->rows_once = &rows;
    this->enough_once = &enough_without_copies<LargeRows>;
    if constexpr (requires { p.running; }) p.running = false;
  }

  // Statistics of one column: counts or values per bin. A bin is a category or a coarse interval;
  // the last bin has the missing values.
  struct Statistics {
    u32 bins = 0;  // without the bin of missing values
    bool missing = false;
    const u32* firsts = nullptr;  // [bins + 1] first rank of every interval
    Vec<u32, W>* counts = nullptr;
    Vec<double, W>* values = nullptr;
    double* errors = nullptr;  // [bins + 1] of the sums of squares; null without squares
  };

  // The statistics of column f, which are at `memory`.
  static Statistics at(const Run& run, int f, char* memory) {
    const Column& c = run.p.columns[f];
    Statistics h;
    h.bins = n_bins(c) - 1;
    h.missing = c.has_missing;
    h.firsts = c.coarse_first;
    if (run.counted) h.counts = reinterpret_cast<Vec<u32, W>*>(memory);
    else {
      h.values = reinterpret_cast<Vec<double, W>*>(memory);
      if (run.has_squares()) h.errors = reinterpret_cast<double*>(h.values + n_cells(run, f));
    }
    return h;
  }
  void fill(int f, const Statistics& h) {
    const auto fill_with = [&](auto codes) {
      fill_column<W, false>(w, counted, codes, h.bins + 1, h.counts, h.values, h.errors);
    };
    if (const u8* codes = rows.codes->column[f]) fill_with(codes);
    else fill_with(CodesOfTable<u32>{w.run.p.columns[f].ranks, rows.rows});
  }
  // Subtracts rows of the table.
  void take(int f, const Statistics& h, const CountedRows& gone, const u32* of_table) {
    const Column& c = w.run.p.columns[f];
    const auto take_with = [&](auto codes) {
      fill_column<W, true>(w, gone, codes, h.bins + 1, h.counts, h.values, h.errors);
    };
    if (c.coarse) take_with(CodesOfTable<u8>{c.coarse, of_table});
    else take_with(CodesOfTable<u32>{c.ranks, of_table});
  }
  CC_INLINE const V* bin(const Statistics& h, u32 b) {
    if constexpr (sizeof(typename P::T) == sizeof(double)) {
      if (h.values)
        return reinterpret_cast<const V*>(h.values + b * static_cast<u32>(w.run.bin_parts()));
    }
    P::cell_of(h.counts + b * static_cast<u32>(w.run.K()), w.run.K(), cell);
    return cell;
  }

  // Gap rule for the cut after bin b. Only columns with one value per interval have values that
  // close at a border.
  u32 separable(u32 lanes, int f, const Statistics& h, u32 b) {
    const float* values = w.run.p.columns[f].values;
    const auto has_rows = [&](u32 x, int k) { return p.cell_stats(bin(h, x), k, stats) != 0; };
    const auto low = [&](u32 x) { return values[h.firsts[x + 1] - 1]; };
    return Base::separable(lanes, b, b + 1, 0, h.bins - 1, has_rows, low,
                           [&](u32 x) { return values[h.firsts[x]]; });
  }

  void count_missing(const Statistics& h) {
    missing_rows = {};
    if (!h.missing) return;
    each_bit(bundle.lanes,
             [&](int k) { missing_rows.n[k] = p.cell_stats(bin(h, h.bins), k, stats); });
  }

  void search_borders(int f, const Statistics& h) {
    const Column& c = w.run.p.columns[f];
    const u32 lanes = allowed_lanes(w, bundle, f);
    if (!lanes) return;
    if (c.nominal) return search_nominal(f, h, lanes);
    const bool close = c.close != 0;
    count_missing(h);
    for (u64 phase : {kMissingRight, kMissingLeft}) {
      if (phase == kMissingLeft && !h.missing) break;
      p.clear();
      this->work.cuts += h.bins;
      if (phase == kMissingLeft) p.add_cell(bin(h, h.bins));
      const u32 n_cuts = h.bins ? h.bins - 1 : 0;
      const auto key = [&](u32 b) { return numeric_key(phase, h.firsts[b + 1] - 1); };
      if (together()) {
        scan_together(
            p, f, n_cuts, [&](u32 b, auto& x, auto& y) { add_bin(h, b, x, y); },
            [](u32) { return true; }, [&](u32 b) { return !close || separable(1, f, h, b); }, key);
      } else {
        for (u32 b = 0; b < n_cuts; b++) {
          p.add_cell(bin(h, b));
          u32 m = Base::may_beat(p) & lanes;
          if (m && close) m = separable(m, f, h, b);
          if (m) this->evaluate(p, m, f, key(b));
        }
      }
      if (phase == kMissingRight && h.missing && h.bins) {
        p.add_cell(bin(h, h.bins - 1));
        this->evaluate(p, Base::may_beat(p) & lanes, f, numeric_key(kPresence, 0));
      }
    }
  }

  // Can this search compare cuts of a single task together?
  bool together() const {
    if constexpr (W == 1 && requires { typename P::Sum; })
      return !w.run.weighted && !off(Acceleration::fast_comparison);
    else return false;
  }
  // A single task: compares 64 cuts at once and evaluates the best of them first, because most
  // others are then below the new limit. It makes a single tree on 100,000 rows 1.2 to 1.3 times
  // faster. Cut i, of n, is after place i. add(i, a, b) adds the statistics of place i; is_cut(i)
  // and separable(i) tell whether a cut is allowed, the latter only if it is promising. `state`
  // has the statistics left of all places before and after.
  template <class Add, class IsCut, class Separable, class Key>
  void scan_together(P& state, int f, u32 n_cuts, Add add, IsCut is_cut, Separable can_separate,
                     Key key) {
    if constexpr (W == 1 && requires { typename P::Sum; }) {
      using Real = typename P::T;
      using Sum = typename P::Sum;
      constexpr u32 kMost = 64;
      Sum a, b;
      state.sums(a, b);
      const auto least = static_cast<Real>(bundle.min_leaf[0]);
      const auto most = static_cast<Real>(bundle.node[0]->n_rows - bundle.min_leaf[0]);
      for (u32 first = 0; first < n_cuts; first += kMost) {
        const u32 n = n_cuts - first < kMost ? n_cuts - first : kMost;
        Vec<Sum, kCuts> left[2][kMost / kCuts];
        const auto sums = [&](int which) { return reinterpret_cast<Sum*>(left[which]); };
        u64 cuts = 0;
        for (u32 i = 0; i < n; i++) {
          add(first + i, a, b);
          sums(0)[i] = a;
          sums(1)[i] = b;
          cuts |= u64{is_cut(first + i)} << i;
        }
        const auto promising = [&] {
          u64 bits = 0;
          for (u32 i = 0; i < n; i += kCuts)
            bits |= static_cast<u64>(
                        state.promising(left[0][i / kCuts], left[1][i / kCuts], least, most))
                    << i;
          return bits & cuts;
        };
        const auto put = [&](u32 k) { state.put_sums(sums(0)[k], sums(1)[k]); };
        for (u64 m = promising(); m;) {
          u32 best_cut = static_cast<u32>(__builtin_ctzll(m));
          Real most_gain = -1;
          for (u64 rest = m & (m - 1) ? m : 0; rest; rest &= rest - 1) {
            const u32 k = static_cast<u32>(__builtin_ctzll(rest));
            put(k);
            if (const Real gain = state.gain(); gain > most_gain) {
              most_gain = gain;
              best_cut = k;
            }
          }
          m &= ~(u64{1} << best_cut);
          if (!can_separate(first + best_cut)) continue;
          const double q = this->best.q[0];
          put(best_cut);
          this->evaluate(state, 1, f, key(first + best_cut));
          if (this->best.q[0] != q) m &= promising();
        }
      }
      state.put_sums(a, b);
    }
  }
  CC_INLINE void add_bin(const Statistics& h, u32 bin, auto& a, auto& b) const {
    if constexpr (requires { typename P::Sum; }) {
      const u32 at = bin * static_cast<u32>(w.run.bin_parts());
      if constexpr (std::is_same_v<typename P::Sum, double>) P::add_bin(h.values + at, a, b);
      else P::add_bin(h.counts + at, a, b);
    }
  }
  static CC_INLINE void add_row(const ScanRows& from, u32 row, auto& a, auto& b) {
    if constexpr (requires { typename P::Sum; }) P::add_row(from, row, a, b);
  }

  void search_nominal(int f, const Statistics& h, u32 lanes) {
    const auto mark = w.scratch.mark();
    const std::size_t K = static_cast<std::size_t>(w.run.K());
    const u32 total = h.bins + 1;
    const std::size_t size = K * total;
    double* table = w.scratch.take<double>(size * kLanes);  // [lane][category][K]
    i64* n = w.scratch.take<i64>(static_cast<std::size_t>(total) * kLanes);
    for (u32 v = 0; v < total; v++) {
      const V* x = bin(h, v);
      each_bit(lanes, [&](int k) {
        n[static_cast<u32>(k) * total + v] =
            p.cell_stats(x, k, table + static_cast<std::size_t>(k) * size + K * v);
      });
    }
    each_bit(lanes, [&](int k) {
      Base::evaluate_nominal(k, f, table + static_cast<std::size_t>(k) * size,
                             n + static_cast<u32>(k) * total, total, NoTargets{},
                             ExactSums<LargeRows>{w, bundle, rows, k, f});
    });
    w.scratch.release(mark);
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL
