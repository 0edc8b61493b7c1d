// Running statistics for regression: sum P, weight W and number of rows. A cell has these numbers,
// the number of rows only if it is not the weight. If intervals can be opened, the last number is
// Q, the sum of p²/w over the rows.
// A cut beats the best test if P_l²/W_l + P_r²/W_r > limit or, without division, P_l²·W_r +
// P_r²·W_l > limit·W_l·W_r.
#pragma once
#include "grow/simd/lists.hpp"
#include "grow/search.hpp"

namespace crosscut::CROSSCUT_LEVEL {

template <int W> struct Moments {
  using T = double;
  using V = Vec<T, W>;
  V p, w, p_l, w_l, rows_l, limit;
  const bool weighted;
  const int rows_at, squares_at;  // in a cell

  Moments(const Run& run, const Bundle& bundle, const Best& best, double*)
      : weighted(run.weighted), rows_at(run.rows_part()), squares_at(rows_at + 1) {
    p = w = V{};
    limit = all<T, W>(std::numeric_limits<T>::infinity());
    each_bit(bundle.lanes, [&](int k) {
      set_lane<T, W>(p, k, bundle.node[k]->stats[0]);
      set_lane<T, W>(w, k, bundle.node[k]->stats[1]);
      lower(best, k);
    });
    clear();
  }
  void clear() { p_l = w_l = rows_l = V{}; }
  void put(double sum, double rows)
    requires(W == 1)
  {
    p_l = sum;
    w_l = rows;
  }
  // A single task whose rows count once: cuts given by their P and W on the left.
  using Sum = double;
  CC_INLINE void sums(double& sum, double& rows) const {
    sum = p_l;
    rows = w_l;
  }
  static CC_INLINE void add_bin(const V* cell, double& sum, double& rows) {
    sum += cell[0];
    rows += cell[1];
  }
  static CC_INLINE void add_row(const ScanRows& from, u32 row, double& sum, double& rows) {
    sum += from.product[row];
    rows += 1;
  }
  // The promising ones of kCuts cuts with at least `least` and at most `most` rows on the left.
  CC_INLINE u32 promising(const Vec<double, kCuts>& sum, const Vec<double, kCuts>& rows,
                          double least, double most) const {
    const Vec<double, kCuts> p_r = p - sum, w_r = w - rows;
    return greater<double, kCuts>(sum * sum * w_r + p_r * p_r * rows, rows * w_r * limit) &
           greater<double, kCuts>(rows, all<double, kCuts>(least - 0.5)) &
           greater<double, kCuts>(all<double, kCuts>(most + 0.5), rows);
  }
  void put_sums(double sum, double rows)
    requires(W == 1)
  {
    p_l = sum;
    w_l = rows;
    rows_l = rows;
  }
  double gain() const { return p_l * p_l / w_l + (p - p_l) * (p - p_l) / (w - w_l); }
  void put_left(const double* s, i64 rows)
    requires(W == 1)
  {
    p_l = s[0];
    w_l = s[1];
    rows_l = static_cast<double>(rows);
  }
  void lower(const Best& best, int k) {
    set_lane<T, W>(limit, k, best.lowest[k] * (1 - 1e-11) - 1e-290);
  }
  CC_INLINE void both(const ScanRows& rows, u32 row, u32 mask, V& pr, V& wt) const {
    const V m = times_of_row<T, W>(rows.times, row, mask);
    pr = m * rows.product[row];
    wt = rows.weight ? m * rows.weight[row] : m;
  }
  CC_INLINE void add(const ScanRows& rows, u32 row) {
    const u32 x = rows.info[row];
    if (!weighted) {
      const V m = ones<T, W>(x);
      p_l += m * rows.product[row];
      w_l += m;
      return;
    }
    V pr, wt;
    both(rows, row, x, pr, wt);
    p_l += pr;
    w_l += wt;
    rows_l += ones<T, W>(x);
  }
  CC_INLINE void add_cell(const V* cell) {
    p_l += cell[0];
    w_l += cell[1];
    rows_l += cell[rows_at];
  }
  CC_INLINE u32 promising() const {
    const V p_r = p - p_l, w_r = w - w_l;
    return greater<T, W>(p_l * p_l * w_r + p_r * p_r * w_l, limit * (w_l * w_r));
  }
  // May a test of lane k be the best? left: statistics of its first branch.
  CC_INLINE bool worth(int k, const double* left) const {
    const double p_r = lane<T, W>(p, k) - left[0], w_r = lane<T, W>(w, k) - left[1];
    return left[0] * left[0] * w_r + p_r * p_r * left[1] > lane<T, W>(limit, k) * (left[1] * w_r);
  }
  // Bound of an interval of weight h and sum h·ȳ. By Cauchy–Schwarz, rows of weight k from it sum
  // to k·ȳ ± √(k(h−k)/h · SSD), where SSD = Q − (h·ȳ)²/h is the sum of squared deviations. This
  // half ellipse and its mirror image lie in an octagon. The quality is convex in (W_l, P_l), so
  // its maximum over the octagon is at one of the eight corners. P and W are exact. `error` bounds
  // the error of Q, with room for the roundings of the other terms (fill_moments). The better one
  // of two corners at P_l ± e is found without a division: W_l·W_r times its quality is P_l²·W_r +
  // P_r²·W_l + W·e² + 2e·|P_l·W_r − P_r·W_l|.
  u32 alive(const V* cell, double error) const {
    const u32 inside = greater<T, W>(cell[rows_at], all<T, W>(1));
    if (!inside) return 0;
    const V h = cell[1], q = cell[0];
    const V h_ssd = magnitudes<W>(h * (cell[squares_at] + error) - q * q) + 1e-300;
    const V d = 0.5 * roots_above<W>(h_ssd);
    // A side without weight has no bound: open the interval.
    u32 bits =
        greater<T, W>(all<T, W>(1e-300), w_l) | greater<T, W>(all<T, W>(1e-300), w - w_l - h);
    constexpr double x[4] = {0, 0.29289321881345243, 0.70710678118654757, 1};
    constexpr double y[4] = {0.41421356237309515, 1, 1, 0.41421356237309515};
    const auto beats = [this, &h, &q, &d]<int kCorners>(const auto& at, const auto& height) {
      const auto wl = w_l + h * at, wr = w - wl;
      const auto pl = p_l + q * at, pr = p - pl;
      const auto e = d * height, left = pl * wr, right = pr * wl;
      const auto change = 2 * magnitudes<kCorners>(left - right);
      return greater<T, kCorners>(pl * left + pr * right + e * (w * e + change), limit * (wl * wr));
    };
    if constexpr (W == 1) {  // the corners are lanes
      Vec<T, 8> at{}, height{};
      for (int i = 0; i < 4; i++) {
        at[i] = x[i];
        height[i] = y[i];
      }
      bits |= (beats.template operator()<8>(at, height) & 0xf) != 0;
    } else {
      for (int i = 0; i < 4; i++)
        bits |= beats.template operator()<W>(all<T, W>(x[i]), all<T, W>(y[i]));
    }
    return inside & bits;
  }
  void copy(const Moments& o) {
    p_l = o.p_l;
    w_l = o.w_l;
    rows_l = o.rows_l;
    limit = o.limit;
  }
  static void cell_of(const Vec<u32, W>*, int, V*) {}
  // A single task whose rows count once: up to kMost consecutive cuts at once. Sums of integers are
  // exact in any order.
  struct Cuts {
    static constexpr u32 kMost = 64;
    using D = Vec<double, kDoubles>;
    D p[kMost / kDoubles], w[kMost / kDoubles];  // P and W left of every cut
    double sum, end;                             // P and W before the next entries

    explicit Cuts(const Moments& m) : sum(m.p_l), end(m.w_l) {}
    // Returns the promising cuts, as bits, among the cuts after the next n entries.
    CC_INLINE u64 next(const Moments& m, const ScanRows& rows, const u32* list, u32 n) {
      u64 promising = 0;
      D left, before = D{} + sum;
      for (int k = 0; k < kDoubles; k++) left[k] = end + (k + 1);
      for (u32 i = 0; i < n; i += kDoubles) {
        D sums_here;
        // regression: the low 16 bits of an entry are the row alone
        for (u32 k = 0; k < kDoubles; k++)
          sums_here[k] = rows.product[static_cast<u16>(list[i + k])];
        sums_here = running_sum(sums_here);
        const D x = sums_here + before;
        before += last_of(sums_here);
        p[i / kDoubles] = x;
        w[i / kDoubles] = left;
        const D p_r = m.p - x, w_r = m.w - left;
        promising |= static_cast<u64>(greater<double, kDoubles>(x * x * w_r + p_r * p_r * left,
                                                                left * w_r * m.limit))
                     << i;
        left += static_cast<double>(kDoubles);
      }
      sum = before[0];
      end += n;
      return n < kMost ? promising & ((u64{1} << n) - 1) : promising;
    }
    // The same for the cuts after the next n values, given their sums. A cut counts if its value
    // has rows and at least `least` and at most `most` rows are left of it. Up to kDoubles − 1
    // values behind the end are read.
    CC_INLINE u64 next(const Moments& m, const Vec<double, 2>* sums, u32 n, double least,
                       double most) {
      u64 promising = 0;
      const D fewest = all<double, kDoubles>(least - 0.5);
      const D not_all = all<double, kDoubles>(most + 0.5);
      for (u32 i = 0; i < n; i += kDoubles) {
        D x, weights;
        for (u32 k = 0; k < kDoubles; k++) {
          x[k] = sums[i + k][0];
          weights[k] = sums[i + k][1];
        }
        const D left = running_sum(weights) + end;
        x = running_sum(x) + sum;
        p[i / kDoubles] = x;
        w[i / kDoubles] = left;
        sum = x[kDoubles - 1];
        end = left[kDoubles - 1];
        const D p_r = m.p - x, w_r = m.w - left;
        const u32 good =
            greater<double, kDoubles>(x * x * w_r + p_r * p_r * left, left * w_r * m.limit) &
            greater<double, kDoubles>(weights, D{}) & greater<double, kDoubles>(left, fewest) &
            greater<double, kDoubles>(not_all, left);
        promising |= static_cast<u64>(good) << i;
      }
      return n < kMost ? promising & ((u64{1} << n) - 1) : promising;
    }
    void put(Moments& m, u32 k) const {
      m.put(p[k / kDoubles][k % kDoubles], w[k / kDoubles][k % kDoubles]);
    }
    // The cut with the largest gain. After it is evaluated, most others are below the new limit.
    u32 best(Moments& m, u64 cuts) const {
      u32 promising = static_cast<u32>(__builtin_ctzll(cuts));
      double most = -1;
      for (u64 rest = cuts & (cuts - 1) ? cuts : 0; rest; rest &= rest - 1) {
        const u32 k = static_cast<u32>(__builtin_ctzll(rest));
        put(m, k);
        const double p_r = m.p - m.p_l;
        const double w_r = m.w - m.w_l;
        const double gain = m.p_l * m.p_l / m.w_l + p_r * p_r / w_r;
        if (gain > most) {
          most = gain;
          promising = k;
        }
      }
      return promising;
    }
    u64 still_promising(Moments& m, u64 cuts) const {
      u64 promising = 0;
      for (; cuts; cuts &= cuts - 1) {
        const u32 k = static_cast<u32>(__builtin_ctzll(cuts));
        put(m, k);
        promising |= static_cast<u64>(m.promising()) << k;
      }
      return promising;
    }
  };
  i64 rows_left(int k) const {
    return static_cast<i64>(weighted ? lane<T, W>(rows_l, k) : lane<T, W>(w_l, k));
  }
  void left(int k, double* s) const {
    s[0] = lane<T, W>(p_l, k);
    s[1] = lane<T, W>(w_l, k);
  }
  i64 cell_stats(const V* cell, int k, double* s) const {
    s[0] = lane<T, W>(cell[0], k);
    s[1] = lane<T, W>(cell[1], k);
    return static_cast<i64>(lane<T, W>(cell[rows_at], k));
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL
