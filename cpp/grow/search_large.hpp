// The best tests of a large bundle, in two resolutions. Threads share the columns; the best test does not depend on who found it.
#pragma once
#include "interval_search.hpp"
#include "lane_statistics.hpp"

namespace crosscut::CROSSCUT_LEVEL {

constexpr std::size_t kStatisticsBytes = std::size_t{128} << 20;  // columns are done in batches whose statistics fit into this

// All columns by all helpers (one worker per thread; helpers[0] is the caller).
template <class P>
void search_large_with(Worker** helpers, int n_helpers, const Bundle& bundle, const LargeRows& rows, const SortedRows& sorted,
                       const ScanRows& all_rows, Best& best) {
  using Search = IntervalSearch<P>;
  using Statistics = typename Search::Statistics;
  const Run& run = helpers[0]->run;
  const int F = run.p.n_features;
  Failure failure;
  for (int begin = 0, end = 0; begin < F; begin = end) {
    for (std::size_t bytes = 0; end < F && (end == begin || bytes + Search::bytes(run, end) <= kStatisticsBytes);) bytes += Search::bytes(run, end++);
    std::atomic<int> next{begin}, next_to_open{begin};
    const auto before = helpers[0]->scratch.mark();
    Statistics* statistics = helpers[0]->scratch.take<Statistics>(static_cast<std::size_t>(end - begin));
    Team& team = *run.team;
    team.run(n_helpers, [&](int me) {
      Worker& w = *helpers[me];
      const auto mark = w.scratch.mark();
      Best* mine = nullptr;
      Search* search = nullptr;
      const auto share = [&] {
        const std::scoped_lock lock(team.mutex);
        if (!failure.any()) best.merge(*mine);
      };
      failure.guard([&] {
        mine = new (w.scratch.take<Best>(1)) Best(w, bundle);
        {
          const std::scoped_lock lock(team.mutex);  // others may be done with their columns already
          mine->merge(best);
        }
        search = new (w.scratch.take<char>(sizeof(Search))) Search(w, bundle, rows, sorted, all_rows, *mine);
        for (int f; (f = next.fetch_add(1)) < end;) {
          w.poll();
          statistics[f - begin] = search->statistics(f);
          search->search_borders(f, statistics[f - begin]);
        }
      });
      share();
      if (n_helpers > 1) team.meet();  // bounds compare with the best border of all columns
      failure.guard([&] {
        mine->merge(best);
        search->refresh();
        for (int f; (f = next_to_open.fetch_add(1)) < end;) {
          w.poll();
          search->open_intervals(f, statistics[f - begin]);
        }
      });
      if (n_helpers > 1) team.meet();
      share();
      w.scratch.release(mark);
    });
    helpers[0]->scratch.release(before);
    failure.rethrow();
  }
}

inline Best search_large(Worker** helpers, int n_helpers, const Bundle& bundle, const LargeRows& rows) {
  Worker& w = *helpers[0];
  Best best(w, bundle);
  const auto mark = w.scratch.mark();
  const Problem& p = w.run.p;
  const int W = large_width(p.multiplicity ? kLanes : bundle.n);
  const SortedRows sorted = SortedRows::of(w, n_helpers, bundle, rows, W);
  u32* info = w.scratch.take<u32>(rows.n);
  w.run.share_rows(n_helpers, rows.n, [&](u32 begin, u32 end, int) {
    for (u32 i = begin; i < end; i++) info[i] = w.run.describe(rows.masks[i], p.n_classes ? static_cast<u32>(p.classes[rows.row(i)]) : 0);
  });
  const auto row = [&](u32 i) { return rows.row(i); };
  const auto gathered = [&](const double* from) { return w.run.gathered(w.scratch, from, rows.n, row, n_helpers); };
  const ScanRows all_rows{info, gathered(p.weight), gathered(p.product), sorted.times};  // with multiplicities every row is mixed, so positions agree
  const auto with = [&]<template <int> class P>() {
    if (W == 1) search_large_with<P<1>>(helpers, n_helpers, bundle, rows, sorted, all_rows, best);
    else if (W == 8) search_large_with<P<8>>(helpers, n_helpers, bundle, rows, sorted, all_rows, best);
    else search_large_with<P<16>>(helpers, n_helpers, bundle, rows, sorted, all_rows, best);
  };
  const bool floats = rows.n <= kFloatRows;
  switch (w.run.family) {
    case Run::Family::binary_gini: floats ? with.template operator()<BinaryGini>() : with.template operator()<WideBinaryGini>(); break;
    case Run::Family::many_gini: floats ? with.template operator()<ManyGini>() : with.template operator()<WideManyGini>(); break;
    case Run::Family::any_classes: with.template operator()<AnyClasses>(); break;
    case Run::Family::moments: with.template operator()<Moments>(); break;
  }
  w.scratch.release(mark);
  return best;
}

}  // namespace crosscut::CROSSCUT_LEVEL
