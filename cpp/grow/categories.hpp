// Statistics of a nominal column per category, for the lanes that chose a test of it.
#pragma once
#include "bundle.hpp"
#include "grow/exact/exact.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// Lane k has the statistics table[k], [V][K], and the row counts n[k], [V]. A row that at most one
// lane lacks is added once for all lanes and subtracted from that lane; sums on the grid are exact.
struct CategoryTables {
  u32 V;
  double* table[kLanes];
  i64* n[kLanes];

  template <class Rows>
  static CategoryTables of(Worker& w, const Bundle& bundle, const Rows& rows, int f, u32 lanes) {
    const Problem& p = w.run.p;
    CategoryTables out;
    out.V = rows.n_ranks(f);
    const std::size_t K = static_cast<std::size_t>(w.run.K()), size = out.V * K;
    const auto empty = [&](double*& sums, i64*& counts) {
      sums = w.scratch.take<double>(size);
      counts = w.scratch.take<i64>(out.V);
      std::fill_n(sums, size, 0.0);
      std::fill_n(counts, out.V, i64{0});
    };
    double* all;
    i64* all_n;
    empty(all, all_n);
    each_bit(lanes, [&](int k) { empty(out.table[k], out.n[k]); });
    for (u32 i = 0; i < rows.n; i++) {
      const u32 m = rows.mask(i) & lanes, absent = lanes & ~m;
      if (!m) continue;
      const std::size_t row = rows.row(i), v = rows.rank(f, i);
      const auto add = [&](double* sums, i64* counts, double times, i64 sign) {
        const double weight = times * (p.weight ? p.weight[row] : 1);
        counts[v] += sign;
        if (p.n_classes) sums[v * K + static_cast<std::size_t>(p.classes[row])] += weight;
        else {
          sums[v * 2] += times * p.product[row];
          sums[v * 2 + 1] += weight;
        }
      };
      if (p.multiplicity) {
        each_bit(m, [&](int k) { add(out.table[k], out.n[k], times_of(w, bundle, k, row), 1); });
      } else if (absent & (absent - 1)) {
        each_bit(m, [&](int k) { add(out.table[k], out.n[k], 1, 1); });
      } else {
        add(all, all_n, 1, 1);
        each_bit(absent, [&](int k) { add(out.table[k], out.n[k], -1, -1); });
      }
    }
    each_bit(lanes, [&](int k) {
      for (std::size_t j = 0; j < size; j++) out.table[k][j] += all[j];
      for (u32 v = 0; v < out.V; v++) out.n[k][v] += all_n[v];
    });
    return out;
  }
};

// Exact sums of lane k's rows per category, added up on the first call.
template <class Rows> struct ExactSums {
  Worker& w;
  const Bundle& bundle;
  const Rows& rows;
  int k, f;
  i64* sums = nullptr;

  const i64* operator()(int v) {
    const int T = w.run.p.n_sums();
    if (!sums) {
      sums = empty_sums(w, static_cast<int>(rows.n_ranks(f)));
      for (u32 i = 0; i < rows.n; i++)
        if (rows.mask(i) >> k & 1)
          add_exactly(w, bundle, k, rows.row(i), sums + static_cast<int>(rows.rank(f, i)) * T);
    }
    return sums + v * T;
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL
