// The running statistics of a scan, all tasks at once. Each struct answers one question quickly: in which lanes might the
// cut reached now beat the best test so far? It may say yes too often (its limit is lowered by a slack that covers rounding),
// never no too often; whatever passes is judged by the exact formula. No division in the loop: with l, r the sides' weights
// and A, B their Σ of squares, Gini's quality A/l + B/r > limit  ⇔  A·r + B·l > limit·l·r.
//
// A local row is described by 32 bits `info`: its mask below, and above it the mask of class 1 (two classes) or the class.
#pragma once
#include "run.hpp"

namespace crosscut::CROSSCUT_LEVEL {

struct LocalRows {  // what a scan reads of the rows of a local block
  const u32* info;
  const double *weight, *product;
  const u8* multiplicity;  // [row][kLanes] or null
};

// Two classes, counts, Gini. With p the share of class 1 in the node and d = l1 − l·p, the quality is Q(node) + 2·d²·n/(l·r): the
// comparison d² > limit·l·r has no large numbers that cancel. Floats serve up to kFloatRows rows, doubles above.
constexpr u32 kFloatRows = 1 << 16;

template <class Real, int W>
struct BinaryGiniOf {
  using T = Real;
  using V = Vec<T, W>;
  static constexpr bool kRuns = true;  // cuts inside a run of one class need no look (Fayyad & Irani 1992)
  static constexpr int kParts = 2;
  static constexpr double kUnit = sizeof(T) == 4 ? 0x1p-24 : 0x1p-53;
  V n, share, l, l1, limit, least, noise;
  const Team& team;

  BinaryGiniOf(const Run&, const Team& t, const Best& best, double*) : team(t) {
    n = share = noise = V{}, least = all<T, W>(1), limit = all<T, W>(std::numeric_limits<T>::infinity());
    each_bit(team.lanes, [&](int k) {
      const double rows = static_cast<double>(team.node[k]->n_rows), error = 2 * rows * kUnit;
      set_lane<T, W>(n, k, static_cast<T>(rows));
      set_lane<T, W>(share, k, static_cast<T>(team.node[k]->stats[1] / rows));
      set_lane<T, W>(noise, k, static_cast<T>(error * error));
      set_lane<T, W>(least, k, static_cast<T>(team.min_leaf[k]));
      lower(best, k);
    });
    clear();
  }
  // d is known up to 3·n units and `noise` (which keeps d² of an empty side, rounding only, below the limit) takes the root of the
  // right side up by 2·n units at most; l·r ≥ n − 1 at a real cut. So √limit is taken down by 8·n units over √(n − 1).
  void lower(const Best& best, int k) {
    const double* stats = team.node[k]->stats;
    const double rows = stats[0] + stats[1], node = (stats[0] * stats[0] + stats[1] * stats[1]) / rows;
    const double gain = best.q[k] - node - 4e-15 * node;
    const double root = gain > 0 ? __builtin_sqrt(gain / (2 * rows)) * (1 - 16 * kUnit) - 8 * rows * kUnit / __builtin_sqrt(rows - 1) : 0;
    set_lane<T, W>(limit, k, static_cast<T>(root > 0 ? root * root : -1));
  }
  static u32 class_of(u32 info) { return info >> 16 != 0; }
  int parts() const { return kParts; }
  void clear() { l = l1 = V{}; }
  CC_INLINE void add(const LocalRows& rows, u32 row) {
    const u32 x = rows.info[row];
    l += ones<T, W>(x), l1 += ones<T, W>(x >> 16);
  }
  CC_INLINE void add_to(V* cell, const LocalRows& rows, u32 row) const {
    const u32 x = rows.info[row];
    cell[0] += ones<T, W>(x), cell[1] += ones<T, W>(x >> 16);
  }
  CC_INLINE void add_cell(const V* cell) { l += cell[0], l1 += cell[1]; }
  CC_INLINE bool at_edge() const {  // some lane has just become admissible, or is about to stop being so
    return greater<T, W>(l, least - T(1)) & ~greater<T, W>(l, least) || greater<T, W>(n - l, least - T(1)) & ~greater<T, W>(n - l, least);
  }
  CC_INLINE u32 promising() const {
    const V d = l1 - l * share;
    return greater<T, W>(d * d, limit * (l * (n - l)) + noise);
  }
  // Bound of an interval: Gini is convex in (l0, l1), so over the box of left counts that an interval can give its best value is at
  // a corner. Two corners are the interval's ends: cuts already judged, unless min_samples_leaf forbade them. The others
  // move all of one class first.
  u32 alive(const V* cell, double) const {
    const u32 inside = greater<T, W>(cell[0], all<T, W>(1));
    BinaryGiniOf end = *this, zero = *this, one = *this;
    end.add_cell(cell);
    zero.l += cell[0] - cell[1];
    one.l += cell[1], one.l1 += cell[1];
    return inside & (zero.promising() | one.promising() | (promising() & forbidden()) | (end.promising() & end.forbidden()));
  }
  u32 forbidden() const { return greater<T, W>(least, l) | greater<T, W>(least, n - l); }
  void copy(const BinaryGiniOf& o) { l = o.l, l1 = o.l1, limit = o.limit; }
  static void cell_of(const Vec<u32, W>* counts, int, V* cell) {
    cell[1] = from_counts<T, W>(counts[1]), cell[0] = from_counts<T, W>(counts[0] + counts[1]);
  }
  // One task alone: sixteen consecutive cuts of a sorted list at once. Returns which might beat the best; `at` sets the state to one.
  struct Stretch {
    Vec<float, 16> l, l1;
    u32 ones;
  };
  CC_INLINE Stretch stretch(const LocalRows& rows, const u32* list) const requires(W == 1) {
    Vec<u32, 16> e;
    __builtin_memcpy(&e, list, sizeof e);
    Stretch s;
    s.ones = look_up(rows.info, e & 0xffff, 1u << 16);
    s.l1 = running_sum(CROSSCUT_LEVEL::ones<float, 16>(s.ones)) + l1;
    constexpr Vec<float, 16> steps = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    s.l = steps + l;
    return s;
  }
  static constexpr u32 kStretch = 16;
  CC_INLINE u32 promising(const Stretch& s) const requires(W == 1) {
    const Vec<float, 16> d = s.l1 - s.l * share;
    return greater<float, 16>(d * d, limit * (s.l * (n - s.l)) + noise);
  }
  CC_INLINE Vec<float, 16> gains(const Stretch& s) const requires(W == 1) {  // up to a factor
    const Vec<float, 16> d = s.l1 - s.l * share;
    return d * d / (s.l * (n - s.l));
  }
  CC_INLINE void at(const Stretch& s, u32 k) requires(W == 1) { l = s.l[k], l1 = s.l1[k]; }
  i64 rows_left(int k) const { return static_cast<i64>(lane<T, W>(l, k)); }
  void left(int k, double* s) const { s[1] = lane<T, W>(l1, k), s[0] = lane<T, W>(l, k) - s[1]; }
  i64 cell_stats(const V* cell, int k, double* s) const {
    s[1] = lane<T, W>(cell[1], k), s[0] = lane<T, W>(cell[0], k) - s[1];
    return static_cast<i64>(lane<T, W>(cell[0], k));
  }
};

template <int W>
using BinaryGini = BinaryGiniOf<float, W>;
template <int W>
using WideBinaryGini = BinaryGiniOf<double, W>;

// Any number of classes, counts, Gini. Moving one row of class c changes A by 2·l_c + 1 and B by 2·l_c + 1 − 2·n_c.
template <class Real, int W>
struct ManyGiniOf {
  using T = Real;
  using V = Vec<T, W>;
  static constexpr bool kRuns = true;
  static constexpr double kUnit = sizeof(T) == 4 ? 0x1p-24 : 0x1p-53;
  const int C;
  V *n_c, *l_c;
  V n, l, a, b, b0, limit, least;
  bool running = true;  // A and B follow every row (exact up to 4096 rows); otherwise they are summed anew at every cut

  ManyGiniOf(const Run& run, const Team& team, const Best& best, double* space) : C(run.K()) {
    n_c = reinterpret_cast<V*>(space), l_c = n_c + C;
    for (int c = 0; c < C; c++) n_c[c] = V{};
    n = b0 = V{}, least = all<T, W>(1), limit = all<T, W>(std::numeric_limits<T>::infinity());
    for (int k = 0; k < team.n; k++)
      if (team.lanes >> k & 1) {
        set_lane<T, W>(n, k, static_cast<T>(team.node[k]->n_rows));
        for (int c = 0; c < C; c++) set_lane<T, W>(n_c[c], k, static_cast<T>(team.node[k]->stats[c]));
        set_lane<T, W>(least, k, static_cast<T>(team.min_leaf[k]));
        lower(best, k);
      }
    for (int c = 0; c < C; c++) b0 += n_c[c] * n_c[c];
    clear();
  }
  static u32 class_of(u32 info) { return info >> 16; }
  int parts() const { return C; }
  void clear() {
    l = a = V{}, b = b0;
    for (int c = 0; c < C; c++) l_c[c] = V{};
  }
  void lower(const Best& best, int k) { set_lane<T, W>(limit, k, static_cast<T>(best.q[k] * (1 - kUnit * (64 + 4 * C)))); }
  CC_INLINE void add(const LocalRows& rows, u32 row) {
    const u32 x = rows.info[row], c = x >> 16;
    const V one = ones<T, W>(x), before = l_c[c], step = before + before + T(1);
    l += one, l_c[c] = before + one;
    if (running) a += one * step, b += one * (step - n_c[c] - n_c[c]);
  }
  CC_INLINE void add_to(V* cell, const LocalRows& rows, u32 row) const {
    const u32 x = rows.info[row];
    cell[x >> 16] += ones<T, W>(x);
  }
  CC_INLINE void add_cell(const V* cell) {
    l = V{};
    for (int c = 0; c < C; c++) l_c[c] += cell[c], l += l_c[c];
    sum_squares();
  }
  CC_INLINE void sum_squares() {
    a = b = V{};
    for (int c = 0; c < C; c++) {
      const V right_c = n_c[c] - l_c[c];
      a += l_c[c] * l_c[c], b += right_c * right_c;
    }
  }
  // Bound of an interval with h_c rows of class c: with u, v the class shares left and right of its start, x ≤ h the rows moved and
  // k = Σx, Gini's quality is exactly f(0) + Σ x_c·(2u_c − |u|² − 2v_c + |v|²) + |x − k·u|²/(l + k) + |x − k·v|²/(r − k); and
  // (x_c − k·u_c)² ≤ max(h_c, h·u_c)². Where nothing is left yet, |x|²/k ≤ k stands for the left part.
  u32 alive(const V* cell, double) {
    V h = V{};
    for (int c = 0; c < C; c++) h += cell[c];
    const u32 inside = greater<T, W>(h, all<T, W>(1));
    if (!inside) return 0;
    sum_squares();
    const V r = n - l, one = all<T, W>(1);
    const V il = one / (l + all<T, W>(T(1e-9))), ir = one / (r + all<T, W>(T(1e-9)));  // r ≥ h ≥ 2 inside; l may be 0
    const V uu = a * il * il, vv = b * ir * ir;
    V slope = V{}, bend_l = V{}, bend_r = V{};
    for (int c = 0; c < C; c++) {
      const V u = l_c[c] * il, v = (n_c[c] - l_c[c]) * ir;
      const V start = greater_where(l, u + u - uu, one);
      const V g = start - v - v + vv;
      slope += cell[c] * (g > T(0) ? g : V{});
      const V bu = cell[c] > h * u ? cell[c] : h * u, bv = cell[c] > h * v ? cell[c] : h * v;
      bend_l += bu * bu, bend_r += bv * bv;
    }
    bend_l = greater_where(l, bend_l / (l + one), V{});
    const V bound = a * il + b * ir + slope + bend_l + bend_r / (r - h + one);
    return inside & greater<T, W>(bound, limit);
  }
  // a where l > 0, else b
  CC_INLINE static V greater_where(const V& l, const V& a, const V& b) { return l > T(0) ? a : b; }
  void copy(const ManyGiniOf& o) {
    l = o.l, a = o.a, b = o.b, limit = o.limit;
    for (int c = 0; c < C; c++) l_c[c] = o.l_c[c];
  }
  static void cell_of(const Vec<u32, W>* counts, int C, V* cell) {
    for (int c = 0; c < C; c++) cell[c] = from_counts<T, W>(counts[c]);
  }
  CC_INLINE bool at_edge() const {
    return greater<T, W>(l, least - T(1)) & ~greater<T, W>(l, least) || greater<T, W>(n - l, least - T(1)) & ~greater<T, W>(n - l, least);
  }
  CC_INLINE u32 promising() {
    const V r = n - l;
    if (!running) sum_squares();
    return greater<T, W>(a * r + b * l, limit * (l * r));
  }
  i64 rows_left(int k) const { return static_cast<i64>(lane<T, W>(l, k)); }
  void left(int k, double* s) const {
    for (int c = 0; c < C; c++) s[c] = lane<T, W>(l_c[c], k);
  }
  i64 cell_stats(const V* cell, int k, double* s) const {
    double sum = 0;
    for (int c = 0; c < C; c++) sum += s[c] = lane<T, W>(cell[c], k);
    return static_cast<i64>(sum);
  }
};

template <int W>
using ManyGini = ManyGiniOf<float, W>;
template <int W>
using WideManyGini = ManyGiniOf<double, W>;

// Any class criterion on counts or weights, in doubles: Gini of weights, entropy, gain ratio. The last part counts rows.
template <int W>
struct AnyClasses {
  using T = double;
  using V = Vec<T, W>;
  static constexpr bool kRuns = false;
  const Run& run;
  const int C;
  V *n_c, *l_c;  // [C]
  V n, rows_l, limit, node_q;
  u32 lanes;

  AnyClasses(const Run& r, const Team& team, const Best& best, double* space) : run(r), C(r.K()) {
    n_c = reinterpret_cast<V*>(space), l_c = n_c + C;
    for (int c = 0; c < C; c++) n_c[c] = V{};
    n = node_q = V{}, limit = all<T, W>(std::numeric_limits<T>::infinity());
    lanes = team.lanes;
    for (int k = 0; k < team.n; k++)
      if (team.lanes >> k & 1) {
        set_lane<T, W>(n, k, run.judge.total(team.node[k]->stats));
        for (int c = 0; c < C; c++) set_lane<T, W>(n_c[c], k, team.node[k]->stats[c]);
        set_lane<T, W>(node_q, k, run.judge.branch(team.node[k]->stats));
        lower(best, k);
      }
    clear();
  }
  static u32 class_of(u32 info) { return info >> 16; }
  int parts() const { return C + 1; }
  void clear() {
    rows_l = V{};
    for (int c = 0; c < C; c++) l_c[c] = V{};
  }
  void lower(const Best& best, int k) { set_lane<T, W>(limit, k, best.q[k]); }
  CC_INLINE V weights_of(const LocalRows& rows, u32 row, u32 mask) const {
    V w = ones<T, W>(mask);
    if (rows.multiplicity)
      for (int k = 0; k < W; k++)
        if (mask >> k & 1) set_lane<T, W>(w, k, static_cast<T>(rows.multiplicity[static_cast<std::size_t>(row) * kLanes + static_cast<u32>(k)]));
    if (rows.weight) w *= rows.weight[row];
    return w;
  }
  CC_INLINE void add(const LocalRows& rows, u32 row) {
    const u32 x = rows.info[row];
    rows_l += ones<T, W>(x), l_c[x >> 16] += weights_of(rows, row, x & 0xffff);
  }
  CC_INLINE void add_to(V* cell, const LocalRows& rows, u32 row) const {
    const u32 x = rows.info[row];
    cell[C] += ones<T, W>(x), cell[x >> 16] += weights_of(rows, row, x & 0xffff);
  }
  CC_INLINE void add_cell(const V* cell) {
    for (int c = 0; c < C; c++) l_c[c] += cell[c];
    rows_l += cell[C];
  }
  CC_INLINE bool at_edge() const { return true; }
  CC_INLINE double x(double v) const { return run.judge.xlogs && v < kXlogs ? run.judge.xlogs[static_cast<u32>(v)] : xlog(v); }
  u32 promising() const {
    V l = V{};
    for (int c = 0; c < C; c++) l += l_c[c];
    const V r = n - l;
    if (run.judge.criterion == Criterion::gini) {
      V a = V{}, b = V{};
      for (int c = 0; c < C; c++) {
        const V rc = n_c[c] - l_c[c];
        a += l_c[c] * l_c[c], b += rc * rc;
      }
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
    rows_l = o.rows_l, limit = o.limit;
    for (int c = 0; c < C; c++) l_c[c] = o.l_c[c];
  }
  static void cell_of(const Vec<u32, W>* counts, int C, V* cell) {
    Vec<u32, W> sum{};
    for (int c = 0; c < C; c++) cell[c] = from_counts<T, W>(counts[c]), sum += counts[c];
    cell[C] = from_counts<T, W>(sum);
  }
  i64 rows_left(int k) const { return static_cast<i64>(lane<T, W>(rows_l, k)); }
  void left(int k, double* s) const {
    for (int c = 0; c < C; c++) s[c] = lane<T, W>(l_c[c], k);
  }
  i64 cell_stats(const V* cell, int k, double* s) const {
    for (int c = 0; c < C; c++) s[c] = lane<T, W>(cell[c], k);
    return static_cast<i64>(lane<T, W>(cell[C], k));
  }
};

// Regression: P, W and the number of rows. Q > limit  ⇔  P_l²·W_r + P_r²·W_l > limit·W_l·W_r.
template <int W>
struct Moments {
  using T = double;
  using V = Vec<T, W>;
  static constexpr bool kRuns = false;
  V p, w, p_l, w_l, rows_l, limit;
  const bool weighted;

  Moments(const Run& run, const Team& team, const Best& best, double*) : weighted(run.weighted) {
    p = w = V{}, limit = all<T, W>(std::numeric_limits<T>::infinity());
    for (int k = 0; k < team.n; k++)
      if (team.lanes >> k & 1) {
        set_lane<T, W>(p, k, team.node[k]->stats[0]), set_lane<T, W>(w, k, team.node[k]->stats[1]);
        lower(best, k);
      }
    clear();
  }
  static u32 class_of(u32) { return 0; }
  int parts() const { return 3; }
  void clear() { p_l = w_l = rows_l = V{}; }
  void lower(const Best& best, int k) { set_lane<T, W>(limit, k, best.q[k] * (1 - 1e-11) - 1e-290); }
  CC_INLINE void both(const LocalRows& rows, u32 row, u32 mask, V& pr, V& wt) const {
    V m = ones<T, W>(mask);
    if (rows.multiplicity)
      for (int k = 0; k < W; k++)
        if (mask >> k & 1) set_lane<T, W>(m, k, static_cast<T>(rows.multiplicity[static_cast<std::size_t>(row) * kLanes + static_cast<u32>(k)]));
    pr = m * rows.product[row];
    wt = rows.weight ? m * rows.weight[row] : m;
  }
  CC_INLINE void add(const LocalRows& rows, u32 row) {
    const u32 x = rows.info[row];
    if (!weighted) {
      const V m = ones<T, W>(x);
      p_l += m * rows.product[row], w_l += m;
      return;
    }
    V pr, wt;
    both(rows, row, x, pr, wt);
    p_l += pr, w_l += wt, rows_l += ones<T, W>(x);
  }
  CC_INLINE void add_to(V* cell, const LocalRows& rows, u32 row) const {
    const u32 x = rows.info[row];
    V pr, wt;
    both(rows, row, x, pr, wt);
    cell[0] += pr, cell[1] += wt, cell[2] += ones<T, W>(x);
  }
  CC_INLINE void add_cell(const V* cell) { p_l += cell[0], w_l += cell[1], rows_l += cell[2]; }
  CC_INLINE bool at_edge() const { return true; }
  CC_INLINE u32 promising() const {
    const V p_r = p - p_l, w_r = w - w_l;
    return greater<T, W>(p_l * p_l * w_r + p_r * p_r * w_l, limit * (w_l * w_r));
  }
  // Bound of an interval of weight h: rows of weight k out of it sum to k·ȳ ± √(k(h−k)/h · SSD), SSD being the squared deviations
  // of all the bundle's rows there (Cauchy–Schwarz on both parts; no task has more). That half ellipse, mirrored, lies in an
  // octagon, and the quality is convex in (W_l, P_l): its best value is at one of the eight corners.
  u32 alive(const V* cell, double ssd) const {
    const u32 inside = greater<T, W>(cell[2], all<T, W>(1));
    if (!inside) return 0;
    const V h = cell[1], q = cell[0];
    V d;
    for (int k = 0; k < W; k++) set_lane<T, W>(d, k, 0.5 * __builtin_sqrt(lane<T, W>(h, k) * ssd) * (1 + 1e-9));
    constexpr double x[8] = {0, 0, 0.29289321881345243, 0.29289321881345243, 0.70710678118654757, 0.70710678118654757, 1, 1};
    constexpr double y[8] = {0.41421356237309515, -0.41421356237309515, 1, -1, 1, -1, 0.41421356237309515, -0.41421356237309515};
    u32 bits = greater<T, W>(all<T, W>(1e-300), w_l) | greater<T, W>(all<T, W>(1e-300), w - w_l - h);  // an end without weight
    for (int i = 0; i < 8; i++) {
      const V wl = w_l + h * x[i], pl = p_l + q * x[i] + d * y[i], wr = w - wl, pr = p - pl;
      bits |= greater<T, W>(pl * pl * wr + pr * pr * wl, limit * (wl * wr));
    }
    return inside & bits;
  }
  void copy(const Moments& o) { p_l = o.p_l, w_l = o.w_l, rows_l = o.rows_l, limit = o.limit; }
  static void cell_of(const Vec<u32, W>*, int, V*) {}
  // One task alone, every row counting once: eight consecutive cuts at once. Sums of integers are exact in any order.
  struct Stretch {
    Vec<double, 8> p, w;
  };
  static constexpr u32 kStretch = 8;
  CC_INLINE Stretch stretch(const LocalRows& rows, const u32* list) const requires(W == 1) {
    Stretch s;
    for (int k = 0; k < 8; k++) s.p[k] = rows.product[list[k] & 0xffff];
    s.p = running_sum(s.p) + p_l;
    constexpr Vec<double, 8> steps = {1, 2, 3, 4, 5, 6, 7, 8};
    s.w = steps + w_l;
    return s;
  }
  CC_INLINE u32 promising(const Stretch& s) const requires(W == 1) {
    const Vec<double, 8> p_r = p - s.p, w_r = w - s.w;
    return greater<double, 8>(s.p * s.p * w_r + p_r * p_r * s.w, limit * (s.w * w_r));
  }
  CC_INLINE Vec<double, 8> gains(const Stretch& s) const requires(W == 1) {
    const Vec<double, 8> p_r = p - s.p, w_r = w - s.w;
    return s.p * s.p / s.w + p_r * p_r / w_r;
  }
  CC_INLINE void at(const Stretch& s, u32 k) requires(W == 1) { p_l = s.p[k], w_l = s.w[k]; }
  i64 rows_left(int k) const { return static_cast<i64>(weighted ? lane<T, W>(rows_l, k) : lane<T, W>(w_l, k)); }
  void left(int k, double* s) const { s[0] = lane<T, W>(p_l, k), s[1] = lane<T, W>(w_l, k); }
  i64 cell_stats(const V* cell, int k, double* s) const {
    s[0] = lane<T, W>(cell[0], k), s[1] = lane<T, W>(cell[1], k);
    return static_cast<i64>(lane<T, W>(cell[2], k));
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL
