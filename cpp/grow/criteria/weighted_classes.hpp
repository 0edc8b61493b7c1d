// Base of the running statistics of classes in doubles, for counts or weights (weighted_gini.hpp,
// any_classes.hpp). The last entry of a cell is the number of rows.
#pragma once
#include "class_sums.hpp"
#include "grow/simd/lists.hpp"

namespace crosscut::CROSSCUT_LEVEL {

template <int W> struct WeightedClasses : ClassSums<double, W> {
  using Sums = ClassSums<double, W>;
  using Sums::C, Sums::n_c, Sums::l_c, Sums::limit;
  using typename Sums::T, typename Sums::V;
  const Run& run;
  V n, rows_l, node_q;
  u32 lanes;

  WeightedClasses(const Run& r, const Bundle& bundle, const Best& best, double* space)
      : Sums(r, bundle, space), run(r), lanes(bundle.lanes) {
    n = node_q = V{};
    each_bit(lanes, [&](int k) {
      set_lane<T, W>(n, k, run.quality.total(bundle.node[k]->stats));
      set_lane<T, W>(node_q, k, run.quality.branch(bundle.node[k]->stats));
      lower(best, k);
    });
    clear();
  }
  void clear() {
    rows_l = V{};
    this->clear_classes();
  }
  void lower(const Best& best, int k) { set_lane<T, W>(limit, k, best.lowest[k]); }
  CC_INLINE V weights_of(const ScanRows& rows, u32 row, u32 mask) const {
    V w = times_of_row<T, W>(rows.times, row, mask);
    if (rows.weight) w *= rows.weight[row];
    return w;
  }
  CC_INLINE void add(const ScanRows& rows, u32 row) {
    const u32 x = rows.info[row];
    rows_l += ones<T, W>(x);
    l_c[x >> 16] += weights_of(rows, row, x & 0xffff);
  }
  CC_INLINE void add_cell(const V* cell) {
    for (int c = 0; c < C; c++) l_c[c] += cell[c];
    rows_l += cell[C];
  }
  void copy(const WeightedClasses& o) {
    rows_l = o.rows_l;
    this->copy_classes(o);
  }
  static void cell_of(const Vec<u32, W>* counts, int C, V* cell) {
    Vec<u32, W> sum{};
    for (int c = 0; c < C; c++) {
      cell[c] = from_counts<T, W>(counts[c]);
      sum += counts[c];
    }
    cell[C] = from_counts<T, W>(sum);
  }
  // A single task: one value after the other, given the class counts of its rows.
  struct Values {
    double l_c[kListClasses], l;
    explicit Values(const WeightedClasses& p)
      requires(W == 1)
        : l(p.rows_l) {
      std::copy_n(p.l_c, p.C, l_c);
    }
    void add(const WeightedClasses& p, const u32* counts) {
      for (int c = 0; c < p.C; c++) {
        l_c[c] += counts[c];
        l += counts[c];
      }
    }
    double rows() const { return l; }
    template <class P> bool promising(P& p) const {
      put(p);
      return p.promising() != 0;
    }
    template <class P> void put(P& p) const {
      p.rows_l = l;
      std::copy_n(l_c, p.C, p.l_c);
    }
  };
  void put_left(const double* s, i64 rows)
    requires(W == 1)
  {
    rows_l = static_cast<T>(rows);
    for (int c = 0; c < C; c++) l_c[c] = s[c];
  }
  i64 rows_left(int k) const { return static_cast<i64>(lane<T, W>(rows_l, k)); }
  i64 cell_stats(const V* cell, int k, double* s) const {
    for (int c = 0; c < C; c++) s[c] = lane<T, W>(cell[c], k);
    return static_cast<i64>(lane<T, W>(cell[C], k));
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL
