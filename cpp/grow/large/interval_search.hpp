// The second resolution of a large bundle. An interval is opened only if the bound of its cuts
// (alive() of the running statistics) beats the best test found so far in any column. Its rows are
// then sorted by rank and scanned. Few intervals are opened; opening all of them takes 3.3 times as
// long on large tables.
#pragma once
#include "border_search.hpp"
#include "grow/simd/sorting.hpp"

namespace crosscut::CROSSCUT_LEVEL {

constexpr u32 kAhead = 16;  // places that are fetched ahead

template <class P> struct IntervalSearch : BorderSearch<P> {
  using Base = BorderSearch<P>;
  using Base::bundle, Base::p, Base::W;
  using typename Base::V, typename Base::Statistics;
  Worker& w;
  const LargeRows& rows;
  const ScanRows& all_rows;  // by position in the bundle; empty if no column has intervals to open
  ScanRows scanned;          // what a scan reads of the rows of opened intervals
  P fine;

  IntervalSearch(Worker& worker, const Bundle& b, const LargeRows& r, const CountedRows& c,
                 const ScanRows& a, Best& so_far)
      : Base(worker, b, r, c, so_far),
        w(worker),
        rows(r),
        all_rows(a),
        scanned(a),
        fine(worker.run, b, so_far, Base::space(worker)) {
    this->other = &fine;
  }

  // The intervals to open in each phase (the second sends missing values left), and in any phase.
  struct Opened {
    u32 n[2] = {0, 0};
    u8 *in[2], *any;
  };

  void open_intervals(int f, const Statistics& h) {
    if (!has_intervals(w.run.p.columns[f])) return;
    const u32 lanes = allowed_lanes(w, bundle, f);
    if (!lanes) return;
    this->count_missing(h);
    const auto mark = w.scratch.mark();
    const Opened opened = find_opened(h, lanes);
    this->work.intervals += opened.n[0] + opened.n[1];
    if (opened.n[0] + opened.n[1]) {
      ByteSet wanted;
      for (u32 b = 0; b < h.bins; b++)
        if (opened.any[b]) wanted.add(b);
      u32* positions = w.scratch.take<u32>(rows.n);
      const u32 n = rows.find(f, wanted, positions);
      scan_opened(f, h, opened, lanes, positions, n);
    }
    w.scratch.release(mark);
  }

  // Finds the intervals with a cut that may beat the best test of some lane.
  Opened find_opened(const Statistics& h, u32 lanes) {
    Opened out;
    out.any = w.scratch.take<u8>(h.bins + 1);
    std::fill_n(out.any, h.bins + 1, u8{0});
    for (u32 phase = 0; phase < 2; phase++) {
      if (phase && !h.missing) break;
      out.in[phase] = w.scratch.take<u8>(h.bins);
      p.clear();
      if (phase) p.add_cell(this->bin(h, h.bins));
      for (u32 b = 0; b < h.bins; b++) {
        const V* x = this->bin(h, b);
        const bool alive = h.firsts[b + 1] - h.firsts[b] > 1 &&
                           (!w.run.p.two_resolutions || off(Acceleration::interval_bounds) ||
                            (p.alive(x, h.errors ? h.errors[b] : 0) & lanes) != 0);
        out.in[phase][b] = alive;
        out.any[b] |= alive;
        out.n[phase] += alive;
        p.add_cell(x);
      }
    }
    return out;
  }

  void scan_opened(int f, const Statistics& h, const Opened& opened, u32 lanes,
                   const u32* positions, u32 n) {
    const Column& c = w.run.p.columns[f];
    SortKey *keys = w.scratch.take<SortKey>(n), *room = w.scratch.take<SortKey>(n);
    // If rows are only counted, their masks and classes are sorted with the ranks, instead of being
    // read in the order of the ranks, where each read misses the cache.
    const bool with_info = w.run.counted;
    for (u32 i = 0; i < n; i++)
      keys[i].v = static_cast<u64>(rows.rank(f, positions[i])) << 32 |
                  (with_info ? all_rows.info[positions[i]] : positions[i]);
    keys = sort_keys<32>(keys, room, n, c.n_values);
    if (with_info) {
      u32* info = w.scratch.take<u32>(n);
      for (u32 i = 0; i < n; i++) {
        info[i] = static_cast<u32>(keys[i].v);
        keys[i].v = keys[i].v >> 32 << 32 | i;
      }
      scanned.info = info;
    }
    for (u32 phase = 0; phase < 2; phase++)
      if (opened.n[phase])
        scan_opened(f, h, opened.in[phase], phase ? kMissingLeft : kMissingRight, lanes, keys, n);
  }
  void scan_opened(int f, const Statistics& h, const u8* opened, u64 phase, u32 lanes,
                   const SortKey* keys, u32 n) {
    u32 i = 0;
    p.clear();
    if (phase == kMissingLeft) p.add_cell(this->bin(h, h.bins));
    for (u32 b = 0; b < h.bins && i < n; b++) {
      const u32 begin = i, end_rank = h.firsts[b + 1];
      u32 end = i;
      while (end < n && keys[end].v >> 32 < end_rank) end++;
      if (opened[b]) {
        fine.copy(p);
        this->work.cuts += end - i;
        search_interval(f, keys, begin, end, n, phase, lanes);
      }
      i = end;
      p.add_cell(this->bin(h, b));
    }
  }

  // Searches the cuts between the rows [begin, end) of an interval; n: the rows of all intervals.
  void search_interval(int f, const SortKey* keys, u32 begin, u32 end, u32 n, u64 phase,
                       u32 lanes) {
    const Column& c = w.run.p.columns[f];
    const bool close = c.close != 0;
    const u32 n_cuts = end > begin ? end - begin - 1 : 0;
    const auto row = [&](u32 i) {  // of a place; the rows of neighbouring values are anywhere
      if (i + kAhead < n) __builtin_prefetch(scanned.info + static_cast<u32>(keys[i + kAhead].v));
      return static_cast<u32>(keys[i].v);
    };
    const auto rank = [&](u32 i) { return static_cast<u32>(keys[i].v >> 32); };
    const auto is_cut = [&](u32 i) { return rank(i) != rank(i + 1); };
    const auto key = [&](u32 i) { return numeric_key(phase, rank(i)); };
    if (this->together())
      return this->scan_together(
          fine, f, n_cuts,
          [&](u32 i, auto& a, auto& b) { Base::add_row(scanned, row(begin + i), a, b); },
          [&](u32 i) { return is_cut(begin + i); },
          [&](u32 i) { return !close || separable_rows(1, c, keys, begin, begin + i, end); },
          [&](u32 i) { return key(begin + i); });
    for (u32 i = begin; i < begin + n_cuts; i++) {
      if constexpr (requires { P::kSumEvery; })
        if ((i - begin) % P::kSumEvery == 0) fine.sum_squares();
      fine.add(scanned, row(i));
      if (!is_cut(i)) continue;
      u32 m = Base::may_beat(fine) & lanes;
      if (m && close) m = separable_rows(m, c, keys, begin, i, end);
      if (m) this->evaluate(fine, m, f, key(i));
    }
  }

  // Gap rule inside an opened interval. Values of different intervals are never too close.
  u32 separable_rows(u32 lanes, const Column& c, const SortKey* keys, u32 begin, u32 i,
                     u32 end) const {
    const auto rank = [&](u32 j) { return static_cast<u32>(keys[j].v >> 32); };
    const auto apart = [&](u32 a, u32 b) { return separable(c, rank(a), rank(b)); };
    if (apart(i, i + 1)) return lanes;
    u32 ok = 0;
    each_bit(lanes, [&](int k) {
      const auto trains = [&](u32 j) { return scanned.info[static_cast<u32>(keys[j].v)] >> k & 1; };
      u32 a = i + 1, b = i + 1;
      while (a > begin && !trains(a - 1)) a--;
      while (b < end && !trains(b)) b++;
      ok |= static_cast<u32>(a == begin || b == end || apart(a - 1, b)) << k;
    });
    return ok;
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL
