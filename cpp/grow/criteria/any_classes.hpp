// Any class criterion on counts or weights, in doubles: Gini of weights, entropy, gain ratio. The last part counts rows.
#pragma once
#include "class_sums.hpp"
#include "grow/simd/lists.hpp"

namespace crosscut::CROSSCUT_LEVEL {

template <int W>
struct AnyClasses : ClassSums<double, W> {
  using Sums = ClassSums<double, W>;
  using typename Sums::T, typename Sums::V;
  using Sums::C, Sums::n_c, Sums::l_c, Sums::limit;
  const Run& run;
  V n, rows_l, node_q;
  u32 lanes;

  AnyClasses(const Run& r, const Bundle& bundle, const Best& best, double* space) : Sums(r, bundle, space), run(r), lanes(bundle.lanes) {
    n = node_q = V{};
    each_bit(lanes, [&](int k) {
      set_lane<T, W>(n, k, run.judge.total(bundle.node[k]->stats));
      set_lane<T, W>(node_q, k, run.judge.branch(bundle.node[k]->stats));
      lower(best, k);
    });
    clear();
  }
  int parts() const { return C + 1; }
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
    rows_l += ones<T, W>(x), l_c[x >> 16] += weights_of(rows, row, x & 0xffff);
  }
  CC_INLINE void add_to(V* cell, const ScanRows& rows, u32 row) const {
    const u32 x = rows.info[row];
    cell[C] += ones<T, W>(x), cell[x >> 16] += weights_of(rows, row, x & 0xffff);
  }
  CC_INLINE void add_cell(const V* cell) {
    for (int c = 0; c < C; c++) l_c[c] += cell[c];
    rows_l += cell[C];
  }
  CC_INLINE double x(double v) const { return run.judge.xlogs && v < kXlogs ? run.judge.xlogs[static_cast<u32>(v)] : xlog(v); }
  u32 promising() const {
    V l = V{};
    for (int c = 0; c < C; c++) l += l_c[c];
    const V r = n - l;
    if (run.judge.criterion == Criterion::gini) {
      V a, b;
      this->sum_squares(a, b);
      return greater<T, W>(a * r + b * l, limit * (T(1) - 1e-11) * (l * r));
    }
    u32 bits = 0;  // entropy: logarithms lane by lane
    each_bit(lanes, [&](int k) {
      const double lk = lane<T, W>(l, k), rk = lane<T, W>(r, k), N = lane<T, W>(n, k), xl = x(lk), xr = x(rk);
      double q = -xl - xr;
      for (int c = 0; c < C; c++) {
        const double lc = lane<T, W>(l_c[c], k);
        q += x(lc) + x(lane<T, W>(n_c[c], k) - lc);
      }
      const double slack = 1e-11 * (x(N) + N), best = lane<T, W>(limit, k);
      const bool yes = run.judge.criterion == Criterion::entropy
                           ? q > best - slack
                           : best == kNever || q - lane<T, W>(node_q, k) > best * (x(N) - xl - xr) - slack * (1 + best);
      bits |= static_cast<u32>(yes && lk > 0 && rk > 0) << k;
    });
    return bits;
  }
  // Bound of an interval, Gini: convex in the left sums, so its best value over the box an interval can give is at a corner (each class
  // all moved or not). All corners are looked at for up to four classes; with more, every interval is opened.
  u32 alive(const V* cell, double) {
    const u32 inside = greater<T, W>(cell[C], all<T, W>(1));
    if (!inside) return 0;
    if (run.judge.criterion != Criterion::gini) return inside & alive_entropy(cell);
    if (C > 4) return inside;
    V before[4];
    for (int c = 0; c < C; c++) before[c] = l_c[c];
    u32 bits = 0;
    for (u32 corner = 0; corner < 1u << C; corner++) {
      for (int c = 0; c < C; c++) l_c[c] = corner >> c & 1 ? before[c] + cell[c] : before[c];
      bits |= promising();
    }
    for (int c = 0; c < C; c++) l_c[c] = before[c];
    return inside & bits;
  }
  // Entropy's quality is Σ_c φ_c(l_c) + g(l), φ_c(v) = x(v) + x(n_c − v) convex and g(l) = −x(l) − x(n − l) concave. Over an interval φ_c lies
  // below its chord and g below its tangent at the middle: a sum that is linear in every class's rows moved, so each class
  // is best moved wholly or not at all. Gain ratio: that gain over the least split information, which lies at an end.
  u32 alive_entropy(const V* cell) const {
    u32 bits = 0;
    each_bit(lanes, [&](int k) {
      const double N = lane<T, W>(n, k), best = lane<T, W>(limit, k);
      double here = 0, size = 0;
      for (int c = 0; c < C; c++) here += lane<T, W>(l_c[c], k), size += lane<T, W>(cell[c], k);
      const double middle = here + size / 2, rest = N - middle, tangent = __builtin_log2(rest / middle);
      if (!(middle > 0 && rest > 0)) {
        bits |= 1u << k;
        return;
      }
      double q = -xlog(middle) - xlog(rest) - tangent * size / 2;
      for (int c = 0; c < C; c++) {
        const double left = lane<T, W>(l_c[c], k), right = lane<T, W>(n_c[c], k) - left, moved = lane<T, W>(cell[c], k);
        const double start = x(left) + x(right), gain = moved > 0 ? x(left + moved) + x(right - moved) - start + tangent * moved : 0;
        q += start + (gain > 0 ? gain : 0);
      }
      const double slack = 1e-11 * (x(N) + N);
      if (run.judge.criterion == Criterion::entropy) {
        bits |= static_cast<u32>(q > best - slack) << k;
        return;
      }
      const double end = here + size, split_a = x(N) - x(here) - x(N - here), split_b = x(N) - x(end) - x(N - end);
      const double split = split_a < split_b ? split_a : split_b, gain = q - lane<T, W>(node_q, k);
      bits |= static_cast<u32>(best == kNever || split <= 0 || gain > best * split - slack * (1 + best)) << k;
    });
    return bits;
  }
  void copy(const AnyClasses& o) {
    rows_l = o.rows_l;
    this->copy_classes(o);
  }
  static void cell_of(const Vec<u32, W>* counts, int C, V* cell) {
    Vec<u32, W> sum{};
    for (int c = 0; c < C; c++) cell[c] = from_counts<T, W>(counts[c]), sum += counts[c];
    cell[C] = from_counts<T, W>(sum);
  }
  // One task alone: a value's rows after the other, by the counts of their classes.
  struct Values {
    double l_c[kListClasses], l;
    explicit Values(const AnyClasses& p) requires(W == 1) : l(p.rows_l) { std::copy_n(p.l_c, p.C, l_c); }
    void add(const AnyClasses& p, const u32* counts) {
      for (int c = 0; c < p.C; c++) l_c[c] += counts[c], l += counts[c];
    }
    double rows() const { return l; }
    bool promising(AnyClasses& p) const { return put(p), p.promising() != 0; }
    void put(AnyClasses& p) const { p.rows_l = l, std::copy_n(l_c, p.C, p.l_c); }
  };
  void put_left(const double* s, i64 rows) requires(W == 1) {
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
