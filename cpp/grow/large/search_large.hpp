// Finds the best tests of a large bundle, in two resolutions. Threads share the columns. The result
// does not depend on the order of the columns, because ties are broken by feature and key.
#pragma once
#include <vector>

#include "interval_search.hpp"
#include "waiting_bundle.hpp"
#include "grow/criteria/running_statistics.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// With this many classes, most cuts are ties. Exact doubles decide them without the formula.
constexpr int kTiedClasses = 1 << 12;
// columns are searched in batches whose statistics need at most this many bytes
constexpr std::size_t kStatisticsBytes = std::size_t{128} << 20;

// Where the statistics of a large bundle are.
struct LargeStatistics {
  char* held;                           // null: they are kept for a batch of columns only
  bool arrived;                         // they came with the bundle
  u32 lanes;                            // that they are needed of
  const WaitingBundle *sibling, *gone;  // see WaitingBundle
};

template <class P, class Counted>
void search_large_with(Worker& w, const Bundle& bundle, const LargeRows& rows,
                       const CountedRows& rows_counted, const ScanRows& all_rows,
                       const LargeStatistics& source, const CountedRows& gone,
                       const WaitingBundle* selected, const Counted& counted, Best& best) {
  using Search = IntervalSearch<P>;
  using Statistics = typename Search::Statistics;
  const int F = w.run.p.n_features;
  const auto offsets = [&](int W) {  // of the columns, and their sum
    std::size_t* at = w.scratch.take<std::size_t>(static_cast<std::size_t>(F + 1));
    at[0] = 0;
    for (int f = 0; f < F; f++) at[f + 1] = at[f] + statistics_bytes(w.run, f, W);
    return at;
  };
  const std::size_t* at = offsets(Search::W);
  std::vector<const std::size_t*> of_sibling;
  for (const WaitingBundle* s = source.sibling; s; s = s->sibling.get())
    of_sibling.push_back(offsets(lanes_width(w.run, *s)));
  for (int begin = 0, end = 0; begin < F; begin = end) {
    while (end < F && (end == begin || source.held || at[end + 1] - at[begin] <= kStatisticsBytes))
      end++;
    const auto mark = w.scratch.mark();
    char* memory = source.held ? source.held : w.scratch.take<char>(at[end] - at[begin]);
    const auto statistics_of = [&](int f) {
      return Search::at(w.run, f, memory + (at[f] - at[begin]));
    };
    std::mutex mutex;  // protects best
    const auto each_column = [&](const auto& search_column) {
      w.share(end - begin, [&](Worker& worker, Parts& parts) {
        Best local_best(worker, bundle);
        {
          const std::scoped_lock lock(mutex);
          local_best.merge(best);
        }
        Search search(worker, bundle, rows, rows_counted, all_rows, local_best);
        for (int i; (i = parts.take()) >= 0;) {
          worker.poll();
          search_column(search, begin + i, statistics_of(begin + i));
        }
        const std::scoped_lock lock(mutex);
        best.merge(local_best);
      });
    };
    each_column([&](Search& search, int f, const Statistics& h) {
      if (selected) selected->copy_codes(f, *rows.codes);
      if (!source.arrived) search.fill(f, h);
      else if (source.gone) search.take(f, h, gone, source.gone->rows);
      auto to = of_sibling.begin();
      for (const WaitingBundle* s = source.sibling; s; s = s->sibling.get())
        pack_column<true>(w.run, f, memory + (at[f] - at[begin]), Search::W, s->shared,
                          s->statistics.get() + (*to++)[f], lanes_width(w.run, *s));
      search.search_borders(f, h);
    });
    if (end == F) counted();
    // A bound is compared with the best border of all columns, so this is a second pass.
    if (all_rows.info)
      each_column([](Search& search, int f, const Statistics& h) { search.open_intervals(f, h); });
    w.scratch.release(mark);
  }
}

// selected: copies the codes of the rows; null: they need not be copied.
// counted(): all columns of the bundle have been counted.
template <class Counted>
Best search_large(Worker& w, const Bundle& bundle, const LargeRows& rows,
                  const LargeStatistics& source, const WaitingBundle* selected,
                  const Counted& counted) {
  Best best(w, bundle);
  const auto mark = w.scratch.mark();
  const Problem& p = w.run.p;
  const int W = lanes_width(w.run, bundle);
  CountedRows rows_counted{};
  if (!source.arrived) rows_counted = CountedRows::of(w, bundle, rows, W, source.lanes);
  const bool intervals = !w.run.by_value;  // does any column need the second resolution?
  u32* info = intervals ? w.scratch.take<u32>(rows.n) : nullptr;
  if (intervals)
    w.share_rows(rows.n, [&](u32 begin, u32 end) {
      for (u32 i = begin; i < end; i++)
        info[i] = w.run.describe(rows.masks[i], rows.class_of(p, i));
    });
  if (source.arrived && intervals) {
    const auto row = [&](u32 i) { return rows.row(i); };
    rows_counted.weight = w.gathered(p.weight, rows.n, row);
    rows_counted.product = w.gathered(rows.products, rows.n, row);
    rows_counted.times = times_of_lanes(w, rows.n, row);
  }
  CountedRows gone{};
  if (source.gone)
    gone = CountedRows::some(
        w, source.gone->n_rows, rows.products, [&](u32 i) { return source.gone->rows[i]; },
        [&](u32 i) { return u32{source.gone->masks[i]}; });
  const ScanRows all_rows{info, rows_counted.weight, rows_counted.product, rows_counted.times};
  const auto with = [&]<template <int> class P>() {
    with_width(W, [&]<int kW>() {
      search_large_with<P<kW>>(w, bundle, rows, rows_counted, all_rows, source, gone, selected,
                               counted, best);
    });
  };
  if (rows.n <= kFloatRows && w.run.p.n_classes < kTiedClasses)
    with_running_statistics<true>(w.run, with);
  else with_running_statistics<false>(w.run, with);
  w.scratch.release(mark);
  return best;
}

}  // namespace crosscut::CROSSCUT_LEVEL
