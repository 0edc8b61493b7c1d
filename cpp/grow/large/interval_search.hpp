// The second resolution of a large bundle. An interval is opened only if the bound of its cuts
// (alive() of the running statistics) beats the best test found so far in any column. Its rows are
// then sorted by rank and scanned. Few intervals are opened; opening all of them takes 3.3 times as
// long on large tables.
// The bound of an interval of many rows is loose, so all intervals of noise would be opened. If the
// opened ones have many rows, they are divided into parts first: intervals of fewer ranks with
// statistics of their own, to which the same search and the same bound apply.
#pragma once
#include "border_search.hpp"
#include "grow/simd/sorting.hpp"

namespace crosscut::CROSSCUT_LEVEL {

constexpr u32 kAhead = 16;    // places that are fetched ahead
constexpr u32 kPartRows = 4;  // fewer rows per part and number of a bin are sorted instead

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
      if (n < wanted.size() * kParts * kPartRows * static_cast<u32>(w.run.bin_parts()) ||
          !bounds_intervals() || off(Acceleration::interval_parts))
        scan_opened(f, h, opened, lanes, positions, n);
      else search_parts(f, h, opened, lanes, positions, n);
    }
    w.scratch.release(mark);
  }
  bool bounds_intervals() const {
    return w.run.p.two_resolutions && !off(Acceleration::interval_bounds);
  }

  // Divides the opened intervals into parts and searches these. positions: of their n rows.
  void search_parts(int f, const Statistics& h, const Opened& opened, u32 lanes, u32* positions,
                    u32 n) {
    const Column& c = w.run.p.columns[f];
    const auto known = w.run.parts[static_cast<u32>(f)].of(c, w.run.p.n_rows, n, w.run.blocks);
    u32* firsts = w.scratch.take<u32>(h.bins * kParts + 1);
    u32* part_of_bin = w.scratch.take<u32>(h.bins + 1);  // the first one
    u32 n_parts = 0;
    for (u32 b = 0; b < h.bins; b++) {
      part_of_bin[b] = n_parts;
      const u32 here = opened.any[b] ? kParts : 1;
      std::copy_n(known.firsts + b * kParts, here, firsts + n_parts);
      n_parts += here;
    }
    firsts[n_parts] = c.n_values;
    part_of_bin[h.bins] = n_parts;

    const u8* codes = rows.codes->column[f];
    u16* part = w.scratch.take<u16>(n);
    for (u32 i = 0; i < n; i++) {
      const u32 bin = codes[positions[i]], row = rows.row(positions[i]);
      const u32 at = known.of_rows ? known.of_rows[row] : known.part(bin, c.ranks[row]);
      part[i] = static_cast<u16>(part_of_bin[bin] + at);
    }
    const Statistics parts = count_parts(h, opened, part_of_bin, firsts, positions, part, n);
    this->search_borders(f, parts);
    this->count_missing(parts);
    const Opened alive = find_opened(parts, lanes);
    this->work.parts += alive.n[0] + alive.n[1];
    if (!(alive.n[0] + alive.n[1])) return;
    u32 n_left = 0;
    for (u32 i = 0; i < n; i++) {
      positions[n_left] = positions[i];
      n_left += alive.any[part[i]];
    }
    scan_opened(f, parts, alive, lanes, positions, n_left);
  }
  // The statistics of the parts, and those of the intervals that are not opened.
  Statistics count_parts(const Statistics& h, const Opened& opened, const u32* part_of_bin,
                         const u32* firsts, const u32* positions, const u16* part, u32 n) {
    const CountedRows some = CountedRows::some(
        w, n, rows.products, [&](u32 i) { return rows.row(positions[i]); },
        [&](u32 i) { return rows.mask(positions[i]) & bundle.lanes; });
    Statistics x;
    x.bins = part_of_bin[h.bins];
    x.missing = h.missing;
    x.firsts = firsts;
    const auto step = static_cast<u32>(w.run.bin_parts());
    const std::size_t n_cells = std::size_t{x.bins + 1} * step;
    const auto copy_others = [&](const auto* from, auto* to, u32 width) {
      for (u32 b = 0; b <= h.bins; b++)
        if (b == h.bins || !opened.any[b])
          std::copy_n(from + b * width, width, to + part_of_bin[b] * width);
    };
    if (w.run.counted) x.counts = w.scratch.take<Vec<u32, W>>(n_cells);
    else x.values = w.scratch.take<Vec<double, W>>(n_cells);
    if (h.errors) x.errors = w.scratch.take<double>(x.bins + 1);
    fill_column<W, false>(w, some, part, x.bins + 1, x.counts, x.values, x.errors);
    if (w.run.counted) copy_others(h.counts, x.counts, step);
    else copy_others(h.values, x.values, step);
    if (h.errors) copy_others(h.errors, x.errors, 1);
    return x;
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
        const bool alive =
            h.firsts[b + 1] - h.firsts[b] > 1 &&
            (!bounds_intervals() || (p.alive(x, h.errors ? h.errors[b] : 0) & lanes) != 0);
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
