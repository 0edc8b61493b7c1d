// Tests of a nominal column for one task: multiway, or the best subset (docs/semantics.md gives the order of candidates).
// Two classes and regression: the best subset is a prefix of the categories sorted by mean (Breiman et al. 1984, theorem 4.5),
// so k categories need k − 1 looks instead of 2^(k−1) − 1. Several classes: all subsets of up to kExactCategories, above that
// the prefixes of one ordering per class.
#pragma once
#include <algorithm>

#include "exact.hpp"
#include "run.hpp"

namespace crosscut::CROSSCUT_LEVEL {

constexpr int kExactCategories = 8;

struct Category {
  double mean;
  int code;
  bool operator<(const Category& o) const { return mean < o.mean || (mean == o.mean && code < o.code); }
};

// Regression, every row counting once: the categories that have rows, in the order of their exact means, rounded once; returns how many.
// table: [V][2] statistics, n: [V] rows. single(code): the target of a category's only row, NaN if that is not known. exact(code): its
// mean, asked for only where the grid leaves the order open.
template <class Single, class Exact>
int sort_by_mean(const Problem& p, const double* table, const i64* n, int V, Category* order, Single single, Exact exact) {
  int m = 0;
  double most = 0;
  for (int v = 0; v < V; v++) {
    if (!n[v]) continue;
    const double mean = table[2 * v] / table[2 * v + 1];
    most = std::max(most, mean < 0 ? -mean : mean), order[m++] = {mean, v};
  }
  std::sort(order, order + m);
  const double far = p.mean_step + 0x1p-50 * most + (p.product_rounded ? 2 : 0);
  const auto same = [&](int a, int b) {
    return n[a] == 1 && n[b] == 1 ? single(a) == single(b) : !p.product_rounded && same_mean(table + 2 * a, table + 2 * b);
  };
  bool open = false;
  for (int j = 1, begin = 0; j <= m; j++) {
    if (j < m && !(order[j].mean - order[j - 1].mean > far)) {
      open |= !same(order[j - 1].code, order[j].code);
      continue;
    }
    for (int i = begin; i < j && open; i++) order[i].mean = exact(order[i].code);
    if (open) std::sort(order + begin, order + j);
    begin = j, open = false;
  }
  return m;
}

struct NominalChoice {
  double q = kNever;
  u64 key = 0;
};

struct Always {
  bool operator()(const double*, i64) const { return true; }
};

// table: [V][K] statistics and n: [V] rows of one task per category. Writes the branch of every category into `map` (−1: not
// present) if map is given. Of two branches only those are looked at whose first is worth it, by its statistics and rows.
template <class Worth = Always>
NominalChoice choose_nominal(const Run& run, const double* table, const i64* n, int V, const Node& node, i64 min_leaf, Arena& arena,
                             std::int32_t* map, Worth worth = {}) {
  const auto mark = arena.mark();
  const int K = run.K();
  int m = 0;
  int* codes = arena.take<int>(static_cast<std::size_t>(V));
  for (int v = 0; v < V; v++) {
    if (n[v] > 0) codes[m++] = v;
    if (map) map[v] = -1;
  }
  NominalChoice best;
  if (m < 2) return arena.release(mark), best;
  if (run.p.multiway) {
    double* parts = arena.take<double>(static_cast<std::size_t>(m) * static_cast<std::size_t>(K));
    bool enough = true;
    for (int j = 0; j < m; j++) {
      enough &= n[codes[j]] >= min_leaf;
      std::copy_n(table + codes[j] * K, K, parts + j * K);
      if (map) map[codes[j]] = j;
    }
    if (enough) best.q = run.judge.several(parts, m, node.stats);
    return arena.release(mark), best;
  }
  double* sum = arena.take<double>(static_cast<std::size_t>(K));
  Category* order = arena.take<Category>(static_cast<std::size_t>(m));
  const auto look = [&](i64 rows, u64 key) {
    if (rows < min_leaf || node.n_rows - rows < min_leaf || !worth(sum, rows)) return false;
    const double q = run.judge.binary(sum, node.stats);
    if (!(q > best.q)) return false;
    best.q = q, best.key = key;
    return true;
  };
  const auto prefixes = [&](u64 first_key, auto mean) {
    for (int j = 0; j < m; j++) order[j] = {mean(table + codes[j] * K), codes[j]};
    std::sort(order, order + m);
    std::fill_n(sum, K, 0.0);
    i64 rows = 0;
    for (int j = 0; j + 1 < m; j++) {
      const double* s = table + order[j].code * K;
      for (int c = 0; c < K; c++) sum[c] += s[c];
      rows += n[order[j].code];
      if (look(rows, first_key + static_cast<u64>(j)) && map) {
        for (int i = 0; i < m; i++) map[order[i].code] = i > j;
      }
    }
  };
  if (run.p.n_classes == 0) {
    prefixes(0, [](const double* s) { return s[1] > 0 ? s[0] / s[1] : 0; });
  } else if (K == 2) {
    prefixes(0, [](const double* s) { return s[0] + s[1] > 0 ? s[1] / (s[0] + s[1]) : 0; });
  } else if (m <= kExactCategories) {
    double* sums = arena.take<double>(static_cast<std::size_t>(K) << (m - 1));  // of the subsets with the first category
    i64* sizes = arena.take<i64>(std::size_t{1} << (m - 1));
    std::copy_n(table + codes[0] * K, K, sums), sizes[0] = n[codes[0]];
    for (u32 subset = 1; subset + 1 < 1u << m; subset += 2) {
      sum = sums + static_cast<int>(subset / 2) * K;
      i64& rows = sizes[subset / 2];
      if (subset > 1) {  // a smaller subset, and its last category
        const u32 last = 31 - static_cast<u32>(__builtin_clz(subset)), others = (subset ^ 1u << last) / 2;
        for (int c = 0; c < K; c++) sum[c] = sums[static_cast<int>(others) * K + c] + table[codes[last] * K + c];
        rows = sizes[others] + n[codes[last]];
      }
      if (look(rows, subset) && map)
        for (int j = 0; j < m; j++) map[codes[j]] = !(subset >> j & 1);
    }
  } else {
    for (int c = 0; c < K; c++)
      prefixes(static_cast<u64>(c) * static_cast<u64>(m), [&](const double* s) { return run.judge.total(s) > 0 ? s[c] / run.judge.total(s) : 0; });
  }
  return arena.release(mark), best;
}

}  // namespace crosscut::CROSSCUT_LEVEL
