// The best test of every lane so far (Best), and what the searches of large and small bundles share
// (Search).
#pragma once
#include "bundle.hpp"
#include "nominal.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// Columns with tests that the grid cannot distinguish from the best one.
struct Rivals {
  static constexpr int kMost = 16;
  bool contested = false;  // they split the rows in different ways
  bool keep = false;       // some must be compared whatever the best test is
  int n = 0;               // kMost + 1: too many to list
  int column[kMost];
  void add(int f) {
    for (int i = 0; i < n && n <= kMost; i++)
      if (column[i] == f) return;
    if (n < kMost) column[n] = f;
    n += n <= kMost;
  }
  void add(const Rivals& others) {
    contested |= others.contested;
    keep |= others.keep;
    for (int i = 0; i < others.n && i < kMost; i++) add(others.column[i]);
    if (others.n > kMost) n = others.n;
  }
};

// The best test of every lane so far. Ties go to the lowest feature, then to the lowest key (the
// order of the tests of a column).
struct Best {
  const Run& run;
  const Bundle& bundle;
  double q[kLanes];
  // a test below this cannot be the best, even by exact sums
  double lowest[kLanes];
  int feature[kLanes];
  u64 key[kLanes];
  i64 n_left[kLanes];  // -1: a multiway test
  double* left;        // [lane][K]
  int K;
  Rivals* rivals;                       // [lane]; only if statistics only propose tests
  const ClassWeights* weights[kLanes];  // of the tasks; null: none
  std::int32_t* map[kLanes];            // nominal tests decided exactly: [rank] branch

  Best(Worker& w, const Bundle& b)
      : run(w.run),
        bundle(b),
        left(w.scratch.take<double>(static_cast<std::size_t>(b.n * w.run.K()))),
        K(w.run.K()),
        rivals(run.on_grid ? w.scratch.take<Rivals>(static_cast<std::size_t>(b.n)) : nullptr) {
    for (int t = 0; t < b.n; t++) {
      q[t] = lowest[t] = kNever;
      feature[t] = -1;
      key[t] = 0;
      map[t] = nullptr;
      weights[t] = weights_of(w, b, t);
      if (rivals) rivals[t] = Rivals{};
    }
  }
  void merge(const Best& from) {
    for (int k = 0; k < bundle.n; k++) {
      if (rivals) merge_rivals(from, k);
      if (from.feature[k] >= 0 && beats(k, from.q[k], from.feature[k], from.key[k])) {
        q[k] = from.q[k];
        lowest[k] = from.lowest[k];
        feature[k] = from.feature[k];
        key[k] = from.key[k];
        n_left[k] = from.n_left[k];
        std::copy_n(from.left + k * K, K, left + k * K);
      }
    }
  }
  void merge_rivals(const Best& from, int k) {
    const bool same = from.feature[k] == feature[k] && from.key[k] == key[k];
    if (from.feature[k] < 0 || feature[k] < 0 || same || from.rivals[k].keep || rivals[k].keep)
      rivals[k].add(from.rivals[k]);
    else if (clearly_better(k, from.q[k])) rivals[k] = from.rivals[k];
    else if (from.q[k] >= lowest[k]) {
      rivals[k].add(from.rivals[k]);
      rivals[k].contested = true;
    }
  }
  double less_margin(int k, double quality) const {
    return rivals ? quality - run.margin(bundle.node[k]->stats, quality, weights[k]) : quality;
  }
  bool clearly_better(int k, double quality) const {
    return quality > q[k] && less_margin(k, quality) > q[k];
  }
  bool beats(int t, double quality, int f, u64 order) const {
    return quality > q[t] || (quality == q[t] && quality > kNever &&
                              (f < feature[t] || (f == feature[t] && order < key[t])));
  }
  double quality_of(int k, const double* stats) const {
    return run.quality_of(stats, bundle.node[k]->stats, weights[k]);
  }
  bool offer_left(int t, int f, u64 order, i64 n, const double* stats) {
    const Node& node = *bundle.node[t];
    if (n < bundle.min_leaf[t] || node.n_rows - n < bundle.min_leaf[t]) return false;
    const double quality = run.quality.binary(stats, node.stats);
    return beats(t, quality, f, order) && take(t, quality, f, order, n, stats);
  }
  bool take(int t, double quality, int f, u64 order, i64 n, const double* stats) {
    q[t] = quality;
    lowest[t] = less_margin(t, quality);
    feature[t] = f;
    key[t] = order;
    n_left[t] = n;
    for (int c = 0; c < K; c++) left[t * K + c] = stats[c];
    return true;
  }
};

// Order of the tests of a numeric column: missing right, present | missing, missing left; then by
// cut.
enum : u64 { kMissingRight = 0, kPresence = 1, kMissingLeft = 2 };
constexpr u64 numeric_key(u64 phase, u32 cut) { return phase << 40 | cut; }
constexpr u64 phase_of(u64 key) { return key >> 40; }
constexpr u32 cut_of(u64 key) { return static_cast<u32>(key); }

constexpr bool goes_left(u32 rank, u64 key, u32 missing_rank) {
  return rank == missing_rank ? phase_of(key) == kMissingLeft
                              : phase_of(key) == kPresence || rank <= cut_of(key);
}

// Do two tests split lane k's rows alike, or mirrored if the criterion does not distinguish that?
template <class Rows>
bool split_alike(const void* of_bundle, const Run& run, int k, int f, u64 key, int g, u64 other) {
  const Rows& rows = *static_cast<const Rows*>(of_bundle);
  const u32 missing_f = rows.missing_rank(f), missing_g = rows.missing_rank(g);
  int mirrored = -1;
  for (u32 i = 0; i < rows.n; i++) {
    if (!(rows.mask(i) >> k & 1)) continue;
    const int differ =
        goes_left(rows.rank(f, i), key, missing_f) != goes_left(rows.rank(g, i), other, missing_g);
    if (mirrored < 0) mirrored = differ && run.criterion().mirrors;
    if (mirrored != differ) return false;
  }
  return true;
}

// Has lane k at least min_leaf rows in both branches of a numeric test, if copies count once?
template <class Rows>
bool enough_without_copies(const void* of_bundle, int k, int f, u64 key, i64 min_leaf) {
  const Rows& rows = *static_cast<const Rows*>(of_bundle);
  const u32 missing = rows.missing_rank(f);
  i64 n[2] = {};
  for (u32 i = 0; i < rows.n; i++)
    if (rows.mask(i) >> k & 1 && !rows.is_copy(i)) n[goes_left(rows.rank(f, i), key, missing)]++;
  return n[0] >= min_leaf && n[1] >= min_leaf;
}

// The missing rows of every lane in the current column, and what they mean for a cut. If no value
// of the task is above the cut, "missing right" is the test "present | missing". If no value is
// below it, "missing left" is that test mirrored and not allowed.
struct MissingRows {
  i64 n[kLanes] = {};
  CC_INLINE bool admissible(int k, i64 left, i64 rows, u64& key) const {
    if (!n[k]) return true;
    if (phase_of(key) == kMissingLeft) return left != n[k];
    if (phase_of(key) == kMissingRight && left == rows - n[k]) key = numeric_key(kPresence, 0);
    return true;
  }
};

// The arrays that a scan reads, by row. info: the mask of a row in the low bits; above it the
// class, or for two classes the mask of class 1.
struct ScanRows {
  const u32* info;
  const double *weight, *product;
  const u8* times;  // [row][kLanes] or null
};

// The multiplicity of a row (1 without multiplicities) in the lanes of the mask; 0 elsewhere.
template <class T, int W>
CC_INLINE Vec<T, W> times_of_row(const u8* times, std::size_t row, u32 mask) {
  Vec<T, W> m = ones<T, W>(mask);
  if (times)
    for (int k = 0; k < W; k++)
      if (mask >> k & 1)
        set_lane<T, W>(m, k, static_cast<T>(times[row * kLanes + static_cast<u32>(k)]));
  return m;
}

// doubles hold the squares of class counts exactly up to this many rows
constexpr i64 kExactSquares = i64{1} << 26;

// P: the running statistics of the scan (criteria/running_statistics.hpp).
template <class P> struct Search {
  static constexpr int W = static_cast<int>(sizeof(typename P::V) / sizeof(typename P::T));
  using V = typename P::V;
  Worker& w;
  const Bundle& bundle;
  Best& best;
  P p;
  P* other = nullptr;  // the statistics of a second scan, which share the limits
  double* stats;
  LevelCounts& work;
  MissingRows missing_rows;
  struct {
    u64* bits = nullptr;  // [kRowWords], of the rows of a local table
    int feature = -1;     // whose test this is
    u64 key = 0;
  } first_rows;  // the rows in the first branch of the best test, if it is nominal
  const void* bundle_rows = nullptr;
  const void* rows_once = nullptr;  // for enough_once()
  bool (*enough_once)(const void* rows_once, int k, int f, u64 key, i64 min_leaf) = nullptr;
  bool (*same_split)(const void* bundle_rows, const Run&, int k, int f, u64 key, int g,
                     u64 other) = nullptr;

  static double* space(Worker& w) {
    return w.scratch.take<double>(static_cast<std::size_t>(3 * w.run.K() * W + 24));
  }
  Search(Worker& worker, const Bundle& b, Best& so_far)
      : w(worker),
        bundle(b),
        best(so_far),
        p(worker.run, b, so_far, space(worker)),
        stats(worker.scratch.take<double>(static_cast<std::size_t>(worker.run.K()))),
        work(worker.level(b.depth)) {}

  // The lanes in which the current cut may beat the best test.
  template <class State> CC_INLINE static u32 may_beat(State& state) {
    return off(Acceleration::fast_comparison) ? ~0u : state.promising();
  }
  void lower(int k) {
    p.lower(best, k);
    if (other) other->lower(best, k);
  }
  // Evaluates the current cut of a scan with the exact formula.
  __attribute__((noinline)) void evaluate(const P& state, u32 lanes, int f, u64 key) {
    work.exact += static_cast<u64>(__builtin_popcount(lanes));
    each_bit(lanes, [&](int k) {
      u64 order = key;
      const i64 left = state.rows_left(k);
      if (!missing_rows.admissible(k, left, bundle.node[k]->n_rows, order)) return;
      if constexpr (requires { state.quality(k); } && sizeof(typename P::T) == sizeof(double))
        // with many classes, most cuts are ties, and the formula sums over all classes
        if (!best.rivals && !off(Acceleration::fast_comparison) &&
            bundle.node[k]->n_rows <= kExactSquares && !best.beats(k, state.quality(k), f, order))
          return;
      state.left(k, stats);
      if (best.rivals ? propose(k, f, order, left) : offer(k, f, order, left)) lower(k);
    });
  }
  bool offer(int k, int f, u64 order, i64 left) {
    if (w.run.most_copies > 1) {
      const double q = w.run.quality.binary(stats, bundle.node[k]->stats);
      if (!best.beats(k, q, f, order) || !enough_rows(k, f, order, left)) return false;
    }
    return best.offer_left(k, f, order, left, stats);
  }
  // Have both branches of a numeric test enough rows for the lane's limits? n copies are on the
  // left.
  bool enough_rows(int k, int f, u64 key, i64 n) const {
    const i64 least = bundle.min_leaf[k];
    const i64 fewest = std::min(n, bundle.node[k]->n_rows - n);
    if (fewest < least) return false;
    return fewest >= least * w.run.most_copies || enough_once(rows_once, k, f, key, least);
  }
  // Proposes a cut with the statistics `stats`, which are on the grid. The same split of the rows
  // is a tie on any grid.
  bool propose(int k, int f, u64 order, i64 n) {
    return propose(k, f, order, n, [&] {
      return !w.run.p.columns[best.feature[k]].nominal &&
             same_split(bundle_rows, w.run, k, best.feature[k], best.key[k], f, order);
    });
  }
  // same_rows(): does the test split the rows as the best test does?
  template <class Same> bool propose(int k, int f, u64 order, i64 n, Same same_rows) {
    const Node& node = *bundle.node[k];
    if (n < bundle.min_leaf[k] || node.n_rows - n < bundle.min_leaf[k]) return false;
    const double q = best.quality_of(k, stats);
    Rivals& rivals = best.rivals[k];
    const bool unsure = !sure_of_gain(k);
    if (q == kNever && unsure) {  // rounding may have hidden a gain
      rivals.contested = rivals.keep = true;
      rivals.add(f);
    }
    if (q == kNever || q < best.lowest[k]) return false;
    if (best.feature[k] < 0 || best.clearly_better(k, q)) {
      if (!rivals.keep) rivals = {};
    } else if (w.run.decides() && !rivals.contested) {
      if (!precedes(k, f, order)) return false;
      rivals.add(f);
      return best.take(k, q, f, order, n, stats);
    } else if (!rivals.contested) {
      rivals.contested = !ties_on_any_grid(k, f, order, n, same_rows);
    }
    rivals.contested |= unsure;
    rivals.add(f);
    return best.beats(k, q, f, order) && best.take(k, q, f, order, n, stats);
  }
  // Is it certain whether the test with the statistics `stats` has a gain, if it needs one?
  bool sure_of_gain(int k) {
    const Run& run = w.run;
    if (!run.criterion().needs_gain) return true;
    const double* node = bundle.node[k]->stats;
    const auto mark = w.scratch.mark();
    double* right = w.scratch.take<double>(static_cast<std::size_t>(run.K()));
    for (int c = 0; c < run.K(); c++) right[c] = node[c] - stats[c];
    const ClassWeights* own = best.weights[k];
    const Quality quality = own ? run.quality_of(*own) : run.quality;
    const double gain = quality.branch(stats) + quality.branch(right) - quality.branch(node);
    w.scratch.release(mark);
    return with_criterion(run.criterion(), [&]<class C>() {
      if constexpr (C::kNeedsGain) return C::sure_of_gain(run.grid_of(node, own), gain);
      else return true;
    });
  }
  // Statistics without rounding decide at once.
  bool precedes(int k, int f, u64 order) const {
    const int c = compare_tests(bundle.node[k]->stats, stats, best.left + k * best.K);
    return c > 0 ||
           (c == 0 && (f < best.feature[k] || (f == best.feature[k] && order < best.key[k])));
  }
  // Does a test split lane k's rows as the best test does, or have branches with the same rows of
  // each class and weight? Two rows can be split in one way only. Cuts of one column with the same
  // number of rows on the left are the same.
  template <class Same>
  bool ties_on_any_grid(int k, int f, u64 order, i64 n, Same same_rows) const {
    if (bundle.node[k]->n_rows == 2 && w.run.criterion().mirrors) return true;
    if (!w.run.p.columns[f].nominal && f == best.feature[k] && n == best.n_left[k] &&
        phase_of(order) == phase_of(best.key[k]))
      return true;
    return alike(k, n) && (!w.run.rounded() || w.run.class_weights || same_rows());
  }
  // Are the statistics those of the best test, or mirrored if the criterion does not distinguish
  // that?
  bool alike(int k, i64 n) const {
    const double *best_left = best.left + k * best.K, *node = bundle.node[k]->stats;
    bool same = n == best.n_left[k];
    bool mirrored = n == bundle.node[k]->n_rows - best.n_left[k] && w.run.criterion().mirrors;
    for (int c = 0; c < best.K; c++) {
      same &= stats[c] == best_left[c];
      mirrored &= stats[c] == node[c] - best_left[c];
    }
    return same || mirrored;
  }
  // May the test of lane k with these rows in the first branch be better than the best so far?
  CC_INLINE bool worth(int k, const double* left, i64 n_left) {
    if (off(Acceleration::fast_comparison)) return true;
    if constexpr (requires { p.worth(k, left); }) {
      return p.worth(k, left);
    } else if constexpr (requires { p.put_left(left, n_left); }) {
      p.put_left(left, n_left);
      return p.promising() != 0;
    }
    return true;
  }
  // Evaluates a nominal column, given lane k's statistics per category, [n_categories][K], and the
  // rows n of each. single, exact: see NominalColumn.
  template <class Single, class Exact>
  void evaluate_nominal(int k, int f, const double* table, const i64* n, u32 n_categories,
                        Single single, Exact exact) {
    const auto mark = w.scratch.mark();
    const Node& node = *bundle.node[k];
    NominalColumn column(w.run, best.weights[k], table, n, static_cast<int>(n_categories),
                         w.scratch, single, exact);
    if (w.run.p.multiway) {
      offer_multiway(k, f, column.multiway(node, bundle.min_leaf[k]));
    } else {
      column.each_test(work, node, bundle.min_leaf[k], best.lowest[k],
                       [&](const double* sum, i64 rows, u64 key) {
                         if (!worth(k, sum, rows)) return;
                         work.exact++;
                         std::copy_n(sum, w.run.K(), stats);
                         const auto same_rows = [&] {
                           return has_best_rows(column, exact, k, key, rows);
                         };
                         if (best.rivals ? propose(k, f, key, rows, same_rows)
                                         : best.offer_left(k, f, key, rows, stats))
                           lower(k);
                       });
      if (best.feature[k] == f) keep_best_rows(column, exact, f, best.key[k]);
    }
    w.scratch.release(mark);
  }
  // Keeps the rows in the first branch of the best test, which is one of column f.
  template <class Column, class Exact>
  void keep_best_rows(Column& column, const Exact& exact, int f, u64 key) {
    if constexpr (requires { exact.each_row(0, [](u32) {}); }) {
      if (!first_rows.bits) return;
      first_rows.feature = f;
      first_rows.key = key;
      std::fill_n(first_rows.bits, kRowWords, u64{0});
      column.each_first(key, [&](int code) {
        exact.each_row(code, [&](u32 row) { first_rows.bits[row / 64] |= u64{1} << row % 64; });
      });
    }
  }
  // Are the n rows in the first branch of the test with a key those of a branch of the best test?
  template <class Column, class Exact>
  bool has_best_rows(Column& column, const Exact& exact, int k, u64 key, i64 n) const {
    bool same = false, mirrored = false;
    if constexpr (requires { exact.each_row(0, [](u32) {}); }) {
      if (!first_rows.bits || first_rows.feature != best.feature[k] ||
          first_rows.key != best.key[k])
        return false;
      same = n == best.n_left[k];
      mirrored = n == bundle.node[k]->n_rows - best.n_left[k] && w.run.criterion().mirrors;
      column.each_first(key, [&](int code) {
        exact.each_row(code, [&](u32 row) {
          (first_rows.bits[row / 64] >> row % 64 & 1 ? mirrored : same) = false;
        });
      });
    }
    return same || mirrored;
  }
  void offer_multiway(int k, int f, double q) {
    if (best.rivals && !rival(k, f, q)) return;
    if (!best.beats(k, q, f, 0)) return;
    best.q[k] = q;
    best.lowest[k] = best.less_margin(k, q);
    best.feature[k] = f;
    best.key[k] = 0;
    best.n_left[k] = -1;
    lower(k);
  }
  // Proposes a multiway test, which exact sums decide. Rounding may have hidden its gain.
  bool rival(int k, int f, double q) {
    const bool unsure = q == kNever && w.run.p.weight_rounded;
    Rivals& rivals = best.rivals[k];
    if (!unsure && (q == kNever || q < best.lowest[k])) return false;
    if (!rivals.keep && q > kNever && (best.feature[k] < 0 || best.clearly_better(k, q)))
      rivals = {};
    rivals.contested = true;
    rivals.keep |= unsure;
    rivals.add(f);
    return true;
  }
  // Gap rule. Returns the lanes whose own values on both sides of a cut are far enough apart. The
  // cut is between the places a and b > a, which are list entries or bins from `first` to `last`.
  // has_rows(x, k): does lane k have rows at place x? low, high: the last and the first value of a
  // place.
  template <class HasRows, class Low, class High>
  static u32 separable(u32 lanes, u32 a, u32 b, u32 first, u32 last, HasRows has_rows, Low low,
                       High high) {
    if (apart(low(a), high(b))) return lanes;
    u32 ok = 0;
    each_bit(lanes, [&](int k) {
      u32 x = a, y = b;
      while (x > first && !has_rows(x, k)) x--;
      while (y < last && !has_rows(y, k)) y++;
      ok |= static_cast<u32>(apart(low(x), high(y))) << k;
    });
    return ok;
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL
