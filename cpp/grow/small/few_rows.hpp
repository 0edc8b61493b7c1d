// Finishes nodes with few rows that count once, including everything below them, by sets of rows
// (few_columns.hpp). Most nodes of a deep tree are this small. Compared with sorted lists this
// makes small classification tables 1.2 times and regression tables 1.5 times faster.
#pragma once
#include "few_targets.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// always few; up to kWordRows if columns have at most kFewValues values on average
constexpr u32 kFewRows = 16;
// best limits measured with AVX2: 16, 24 and 40 for regression, 10, 16 and 24 for classes
constexpr u32 kFewValues = 24;

// The keys under which nodes with the same rows share a subtree (memo.hpp).
struct SharedNodes {
  const RowSet* keys;  // [row of the local table]; null: nothing is shared
  u64 place;           // hash of the limits
  RowSet key(const Node& node, RowSet set) const {
    set.a += scrambled(place + static_cast<u64>(node.depth));
    return set;
  }
};

template <bool kClasses, bool kWeights = false> class FewRows {
  // The best test so far: the rows that go left, the last value among them, the quality on the
  // grid, and the least quality that may still be better.
  struct BestTest {
    const FewColumn* column = nullptr;
    FewSet left = 0;
    u32 cut = 0;
    double q = kNever, lowest = kNever;
  };
  Worker& w;
  const LocalTable& table;
  const Bundle& bundle;
  const TaskLimits& limits;
  const SharedNodes shared;
  FewTargets<kClasses, kWeights> targets;

 public:
  FewRows(Worker& worker, const LocalTable& t, const Bundle& b, const TaskLimits& l,
          const SharedNodes& known)
      : w(worker), table(t), bundle(b), limits(l), shared(known), targets(worker, t, b) {}

  // May the task use sets of rows? Not if min_leaf is so large that only one node would be
  // searched: preparing it would cost more than it saves.
  static bool serves(const Run& run, const TaskLimits& l) {
    const Problem& p = run.p;
    if (off(Acceleration::few_rows) || p.multiway || l.min_decrease > 0 ||
        4 * l.min_leaf > i64{kWordRows})
      return false;
    if constexpr (!kClasses) return !p.n_classes && !run.weighted;
    return run.counts_gini() && p.n_classes <= kListClasses;
  }
  // Does the node have few rows? Above kFewRows only if its columns have few values, because sets
  // take time per value and lists take time per row.
  template <class Code> static bool pays(const Run& run, const SingleNode<Code>& x) {
    if (x.n <= kFewRows) return true;
    if (x.n > kWordRows) return false;
    const u32 most = kFewValues * static_cast<u32>(x.n_columns + x.code.n);
    u32 candidates = 0;
    const auto add = [&](int f, u32 values) {
      const bool subsets =
          run.p.n_classes > 2 && run.p.columns[f].nominal && values <= kExactCategories;
      candidates += subsets ? 1u << (values - 1) : values;
    };
    for (int j = 0; j < x.code.n && candidates <= most; j++) {
      const u32 c = x.code.places[j];
      add(x.code.feature(c), std::min(x.code.n_values(c), x.n));
    }
    for (int j = 0; j < x.n_columns && candidates <= most; j++)
      add(x.columns[j], n_values(x.lists[j], x.n));
    return candidates <= most;
  }

  // Refines a node that needs a test, to the end.
  template <class Code> void finish(const SingleNode<Code>& x) {
    const auto mark = w.scratch.mark();
    targets.start(x);
    const FewColumns<Code> few(w, table, bundle, x, targets.row);
    if (few.n) refine(*x.node, first_rows(x.n), x.set, few.columns, few.n);
    else targets.close(*x.node, first_rows(x.n));
    w.scratch.release(mark);
  }

 private:
  void refine(Node& node, FewSet rows, const RowSet& set, const FewColumn* columns, int n_columns) {
    LevelCounts& level = w.count_visit(node.depth, count_bits(rows));
    level.few_nodes++;
    BestTest best;
    targets.count_classes(rows);
    for (int j = 0; j < n_columns; j++) {
      level.cuts += columns[j].n;
      if (columns[j].nominal) evaluate_categories(node, rows, columns[j], best);
      else evaluate_cuts(node, rows, columns[j], best);
    }
    if constexpr (!kClasses)
      if (targets.narrow) return refine_on_new_grid(node, rows, set, columns, n_columns);
    if (!best.column) return targets.close(node, rows);
    if (best.column->nominal) take_categories(node, rows, best);
    else take_cut(node, rows, best);
    refine_children(node, rows, best.left, set, columns, n_columns);
  }
  // Refines a node with its targets on a grid of their own.
  void refine_on_new_grid(Node& node, FewSet rows, const RowSet& set, const FewColumn* columns,
                          int n_columns) {
    targets.narrow = false;
    const auto mark = w.scratch.mark();
    u16 place[kWordRows], n = 0;
    targets.each(rows, [&](u32 r) { place[n++] = static_cast<u16>(r); });
    const LocalTable own = on_new_grid(w, table, node, n, [&](u32 i) { return u32{place[i]}; });
    // kept in memory, because its sums are too large for the stack of a deep recursion
    FewRows* few = new (w.scratch.take<FewRows>(1)) FewRows(w, own, bundle, limits, shared);
    few->targets.start(targets, node, rows);
    few->refine(node, rows, set, columns, n_columns);
    w.scratch.release(mark);
  }
  // columns: of the node or of one of its ancestors
  CC_INLINE void refine_children(Node& node, FewSet rows, FewSet left, const RowSet& set,
                                 const FewColumn* columns, int n_columns) {
    RowSet sets[2] = {{}, set};
    const bool sharing = shared.keys && count_bits(rows) > kFewRows;
    if (sharing) {
      targets.each(left, [&](u32 r) { sets[0].add(shared.keys[r]); });
      sets[1].take(sets[0]);
    }
    for (int b = 0; b < 2; b++) {
      Node& child = node.children[b];
      const FewSet part = b ? rows & ~left : left;
      const bool pure = !kClasses && targets.is_pure(part);
      if (pure || !wants_test(w.run, child, limits) ||
          !enough_rows(w.run, child.n_rows, limits, [&] { return n_once(part); }))
        targets.close(child, part, pure);
      else if (child.n_rows == 2 && split_two(child, part, columns, n_columns)) continue;
      else if (!sharing || child.n_rows <= 4)
        refine_child(child, part, sets[b], columns, n_columns);
      else if (const Node* known = w.memo.find(shared.key(child, sets[b]), count_bits(part))) {
        child = *known;
        w.level(child.depth).known_nodes++;
      } else {
        refine_child(child, part, sets[b], columns, n_columns);
        w.memo.remember(shared.key(child, sets[b]), &child);
      }
    }
  }
  void refine_child(Node& child, FewSet rows, const RowSet& set, const FewColumn* columns,
                    int n_columns) {
    const auto mark = w.scratch.mark();
    FewColumn* kept = w.scratch.take<FewColumn>(static_cast<std::size_t>(n_columns));
    std::size_t most = 0;
    for (int j = 0; j < n_columns; j++) most += columns[j].n + 1;
    FewSet* sets = w.scratch.take<FewSet>(most);
    u16* codes = w.scratch.take<u16>(most);
    int n_kept = 0;
    for (int j = 0; j < n_columns; j++) {
      kept[n_kept] = {columns[j].f, 0, columns[j].nominal, sets, codes, columns[j].missing & rows};
      if (!columns[j].narrow(rows, kept[n_kept])) continue;
      sets += kept[n_kept].n + 1;
      codes += kept[n_kept].n + 1;
      n_kept++;
    }
    if (n_kept) refine(child, rows, set, kept, n_kept);
    else targets.close(child, rows);
    w.scratch.release(mark);
  }

  // Two rows can be split in one way only: by the first column in which they differ. Returns false
  // if a value is missing there.
  bool split_two(Node& node, FewSet rows, const FewColumn* columns, int n_columns) {
    FewSet first = rows & -rows, second = rows & ~first;
    const u32 a = targets.row[lowest_row(first)], b = targets.row[lowest_row(second)];
    for (int j = 0; j < n_columns; j++) {
      const FewColumn& c = columns[j];
      const LocalColumn& column = table.columns[c.f];
      if (column.rank[a] == column.rank[b]) continue;
      if (c.missing & rows) return false;
      const u16 below = std::min(column.rank[a], column.rank[b]);
      const u16 above = std::max(column.rank[a], column.rank[b]);
      if (!separable(c, {below, above})) continue;
      if (column.rank[a] > column.rank[b]) std::swap(first, second);
      w.count_visit(node.depth, 2).few_nodes++;
      if (c.nominal) {
        FewSet sets[] = {first, second};
        u16 codes[] = {below, above};
        const FewColumn two{c.f, 2, true, sets, codes, 0};
        BestTest test{&two, first};
        take_categories(node, rows, test);
        first = test.left;
        second = rows & ~first;
      } else {
        take_numeric_test(node, 2, c.f, kMissingRight, first, below, above);
      }
      targets.close(node.children[0], first, true);
      targets.close(node.children[1], second, true);
      return true;
    }
    targets.close(node, rows);
    return true;
  }
  // Evaluates a candidate with the formula of Quality::several. Candidates come in the order in
  // which ties are broken.
  CC_INLINE void evaluate(const Node& node, FewSet rows, const FewColumn& c, FewSet left, u32 cut,
                          BestTest& best) {
    const u32 n = count_bits(left), rest = static_cast<u32>(node.n_rows) - n;
    if constexpr (kWeights) {
      return evaluate_weighted(node, rows, c, left, cut, n, best);
    } else if constexpr (kClasses) {
      double q;
      if (w.run.p.n_classes == 2) {
        const u32 ones = count_bits(left & targets.of_class[1]);
        q = kTwoClasses[n][ones] + kTwoClasses[rest][targets.n_of[1] - ones];
      } else {
        u32 a = 0, b = 0;
        for (int k = 0; k < targets.n_classes; k++) {
          const u32 l = count_bits(left & targets.of_class[k]), r = targets.n_of[k] - l;
          a += l * l;
          b += r * r;
        }
        if (a * kShare[n] + b * kShare[rest] < best.lowest) return;
        q = static_cast<double>(a) / n + static_cast<double>(b) / rest;
      }
      if (!(q > best.q) || n < limits.min_leaf || rest < limits.min_leaf || too_few(rows, left))
        return;
      if (separable_at(rows, c, left, cut)) best = {&c, left, cut, q, q * (1 - 1e-14)};
      return;
    }
    const double p = targets.sum(left);
    const double p_r = node.stats[0] - p;
    const double q = p * p * kShare[n] + p_r * p_r * kShare[rest];
    if (q < best.lowest || n < limits.min_leaf || rest < limits.min_leaf) return;
    propose(node, rows, c, left, cut, q, best);
  }
  i64 n_once(FewSet rows) const { return count_bits(rows & targets.once); }
  // Has a branch fewer rows than a leaf needs, if copies count once?
  bool too_few(FewSet rows, FewSet left) const {
    return w.run.most_copies > 1 &&
           (n_once(left) < limits.min_leaf || n_once(rows & ~left) < limits.min_leaf);
  }
  // The same with class weights: A / l + B / r < least is rejected without a division.
  CC_INLINE void evaluate_weighted(const Node& node, FewSet rows, const FewColumn& c, FewSet left,
                                   u32 cut, u32 n, BestTest& best) {
    double a = 0, b = 0, l = 0, r = 0;
    for (int k = 0; k < targets.n_classes; k++) {
      const u32 rows_left = count_bits(left & targets.of_class[k]);
      const double x = targets.weight[k] * rows_left;
      const double y = targets.weight[k] * (targets.n_of[k] - rows_left);
      a += x * x;
      b += y * y;
      l += x;
      r += y;
    }
    if (a * r + b * l < best.lowest * (l * r)) return;
    const i64 rest = node.n_rows - n;
    if (n < limits.min_leaf || rest < limits.min_leaf) return;
    propose(node, rows, c, left, cut, a / l + b / r, best);
  }
  __attribute__((noinline)) void propose(const Node& node, FewSet rows, const FewColumn& c,
                                         FewSet left, u32 cut, double q, BestTest& best) {
    w.level(node.depth).exact++;
    if (!separable_at(rows, c, left, cut)) return;
    if (!best.column || q - targets.margin > best.q || targets.better(node, rows, left, best.left))
      best = {&c, left, cut, q, q - targets.margin};
  }
  void evaluate_cuts(const Node& node, FewSet rows, const FewColumn& c, BestTest& best) {
    for (u32 i = 0; i < c.n; i++) evaluate(node, rows, c, c.sets[i], i, best);
    for (u32 i = 0; c.missing && i < c.n; i++)
      if (const FewSet left = c.sets[i] | c.missing; left != rows)
        evaluate(node, rows, c, left, i, best);
  }
  void evaluate_categories(const Node& node, FewSet rows, const FewColumn& c, BestTest& best) {
    if (c.n == 2) return evaluate(node, rows, c, c.sets[0], 0, best);
    u8 order[kWordRows];
    const auto prefixes = [&] {
      FewSet left = 0;
      for (u32 i = 0; i + 1 < c.n; i++) {
        left |= c.sets[order[i]];
        evaluate(node, rows, c, left, 0, best);
      }
    };
    const int C = w.run.p.n_classes;
    if (C <= 2) {
      targets.sort_by_mean(c, order);
      return prefixes();
    }
    if (c.n > static_cast<u32>(kExactCategories)) {
      for (int k = 0, present = 0; k < C; k++) {
        const bool is_present = present < targets.n_classes && targets.classes[present] == k;
        targets.sort_by_share(c, k, is_present ? targets.of_class[present++] : FewSet{0}, order);
        prefixes();
      }
      return;
    }
    FewSet subsets[1 << (kExactCategories - 1)];  // all that contain the first category
    for (u32 subset = 1; subset + 1 < 1u << c.n; subset += 2) {
      const u32 last = 31 - static_cast<u32>(__builtin_clz(subset));
      const FewSet left = subsets[subset / 2] =
          subset > 1 ? subsets[(subset ^ 1u << last) / 2] | c.sets[last] : c.sets[0];
      evaluate(node, rows, c, left, 0, best);
    }
  }

  // Gap rule: are values with these neighbouring ranks far enough apart?
  bool separable(const FewColumn& c, std::pair<u32, u32> sides) const {
    const Column& column = w.run.p.columns[c.f];
    const u32* ranks = table.columns[c.f].global;
    return !column.close ||
           crosscut::CROSSCUT_LEVEL::separable(column, ranks[sides.first], ranks[sides.second]);
  }
  bool separable_at(FewSet rows, const FewColumn& c, FewSet left, u32 cut) const {
    return !w.run.p.columns[c.f].close || left == (rows & ~c.missing) ||
           separable(c, {c.codes[cut], c.codes[cut + 1]});
  }
  void take_numeric_test(Node& node, u32 n, int f, u64 phase, FewSet left, u32 below, u32 above) {
    double stats[kListClasses];
    targets.find_statistics(left, stats);
    take_numeric(w, SingleRows{n, nullptr, table}, node, f, phase, count_bits(left), stats, below,
                 above);
  }
  void take_cut(Node& node, FewSet rows, const BestTest& best) {
    const FewColumn& c = *best.column;
    const bool presence = best.left == (rows & ~c.missing), missing_left = best.left & c.missing;
    const u64 phase = presence ? kPresence : missing_left ? kMissingLeft : kMissingRight;
    take_numeric_test(node, count_bits(rows), c.f, phase, best.left, c.codes[best.cut],
                      c.codes[best.cut + 1]);
    if (c.missing && !presence) node.missing = !missing_left;
  }
  void take_categories(Node& node, FewSet rows, BestTest& best) {
    const FewColumn& c = *best.column;
    if (c.n == 2 && w.run.p.n_classes <= 2) {
      u8 order[2];
      targets.sort_by_mean(c, order);
      best.left = c.sets[order[0]];
    }
    CategoryBranches::Entry* entry = start_nominal(w, node, c.f, 2, c.n);
    for (u32 i = 0; i < c.n; i++)
      entry[i] = {table.columns[c.f].global[c.codes[i]], !(c.sets[i] & best.left)};
    for (int b = 0; b < 2; b++) {
      const FewSet part = b ? rows & ~best.left : best.left;
      Node& child = node.children[b];
      child.n_rows = count_bits(part);
      targets.find_statistics(part, child.stats);
    }
    node.missing = branch_of_missing(w, node);
    if (node.missing < 0) node.missing = node.children[0].n_rows > node.children[1].n_rows ? 0 : 1;
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL
