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

// Returns true if some test is better than all tests offered before. `map` is then its branch of
// every category (−1: not present).
inline bool offer_nominal(const Problem& p, const Categories& x, Arena& arena, Contest& contest,
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
  const auto try_subset = [&](auto goes) {  // goes(j): does category j go left?
    i64 n_left = 0;
    std::fill_n(parts, T, i64{0});
    for (int j = 0; j < m; j++) {
      if (!goes(j)) continue;
      n_left += x.count[codes[j]];
      for (int d = 0; d < T; d++) parts[d] += x.table[codes[j] * T + d];
    }
    for (int d = 0; d < T; d++) parts[T + d] = x.sums[d] - parts[d];
    if (n_left >= x.min_leaf && x.n_rows - n_left >= x.min_leaf && contest.offer(parts, 2))
      take([&](int j) { return goes(j) ? 0 : 1; });
  };
  if (p.n_classes > 2 && m <= kExactCategories) {
    for (u32 subset = 1; subset + 1 < 1u << m; subset += 2)
      try_subset([subset](int j) { return (subset >> j & 1) != 0; });
    return any_better;
  }
  Category* order = arena.take<Category>(static_cast<std::size_t>(m));
  int* place = arena.take<int>(static_cast<std::size_t>(m));
  for (int c = p.n_classes == 2 ? 1 : 0; c < (p.n_classes ? p.n_classes : 1); c++) {
    for (int j = 0; j < m; j++) {
      const i64* s = x.table + codes[j] * T;
      order[j] = {p.n_classes ? exact_share(p, s, c) : exact_mean(p, s), j};
    }
    std::sort(order, order + m);
    for (int j = 0; j < m; j++) place[order[j].code] = j;
    for (int j = 0; j + 1 < m; j++) try_subset([place, j](int i) { return place[i] <= j; });
  }
  return any_better;
}

}  // namespace crosscut::CROSSCUT_LEVEL
