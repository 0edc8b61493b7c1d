// Running statistics for Gini with any number of classes and counted rows.
// A and B are the sums of squared class counts left and right of the cut. Moving one row of class c
// to the left changes A by 2·l_c + 1 and B by 2·l_c + 1 − 2·n_c, whatever the number of classes.
// If the classes have weights, the sums of both sides are computed at every cut, from the counts.
// All terms are positive, so their relative errors are a few units.
#pragma once
#include "class_sums.hpp"
#include "grow/simd/lists.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// kWeighs: the classes have weights.
template <class Real, int W, bool kWeighs> struct ManyGiniOf : ClassSums<Real, W> {
  using Sums = ClassSums<Real, W>;
  using T = Real;
  using V = Vec<T, W>;
  using Sums::C, Sums::n_c, Sums::l_c, Sums::limit, Sums::padded, Sums::kStep, Sums::sum,
      Sums::step;
  using typename Sums::Step;
  static constexpr double kUnit = sizeof(T) == 4 ? 0x1p-24 : 0x1p-53;
  V n, l, a, b, b0;
  V* const w_c;  // [padded] only if kWeighs: the weights, of which the largest is 1
  int n_present = 0;
  u8 present[kListClasses];  // single task: the classes present, if list entries can name them
  // A and B are updated with every row. Otherwise they are summed at every cut. They are integers,
  // which floats hold exactly up to 2^24 (4096 rows) and doubles up to 2^53. For larger nodes they
  // are summed again every 64 rows, which change integers above 2^24 by less than 1/32. So their
  // rounding errors stay below 66 units, and the slack of `lower` covers them.
  bool running = !kWeighs;
  static constexpr u32 kSumEvery = 64;

  ManyGiniOf(const Run& run, const Bundle& bundle, const Best& best, double* space)
      : Sums(run, bundle, space), w_c(l_c + padded) {
    n = b0 = V{};
    if constexpr (kWeighs) take_weights(bundle, best);
    each_bit(bundle.lanes, [&](int k) {
      set_lane<T, W>(n, k, static_cast<T>(bundle.node[k]->n_rows));
      lower(best, k);
    });
    for (int c = 0; c < C; c++) b0 += n_c[c] * n_c[c];
    if constexpr (W == 1)
      for (int c = 0; c < C && C <= kListClasses; c++)
        if (n_c[c] > 0) present[n_present++] = static_cast<u8>(c);
    clear();
  }
  void take_weights(const Bundle& bundle, const Best& best) {
    for (int c = 0; c < padded; c++) w_c[c] = V{};
    each_bit(bundle.lanes, [&](int k) {
      const ClassWeights& own = *best.weights[k];
      for (int c = 0; c < C; c++)
        set_lane<T, W>(w_c[c], k, static_cast<T>(own.weight[c] / own.most));
    });
  }
  // The sums of both sides of the cut in class weights.
  struct Sides {
    V a, b, l, r;
  };
  CC_INLINE Sides weighted() const {
    Step squares_left{}, squares_right{}, left{}, right{};
    for (int c = 0; c < padded; c += kStep) {
      const Step w = step(w_c, c), x = w * step(l_c, c), y = w * (step(n_c, c) - step(l_c, c));
      squares_left += x * x;
      squares_right += y * y;
      left += x;
      right += y;
    }
    return {sum(squares_left), sum(squares_right), sum(left), sum(right)};
  }
  void clear() {
    l = a = V{};
    b = b0;
    this->clear_classes();
  }
  void lower(const Best& best, int k) {
    const ClassWeights* own = best.weights[k];
    const double q = own ? best.lowest[k] / own->most : best.q[k];
    set_lane<T, W>(limit, k, static_cast<T>(q * (1 - kUnit * (128 + 4 * C))));
  }
  CC_INLINE void add(const ScanRows& rows, u32 row) {
    const u32 x = rows.info[row], c = x >> 16;
    const V one = ones<T, W>(x);
    const V before = l_c[c];
    const V change = before + before + T(1);
    l += one;
    l_c[c] = before + one;
    if (running) {
      a += one * change;
      b += one * (change - n_c[c] - n_c[c]);
    }
  }
  CC_INLINE void add_cell(const V* cell) {
    Step rows{};
    for (int c = 0; c < padded; c += kStep) {
      const Step left = step(l_c, c) + step(cell, c);
      __builtin_memcpy(l_c + c, &left, sizeof left);
      rows += left;
    }
    l = sum(rows);
  }
  CC_INLINE void sum_squares() { Sums::sum_squares(a, b); }
  // Bound of an interval with h_c rows of class c. Let u and v be the class fractions left and
  // right of its start, x ≤ h the rows moved and k = Σx. Gini's quality is exactly f(0) + Σ
  // x_c·(2u_c − |u|² − 2v_c + |v|²) + |x − k·u|²/(l + k) + |x − k·v|²/(r − k), and (x_c − k·u_c)² ≤
  // max(h_c, h·u_c)². If nothing is left of the interval, the left part is |x|²/k ≤ k.
  u32 alive(const V* cell, double) {
    Step all_rows{};
    for (int c = 0; c < padded; c += kStep) all_rows += step(cell, c);
    const V n_inside = sum(all_rows);
    const u32 inside = greater<T, W>(n_inside, all<T, W>(1));
    if (!inside) return 0;
    if constexpr (kWeighs) return inside & alive_weighted(cell);
    sum_squares();
    const V h = n_inside, r = n - l, one = all<T, W>(1);
    // r ≥ h ≥ 2 inside; l may be 0
    const V il = one / (l + all<T, W>(T(1e-9))), ir = one / (r + all<T, W>(T(1e-9)));
    const V uu = a * il * il, vv = b * ir * ir;
    Step slope{}, bend_l{}, bend_r{};
    for (int c = 0; c < padded; c += kStep) {
      const Step x = step(cell, c), left = step(l_c, c);
      const Step u = left * il, v = (step(n_c, c) - left) * ir;
      const Step start = where_any(l, u + u - uu, Step{} + T(1));
      const Step g = start - v - v + vv;
      slope += x * (g > T(0) ? g : Step{});
      const Step bu = x > h * u ? x : h * u, bv = x > h * v ? x : h * v;
      bend_l += bu * bu;
      bend_r += bv * bv;
    }
    const V left = where_any(l, sum(bend_l) / (l + one), V{});
    const V bound = a * il + b * ir + sum(slope) + left + sum(bend_r) / (r - h + one);
    return inside & greater<T, W>(bound, limit);
  }
  // The same in class weights. If any weight moves, it is at least that of one row.
  u32 alive_weighted(const V* cell) const {
    const Sides s = weighted();
    const V one = all<T, W>(1);
    const V il = one / where_any(s.l, s.l, one), ir = one / where_any(s.r, s.r, one);
    const V uu = s.a * il * il, vv = s.b * ir * ir;
    V h = V{}, rest = V{}, slope = V{}, bend_l = V{}, bend_r = V{};
    V least = one;
    for (int c = 0; c < C; c++) {
      h += w_c[c] * cell[c];
      least = w_c[c] < least ? w_c[c] : least;
    }
    for (int c = 0; c < C; c++) {
      const V x = w_c[c] * cell[c], behind = n_c[c] - l_c[c];
      const V u = w_c[c] * l_c[c] * il, v = w_c[c] * behind * ir;
      rest += w_c[c] * (behind - cell[c]);
      const V start = where_any(s.l, u + u - uu, one);
      const V g = start - v - v + vv;
      slope += x * (g > T(0) ? g : V{});
      const V bu = x > h * u ? x : h * u, bv = x > h * v ? x : h * v;
      bend_l += bu * bu;
      bend_r += bv * bv;
    }
    const V left = where_any(s.l, bend_l / (s.l + least), V{});
    // slopes may cancel
    const V noise = (s.l + s.r) * T(64 * kUnit);
    const V bound = s.a * il + s.b * ir + slope + left + bend_r / (rest + least) + noise;
    return greater<T, W>(bound, limit);
  }
  // `a` in the lanes where l > 0, `b` elsewhere.
  template <class X> CC_INLINE static X where_any(const V& l, const X& a, const X& b) {
    return l > T(0) ? a : b;
  }
  void copy(const ManyGiniOf& o) {
    l = o.l;
    a = o.a;
    b = o.b;
    this->copy_classes(o);
  }
  static CC_INLINE void cell_of(const Vec<u32, W>* counts, int C, V* cell) {
    for (int c = 0; c < C; c += kStep) {
      Step x;
      if constexpr (W == 1) x = from_counts<T, 8>(first_counts(counts + c, C - c));
      else x = from_counts<T, W>(counts[c]);
      __builtin_memcpy(cell + c, &x, sizeof x);  // as wide as it is read, which is faster
    }
  }
  CC_INLINE u32 promising() {
    if constexpr (kWeighs) {
      const Sides s = weighted();
      return greater<T, W>(s.a * s.r + s.b * s.l, limit * (s.l * s.r));
    }
    const V r = n - l;
    if (!running) sum_squares();
    return greater<T, W>(a * r + b * l, limit * (l * r));
  }
  // The quality as Quality::binary computes it, bit for bit, if A and B are exact and the classes
  // have no weights. The formula itself would sum over all classes.
  double quality(int k = 0) const {
    return static_cast<double>(lane<T, W>(a, k)) / static_cast<double>(lane<T, W>(l, k)) +
           static_cast<double>(lane<T, W>(b, k)) / static_cast<double>(lane<T, W>(n - l, k));
  }
  // A single task: kCuts consecutive cuts of a sorted list at once, class by class.
  struct Cuts {
    using F = Vec<float, kCuts>;
    F l, a, b, count[kListClasses];  // rows of each class before the next entries, in all lanes
    F weight_l, weight_r;            // of the branches
    u32 bits[kListClasses];          // which of the current entries have the class

    explicit Cuts(const ManyGiniOf& p) {
      for (int k = 0; k < kCuts; k++) l[k] = p.l + static_cast<float>(k + 1 - kCuts);
      for (int i = 0; i < p.n_present; i++)
        count[i] = F{} + static_cast<float>(p.l_c[p.present[i]]);
    }
    CC_INLINE void next(const ManyGiniOf& p, const ScanRows&, const u32* list) {
      const Classes classes(list);
      F squares_left{}, squares_right{}, x{}, y{};
      for (int i = 0; i < p.n_present; i++) {
        bits[i] = classes.are(p.present[i]);
        F left = bit_counts(bits[i]) + count[i], right = p.n_c[p.present[i]] - left;
        count[i] = last_of(left);
        if (kWeighs) {
          x += left *= p.w_c[p.present[i]];
          y += right *= p.w_c[p.present[i]];
        }
        squares_left += left * left;
        squares_right += right * right;
      }
      l += static_cast<float>(kCuts);
      weight_l = kWeighs ? x : l;
      weight_r = kWeighs ? y : p.n - l;
      a = squares_left;
      b = squares_right;
    }
    CC_INLINE u32 promising(const ManyGiniOf& p) const {
      return greater<float, kCuts>(a * weight_r + b * weight_l, weight_l * weight_r * p.limit);
    }
    CC_INLINE F gains(const ManyGiniOf&) const { return a / weight_l + b / weight_r; }
    void put(ManyGiniOf& p, u32 k) const {
      for (int i = 0; i < p.n_present; i++)
        p.l_c[p.present[i]] =
            count[i][0] - static_cast<float>(__builtin_popcount(bits[i] & ~0u << k << 1));
      p.l = l[k];
      p.a = a[k];
      p.b = b[k];
    }
  };
  // A single task: one value after the other, given the class counts of its rows. Lanes are
  // classes. All sums are integers that floats hold exactly up to 4096 rows, so their order does
  // not matter.
  struct Values {
    using F = Vec<float, 8>;
    F n_c[kListClasses / 8] = {};
    F l_c[kListClasses / 8] = {};
    F w_c[kListClasses / 8] = {};
    F squares_left;
    F squares_right;
    F weight_left, weight_right;  // with class weights
    float l;
    explicit Values(const ManyGiniOf& p)
      requires(W == 1)
        : l(p.l) {
      for (int c = 0; c < p.C; c++) {
        n_c[c / 8][c % 8] = p.n_c[c];
        l_c[c / 8][c % 8] = p.l_c[c];
        if (kWeighs) w_c[c / 8][c % 8] = p.w_c[c];
      }
    }
    static float sum(const F& v) {
      return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
    }
    CC_INLINE void add(const ManyGiniOf& p, const u32* counts) {
      F all = squares_left = squares_right = weight_left = weight_right = F{};
      for (int i = 0; i * 8 < p.C; i++) {
        Vec<std::int32_t, 8> numbers;
        __builtin_memcpy(&numbers, counts + i * 8, sizeof numbers);
        const F more = __builtin_convertvector(numbers, F);
        F left = l_c[i] + more;
        F right = n_c[i] - left;
        l_c[i] = left;
        all += more;
        if (kWeighs) {
          weight_left += left *= w_c[i];
          weight_right += right *= w_c[i];
        }
        squares_left += left * left;
        squares_right += right * right;
      }
      l += sum(all);
    }
    float rows() const { return l; }
    CC_INLINE bool promising(const ManyGiniOf& p) const {
      const float x = kWeighs ? sum(weight_left) : l;
      const float y = kWeighs ? sum(weight_right) : p.n - l;
      return sum(squares_left) * y + sum(squares_right) * x > p.limit * (x * y);
    }
    void put(ManyGiniOf& p) const {
      p.l = l;
      p.a = sum(squares_left);
      p.b = sum(squares_right);
      for (int c = 0; c < p.C; c++) p.l_c[c] = l_c[c / 8][c % 8];
    }
  };
  void put_left(const double* s, i64 rows)
    requires(W == 1)
  {
    l = static_cast<T>(rows);
    for (int c = 0; c < C; c++) l_c[c] = static_cast<T>(s[c]);
    sum_squares();
  }
  i64 rows_left(int k) const { return static_cast<i64>(lane<T, W>(l, k)); }
  i64 cell_stats(const V* cell, int k, double* s) const {
    double rows = 0;
    for (int c = 0; c < C; c++) rows += s[c] = lane<T, W>(cell[c], k);
    return static_cast<i64>(rows);
  }
};

template <int W> using ManyGini = ManyGiniOf<float, W, false>;
template <int W> using WideManyGini = ManyGiniOf<double, W, false>;
template <int W> using ClassWeightsManyGini = ManyGiniOf<float, W, true>;
template <int W> using WideClassWeightsManyGini = ManyGiniOf<double, W, true>;

}  // namespace crosscut::CROSSCUT_LEVEL
