// Every row counting once: a node of few rows is finished without lists. A set of its rows is a word of bits, a column is the sets that
// its tests put on the left. Classes of a set are counted bits; its sum, for regression, is that of two to eight entries of tables. Going
// down keeps of each set the rows of the child.
#pragma once
#include <array>

#include "fork.hpp"
#include "lone_node.hpp"

namespace crosscut::CROSSCUT_LEVEL {

constexpr u32 kFewRows = 16;    // few in any case; up to kWordRows, if columns have at most kFewValues on average
constexpr u32 kWordRows = 64;
constexpr u32 kFewValues = 24;  // measured with AVX2: 16, 24 and 40 for regression, 10, 16 and 24 for classes

// What a branch with so many rows, of which so many are of one of two classes, adds to Gini's quality (Judge::branch).
constexpr auto kTwoClasses = [] {
  std::array<std::array<double, kWordRows + 1>, kWordRows + 1> q{};
  for (u32 n = 1; n <= kWordRows; n++)
    for (u32 a = 0; a <= n; a++) q[n][a] = static_cast<double>(a * a + (n - a) * (n - a)) / n;
  return q;
}();

// Where nodes with the same rows are shared (memo.hpp).
struct SharedNodes {
  const RowSet* keys;  // of the table's rows; null: nothing is shared
  u64 place;           // stands for the limits
  RowSet key(const Node& node, RowSet set) const {
    set.a += scrambled(place + static_cast<u64>(node.depth));
    return set;
  }
};

template <bool kClasses>
class FewRows {
  using Set = u64;
  static constexpr u32 kMost = sizeof(Set) * 8;
  struct FewColumn {
    int f;
    u32 n;       // sets
    Set* sets;   // numeric: the rows up to every value but the last, those with a missing value never among them; nominal: of each category
    u16* codes;  // the ranks of the values, of the last one, too
    Set missing;
  };
  // The best test so far: the rows that go left, the last value among them, the quality on the grid, and what another one needs to be worth
  // a look.
  struct Found {
    const FewColumn* column = nullptr;
    Set left = 0;
    u32 cut = 0;
    double q = kNever, lowest = kNever;
  };
  Worker& w;
  const LocalTable& table;
  const Bundle& bundle;
  const TaskLimits& limits;
  const SharedNodes shared;
  u16 row[kMost];  // of the local table
  double part_sums[8][kClasses ? 1 : 256];  // Σ of the products of all sets of every half, quarter or eighth of the rows
  u32 n_parts = 0, part_rows = 0;
  double margin;               // how far qualities may be apart, at most, for the exact ones to be in another order
  Set of_class[kListClasses];
  u32 n_of[kListClasses];      // rows of each in the node that is searched
  int n_classes = 0;           // 2, or those that are present
  u8 classes[kListClasses];

  static constexpr Set bit(u32 i) { return static_cast<Set>(Set{1} << i); }
  static constexpr Set all(u32 n) { return static_cast<Set>(static_cast<Set>(~Set{0}) >> (kMost - n)); }
  static u32 size(Set s) { return count_bits(s); }
  static constexpr std::array<double, kMost + 1> kShare = [] {  // 1 / n
    std::array<double, kMost + 1> share{};
    for (u32 n = 1; n <= kMost; n++) share[n] = 1.0 / n;
    return share;
  }();
  CC_INLINE double sum(Set s) const {
    const u32 own = (1u << part_rows) - 1;
    double a = part_sums[0][s & own], b = part_sums[1][s >> part_rows & own];
    for (u32 p = 2; p < n_parts; p += 2) s >>= 2 * part_rows, a += part_sums[p][s & own], b += part_sums[p + 1][s >> part_rows & own];
    return a + b;
  }
  template <class F>
  CC_INLINE void each(Set s, F f) const {
    const u64 bits = s;
    each_bit_of(&bits, 1, [&](u32 i) { f(u32{row[i]}); });
  }
  Set* new_sets(std::size_t n) { return w.scratch.take<Set>(n); }

 public:
  FewRows(Worker& worker, const LocalTable& t, const Bundle& b, const TaskLimits& l, const SharedNodes& known)
      : w(worker), table(t), bundle(b), limits(l), shared(known) {}

  // Not where leaves are so large that there is one node to search: it would not repay the table.
  static bool serves(const Run& run, const TaskLimits& l) {
    const Problem& p = run.p;
    if (p.multiway || l.min_decrease > 0 || 4 * l.min_leaf > i64{kMost}) return false;
    if constexpr (!kClasses) return !p.n_classes && !run.weighted;
    return run.counted && p.criterion == Criterion::gini && p.n_classes <= kListClasses;
  }
  // Has a node few rows? Above kFewRows, only if its columns have few values: sets cost time per value, lists per row.
  static bool pays(const Run& run, const LoneNode& x) {
    if (x.n <= kFewRows) return true;
    if (x.n > kMost) return false;
    const u32 most = kFewValues * static_cast<u32>(x.n_columns + x.n_coded);
    u32 looks = 0;
    const auto add = [&](int f, u32 values) {
      const bool subsets = run.p.n_classes > 2 && run.p.columns[f].nominal && values <= kExactCategories;
      looks += subsets ? 1u << (values - 1) : values;
    };
    for (int j = 0; j < x.n_coded && looks <= most; j++) {
      const u32 c = x.coded[j];
      add(x.values ? x.values->f[c] : x.bits->columns[c].f, std::min(x.values ? x.values->n_values(c) : x.bits->columns[c].n_values, x.n));
    }
    for (int j = 0; j < x.n_columns && looks <= most; j++) add(x.columns[j], n_values(x.lists[j], x.n));
    return looks <= most;
  }

  // A node that wants a test.
  void finish(const LoneNode& x) {
    const auto mark = w.scratch.mark();
    const auto most = static_cast<std::size_t>(x.n_columns + x.n_coded);
    FewColumn* columns = w.scratch.take<FewColumn>(most);
    Set* sets = new_sets(most * x.n);
    u16* codes = w.scratch.take<u16>(most * (x.n + 1));
    u32 n = 0;
    if (x.bits) each_bit_of(x.rows, x.bits->words, [&](u32 b) { row[n++] = x.bits->row[b]; });
    else for (; n < x.n; n++) row[n] = static_cast<u16>(x.any_list()[n] & kRowMask);
    if constexpr (kClasses) find_classes(x.n);
    else fill_sums(*x.node, x.n);
    int n_columns = 0;
    const auto add = [&](int f) -> FewColumn* {
      if (!allowed_lanes(w, bundle, f)) return nullptr;
      FewColumn& c = columns[n_columns++] = {f, 0, sets, codes, 0};
      sets += x.n, codes += x.n + 1;
      return &c;
    };
    for (int j = 0; j < x.n_coded; j++) {
      const u32 at = x.coded[j];
      FewColumn* c = add(x.values ? x.values->f[at] : x.bits->columns[at].f);
      if (c && !(x.values ? take_ranks(x.n, *c) : take_coded(x, x.bits->columns[at], *c))) n_columns--;
    }
    u8* place = w.scratch.take<u8>(x.n_columns ? table.n : 0);
    for (u32 i = 0; i < x.n && x.n_columns; i++) place[row[i]] = static_cast<u8>(i);
    for (int j = 0; j < x.n_columns; j++)
      if (FewColumn* c = add(x.columns[j])) take_list(x.lists[j], x.n, place, *c);
    if (x.bits || x.values) std::sort(columns, columns + n_columns, [](const FewColumn& a, const FewColumn& b) { return a.f < b.f; });
    if (n_columns) refine(*x.node, all(x.n), x.set, columns, n_columns);
    else close(*x.node, all(x.n));
    w.scratch.release(mark);
  }

 private:
  void find_classes(u32 n) {
    const int C = w.run.p.n_classes;
    Set own[kListClasses] = {};
    for (u32 i = 0; i < n; i++) own[table.tag[row[i]] >> 12] |= bit(i);
    for (int c = 0; c < C; c++)
      if (C == 2 || own[c]) of_class[n_classes] = own[c], classes[n_classes++] = static_cast<u8>(c);
  }
  void fill_sums(const Node& node, u32 n) {
    for (u32 i = 0; i < n; i++) __builtin_prefetch(w.run.p.exact.row(table.ids[row[i]]));  // for the sums of leaves
    n_parts = n <= 16 ? 2 : n <= 32 ? 4 : 8, part_rows = (n + n_parts - 1) / n_parts;
    for (u32 p = 0; p < n_parts; p++) {
      double* sums = part_sums[p];
      sums[0] = 0;
      for (u32 i = p * part_rows, k = 1; i < n && i < (p + 1) * part_rows; i++, k *= 2)
        for (u32 s = 0; s < k; s++) sums[k + s] = sums[s] + table.product[row[i]];
    }
    double squares = 0;  // no quality is higher
    for (u32 i = 0; i < n; i++) squares += table.product[row[i]] * table.product[row[i]];
    margin = w.run.margin(node.stats, squares);
  }
  void take_list(const u32* list, u32 n, const u8* place, FewColumn& c) {
    const bool nominal = w.run.p.columns[c.f].nominal;
    Set own = 0;
    for (u32 i = 0; i < n; i++) {
      own = static_cast<Set>(own | bit(place[list[i] & kRowMask]));
      c.codes[c.n] = static_cast<u16>(list[i] >> 16);
      if (i + 1 < n ? list[i] >> 16 == list[i + 1] >> 16 : !nominal) continue;
      c.sets[c.n++] = own;
      if (nominal) own = 0;
    }
    if (!nominal && list[n - 1] >> 16 == table.columns[c.f].missing_rank) c.missing = all(n) & ~c.sets[c.n - 1];
  }
  // False if the column is constant here. Rows are numbered as the node's bits are.
  bool take_coded(const LoneNode& x, const CodedColumn& from, FewColumn& c) {
    const bool nominal = w.run.p.columns[c.f].nominal;
    const LocalColumn& column = table.columns[c.f];
    const Set every = all(x.n);
    Set left = 0;
    const auto add = [&](u32 v, Set own) {
      left |= own, c.codes[c.n] = from.rank[v];
      if (!nominal && left == every) return;
      c.sets[c.n++] = nominal ? own : left;
    };
    if (from.n_values * x.bits->words > x.n) {  // row by row
      const auto mark = w.scratch.mark();
      Set* of = new_sets(column.n_ranks);
      for (u32 v = 0; v < from.n_values; v++) of[from.rank[v]] = 0;
      for (u32 i = 0; i < x.n; i++) of[column.rank[row[i]]] |= bit(i);
      for (u32 v = 0; v < from.n_values && left != every; v++)
        if (const Set own = of[from.rank[v]]) add(v, own);
      w.scratch.release(mark);
    } else {
      for (u32 v = 0; v < from.n_values && left != every; v++) {
        u64 own = 0;
        for (u32 k = 0, at = 0; k < x.bits->words && at < x.n; at += count_bits(x.rows[k++]))
          own |= pack_bits(from.rows[v * x.bits->words + k], x.rows[k]) << at;
        if (own) add(v, static_cast<Set>(own));
      }
    }
    if (nominal) return c.n > 1;
    if (column.missing_rank != ~u32{0})
      for (u32 i = 0; i < x.n; i++)
        if (column.rank[row[i]] == column.missing_rank) c.missing |= bit(i);
    return c.n > 0;
  }

  // The same for a column of at most 256 values.
  bool take_ranks(u32 n, FewColumn& c) {
    const bool nominal = w.run.p.columns[c.f].nominal;
    const u16* rank = table.columns[c.f].rank;
    const u32 missing = table.columns[c.f].missing_rank;
    u64 values[4] = {};
    Set of[256];
    for (u32 i = 0; i < n; i++) of[rank[row[i]]] = 0, values[rank[row[i]] >> 6] |= u64{1} << (rank[row[i]] & 63);
    for (u32 i = 0; i < n; i++) of[rank[row[i]]] |= bit(i);
    Set left = 0;
    each_bit_of(values, 4, [&](u32 v) {
      left |= of[v];
      c.sets[c.n] = nominal ? of[v] : left, c.codes[c.n++] = static_cast<u16>(v);
    });
    if (nominal) return c.n > 1;
    if (missing < 256 && values[missing >> 6] >> (missing & 63) & 1) c.missing = of[missing];
    return --c.n > 0;  // not after the last value
  }

  void refine(Node& node, Set own, const RowSet& set, const FewColumn* columns, int n_columns) {
    LevelCounts& level = w.level(node.depth);
    level.bundles++, level.rows += size(own);
    Found best;
    if constexpr (kClasses)
      for (int c = 0; c < n_classes; c++) n_of[c] = size(own & of_class[c]);
    for (int j = 0; j < n_columns; j++) {
      if (w.run.p.columns[columns[j].f].nominal) look_at_categories(node, own, columns[j], best);
      else look_at_cuts(node, own, columns[j], best);
    }
    if (!best.column) return close(node, own);
    if (w.run.p.columns[best.column->f].nominal) take_categories(node, own, best);
    else take_cut(node, own, best);
    RowSet sets[2] = {{}, set};
    const bool sharing = shared.keys && size(own) > kFewRows;
    if (sharing) {
      each(best.left, [&](u32 r) { sets[0].add(shared.keys[r]); });
      sets[1].take(sets[0]);
    }
    for (int b = 0; b < 2; b++) {
      Node& child = node.children[b];
      const Set part = static_cast<Set>(b ? own & ~best.left : best.left);
      const bool pure = !kClasses && is_pure(part);
      if (pure || !wants_test(w.run, child, limits)) close(child, part, pure);
      else if (child.n_rows == 2 && part_two(child, part, columns, n_columns)) continue;
      else if (!sharing || child.n_rows == 2) refine_child(child, part, sets[b], columns, n_columns);
      else if (const Node* known = w.memo.find(shared.key(child, sets[b]), size(part))) child = *known;
      else refine_child(child, part, sets[b], columns, n_columns), w.memo.remember(shared.key(child, sets[b]), &child);
    }
  }
  // Two rows can be parted in one way only: by the first column in which they differ. False if that has to be looked at more closely.
  bool part_two(Node& node, Set own, const FewColumn* columns, int n_columns) {
    Set first = static_cast<Set>(own & -own), second = own & ~first;
    const u32 a = row[__builtin_ctzll(first)], b = row[__builtin_ctzll(second)];
    for (int j = 0; j < n_columns; j++) {
      const LocalColumn& column = table.columns[columns[j].f];
      const u32 below = column.rank[a], above = column.rank[b];
      if (below == above) continue;
      if (w.run.p.columns[columns[j].f].nominal || column.any_close || columns[j].missing & own) return false;
      if (below > above) std::swap(first, second);
      LevelCounts& level = w.level(node.depth);
      level.bundles++, level.rows += 2;
      double left[kListClasses];
      find_statistics(first, left);
      take_numeric(w, LoneRows{2, nullptr, table}, node, columns[j].f, kMissingRight, 1, left, std::min(below, above), std::max(below, above));
      close(node.children[0], first, true), close(node.children[1], second, true);
      return true;
    }
    close(node, own);
    return true;
  }
  void refine_child(Node& child, Set own, const RowSet& set, const FewColumn* columns, int n_columns) {
    const auto mark = w.scratch.mark();
    FewColumn* kept = w.scratch.take<FewColumn>(static_cast<std::size_t>(n_columns));
    std::size_t most = 0;
    for (int j = 0; j < n_columns; j++) most += columns[j].n + 1;
    Set* sets = new_sets(most);
    u16* codes = w.scratch.take<u16>(most);
    int n_kept = 0;
    for (int j = 0; j < n_columns; j++) {
      kept[n_kept] = {columns[j].f, 0, sets, codes, static_cast<Set>(columns[j].missing & own)};
      if (!narrow(columns[j], own, kept[n_kept])) continue;
      sets += kept[n_kept].n + 1, codes += kept[n_kept].n + 1, n_kept++;
    }
    if (n_kept) refine(child, own, set, kept, n_kept);
    else close(child, own);
    w.scratch.release(mark);
  }
  // What is left of a column for the rows `own`. False if it is constant there.
  bool narrow(const FewColumn& from, Set own, FewColumn& to) const {
    u32 n = 0;
    if (w.run.p.columns[from.f].nominal) {
      for (u32 i = 0; i < from.n; i++) {
        to.sets[n] = from.sets[i] & own, to.codes[n] = from.codes[i];
        n += to.sets[n] != 0;
      }
      to.n = n;
      return n > 1;
    }
    Set before = 0;
    for (u32 i = 0; i < from.n; i++) {
      const Set s = to.sets[n] = from.sets[i] & own;
      to.codes[n] = from.codes[i];
      if (s == own) return to.n = n, n > 0;
      n += s != before, before = s;  // no branch that cannot be foreseen
    }
    to.codes[n] = from.codes[from.n], to.n = n;
    return n > 0;
  }

  // A candidate, by the formula that decides (Judge::several); they come in the order that decides ties.
  CC_INLINE void look(const Node& node, Set own, const FewColumn& c, Set left, u32 cut, Found& best) {
    const u32 n = size(left), rest = static_cast<u32>(node.n_rows) - n;
    if constexpr (kClasses) {
      double q;
      if (w.run.p.n_classes == 2) {
        const u32 ones = size(left & of_class[1]);
        q = kTwoClasses[n][ones] + kTwoClasses[rest][n_of[1] - ones];
      } else {
        u32 a = 0, b = 0;
        for (int k = 0; k < n_classes; k++) {
          const u32 l = size(left & of_class[k]), r = n_of[k] - l;
          a += l * l, b += r * r;
        }
        if (a * kShare[n] + b * kShare[rest] < best.lowest) return;
        q = static_cast<double>(a) / n + static_cast<double>(b) / rest;
      }
      if (!(q > best.q) || n < limits.min_leaf || rest < limits.min_leaf) return;
      if (!table.columns[c.f].any_close || parted(own, c, left, cut)) best = {&c, left, cut, q, q * (1 - 1e-14)};
      return;
    }
    const double p = sum(left), p_r = node.stats[0] - p, q = p * p * kShare[n] + p_r * p_r * kShare[rest];
    if (q < best.lowest || n < limits.min_leaf || rest < limits.min_leaf) return;
    propose(node, own, c, left, cut, q, best);
  }
  __attribute__((noinline)) void propose(const Node& node, Set own, const FewColumn& c, Set left, u32 cut, double q, Found& best) {
    if (table.columns[c.f].any_close && !parted(own, c, left, cut)) return;
    if (!best.column || q - margin > best.q || better(node, own, left, best.left)) best = {&c, left, cut, q, q - margin};
  }
  void look_at_cuts(const Node& node, Set own, const FewColumn& c, Found& best) {
    for (u32 i = 0; i < c.n; i++) look(node, own, c, c.sets[i], i, best);
    for (u32 i = 0; c.missing && i < c.n; i++)
      if (const Set left = c.sets[i] | c.missing; left != own) look(node, own, c, left, i, best);
  }
  void look_at_categories(const Node& node, Set own, const FewColumn& c, Found& best) {
    if (c.n == 2) return look(node, own, c, c.sets[0], 0, best);
    u8 order[kMost];
    const auto prefixes = [&] {
      Set left = 0;
      for (u32 i = 0; i + 1 < c.n; i++) left |= c.sets[order[i]], look(node, own, c, left, 0, best);
    };
    const int C = w.run.p.n_classes;
    if (C <= 2) return sort_by_mean(c, order), prefixes();
    if (c.n > static_cast<u32>(kExactCategories)) {
      for (int k = 0, present = 0; k < C; k++) {
        const bool here = present < n_classes && classes[present] == k;
        sort_by_share(c, here ? of_class[present++] : Set{0}, order), prefixes();
      }
      return;
    }
    Set subsets[1 << (kExactCategories - 1)];  // those with the first category
    for (u32 subset = 1; subset + 1 < 1u << c.n; subset += 2) {
      const u32 last = 31 - static_cast<u32>(__builtin_clz(subset));
      const Set left = subsets[subset / 2] = subset > 1 ? subsets[(subset ^ 1u << last) / 2] | c.sets[last] : c.sets[0];
      look(node, own, c, left, 0, best);
    }
  }

  // Is the first of two tests better, by exact sums? Sets of the same targets are as good.
  bool better(const Node& node, Set own, Set a, Set b) const {
    const Set rest = own & ~b;
    if (a == b || a == rest) return false;
    if (w.run.decides()) {
      const double first[] = {sum(a), static_cast<double>(size(a))}, second[] = {sum(b), static_cast<double>(size(b))};
      return compare_tests(node.stats, first, second) > 0;
    }
    if (same_targets(a, b) || same_targets(a, rest)) return false;
    const auto mark = w.scratch.mark();
    const int T = w.run.p.n_sums();
    i64 *sums = empty_sums(w), *branches = empty_sums(w, 2);
    add_exactly(own, sums);
    Contest contest(w.run.p, sums);
    bool found = false;
    for (const Set s : {b, a}) {
      std::fill_n(branches, 2 * T, i64{0});
      add_exactly(s, branches), add_exactly(own & ~s, branches + T);
      found = contest.offer(branches, 2);
    }
    w.scratch.release(mark);
    return found;
  }
  // Have two sets the same targets, each as often?
  bool same_targets(Set a, Set b) const {
    if (size(a) != size(b)) return false;
    const auto target = [&](Set s) { return table.target[row[__builtin_ctzll(s)]]; };
    Set others = b & ~a;
    for (Set s = a & ~b; s; s &= s - 1) {
      Set m = others;
      while (m && target(m) != target(s)) m &= m - 1;
      if (!m) return false;
      others &= ~(m & -m);
    }
    return true;
  }
  void add_exactly(Set s, i64* to) const {
    each(s, [&](u32 r) { crosscut::CROSSCUT_LEVEL::add_exactly(w, bundle, 0, table.ids[r], to); });
  }
  static void sort(const double* key, u32 n, u8* order) {  // ties as they come
    for (u32 i = 0; i < n; i++) {
      u32 at = i;
      for (; at && key[order[at - 1]] > key[i]; at--) order[at] = order[at - 1];
      order[at] = static_cast<u8>(i);
    }
  }
  // The order of categories, by the share of a class.
  static void sort_by_share(const FewColumn& c, Set of_it, u8* order) {
    double share[kMost];
    for (u32 i = 0; i < c.n; i++) share[i] = static_cast<double>(size(c.sets[i] & of_it)) / size(c.sets[i]);
    sort(share, c.n, order);
  }
  // The same for two classes; for regression, by exact means, rounded once.
  void sort_by_mean(const FewColumn& c, u8* order) const {
    if constexpr (kClasses) return sort_by_share(c, of_class[1], order);
    const Problem& p = w.run.p;
    double mean[kMost], most = 0;
    for (u32 i = 0; i < c.n; i++) mean[i] = sum(c.sets[i]) * kShare[size(c.sets[i])], most = std::max(most, mean[i] < 0 ? -mean[i] : mean[i]);
    sort(mean, c.n, order);
    const double far = p.mean_step + 0x1p-49 * most + (p.product_rounded ? 2 : 0);
    bool sure = true;
    for (u32 i = 1; i < c.n && sure; i++) {
      const Set a = c.sets[order[i - 1]], b = c.sets[order[i]];
      sure = mean[order[i]] - mean[order[i - 1]] > far || same_targets(a, b);
    }
    if (sure) return;
    const auto mark = w.scratch.mark();
    for (u32 i = 0; i < c.n; i++) {
      i64* sums = empty_sums(w);
      add_exactly(c.sets[i], sums), mean[i] = exact_mean(p, sums);
    }
    w.scratch.release(mark);
    sort(mean, c.n, order);
  }

  bool parted(Set own, const FewColumn& c, Set left, u32 cut) const {  // gap rule
    if (w.run.p.columns[c.f].nominal || left == (own & ~c.missing)) return true;
    const auto value = [&](u32 r) { return w.run.p.columns[c.f].values[table.columns[c.f].global[r]]; };
    return apart(value(c.codes[cut]), value(c.codes[cut + 1]));
  }
  void take_cut(Node& node, Set own, const Found& best) {
    const FewColumn& c = *best.column;
    const bool presence = best.left == (own & ~c.missing), missing_left = best.left & c.missing;
    const u64 phase = presence ? kPresence : missing_left ? kMissingLeft : kMissingRight;
    double left[kListClasses];
    find_statistics(best.left, left);
    take_numeric(w, LoneRows{size(own), nullptr, table}, node, c.f, phase, size(best.left), left, c.codes[best.cut], c.codes[best.cut + 1]);
    if (c.missing && !presence) node.missing = !missing_left;
  }
  void take_categories(Node& node, Set own, Found& best) {
    const FewColumn& c = *best.column;
    if (c.n == 2 && w.run.p.n_classes <= 2) {
      u8 order[kMost];
      sort_by_mean(c, order), best.left = c.sets[order[0]];
    }
    std::int32_t* branches = start_nominal(w, node, c.f, 2);
    for (u32 i = 0; i < c.n; i++) branches[table.columns[c.f].global[c.codes[i]]] = !(c.sets[i] & best.left);
    for (int b = 0; b < 2; b++) {
      const Set part = static_cast<Set>(b ? own & ~best.left : best.left);
      Node& child = node.children[b];
      child.n_rows = size(part), find_statistics(part, child.stats);
    }
    node.missing = branches[w.run.p.columns[c.f].n_values];
    if (node.missing < 0) node.missing = node.children[0].n_rows > node.children[1].n_rows ? 0 : 1;
  }

  void find_statistics(Set s, double* stats) const {
    if constexpr (kClasses) {
      std::fill_n(stats, w.run.K(), 0.0);
      for (int c = 0; c < n_classes; c++) stats[classes[c]] = size(s & of_class[c]);
    } else {
      stats[0] = sum(s), stats[1] = size(s);
    }
  }

  bool is_pure(Set s) const {
    const double first = table.target[row[__builtin_ctzll(s)]];
    while (s &= s - 1)
      if (table.target[row[__builtin_ctzll(s)]] != first) return false;
    return true;
  }
  void close(Node& leaf, Set s, bool pure = false) {
    if constexpr (kClasses) return;
    if (pure) {
      leaf.exact = const_cast<i64*>(w.run.p.exact.row(table.ids[row[__builtin_ctzll(s)]]));
      return;
    }
    start_sums(w, leaf), add_exactly(s, leaf.exact);
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL
