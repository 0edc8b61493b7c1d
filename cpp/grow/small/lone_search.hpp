// The search for the best test of one task's node in a local table.
#pragma once
#include "grow/criteria/running_statistics.hpp"
#include "lone_node.hpp"

namespace crosscut::CROSSCUT_LEVEL {

constexpr u32 kSparseRows = 32;  // of a list from which it pays to look for the end of its first value

template <class P>
struct LoneSearch : Search<P> {
  Worker& w;
  const LocalTable& table;
  const ScanRows rows;
  const LoneRows all;
  using Base = Search<P>;
  using Base::best, Base::p, Base::stats, Base::work, Base::missing_rows, Base::bundle;

  LoneSearch(Worker& worker, const LocalTable& t, const Bundle& b, const LoneNode& x, const ScanRows& r, Best& so_far)
      : Base(worker, b, so_far), w(worker), table(t), rows(r), all{x.n, x.any_list(), t} {
    this->bundle_rows = &all, this->same_split = &split_alike<LoneRows>;
  }

  // A cut of the same statistics that comes later than the best test loses the tie.
  bool known(int f) {
    if (w.run.rounded() || best.feature[0] < 0 || f < best.feature[0] || p.rows_left(0) != best.n_left[0] || w.run.p.columns[best.feature[0]].nominal) return false;
    p.left(0, stats);
    for (int c = 0; c < best.K; c++)
      if (stats[c] != best.left[c]) return false;
    return true;
  }
  void judge(int f, u64 key) {
    if constexpr (requires { p.quality(); }) {
      if (best.rivals) return judge_any(f, key);
      work.exact++;
      const double quality = p.quality();
      const i64 left = p.rows_left(0), n = bundle.node[0]->n_rows, least = bundle.min_leaf[0];
      if (left < least || n - left < least || !missing_rows.meaning(0, left, n, key) || !best.beats(0, quality, f, key)) return;
      p.left(0, stats);
      best.take(0, quality, f, key, left, stats), p.lower(best, 0);
    } else {
      judge_any(f, key);
    }
  }
  void judge_any(int f, u64 key) {
    if (!known(f)) Base::judge(p, 1, f, key);
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
    work.cuts += end;
    if constexpr (requires { typename P::Cuts; }) {
      if (!w.run.weighted && w.run.p.n_classes <= kListClasses && !off(Acceleration::lanes_of_cuts)) {
        work.lane_cuts += end;
        if constexpr (requires { P::Cuts::kMost; }) return scan_sums(f, list, first, end, phase);
        else return scan_together(f, list, first, end, phase, close);
      }
    }
    for (u32 i = 0; i < end; i++) {
      p.add(rows, list[i] & kRowMask);
      if (i < first || list[i] >> 16 == list[i + 1] >> 16 || !Base::may_beat(p) || (close && !parted(f, list[i], list[i + 1]))) continue;
      const u64 key = numeric_key(phase, list[i] >> 16);
      if constexpr (requires { p.quality(); }) {  // with many classes most cuts of a small node tie
        if (!best.beats(0, p.quality(), f, key)) continue;
      }
      judge(f, key);
    }
  }
  // Regression: which cuts are promising, for many at once, so that a short list has one branch that cannot be foreseen.
  void scan_sums(int f, const u32* list, u32 first, u32 end, u64 phase) {
    typename P::Cuts cuts(p);
    for (u32 i = 0; i < end; i += P::Cuts::kMost) {
      const u32 n = std::min(end - i, P::Cuts::kMost);
      u64 m = cuts.next(p, rows, list + i, n), changes = 0;
      if (!m) continue;
      for (u32 j = 0; j < n; j += kCuts) changes |= static_cast<u64>(value_changes(list + i + j)) << j;
      m &= changes;
      if (i < first) m &= first - i < P::Cuts::kMost ? ~u64{0} << (first - i) : 0;
      judge_cuts(f, cuts, m, phase, [&](u32 k) { return list[i + k] >> 16; }, [&](u32 k) { return list[i + k + 1] >> 16; });
    }
  }
  // The best of the cuts first. below(k), above(k): the ranks on both sides of a cut
  template <class Cuts, class Below, class Above>
  void judge_cuts(int f, Cuts& cuts, u64 m, u64 phase, Below below, Above above) {
    while (m) {
      const u32 k = cuts.best(p, m);
      m &= ~(u64{1} << k);
      if (table.columns[f].any_close && !parted(f, below(k) << 16, above(k) << 16)) continue;
      const double q = best.q[0];
      cuts.put(p, k);
      judge(f, numeric_key(phase, below(k)));
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
        const u32 k = largest_of<kCuts>(cuts.gains(p), m);  // most others are then below the new limit
        m &= ~(1u << k);
        if (close && !parted(f, list[i + k], list[i + k + 1])) continue;
        const double q = best.q[0];
        cuts.put(p, k);
        judge(f, numeric_key(phase, list[i + k] >> 16));
        if (best.q[0] != q) m &= cuts.promising(p);
      }
    }
  }

  // All of the node's rows but the entries [begin, end) are on the left.
  void put_others(const u32* list, u32 begin, u32 end) {
    const Node& node = *bundle.node[0];
    sum_entries(list, begin, end, stats);
    for (int c = 0; c < w.run.K(); c++) stats[c] = node.stats[c] - stats[c];
    p.put_left(stats, node.n_rows - (end - begin));
  }
  // The same scan, where the entries [n, end) are on the right. In sparse columns most rows have the first value: they are not read, for
  // they are what the others leave.
  void scan_others(int f, const u32* list, u32 n, u32 end, u64 phase) {
    u32 same = 0, next = n;
    if (!off(Acceleration::sparse_values) && n >= kSparseRows && list[n / 2] >> 16 == list[0] >> 16) {
      for (same = n / 2; next - same > 1;) {
        const u32 middle = (same + next) / 2;
        (list[middle] >> 16 == list[0] >> 16 ? same : next) = middle;
      }
      put_others(list, same, end);
    }
    scan(f, list + same, n - same, phase);
  }
  void search_numeric(int f, const u32* list, u32 n) {
    const u32 missing = table.columns[f].missing_rank;
    u32 present = n;
    while (present > 0 && list[present - 1] >> 16 == missing) present--;
    p.clear();
    if (present == n) return scan_others(f, list, n, n, kMissingRight);
    missing_rows.n[0] = n - present;
    scan_others(f, list, present, n, kMissingRight);
    put_others(list, present, n);
    if (Base::may_beat(p)) judge(f, numeric_key(kPresence, 0));
    sum_entries(list, present, n, stats);
    p.put_left(stats, n - present);
    scan_others(f, list, present, present, kMissingLeft);
    missing_rows = {};
  }

  // Statistics of the entries [begin, end).
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
      double sum[4] = {};  // integers: exact in any order
      u32 i = begin;
      for (; i + 4 <= end; i += 4)
        for (u32 j = 0; j < 4; j++) sum[j] += rows.product[list[i + j] & kRowMask];
      for (; i < end; i++) sum[0] += rows.product[list[i] & kRowMask];
      s[0] = sum[0] + sum[1] + (sum[2] + sum[3]), s[1] = end - begin;
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
    u32 m = 0, *first = w.scratch.take<u32>(most);  // categories; the places of their first entries
    for (u32 begin = 0, end = 0; begin < n; begin = end, m++) {
      while (end < n && list[end] >> 16 == list[begin] >> 16) end++;
      sum_entries(list, begin, end, sums + K * m), count[m] = end - begin, first[m] = begin;
    }
    judge_categories(f, sums, count, m, [&](int v) { return table.target[list[first[v]] & kRowMask]; }, [&](int v) {
      i64* exact = empty_sums(w);
      for (u32 i = first[v], end = i + static_cast<u32>(count[v]); i < end; i++) add_exactly(w, bundle, 0, table.ids[list[i] & kRowMask], exact);
      return exact_mean(w.run.p, exact);
    });
    w.scratch.release(mark);
  }

  template <class Single, class Exact>
  void judge_categories(int f, const double* sums, const i64* count, u32 m, Single single, Exact exact) {
    const auto worth = [&](const double* left, i64 n_left) {
      if constexpr (requires { p.put_left(left, n_left); }) {
        if (!best.rivals) return p.put_left(left, n_left), Base::may_beat(p) != 0;
      }
      return true;
    };
    if (m > 2 || worth(sums, count[0])) Base::judge_nominal(0, f, sums, count, m, single, exact, worth);
  }

  // The values of a coded column that the node has: their ranks, and their rows of each class.
  struct Values {
    u32 n, stride;
    u16* rank;
    u32* counts;  // [n][stride]
    const u32* of(u32 j) const { return counts + j * stride; }
    u32 rows(u32 j) const {
      u32 sum = 0;
      for (u32 c = 0; c < stride; c++) sum += of(j)[c];
      return sum;
    }
  };
  // own: the node's rows of each class that is present. kWords, kClasses: 0 if any
  template <u32 kWords, int kClasses>
  Values count_values(const CodedColumn& column, const u64* own, u32 words, const u8* present, int n_present, u32 n) {
    const u32 n_words = kWords ? kWords : words, C = static_cast<u32>(w.run.p.n_classes), stride = kClasses ? kClasses : (C + 7) & ~7u;
    const int n_classes = kClasses ? kClasses : n_present;
    Values out{0, stride, w.scratch.take<u16>(column.n_values), w.scratch.take<u32>(column.n_values * stride)};
    u32 rest[kListClasses] = {}, left = n;
    for (u32 c = 0; c < C; c++) rest[c] = static_cast<u32>(bundle.node[0]->stats[c]);
    for (u32 v = 0; left; v++) {
      u32 *counts = out.counts + out.n * stride, sum = 0;
      out.rank[out.n] = column.rank[v];
      if (v + 1 == column.n_values) {  // all others
        std::copy_n(rest, stride, counts), out.n++;
        break;
      }
      if (!kClasses) std::fill_n(counts, stride, 0u);
      const u64* bits = column.rows + v * n_words;
      for (int i = 0; i < n_classes; i++) {
        u32 s = 0;
        for (u32 k = 0; k < n_words; k++) s += count_bits(bits[k] & own[static_cast<u32>(i) * n_words + k]);
        const u32 c = kClasses ? static_cast<u32>(i) : present[i];
        counts[c] = s, rest[c] -= s, sum += s;
      }
      left -= sum, out.n += sum > 0;
    }
    return out;
  }
  // Cuts after the first n values, but the last of them.
  void scan_values(int f, const Values& values, u32 n, u64 phase) {
    const i64 least = bundle.min_leaf[0], most = bundle.node[0]->n_rows - least;
    typename P::Values left(p);
    work.cuts += n;
    for (u32 j = 0; j + 1 < n; j++) {
      left.add(p, values.of(j));
      const auto rows_left = static_cast<i64>(left.rows());
      if (rows_left > most) return;
      if (rows_left < least || (!off(Acceleration::fast_comparison) && !left.promising(p))) continue;
      const u32 a = values.rank[j], b = values.rank[j + 1];
      if (!table.columns[f].any_close || parted(f, a << 16, b << 16)) left.put(p), judge(f, numeric_key(phase, a));
    }
  }
  void search_values(int f, const Values& values) {
    const auto K = static_cast<u32>(w.run.K());
    if (w.run.p.columns[f].nominal) {
      double* sums = w.scratch.take<double>(values.n * K);
      i64* count = w.scratch.take<i64>(values.n);
      for (u32 j = 0; j < values.n; j++) std::copy_n(values.of(j), K, sums + j * K), count[j] = values.rows(j);
      const auto unknown = [](int) { return std::numeric_limits<double>::quiet_NaN(); };
      return judge_categories(f, sums, count, values.n, unknown, unknown);
    }
    p.clear();
    const u32 present = values.n - (values.rank[values.n - 1] == table.columns[f].missing_rank);
    if (present == values.n) return scan_values(f, values, present, kMissingRight);
    missing_rows.n[0] = values.rows(present);
    scan_values(f, values, present, kMissingRight);
    p.clear();
    typename P::Values without(p), missing(p);
    for (u32 j = 0; j < present; j++) without.add(p, values.of(j));
    without.put(p);
    if (Base::may_beat(p)) judge(f, numeric_key(kPresence, 0));
    missing.add(p, values.of(present)), missing.put(p);
    scan_values(f, values, present, kMissingLeft);
    missing_rows = {};
  }
  void search_coded(LoneNode& x) {
    const BitRows& bits = *x.bits;
    const u32 words = bits.words;
    u64* own = w.scratch.take<u64>(words * static_cast<u32>(w.run.p.n_classes));
    u8 present[kListClasses];
    int n_present = 0, kept = 0;
    for (int c = 0; c < w.run.p.n_classes; c++) {
      if (!(bundle.node[0]->stats[c] > 0)) continue;
      for (u32 k = 0; k < words; k++) own[static_cast<u32>(n_present) * words + k] = bits.classes[static_cast<u32>(c) * words + k] & x.rows[k];
      present[n_present++] = static_cast<u8>(c);
    }
    const auto count = w.run.p.n_classes == 2 ? words == 1 ? &LoneSearch::count_values<1, 2> : &LoneSearch::count_values<0, 2>
                       : words == 1           ? &LoneSearch::count_values<1, 0>
                                              : &LoneSearch::count_values<0, 0>;
    for (int j = 0; j < x.n_coded; j++) {
      const CodedColumn& column = bits.columns[x.coded[j]];
      if (!allowed_lanes(w, bundle, column.f)) continue;
      work.coded_columns++;
      const auto mark = w.scratch.mark();
      const Values values = (this->*count)(column, own, words, present, n_present, x.n);
      if (values.n > 1) x.coded[kept++] = x.coded[j], search_values(column.f, values);
      w.scratch.release(mark);
    }
    x.n_coded = kept;
  }

  // Regression: a column with sums by value.
  void scan_sums(int f, const ValueSum* sums, u32 n, u64 phase, double most) {
    typename P::Cuts cuts(p);
    const auto least = static_cast<double>(bundle.min_leaf[0]);
    for (u32 i = 0; i < n; i += P::Cuts::kMost) {
      u64 m = cuts.next(p, sums + i, std::min(n - i, P::Cuts::kMost), least, most);
      judge_cuts(f, cuts, m, phase, [&](u32 k) { return i + k; }, [&](u32 k) {
        u32 above = i + k + 1;
        while (!(sums[above][1] > 0)) above++;
        return above;
      });
    }
  }
  void search_sums(LoneNode& x) {
    int kept = 0;
    for (int j = 0; j < x.n_coded; j++) {
      const u32 c = x.coded[j], n_values = x.values->n_values(c);
      const int f = x.values->f[c];
      const ValueSum* sums = x.sums + x.values->first[c];
      const auto rows_here = static_cast<double>(x.n), least = static_cast<double>(bundle.min_leaf[0]);
      if (x.sums[x.values->place(x.entries[0], c)][1] == rows_here || !allowed_lanes(w, bundle, f)) continue;  // constant
      x.coded[kept++] = static_cast<u16>(c);
      work.coded_columns++;
      work.cuts += n_values;
      if (w.run.p.columns[f].nominal) {
        const auto mark = w.scratch.mark();
        i64* count = w.scratch.take<i64>(n_values);
        for (u32 v = 0; v < n_values; v++) count[v] = static_cast<i64>(sums[v][1]);
        const u16* rank = table.columns[f].rank;
        judge_categories(f, reinterpret_cast<const double*>(sums), count, n_values, [&](int v) {
          u32 i = 0;
          while (rank[all.at(i)] != v) i++;
          return table.target[all.at(i)];
        }, ExactMeans<LoneRows>{w, bundle, all, 0, f});
        w.scratch.release(mark);
        continue;
      }
      p.clear();
      const u32 missing = table.columns[f].missing_rank;
      const double n_missing = missing == n_values - 1 ? sums[missing][1] : 0;
      if (!(n_missing > 0)) {
        scan_sums(f, sums, n_values, kMissingRight, rows_here - least);
        continue;
      }
      missing_rows.n[0] = static_cast<i64>(n_missing);
      scan_sums(f, sums, n_values - 1, kMissingRight, std::min(rows_here - least, rows_here - n_missing - 1));
      p.put(bundle.node[0]->stats[0] - sums[missing][0], rows_here - n_missing);
      if (Base::may_beat(p)) judge(f, numeric_key(kPresence, 0));
      p.put(sums[missing][0], n_missing);
      scan_sums(f, sums, n_values - 1, kMissingLeft, rows_here - least);
      missing_rows = {};
    }
    x.n_coded = kept;
  }

  void run(LoneNode& x) {
    if constexpr (requires { typename P::Values; }) {
      if (x.bits) search_coded(x);
    }
    if constexpr (requires { P::Cuts::kMost; }) {
      if (x.values) search_sums(x);
    }
    for (int j = 0; j < x.n_columns; j++) {
      const int f = x.columns[j];
      if (!allowed_lanes(w, bundle, f)) continue;
      if (w.run.p.columns[f].nominal) search_nominal(f, x.lists[j], x.n);
      else search_numeric(f, x.lists[j], x.n);
    }
  }
};

inline void search_alone(Worker& w, const LocalTable& table, const Bundle& bundle, LoneNode& x, const ScanRows& rows, Best& best) {
  with_running_statistics<true>(w.run, [&]<template <int> class P>() {
    LoneSearch<P<1>>(w, table, bundle, x, rows, best).run(x);
  });
}

}  // namespace crosscut::CROSSCUT_LEVEL
