// The best test of a nominal column by exact sums: the candidates of choose_nominal, in the same
// order.
#pragma once
#include "exact.hpp"
#include "grow/nominal.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// One task's rows at a node, by category.
struct Categories {
  const i64 *table, *count;  // [V][Problem::n_sums()] and [V]
  int V;
  const i64* sums;  // of the node
  i64 n_rows, min_leaf;
};

// The sums of the same rows on the grid. They rule out tests, and the order of most categories
// follows from them.
template <class Search> struct GridSums {
  const double* table;  // [V][K]
  int K;
  const ClassWeights* weights;
  Search& search;

  void start() { std::fill_n(search.left, K, 0.0); }
  void add(int code) {
    for (int c = 0; c < K; c++) search.left[c] += table[code * K + c];
  }
  bool may_win() { return search.may_win(); }
  void keep_found() { search.keep_found(); }
};

struct NoGridSums {
  void start() {}
  void add(int) {}
  bool may_win() { return true; }
  void keep_found() {}
};

// Sorts the m categories of `order`, whose codes are given, by mean or by their fraction of class
// c.
template <class Sums>
void sort_by_exact_mean(const Problem& p, const Categories& x, const Sums& grid, Arena& arena,
                        int c, Category* order, int m) {
  const auto exact = [&](int code) {
    const i64* s = x.table + code * p.n_sums();
    return p.n_classes ? exact_share(p, s, c) : exact_mean(p, s);
  };
  if constexpr (requires { grid.table; }) {
    if (p.n_classes) {
      for (int j = 0; j < m; j++) {
        const double* s = grid.table + order[j].code * grid.K;
        order[j].mean = fraction_of(s, c, grid.K, grid.weights);
      }
      sort_categories(arena, order, m, true);
      return sort_exactly(
          order, m, far_fractions(p, grid.weights), [](int, int) { return false; }, exact);
    }
  }
  for (int j = 0; j < m; j++) order[j].mean = exact(order[j].code);
  sort_categories(arena, order, m, p.n_classes > 0);
}

// Returns true if some test is better than all tests offered before. `map` is then its branch of
// every category (−1: not present).
template <class Sums>
bool offer_nominal(const Problem& p, const Categories& x, Sums grid, Arena& arena, Contest& contest,
                   std::int32_t* map) {
  const int T = p.n_sums();
  int m = 0, *codes = arena.take<int>(static_cast<std::size_t>(x.V));
  for (int v = 0; v < x.V; v++)
    if (x.count[v]) codes[m++] = v;
  if (m < 2) return false;
  bool any_better = false;
  const auto take = [&](auto branch) {
    any_better = true;
    std::fill_n(map, x.V, -1);
    for (int j = 0; j < m; j++) map[codes[j]] = branch(j);
  };
  i64* parts = arena.take<i64>(static_cast<std::size_t>(m * T));
  if (p.multiway) {
    bool enough = true;
    for (int j = 0; j < m; j++) {
      std::copy_n(x.table + codes[j] * T, T, parts + j * T);
      enough &= x.count[codes[j]] >= x.min_leaf;
    }
    if (enough && contest.offer(parts, m)) take([](int j) { return j; });
    return any_better;
  }
  i64 n_left;
  const auto start = [&] {
    grid.start();
    n_left = 0;
    std::fill_n(parts, T, i64{0});
  };
  const auto add = [&](int code) {  // to the left branch
    grid.add(code);
    n_left += x.count[code];
    for (int d = 0; d < T; d++) parts[d] += x.table[code * T + d];
  };
  const auto is_better = [&] {
    if (n_left < x.min_leaf || x.n_rows - n_left < x.min_leaf || !grid.may_win()) return false;
    for (int d = 0; d < T; d++) parts[T + d] = x.sums[d] - parts[d];
    if (!contest.offer(parts, 2)) return false;
    grid.keep_found();
    return true;
  };
  if (p.n_classes > 2 && m <= kExactCategories) {
    for (u32 subset = 1; subset + 1 < 1u << m; subset += 2) {
      start();
      for (int j = 0; j < m; j++)
        if (subset >> j & 1) add(codes[j]);
      if (is_better()) take([&](int j) { return !(subset >> j & 1); });
    }
    return any_better;
  }
  Category* order = arena.take<Category>(static_cast<std::size_t>(m));
  for (int c = p.n_classes == 2 ? 1 : 0; c < (p.n_classes ? p.n_classes : 1); c++) {
    for (int j = 0; j < m; j++) order[j].code = codes[j];
    sort_by_exact_mean(p, x, grid, arena, c, order, m);
    int n_first = 0;  // of the best test
    start();
    for (int j = 0; j + 1 < m; j++) {
      add(order[j].code);
      if (is_better()) n_first = j + 1;
    }
    if (!n_first) continue;
    any_better = true;
    std::fill_n(map, x.V, -1);
    for (int j = 0; j < m; j++) map[order[j].code] = j >= n_first;
  }
  return any_better;
}

}  // namespace crosscut::CROSSCUT_LEVEL
