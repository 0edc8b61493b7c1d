// Finds the best tests of a large bundle, in two resolutions. Threads share the columns. The result
// does not depend on the order of the columns, because ties are broken by feature and key.
#pragma once
#include "interval_search.hpp"
#include "grow/criteria/running_statistics.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// columns are searched in batches whose statistics need at most this many bytes
constexpr std::size_t kStatisticsBytes = std::size_t{128} << 20;

template <class P>
void search_large_with(Worker& w, const Bundle& bundle, const LargeRows& rows,
                       const SortedRows& sorted, const ScanRows& all_rows, Best& best) {
  using Search = IntervalSearch<P>;
  using Statistics = typename Search::Statistics;
  const int F = w.run.p.n_features;
  for (int begin = 0, end = 0; begin < F; begin = end) {
    for (std::size_t bytes = 0;
         end < F && (end == begin || bytes + Search::bytes(w.run, end) <= kStatisticsBytes);) {
      bytes += Search::bytes(w.run, end);
      end++;
    }
    const auto mark = w.scratch.mark();
    Statistics* statistics = w.scratch.take<Statistics>(static_cast<std::size_t>(end - begin));
    for (int f = begin; f < end; f++) statistics[f - begin] = Search::room(w, f);
    std::mutex mutex;  // protects best
    const auto each_column = [&](const auto& search_column) {
      w.share(end - begin, [&](Worker& worker, Parts& parts) {
        Best local_best(worker, bundle);
        {
          const std::scoped_lock lock(mutex);
          local_best.merge(best);
        }
        Search search(worker, bundle, rows, sorted, all_rows, local_best);
        for (int i; (i = parts.take()) >= 0;) {
          worker.poll();
          search_column(search, begin + i, statistics[i]);
        }
        const std::scoped_lock lock(mutex);
        best.merge(local_best);
      });
    };
    each_column([](Search& search, int f, const Statistics& h) {
      search.fill(f, h);
      search.search_borders(f, h);
    });
    // A bound is compared with the best border of all columns, so this is a second pass.
    if (all_rows.info)
      each_column([](Search& search, int f, const Statistics& h) { search.open_intervals(f, h); });
    w.scratch.release(mark);
  }
}

inline Best search_large(Worker& w, const Bundle& bundle, const LargeRows& rows) {
  Best best(w, bundle);
  const auto mark = w.scratch.mark();
  const Problem& p = w.run.p;
  const int W = large_width(p.multiplicity ? kLanes : bundle.n);
  const SortedRows sorted = SortedRows::of(w, bundle, rows, W);
  bool intervals = false;  // does any column need the second resolution?
  for (int f = 0; f < p.n_features; f++) intervals |= has_intervals(p.columns[f]);
  u32* info = intervals ? w.scratch.take<u32>(rows.n) : nullptr;
  if (intervals)
    w.share_rows(rows.n, [&](u32 begin, u32 end) {
      for (u32 i = begin; i < end; i++)
        info[i] = w.run.describe(rows.masks[i],
                                 p.n_classes ? static_cast<u32>(p.classes[rows.row(i)]) : 0);
    });
  const auto row = [&](u32 i) { return rows.row(i); };
  const auto gathered = [&](const double* from) {
    return w.gathered(intervals ? from : nullptr, rows.n, row);
  };
  // With multiplicities every row is mixed, so `times` is in the order of the positions.
  const ScanRows all_rows{info, gathered(p.weight), gathered(p.product), sorted.times};
  const auto with = [&]<template <int> class P>() {
    if (W == 1) search_large_with<P<1>>(w, bundle, rows, sorted, all_rows, best);
    else if (W == 8) search_large_with<P<8>>(w, bundle, rows, sorted, all_rows, best);
    else search_large_with<P<16>>(w, bundle, rows, sorted, all_rows, best);
  };
  if (rows.n <= kFloatRows) with_running_statistics<true>(w.run, with);
  else with_running_statistics<false>(w.run, with);
  w.scratch.release(mark);
  return best;
}

}  // namespace crosscut::CROSSCUT_LEVEL
