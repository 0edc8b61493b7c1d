// Running statistics for Gini with two classes and counted rows.
// With p the fraction of class 1 in the node and d = l1 − l·p, the quality is Q(node) +
// 2·d²·n/(l·r). So a cut beats the best test if d² > limit·l·r, which needs no division and
// subtracts no large numbers. Floats are exact up to kFloatRows rows; larger nodes use doubles.
// If the classes have weights w0 and w1, and L, R and N are the weights of the branches and the
// node, d becomes d·w0·w1·n/N, and the quality is Q(node) + 2·(d·w0·w1·n)²/(N·L·R). So only l·r
// changes, to L·R.
#pragma once
#include "grow/simd/lists.hpp"
#include "grow/search.hpp"

namespace crosscut::CROSSCUT_LEVEL {

constexpr u32 kFloatRows = 1 << 16;

// kWeighs: the classes have weights.
template <class Real, int W, bool kWeighs> struct BinaryGiniOf {
  using T = Real;
  using V = Vec<T, W>;
  static constexpr double kUnit = sizeof(T) == 4 ? 0x1p-24 : 0x1p-53;
  V n, share, l, l1, limit, noise;
  V n1, w0, w1;  // only if kWeighs: rows of class 1; the weights, of which the larger is 1
  const Bundle& bundle;

  BinaryGiniOf(const Run&, const Bundle& t, const Best& best, double*) : bundle(t) {
    n = share = noise = n1 = w0 = w1 = V{};
    limit = all<T, W>(std::numeric_limits<T>::infinity());
    each_bit(bundle.lanes, [&](int k) {
      const double rows = static_cast<double>(bundle.node[k]->n_rows), error = 2 * rows * kUnit;
      set_lane<T, W>(n, k, static_cast<T>(rows));
      set_lane<T, W>(share, k, static_cast<T>(bundle.node[k]->stats[1] / rows));
      set_lane<T, W>(noise, k, static_cast<T>(error * error));
      if (const ClassWeights* own = best.weights[k]) {
        set_lane<T, W>(n1, k, static_cast<T>(bundle.node[k]->stats[1]));
        set_lane<T, W>(w0, k, static_cast<T>(own->weight[0] / own->most));
        set_lane<T, W>(w1, k, static_cast<T>(own->weight[1] / own->most));
      }
      lower(best, k);
    });
    clear();
  }
  // Rounding must never reject the best cut. The error of d is at most 3·n units. `noise` keeps d²
  // of an empty side, which is rounding error only, below the limit. It raises the root of the
  // right-hand side by at most 2·n units. At a real cut l·r ≥ n − 1, so lowering √limit by 8·n
  // units over √(n − 1) covers both.
  void lower(const Best& best, int k) {
    if constexpr (kWeighs) return lower_weighted(best, k);
    const double* stats = bundle.node[k]->stats;
    const double rows = stats[0] + stats[1];
    const double node = (stats[0] * stats[0] + stats[1] * stats[1]) / rows;
    const double gain = best.q[k] - node - 4e-15 * node;
    const double root = gain > 0 ? __builtin_sqrt(gain / (2 * rows)) * (1 - 16 * kUnit) -
                                       8 * rows * kUnit / __builtin_sqrt(rows - 1)
                                 : 0;
    set_lane<T, W>(limit, k, static_cast<T>(root > 0 ? root * root : -1));
  }
  // The same in class weights. L and R are sums of positive terms, so their relative error is a few
  // units, and L·R is at least that of one row of the smaller weight.
  void lower_weighted(const Best& best, int k) {
    const ClassWeights& own = *best.weights[k];
    const double* stats = bundle.node[k]->stats;
    const double a = own.weight[0] / own.most, b = own.weight[1] / own.most;
    const double least = own.least / own.most, rows = stats[0] + stats[1];
    const double x = a * stats[0], y = b * stats[1], total = x + y;
    const double node = (x * x + y * y) / total;
    const double gain = best.lowest[k] / own.most - node - 1e-14 * node;
    const double root = gain > 0
                            ? __builtin_sqrt(gain * total / 2) / (a * b * rows) * (1 - 32 * kUnit) -
                                  8 * rows * kUnit / __builtin_sqrt(least * (total - least))
                            : 0;
    set_lane<T, W>(limit, k, static_cast<T>(root > 0 ? root * root : -1));
  }
  // L·R, given the rows on the left and those of class 1 among them.
  template <class X> CC_INLINE X sides(const X& left, const X& left1) const {
    if constexpr (!kWeighs) return left * (n - left);
    const X right1 = n1 - left1;
    return (w0 * (left - left1) + w1 * left1) * (w0 * (n - left - right1) + w1 * right1);
  }
  void clear() { l = l1 = V{}; }
  CC_INLINE void add(const ScanRows& rows, u32 row) {
    const u32 x = rows.info[row];
    l += ones<T, W>(x);
    l1 += ones<T, W>(x >> 16);
  }
  CC_INLINE void add_cell(const V* cell) {
    l += cell[0];
    l1 += cell[1];
  }
  CC_INLINE u32 promising() const {
    const V d = l1 - l * share;
    return greater<T, W>(d * d, limit * sides(l, l1) + noise);
  }
  // Bound of an interval. Gini is convex in (l0, l1), so its maximum over the box of possible left
  // counts is at a corner. Two corners are the ends of the interval; at the other two one class has
  // moved completely. Only those two matter. Let p be the fraction of class 1 and d > 0. Then
  // d²/(l·r) grows with every row of class 1 that moves left: the derivative of its logarithm is
  // 2(1 − p)/d − 1/l + 1/r, and d ≤ l·(1 − p). It also grows with every row of class 0 that moves
  // back, because d ≤ r·p. So the corner after all of class 1 bounds both ends. With d < 0 it is
  // the other corner.
  u32 alive(const V* cell, double) const {
    const u32 inside = greater<T, W>(cell[0], all<T, W>(1));
    BinaryGiniOf zero = *this, one = *this;
    zero.l += cell[0] - cell[1];
    one.l += cell[1];
    one.l1 += cell[1];
    return inside & (zero.promising() | one.promising());
  }
  void copy(const BinaryGiniOf& o) {
    l = o.l;
    l1 = o.l1;
    limit = o.limit;
  }
  static void cell_of(const Vec<u32, W>* counts, int, V* cell) {
    cell[1] = from_counts<T, W>(counts[1]);
    cell[0] = from_counts<T, W>(counts[0] + counts[1]);
  }
  // A single task: cuts given by their numbers of rows on the left and those of class 1 among them.
  using Sum = u32;
  CC_INLINE void sums(u32& rows, u32& ones_left) const {
    rows = static_cast<u32>(l);
    ones_left = static_cast<u32>(l1);
  }
  static CC_INLINE void add_bin(const Vec<u32, W>* counts, u32& rows, u32& ones_left) {
    rows += counts[0] + counts[1];
    ones_left += counts[1];
  }
  static CC_INLINE void add_row(const ScanRows& from, u32 row, u32& rows, u32& ones_left) {
    rows++;
    ones_left += from.info[row] >> 16;
  }
  // The promising ones of kCuts cuts with at least `least` and at most `most` rows on the left.
  CC_INLINE u32 promising(const Vec<u32, kCuts>& rows, const Vec<u32, kCuts>& ones_left, T least,
                          T most) const {
    const Vec<T, kCuts> x = from_counts<T, kCuts>(rows);
    const Vec<T, kCuts> x1 = from_counts<T, kCuts>(ones_left), d = x1 - x * share;
    return greater<T, kCuts>(d * d, sides(x, x1) * limit + noise) &
           greater<T, kCuts>(x, all<T, kCuts>(least - T{0.5})) &
           greater<T, kCuts>(all<T, kCuts>(most + T{0.5}), x);
  }
  void put_sums(u32 rows, u32 ones_left)
    requires(W == 1)
  {
    l = static_cast<T>(rows);
    l1 = static_cast<T>(ones_left);
  }
  T gain() const {  // up to a constant factor
    const T d = l1 - l * share;
    return d * d / sides(l, l1);
  }
  // A single task: kCuts consecutive cuts of a sorted list at once.
  struct Cuts {
    using F = Vec<float, kCuts>;
    F l, l1;
    u32 ones;  // rows of class 1 before the next entries

    explicit Cuts(const BinaryGiniOf& p) : ones(static_cast<u32>(p.l1)) {
      for (int k = 0; k < kCuts; k++)
        l[k] = static_cast<float>(p.l) + static_cast<float>(k + 1 - kCuts);
    }
    CC_INLINE void next(const BinaryGiniOf&, const ScanRows&, const u32* list) {
      const u32 bits = of_class(list, 1);
      l += static_cast<float>(kCuts);
      l1 = bit_counts(bits) + static_cast<float>(ones);
      ones += static_cast<u32>(__builtin_popcount(bits));
    }
    CC_INLINE u32 promising(const BinaryGiniOf& p) const {
      const F d = l1 - l * p.share;
      return greater<float, kCuts>(d * d, p.sides(l, l1) * p.limit + p.noise);
    }
    CC_INLINE F gains(const BinaryGiniOf& p) const {  // up to a constant factor
      const F d = l1 - l * p.share;
      return d * d / p.sides(l, l1);
    }
    void put(BinaryGiniOf& p, u32 k) const {
      p.l = l[k];
      p.l1 = l1[k];
    }
  };
  // A single task: one value after the other, given the class counts of its rows.
  struct Values {
    T l, l1;
    explicit Values(const BinaryGiniOf& p)
      requires(W == 1)
        : l(p.l), l1(p.l1) {}
    CC_INLINE void add(const BinaryGiniOf&, const u32* counts) {
      l += static_cast<T>(counts[0] + counts[1]);
      l1 += static_cast<T>(counts[1]);
    }
    T rows() const { return l; }
    CC_INLINE bool promising(const BinaryGiniOf& p) const {
      const T d = l1 - l * p.share;
      return d * d > p.limit * p.sides(l, l1) + p.noise;
    }
    void put(BinaryGiniOf& p) const {
      p.l = l;
      p.l1 = l1;
    }
  };
  // A single task without class weights: the quality as Quality::binary computes it, bit for bit,
  // because everything except the divisions is exact.
  double quality() const
    requires(W == 1)
  {
    const double* all = bundle.node[0]->stats;
    const double l_1 = static_cast<double>(l1);
    const double l_0 = static_cast<double>(l) - l_1;
    const double r_0 = all[0] - l_0;
    const double r_1 = all[1] - l_1;
    return (l_0 * l_0 + l_1 * l_1) / (l_0 + l_1) + (r_0 * r_0 + r_1 * r_1) / (r_0 + r_1);
  }
  void put_left(const double* s, i64 rows)
    requires(W == 1)
  {
    l = static_cast<T>(rows);
    l1 = static_cast<T>(s[1]);
  }
  i64 rows_left(int k) const { return static_cast<i64>(lane<T, W>(l, k)); }
  void left(int k, double* s) const {
    s[1] = lane<T, W>(l1, k);
    s[0] = lane<T, W>(l, k) - s[1];
  }
  i64 cell_stats(const V* cell, int k, double* s) const {
    s[1] = lane<T, W>(cell[1], k);
    s[0] = lane<T, W>(cell[0], k) - s[1];
    return static_cast<i64>(lane<T, W>(cell[0], k));
  }
};

template <int W> using BinaryGini = BinaryGiniOf<float, W, false>;
template <int W> using WideBinaryGini = BinaryGiniOf<double, W, false>;
template <int W> using ClassWeightsBinaryGini = BinaryGiniOf<float, W, true>;
template <int W> using WideClassWeightsBinaryGini = BinaryGiniOf<double, W, true>;

}  // namespace crosscut::CROSSCUT_LEVEL
