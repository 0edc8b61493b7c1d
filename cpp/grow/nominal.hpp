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
#include "grow/simd/sorting.hpp"
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

// Sorts categories that are given in the order of their codes, by radix: first by a key of `range`
// at most that does not fall as the mean rises, then those with the same key. Key: what is sorted,
// the key before kBits bits for the place.
template <class Key, int kBits, class KeyOf>
void sort_many_categories(Arena& arena, Category* order, int m, u32 range, KeyOf key_of) {
  const auto mark = arena.mark();
  const auto n = static_cast<u32>(m);
  Key *a = arena.take<Key>(n), *b = arena.take<Key>(n);
  Category* unsorted = arena.take<Category>(n);
  for (u32 j = 0; j < n; j++) {
    unsorted[j] = order[j];
    a[j].v = decltype(Key::v){key_of(order[j].mean)} << kBits | j;
  }
  const Key* sorted = sort_keys<kBits>(a, b, n, range);
  for (u32 j = 0; j < n; j++)
    order[j] = unsorted[sorted[j].v & ((decltype(Key::v){1} << kBits) - 1)];
  for (u32 begin = 0, end = 1; begin < n; begin = end++) {
    bool in_order = true;
    for (; end < n && sorted[end].v >> kBits == sorted[begin].v >> kBits; end++)
      in_order &= !(order[end] < order[end - 1]);
    if (!in_order) std::sort(order + begin, order + end);
  }
  arena.release(mark);
}

// The same for any number of categories. Up to kMost it counts the means below each, which has no
// unpredictable branches. Are the means `fractions` from 0 to 1? Different fractions of up to 255
// rows then have different keys.
inline void sort_categories(Arena& arena, Category* order, int m, bool fractions) {
  constexpr int kMost = 64;
  if (m > kMost && m <= 1 << 16 && fractions)
    return sort_many_categories<ListKey, 16>(
        arena, order, m, 0xffff, [](double mean) { return static_cast<u32>(mean * 0xffff); });
  if (m > kMost)
    return sort_many_categories<SortKey, 32>(arena, order, m, ~0u, [](double mean) {
      const u32 bits = __builtin_bit_cast(u32, static_cast<float>(mean) + 0.0f);
      return bits >> 31 ? ~bits : bits | 1u << 31;  // sorts like the float
    });
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

// Regression with rows that count once: sorts the categories that have rows by their exact means,
// rounded once. Returns how many there are, or 0 if even one branch per category has no quality
// above `least`. table: [V][2] statistics; n: [V] rows. single(code): the target of a category with
// one row, NaN if unknown. exact(code): the exact mean, called only if the grid leaves the order
// open.
template <class Single, class Exact>
int sort_by_mean(const Problem& p, Arena& arena, const double* table, const i64* n, int V,
                 Category* order, Single single, Exact exact, double least = kNever) {
  int m = 0;
  double most = 0, quality = 0;
  for (int v = 0; v < V; v++) {
    if (!n[v]) continue;
    const double mean = table[2 * v] / table[2 * v + 1];
    most = std::max(most, mean < 0 ? -mean : mean);
    quality += mean * table[2 * v];
    order[m++] = {mean, v};
  }
  if (!(quality > least)) return 0;
  sort_categories(arena, order, m, false);
  const double far = p.mean_step + 0x1p-50 * most + (p.product_rounded ? 2 : 0);
  const auto same = [&](int a, int b) {
    return n[a] == 1 && n[b] == 1 ? single(a) == single(b)
                                  : !p.product_rounded && same_mean(table + 2 * a, table + 2 * b);
  };
  sort_exactly(order, m, far, same, exact);
  return m;
}

struct NominalChoice {
  double q = kNever;
  u64 key = 0;
};

struct Always {
  bool operator()(const double*, i64) const { return true; }
};

// One task's nominal column: table, [V][K], the statistics and n, [V], the rows of its categories.
class NominalColumn {
  const Run& run;
  const double* table;
  const i64* n;
  Arena& arena;
  int m = 0, *codes;  // categories that have rows
  Category* order;

 public:
  NominalColumn(const Run& r, const double* sums, const i64* rows, int V, Arena& memory)
      : run(r),
        table(sums),
        n(rows),
        arena(memory),
        codes(memory.take<int>(static_cast<std::size_t>(V))) {
    for (int v = 0; v < V; v++) {
      codes[m] = v;
      m += n[v] > 0;
    }
    order = memory.take<Category>(static_cast<std::size_t>(m));
  }

  // The best test. worth(statistics, rows) of the first branch may reject a subset before the
  // formula is evaluated. A test with a quality below `least` may be missed.
  template <class Worth>
  NominalChoice best(LevelCounts& counts, const Node& node, i64 min_leaf, double least,
                     Worth worth) {
    NominalChoice best_choice;
    if (m < 2) return best_choice;
    const auto K = static_cast<std::size_t>(run.K());
    if (run.p.multiway) {
      double* parts = arena.take<double>(static_cast<std::size_t>(m) * K);
      bool enough = true;
      for (int j = 0; j < m; j++) {
        enough &= n[codes[j]] >= min_leaf;
        std::copy_n(of(codes[j]), K, parts + static_cast<std::size_t>(j) * K);
      }
      if (enough) best_choice.q = run.quality.several(parts, m, node.stats);
      return best_choice;
    }
    // Gini by counts: sums of squares show whether a test may beat `least` or the best so far. The
    // slack is larger than the rounding of both formulas.
    const bool squares = run.family == Family::many_gini && !off(Acceleration::fast_comparison);
    const double slack = 1 - 0x1p-50 * (static_cast<double>(K) + 8);
    const auto may_beat = [&](const double* sum, i64 rows) {
      double left = 0, right = 0;
      for (std::size_t c = 0; c < K; c++) {
        const double other = node.stats[c] - sum[c];
        left += sum[c] * sum[c];
        right += other * other;
      }
      const auto l = static_cast<double>(rows), r = static_cast<double>(node.n_rows - rows);
      return left * r + right * l > l * r * (std::max(least, best_choice.q) * slack);
    };
    const auto evaluate = [&](const double* sum, i64 rows, u64 key) {
      if (rows < min_leaf || node.n_rows - rows < min_leaf || !worth(sum, rows)) return;
      if (squares && !may_beat(sum, rows)) return;
      counts.exact++;
      if (const double q = run.quality.binary(sum, node.stats); q > best_choice.q)
        best_choice = {q, key};
    };
    if (all_subsets() && run.family == Family::many_gini && node.n_rows < 1 << 24 &&
        !off(Acceleration::subset_lanes))
      evaluate_lanes(counts, node, min_leaf, least, best_choice);
    else if (all_subsets()) evaluate_subsets(evaluate);
    for (int o = 0; o < orders() && !all_subsets(); o++) evaluate_prefixes(o, evaluate);
    return best_choice;
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
  // Sorts the categories by mean, or by their fraction of class o.
  void sort(int o) {
    const int c = run.p.n_classes == 2 ? 1 : o;
    for (int j = 0; j < m; j++) {
      const double* s = of(codes[j]);
      const double total = run.counted ? static_cast<double>(n[codes[j]]) : run.quality.total(s);
      order[j] = {total > 0 ? s[c] / total : 0, codes[j]};
    }
    sort_categories(arena, order, m, true);
  }
  template <class Look> void evaluate_prefixes(int o, Look evaluate) {
    const int K = run.K();
    double* sum = arena.take<double>(static_cast<std::size_t>(K));
    std::fill_n(sum, K, 0.0);
    sort(o);
    i64 rows = 0;
    for (int j = 0; j + 1 < m; j++) {
      const double* s = of(order[j].code);
      for (int c = 0; c < K; c++) sum[c] += s[c];
      rows += n[order[j].code];
      evaluate(sum, rows, static_cast<u64>(o * m + j));
    }
  }
  // All subsets that contain the first category, except the set of all. The sums of a subset are
  // those of a smaller subset plus its last category.
  template <class Look> void evaluate_subsets(Look evaluate) {
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
  // subsets that may beat `least` or the best so far are evaluated by the formula; the slack is
  // that of ManyGini. With several classes and nominal columns only, this is 1.7 to 3.2 times
  // faster.
  void evaluate_lanes(LevelCounts& counts, const Node& node, i64 min_leaf, double least,
                      NominalChoice& best_choice) {
    using F = Vec<float, 8>;
    constexpr F with[3] = {
        {0, 1, 0, 1, 0, 1, 0, 1}, {0, 0, 1, 1, 0, 0, 1, 1}, {0, 0, 0, 0, 1, 1, 1, 1}};
    const int K = run.K();
    const int inner = std::min(m - 1, 3);
    const int outer = m - 1 - inner;
    F* lanes = arena.take<F>(static_cast<std::size_t>(K));  // of each class that is present
    double* sum = arena.take<double>(static_cast<std::size_t>(K));
    float* n_c = arena.take<float>(static_cast<std::size_t>(K));
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
      classes[C++] = c;
    }
    const double slack = 1 - 0x1p-24 * (64 + 4 * K);
    const auto n_rows = static_cast<float>(node.n_rows);
    const F fewest = all<float, 8>(static_cast<float>(min_leaf) - 0.5f);
    auto limit = static_cast<float>(least * slack);
    counts.lane_subsets += u64{1} << (m - 1);
    for (int block = 0; block < 1 << outer; block++) {
      F a{}, b{}, l{};
      for (int i = 0; i < C; i++) {
        const F left = lanes[i] + others[(i << outer) + block], right = n_c[i] - left;
        a += left * left;
        b += right * right;
        l += left;
      }
      const F r = n_rows - l, gain = a * r + b * l, size = l * r;
      u32 lane_mask =
          greater<float, 8>(l, fewest) & greater<float, 8>(r, fewest) & ((1u << (1 << inner)) - 1);
      while (lane_mask &= greater<float, 8>(gain, size * limit)) {
        const int k = __builtin_ctz(lane_mask);
        lane_mask &= lane_mask - 1;
        for (int i = 0; i < C; i++) sum[classes[i]] = lanes[i][k] + others[(i << outer) + block];
        counts.exact++;
        const double q = run.quality.binary(sum, node.stats);
        if (!(q > best_choice.q)) continue;
        best_choice = {q, static_cast<u64>(block * 8 + k) * 2 + 1};
        limit = std::max(limit, static_cast<float>(q * slack));
      }
    }
  }
};

// Returns the best test of a nominal column; its quality is kNever if there is none.
template <class Worth = Always>
NominalChoice choose_nominal(const Run& run, LevelCounts& counts, const double* table, const i64* n,
                             int V, const Node& node, i64 min_leaf, Arena& arena,
                             double least = kNever, Worth worth = {}) {
  const auto mark = arena.mark();
  const NominalChoice best_choice =
      NominalColumn(run, table, n, V, arena).best(counts, node, min_leaf, least, worth);
  arena.release(mark);
  return best_choice;
}

// The branches of that test, by category.
inline void branches_of(const Run& run, const double* table, const i64* n, int V, u64 key,
                        Arena& arena, std::int32_t* map) {
  const auto mark = arena.mark();
  NominalColumn(run, table, n, V, arena).branches(key, map, V);
  arena.release(mark);
}

}  // namespace crosscut::CROSSCUT_LEVEL
