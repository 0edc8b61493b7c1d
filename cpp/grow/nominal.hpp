// The best test of a nominal column for one task: multiway, or a subset of the categories
// (docs/semantics.md has the order of candidates).
// With two classes or in regression the best subset is a prefix of the categories sorted by mean
// (Breiman et al. 1984, theorem 4.5), so k categories need k − 1 evaluations instead of 2^(k−1) −
// 1. With several classes all subsets of up to kExactCategories are evaluated; above that, the
// prefixes of one order per class.
#pragma once
#include <algorithm>

#include "grow/exact/exact.hpp"
#include "grow/simd/lists.hpp"
#include "run.hpp"

namespace crosscut::CROSSCUT_LEVEL {

constexpr int kExactCategories = 8;

struct Category {
  double mean;
  int code;
  bool operator<(const Category& o) const {
    return mean < o.mean || (mean == o.mean && code < o.code);
  }
};

// Sorts categories that are given in the order of their codes: first into buckets of equal width,
// then within the buckets, which have few different means unless the means are very uneven.
// Several categories with the same mean would have to wait for each other's places, so each of
// kParts parts of the categories has places of its own in a bucket. kParts: 4 for fractions, of
// which many are equal, and 1 for means of targets.
template <u32 kParts> void sort_many_categories(Arena& arena, Category* order, int m) {
  constexpr u32 kMostBuckets = kParts > 1 ? 512 : 4096;
  const auto mark = arena.mark();
  const auto n = static_cast<u32>(m);
  Category* unsorted = arena.take<Category>(n);
  u16* place = arena.take<u16>(n);
  double low = order[0].mean, high = low;
  for (u32 j = 0; j < n; j++) {
    unsorted[j] = order[j];
    low = order[j].mean < low ? order[j].mean : low;
    high = order[j].mean > high ? order[j].mean : high;
  }
  u32 buckets = 256;
  while (buckets < 4 * n && buckets < kMostBuckets) buckets *= 2;
  const double scale = high > low ? (buckets - 1) / (high - low) : 0;
  for (u32 j = 0; j < n; j++)
    place[j] = static_cast<u16>(static_cast<u32>((unsorted[j].mean - low) * scale) * kParts);
  u32 at[kMostBuckets * kParts + 1];
  std::fill_n(at, buckets * kParts + 1, 0);
  const u32 part = n / kParts;
  const auto each = [&](auto f) {
    for (u32 i = 0; i < part; i++)
      for (u32 k = 0; k < kParts; k++) f(k * part + i, place[k * part + i] + k);
    for (u32 j = kParts * part; j < n; j++) f(j, place[j] + kParts - 1);
  };
  each([&](u32, u32 to) { at[to + 1]++; });
  for (u32 b = 0; b < buckets * kParts; b++) at[b + 1] += at[b];
  each([&](u32 j, u32 to) { order[at[to]++] = unsorted[j]; });
  for (u32 b = kParts - 1, begin = 0; b < buckets * kParts; begin = at[b], b += kParts) {
    bool in_order = true;
    for (u32 i = begin + 1; i < at[b]; i++) in_order &= !(order[i] < order[i - 1]);
    if (!in_order) std::sort(order + begin, order + at[b]);
  }
  arena.release(mark);
}

// The same for any number of categories. Up to kMost it counts the means below each, which has no
// unpredictable branches.
inline void sort_categories(Arena& arena, Category* order, int m, bool fractions) {
  constexpr int kMost = 64;
  if (m > kMost && fractions) return sort_many_categories<4>(arena, order, m);
  if (m > kMost) return sort_many_categories<1>(arena, order, m);
  using D = Vec<double, kDoubles>;
  D means[kMost / kDoubles];
  Category unsorted[kMost];
  for (int j = 0; j < m; j++) {
    means[j / kDoubles][j % kDoubles] = order[j].mean;
    unsorted[j] = order[j];
  }
  for (int j = m; j % kDoubles; j++)
    means[j / kDoubles][j % kDoubles] = std::numeric_limits<double>::infinity();
  u64 taken = 0;
  for (int j = 0; j < m; j++) {
    u64 below = 0;
    for (int b = 0; b * kDoubles < m; b++)
      below |= static_cast<u64>(
                   greater<double, kDoubles>(all<double, kDoubles>(unsorted[j].mean), means[b]))
               << b * kDoubles;
    // after those with the same mean
    const u64 place = ~taken & (~u64{0} << __builtin_popcountll(below));
    taken |= place & -place;
    order[__builtin_ctzll(place)] = unsorted[j];
  }
}

// Puts sorted categories into the order of their exact means, rounded once. Exact means are in
// another order only if the means differ by at most `far`. same(a, b): are the exact means of two
// categories known to be the same? exact(code): the exact mean, which is called only if it matters.
template <class Same, class Exact>
void sort_exactly(Category* order, int m, double far, Same same, Exact exact) {
  bool undecided = false;
  for (int j = 1, begin = 0; j <= m; j++) {
    if (j < m && !(order[j].mean - order[j - 1].mean > far)) {
      undecided |= !same(order[j - 1].code, order[j].code);
      continue;
    }
    for (int i = begin; i < j && undecided; i++) order[i].mean = exact(order[i].code);
    if (undecided) std::sort(order + begin, order + j);
    begin = j;
    undecided = false;
  }
}

// Fractions of classes that differ by more than this on the grid are in the same order by exact
// sums. A weight on the grid is off by at most one over the least weight.
inline double far_fractions(const Problem& p, const ClassWeights* own) {
  const bool rounded = own ? own->rounded : p.weight_rounded;
  const double off = rounded ? 1 / (own ? own->least : p.least_weight) : 0;
  return off > 0.0625 ? 1 : 3 * off + 0x1p-50;
}

// The fraction of class c in the weight of a branch.
inline double fraction_of(const double* stats, int c, int K, const ClassWeights* own) {
  double total = 0;
  for (int k = 0; k < K; k++) total += own ? own->weight[k] * stats[k] : stats[k];
  return total > 0 ? (own ? own->weight[c] * stats[c] : stats[c]) / total : 0;
}

// Do two branches have the same fraction of class c, whatever the weights of the classes are? Only
// which classes have the same weight matters.
inline bool same_counts_fraction(const double* x, const double* y, int c, int K,
                                 const ExactRows& exact, const ClassWeights* own) {
  const auto product = [](double v, double u) {
    return static_cast<i128>(static_cast<i64>(v)) * static_cast<i64>(u);
  };
  const auto same_weight = [&](int j, int k) {
    return j == k ||
           (own && std::equal(own->digits + j * exact.width, own->digits + (j + 1) * exact.width,
                              own->digits + k * exact.width));
  };
  for (int k = 0; k < K; k++) {
    i128 difference = 0;
    for (int j = 0; j < K; j++)
      if (same_weight(j, k)) difference += product(x[c], y[j]) - product(y[c], x[j]);
    if (difference != 0) return false;
  }
  return true;
}

struct NominalChoice {
  double q = kNever;
  u64 key = 0;
};

// The exact sums of the rows of a category, which are needed only if statistics are on a grid.
struct NoExactSums {
  const i64* operator()(int) const { return nullptr; }
};
// The target of a category with one row; NaN if it is not known.
struct NoTargets {
  double operator()(int) const { return std::numeric_limits<double>::quiet_NaN(); }
};

// One task's nominal column: table, [V][K], the statistics and n, [V], the rows of its categories.
// The candidates and their order are those of exact sums, also if statistics are on a grid: where
// the grid leaves the order of two categories open, exact(code), the exact sums of a category,
// decide. single(code): the target of a category with one row.
template <class Single = NoTargets, class Exact = NoExactSums> class NominalColumn {
  const Run& run;
  const ClassWeights* weights;
  const double* table;
  const i64* n;
  Arena& arena;
  Single single;
  Exact exact;
  int m = 0, *codes;  // categories that have rows
  Category* order;
  int sorted_by = -1;  // the class whose fractions `order` is sorted by; 0 in regression

 public:
  NominalColumn(const Run& r, const ClassWeights* own, const double* sums, const i64* rows, int V,
                Arena& memory, Single target = {}, Exact exact_sums = {})
      : run(r),
        weights(own),
        table(sums),
        n(rows),
        arena(memory),
        single(target),
        exact(exact_sums),
        codes(memory.take<int>(static_cast<std::size_t>(V))) {
    for (int v = 0; v < V; v++) {
      codes[m] = v;
      m += n[v] > 0;
    }
    order = memory.take<Category>(static_cast<std::size_t>(m));
  }

  // Quality of the test with a branch for each category; kNever if it is not admissible.
  double multiway(const Node& node, i64 min_leaf) {
    if (m < 2) return kNever;
    const auto K = static_cast<std::size_t>(run.K());
    double* parts = arena.take<double>(static_cast<std::size_t>(m) * K);
    for (int j = 0; j < m; j++) {
      if (n[codes[j]] < min_leaf) return kNever;
      std::copy_n(of(codes[j]), K, parts + static_cast<std::size_t>(j) * K);
    }
    return (weights ? run.quality_of(*weights) : run.quality).several(parts, m, node.stats);
  }
  // Calls offer(statistics, rows, key) for the first branch of each admissible test, in the order
  // of the keys. Tests with a quality below `least`, which offer() may raise, can be left out.
  template <class Offer>
  void each_test(LevelCounts& counts, const Node& node, i64 min_leaf, const double& least,
                 Offer offer) {
    if (m < 2) return;
    const auto evaluate = [&](const double* sum, i64 rows, u64 key) {
      if (rows >= min_leaf && node.n_rows - rows >= min_leaf) offer(sum, rows, key);
    };
    if (all_subsets() && run.family == Family::many_gini && node.n_rows < 1 << 24 &&
        !off(Acceleration::subset_lanes))
      evaluate_lanes(counts, node, min_leaf, least, offer);
    else if (all_subsets()) evaluate_subsets(evaluate);
    for (int o = 0; o < orders() && !all_subsets(); o++)
      m > kFewCategories ? evaluate_prefixes<8>(o, node, least, evaluate)
                         : evaluate_prefixes<1>(o, node, least, evaluate);
  }
  // Calls f(code) for the categories in the first branch of the test with a key.
  template <class F> void each_first(u64 key, F f) {
    if (all_subsets()) {
      for (int j = 0; j < m; j++)
        if (key >> j & 1) f(codes[j]);
      return;
    }
    const int o = static_cast<int>(key / static_cast<u64>(m));
    if (o != sorted_by) sort(o);
    for (u64 j = 0; j <= key % static_cast<u64>(m); j++) f(order[j].code);
  }
  // Writes the branch of every category for the test with a key; −1 for categories without rows.
  void branches(u64 key, std::int32_t* map, int V) {
    std::fill_n(map, V, -1);
    if (!run.p.multiway && !all_subsets()) sort(static_cast<int>(key / static_cast<u64>(m)));
    for (int j = 0; j < m; j++) {
      if (run.p.multiway) map[codes[j]] = j;
      else if (all_subsets()) map[codes[j]] = !(key >> j & 1);
      else map[order[j].code] = static_cast<u64>(j) > key % static_cast<u64>(m);
    }
  }

 private:
  const double* of(int code) const { return table + code * run.K(); }
  bool all_subsets() const { return run.p.n_classes > 2 && m <= kExactCategories; }
  int orders() const { return run.p.n_classes > 2 ? run.p.n_classes : 1; }
  // Sorts the categories by their fraction of class o or, in regression, by mean. Returns false
  // if that shows that no test has a quality above `least`.
  bool sort(int o, double least = kNever) {
    sorted_by = o;
    if (!run.p.n_classes) return sort_by_mean(least);
    const int c = run.p.n_classes == 2 ? 1 : o;
    for (int j = 0; j < m; j++) {
      const double* s = of(codes[j]);
      if (run.counted && !weights) order[j].mean = s[c] / static_cast<double>(n[codes[j]]);
      else order[j].mean = fraction_of(s, c, run.K(), weights);
      order[j].code = codes[j];
    }
    sort_categories(arena, order, m, true);
    if (weights ? weights->rounded : run.p.weight_rounded)
      sort_exactly(
          order, m, far_fractions(run.p, weights),
          [&](int a, int b) { return same_fraction(a, b, c); },
          [&](int code) { return exact_share(run.p, exact_sums_of(code), c); });
    return true;
  }
  const i64* exact_sums_of(int code) {
    if (!weights) return exact(code);
    const int width = run.p.exact.width;
    i64* sums = arena.take<i64>(static_cast<std::size_t>(run.p.n_sums()));
    for (int d = 0; d < run.p.n_sums(); d++)
      sums[d] = static_cast<i64>(of(code)[d / width]) * weights->digits[d];
    return sums;
  }
  // Do two categories surely have the same fraction of class c, whatever the grid rounded?
  bool same_fraction(int a, int b, int c) const {
    const double *x = of(a), *y = of(b);
    if (x[c] == 0 || y[c] == 0) return x[c] == y[c];
    const Quality& counts = run.quality;
    if (x[c] == counts.total(x) && y[c] == counts.total(y)) return true;
    return run.class_weights && same_counts_fraction(x, y, c, run.K(), run.p.exact, weights);
  }
  bool sort_by_mean(double least) {
    const Problem& p = run.p;
    double most = 0, quality = 0;
    for (int j = 0; j < m; j++) {
      const double* s = of(codes[j]);
      const double mean = s[0] / s[1];
      most = std::max(most, mean < 0 ? -mean : mean);
      quality += mean * s[0];
      order[j] = {mean, codes[j]};
    }
    // one branch per category has the highest quality
    if (!run.weighted && !(quality > least)) return false;
    sort_categories(arena, order, m, false);
    const double far = p.mean_step + 0x1p-50 * most + (p.product_rounded ? 2 : 0);
    const auto same = [&](int a, int b) {
      return n[a] == 1 && n[b] == 1 ? single(a) == single(b)
                                    : !p.product_rounded && same_mean(of(a), of(b));
    };
    sort_exactly(order, m, far, same, [&](int code) { return exact_mean(p, exact(code)); });
    return true;
  }
  // W prefixes at a time. If the quality is a sum of squares over weights, A / l + B / r, the
  // comparison of A * r + B * l with least * l * r needs no division and leaves few of them. The
  // slack is larger than the rounding of both formulas.
  static constexpr int kFewCategories = 4;  // one prefix after the other is faster
  template <int W, class Evaluate>
  void evaluate_prefixes(int o, const Node& node, const double& least, Evaluate evaluate) {
    using V = Vec<double, W>;
    const int K = run.K();
    if (!sort(o, least)) return;
    const bool squares = run.criterion().squares && !off(Acceleration::fast_comparison);
    const double slack = 1 - 0x1p-50 * (static_cast<double>(K) + 8), tiny = 1e-290;
    const double total = run.total_of(node.stats, weights);
    double* sum = arena.take<double>(static_cast<std::size_t>(K));
    double* one = arena.take<double>(static_cast<std::size_t>(K));
    V* prefix = arena.take<V>(static_cast<std::size_t>(K));
    i64 rows[W] = {}, n_rows = 0;
    std::fill_n(sum, K, 0.0);
    for (int first = 0; first + 1 < m; first += W) {
      const int size = std::min(W, m - 1 - first);
      for (int i = 0; i < size; i++) {
        const int code = order[first + i].code;
        for (int c = 0; c < K; c++) set_lane<double, W>(prefix[c], i, sum[c] += of(code)[c]);
        rows[i] = n_rows += n[code];
      }
      u32 some = (1u << size) - 1;
      V gain{}, size_product{};
      if (squares) {
        V a{}, b{}, l{};
        const int n_squares = run.p.n_classes ? K : 1;
        for (int c = 0; c < n_squares; c++) {
          const double weight = weights ? weights->weight[c] : 1;
          const V left = weight * prefix[c], right = weight * (node.stats[c] - prefix[c]);
          a += left * left;
          b += right * right;
          l += left;
        }
        if (!run.p.n_classes) l = prefix[1];
        const V r = total - l;
        gain = a * r + b * l;
        size_product = l * r;
      }
      const auto promising = [&] {
        return squares ? greater<double, W>(gain, size_product * (least * slack - tiny)) : ~0u;
      };
      while (some &= promising()) {
        const int i = __builtin_ctz(some);
        some &= some - 1;
        for (int c = 0; c < K; c++) one[c] = lane<double, W>(prefix[c], i);
        evaluate(one, rows[i],
                 static_cast<u64>(o) * static_cast<u64>(m) + static_cast<u64>(first + i));
      }
    }
  }
  // All subsets that contain the first category, except the set of all. The sums of a subset are
  // those of a smaller subset plus its last category.
  template <class Evaluate> void evaluate_subsets(Evaluate evaluate) {
    const auto K = static_cast<std::size_t>(run.K());
    double* sums = arena.take<double>(K << (m - 1));
    i64* sizes = arena.take<i64>(std::size_t{1} << (m - 1));
    std::copy_n(of(codes[0]), K, sums);
    sizes[0] = n[codes[0]];
    for (u32 subset = 1; subset + 1 < 1u << m; subset += 2) {
      double* sum = sums + subset / 2 * K;
      if (subset > 1) {
        const u32 last = 31 - static_cast<u32>(__builtin_clz(subset));
        const u32 others = (subset ^ 1u << last) / 2;
        for (std::size_t c = 0; c < K; c++) sum[c] = sums[others * K + c] + of(codes[last])[c];
        sizes[subset / 2] = sizes[others] + n[codes[last]];
      }
      evaluate(sum, sizes[subset / 2], subset);
    }
  }
  // Gini by counts: all subsets, eight at a time, which differ in the categories 1 to 3. Only
  // subsets that may beat `least` are evaluated by the formula; the slack is that of ManyGini. With
  // several classes and nominal columns only, this is 1.7 to 3.2 times faster.
  template <class Offer>
  void evaluate_lanes(LevelCounts& counts, const Node& node, i64 min_leaf, const double& least,
                      Offer offer) {
    using F = Vec<float, 8>;
    constexpr F with[3] = {
        {0, 1, 0, 1, 0, 1, 0, 1}, {0, 0, 1, 1, 0, 0, 1, 1}, {0, 0, 0, 0, 1, 1, 1, 1}};
    const int K = run.K();
    const int inner = std::min(m - 1, 3);
    const int outer = m - 1 - inner;
    F* lanes = arena.take<F>(static_cast<std::size_t>(K));  // of each class that is present
    double* sum = arena.take<double>(static_cast<std::size_t>(K));
    float* n_c = arena.take<float>(static_cast<std::size_t>(K));
    float* w_c = arena.take<float>(static_cast<std::size_t>(K));
    float* others = arena.take<float>(static_cast<std::size_t>(K) << outer);
    int* classes = arena.take<int>(static_cast<std::size_t>(K));
    int C = 0;
    for (int c = 0; c < K; c++) {
      sum[c] = 0;
      if (!(node.stats[c] > 0)) continue;
      const auto count = [&](int j) { return static_cast<float>(of(codes[j])[c]); };
      F v = all<float, 8>(count(0));
      for (int j = 0; j < inner; j++) v += with[j] * count(j + 1);
      float* to = others + (C << outer);
      to[0] = 0;
      for (int j = 0; j < outer; j++)
        for (int i = 0; i < 1 << j; i++) to[i + (1 << j)] = to[i] + count(4 + j);
      lanes[C] = v;
      n_c[C] = static_cast<float>(node.stats[c]);
      w_c[C] = weights ? static_cast<float>(weights->weight[c] / weights->most) : 1;
      classes[C++] = c;
    }
    const double slack = (1 - 0x1p-24 * (64 + 8 * K)) / (weights ? weights->most : 1);
    const auto n_rows = static_cast<float>(node.n_rows);
    const F fewest = all<float, 8>(static_cast<float>(min_leaf) - 0.5f);
    auto limit = static_cast<float>(least * slack);
    counts.lane_subsets += u64{1} << (m - 1);
    for (int block = 0; block < 1 << outer; block++) {
      F a{}, b{}, rows{};
      F l{}, r{};  // weights of the branches
      for (int i = 0; i < C; i++) {
        const F left = lanes[i] + others[(i << outer) + block], right = n_c[i] - left;
        rows += left;
        if (weights) {
          const F x = w_c[i] * left, y = w_c[i] * right;
          a += x * x;
          b += y * y;
          l += x;
          r += y;
        } else {
          a += left * left;
          b += right * right;
        }
      }
      const F others_rows = n_rows - rows;
      if (!weights) {
        l = rows;
        r = others_rows;
      }
      const F gain = a * r + b * l, size = l * r;
      u32 lane_mask = greater<float, 8>(rows, fewest) & greater<float, 8>(others_rows, fewest) &
                      ((1u << (1 << inner)) - 1);
      while (lane_mask &= greater<float, 8>(gain, size * limit)) {
        const int k = __builtin_ctz(lane_mask);
        lane_mask &= lane_mask - 1;
        for (int i = 0; i < C; i++) sum[classes[i]] = lanes[i][k] + others[(i << outer) + block];
        offer(sum, static_cast<i64>(rows[k]), static_cast<u64>(block * 8 + k) * 2 + 1);
        limit = static_cast<float>(least * slack);
      }
    }
  }
};

// Returns the best test of a nominal column by statistics that are counts; its quality is kNever if
// there is none.
inline NominalChoice choose_nominal(const Run& run, LevelCounts& counts, const double* table,
                                    const i64* n, int V, const Node& node, i64 min_leaf,
                                    Arena& arena) {
  const auto mark = arena.mark();
  NominalColumn column(run, nullptr, table, n, V, arena);
  NominalChoice best;
  if (run.p.multiway) best.q = column.multiway(node, min_leaf);
  else
    column.each_test(counts, node, min_leaf, best.q, [&](const double* sum, i64, u64 key) {
      counts.exact++;
      if (const double q = run.quality.binary(sum, node.stats); q > best.q) best = {q, key};
    });
  arena.release(mark);
  return best;
}

}  // namespace crosscut::CROSSCUT_LEVEL
