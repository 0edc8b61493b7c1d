// Small bundles: copied into a local table, whose columns are sorted once, and then refined to the end task by task. Sharing goes on where
// rows are the same: a subtree that some task has grown already from the very same rows is taken from there (memo.hpp).
#pragma once
#include "fork.hpp"
#include "lone_search.hpp"

namespace crosscut::CROSSCUT_LEVEL {

class LoneTask {
  Worker& w;
  const LocalTable& table;
  Bundle bundle;     // of one lane: the task, and the node that is being refined
  const TaskLimits& limits;
  const ScanRows rows;
  const u64 place;   // stands for the limits in keys of the memo
  u8* marks;         // by row; 0 between uses

 public:
  LoneTask(Worker& worker, const LocalTable& t, const Bundle& of, int k, u8* room)
      : w(worker), table(t), bundle(of.packed(1u << k)), limits(limits_of(worker, of, k)),
        rows{t.info, t.weight, t.product, t.times ? t.times + k : nullptr}, place(key_of(limits)), marks(room) {}

  // The task's rows, in all lists.
  void start(int k) {
    const auto mark = w.scratch.mark();
    const auto most = static_cast<std::size_t>(table.n_varying);
    LoneNode x{bundle.node[0], 0, 0, w.scratch.take<int>(most), w.scratch.take<u32*>(most), {}};
    for (u32 i = 0; i < table.n; i++) {
      const u32 own = table.masks[i] >> k & 1;
      marks[i] = static_cast<u8>(!own), x.n += own;
    }
    u32* dropped = w.scratch.take<u32>(table.n + kListRoom);
    for (int j = 0; j < table.n_varying; j++) {
      const int f = table.varying[j];
      u32* list = w.scratch.take<u32>(table.n + kListRoom);
      part_entries(table.columns[f].list, table.n, marks, list, dropped);
      end_list(list + x.n), keep_column(x, f, list, x.n);
    }
    for (u32 i = 0; i < table.n; i++) {
      if (table.keys && !marks[i]) x.set.add(table.keys[i]);
      marks[i] = 0;
    }
    if (!x.n_columns) {  // every column is constant
      close(*x.node, own_rows(x.n, k), x.n);
    } else if (opens(x, *x.node, x.lists[0], x.n, x.set)) {
      refine(x);
    }
    w.scratch.release(mark);
  }

 private:
  static u64 key_of(const TaskLimits& l) {
    u64 key = 0;
    for (const i64 limit : {l.max_depth, l.min_split, l.min_leaf}) key = scrambled(key + static_cast<u64>(limit));
    return key;
  }
  u32* own_rows(u32 n, int k) {
    u32* entries = w.scratch.take<u32>(n);
    for (u32 i = 0, at = 0; i < table.n; i++)
      if (table.masks[i] >> k & 1) entries[at++] = i;
    return entries;
  }
  static void end_list(u32* end) {  // what is read behind the end must be rows
    constexpr u32 none[kListRoom] = {};
    __builtin_memcpy(end, none, sizeof none);
  }
  static void keep_column(LoneNode& x, int f, u32* list, u32 n) {
    if (list[0] >> 16 == list[n - 1] >> 16) return;  // constant from here on
    x.columns[x.n_columns] = f, x.lists[x.n_columns++] = list;
  }

  // The node stays a leaf: sum what its value comes from. entries: its rows.
  void close(Node& leaf, const u32* entries, u32 n) {
    const Problem& p = w.run.p;
    if (w.run.counted) return;
    if (n == 1 && !p.n_classes && !p.multiplicity) {
      leaf.exact = const_cast<i64*>(p.exact.row(table.ids[entries[0] & kRowMask]));
      return;
    }
    start_sums(w, leaf);
    for (u32 i = 0; i < n; i++) add_exactly(w, bundle, 0, table.ids[entries[i] & kRowMask], leaf.exact);
  }
  bool is_pure(const u32* entries, u32 n) const {  // regression
    const double first = table.target[entries[0] & kRowMask];
    for (u32 i = 1; i < n; i++)
      if (table.target[entries[i] & kRowMask] != first) return false;
    return true;
  }
  RowSet key(const Node& node, RowSet set) const {
    set.a += scrambled(place + static_cast<u64>(node.depth));
    return set;
  }
  // Does the node, which is x or a child of it, want a search for its test? Otherwise it is done.
  bool opens(const LoneNode& x, Node& node, const u32* entries, u32 n, const RowSet& set) {
    if (!wants_test(w.run, node, limits) || (table.target && is_pure(entries, n))) return close(node, entries, n), false;
    if (n == 2 && part_two(x, node, entries)) return false;
    if (!table.keys) return true;
    const Node* known = w.memo.find(key(node, set));
    if (known) node = *known;
    return !known;
  }
  // Two rows can be parted in one way only: by the first column in which they differ. False if that has to be looked at more closely.
  bool part_two(const LoneNode& x, Node& node, const u32* entries) {
    const Problem& p = w.run.p;
    if (p.criterion == Criterion::gain_ratio || limits.min_decrease > 0) return false;
    u32 low = entries[0] & kRowMask, high = entries[1] & kRowMask;
    for (int j = 0; j < x.n_columns; j++) {
      const int f = x.columns[j];
      const LocalColumn& column = table.columns[f];
      const u16* rank = column.rank;
      if (rank[low] == rank[high] || !allowed_lanes(w, bundle, f)) continue;
      const bool nominal = p.columns[f].nominal;
      if (nominal && (p.n_classes || p.multiway)) return false;
      if (nominal ? table.target[low] > table.target[high] : rank[low] > rank[high]) std::swap(low, high);
      if (rank[high] == column.missing_rank) return false;
      const LoneRows own{2, entries, table};
      if (column.any_close && !apart(p.columns[f].values[column.global[rank[low]]], p.columns[f].values[column.global[rank[high]]])) continue;
      const auto mark = w.scratch.mark();
      double* left = w.scratch.take<double>(static_cast<std::size_t>(w.run.K()));
      std::fill_n(left, w.run.K(), 0.0);
      const double times = rows.times ? rows.times[low * kLanes] : 1, weight = times * (rows.weight ? rows.weight[low] : 1);
      if (p.n_classes) left[p.classes[table.ids[low]]] = weight;
      else left[0] = times * rows.product[low], left[1] = weight;
      if (nominal) take_two_categories(node, f, left, column.global[rank[low]], column.global[rank[high]]);
      else take_numeric(w, own, node, f, kMissingRight, 1, left, rank[low], rank[high]);
      w.scratch.release(mark);
      close(node.children[0], &low, 1), close(node.children[1], &high, 1);
      count_visit(node, 2);
      return true;
    }
    close(node, entries, 2);
    return true;
  }
  // Regression: of two categories with a row each, the one of lower mean goes first.
  void take_two_categories(Node& node, int f, const double* left, u32 low, u32 high) {
    std::int32_t* branches = start_nominal(w, node, f, 2);
    branches[low] = 0, branches[high] = 1;
    const std::int32_t missing = branches[node.n_branches - 1];
    node.missing = missing < 0 ? 1 : missing;
    for (int b = 0; b < 2; b++) {
      Node& child = node.children[b];
      child.n_rows = 1;
      for (int c = 0; c < w.run.K(); c++) child.stats[c] = b ? node.stats[c] - left[c] : left[c];
    }
  }
  LevelCounts& count_visit(const Node& node, u32 n) {
    LevelCounts& level = w.level(node.depth);
    level.bundles++, level.rows += n;
    return level;
  }

  // Where the rows go: the entries of all branches, one after the other.
  struct Parting {
    int n_branches;
    const u32* entries;
    u32* start;  // [n_branches + 1]
    Node* child;
  };

  void refine(LoneNode x) {
    const auto mark = w.scratch.mark();
    for (bool more = true; more; w.scratch.release(mark)) {
      const bool timed = x.n >= 256;  // below that the clock costs too much
      const double started = timed ? seconds_now() : 0;
      LevelCounts& level = count_visit(*x.node, x.n);
      bundle.node[0] = x.node, bundle.depth = x.node->depth;
      Node* node = x.node;
      const RowSet set = x.set;
      Parting parting;
      more = find_test(x, parting);
      if (timed) level.seconds += seconds_now() - started;
      if (more) more = part(x, parting);
      if (table.keys) w.memo.remember(key(*node, set), node);
    }
  }

  // False if the node stays a leaf.
  bool find_test(const LoneNode& x, Parting& out) {
    const LoneRows own{x.n, x.lists[0], table};
    Best best(w, bundle);
    search_alone(w, table, bundle, x, rows, best);
    decide_contested(w, bundle, own, best);
    const int f = best.feature[0];
    if (f < 0) return close(*x.node, x.lists[0], x.n), false;
    int j = 0;
    while (x.columns[j] != f) j++;
    const u32* list = x.lists[j];
    if (w.run.p.columns[f].nominal || limits.min_decrease > 0) return take_any(x, best, own, list, out);
    const u64 phase = phase_of(best.key[0]);
    const u32 missing = table.columns[f].missing_rank;
    u32 present = x.n;
    while (list[present - 1] >> 16 == missing) present--;
    const u32 n_left = static_cast<u32>(best.n_left[0]), cut = phase == kMissingLeft ? n_left - (x.n - present) : n_left;
    take_numeric(w, own, *x.node, f, phase, best.n_left[0], best.left, list[cut - 1] >> 16, list[cut] >> 16);
    if (present < x.n && phase != kPresence) x.node->missing = phase != kMissingLeft;
    u32 *entries = w.scratch.take<u32>(x.n), *start = w.scratch.take<u32>(3);
    std::copy_n(list, x.n, entries);
    if (phase == kMissingLeft) std::copy(list + present, list + x.n, entries + cut), std::copy(list + cut, list + present, entries + n_left);
    start[0] = 0, start[1] = n_left, start[2] = x.n;
    out = {2, entries, start, x.node->children};
    return true;
  }
  bool take_any(const LoneNode& x, Best& best, const LoneRows& own, const u32* list, Parting& out) {
    Forking<LoneRows> forking(w, bundle, own, best);
    forking.take_tests();
    if (forking.leaves) return false;
    const Test& test = forking.tests[0];
    const auto n = static_cast<u32>(test.n_branches);
    u32 *entries = w.scratch.take<u32>(x.n), *start = w.scratch.take<u32>(n + 2);
    std::fill_n(start, n + 2, 0u);
    for (u32 i = 0; i < x.n; i++) start[test.branch(list[i] >> 16) + 2]++;
    for (u32 b = 0; b < n; b++) start[b + 2] += start[b + 1];
    for (u32 i = 0; i < x.n; i++) entries[start[test.branch(list[i] >> 16) + 1]++] = list[i];
    u32 kept = 0;  // branches that have rows: those of the node
    for (u32 b = 0; b < n; b++)
      if (start[b] < start[b + 1]) start[kept++] = start[b];
    start[kept] = x.n;
    out = {static_cast<int>(kept), entries, start, x.node->children};
    return true;
  }

  // Refines all children but the largest, which becomes x: its lists are those of x, parted in place. False if no child wants a test.
  bool part(LoneNode& x, const Parting& parting) {
    u32 largest = 0, n_open = 0, n_leaf = 0;
    const auto n_branches = static_cast<u32>(parting.n_branches);
    bool* open = w.scratch.take<bool>(n_branches);
    RowSet* set = w.scratch.take<RowSet>(n_branches);
    const auto size = [&](u32 b) { return parting.start[b + 1] - parting.start[b]; };
    const u32 last = n_branches == 2 && size(0) > size(1) ? 0 : n_branches - 1;  // its rows are what the others leave
    set[last] = x.set;
    for (u32 b = 0; b < n_branches && table.keys; b++) {
      if (b == last) continue;
      set[b] = {};
      for (u32 i = parting.start[b]; i < parting.start[b + 1]; i++) set[b].add(table.keys[parting.entries[i] & kRowMask]);
      set[last].take(set[b]);
    }
    for (u32 b = 0; b < n_branches && table.keys; b++) w.memo.prepare(key(parting.child[b], set[b]));
    for (u32 b = 0; b < n_branches; b++) {
      open[b] = opens(x, parting.child[b], parting.entries + parting.start[b], size(b), set[b]);
      if (!open[b]) n_leaf++;
      else if (!n_open++ || size(b) > size(largest)) largest = b;
    }
    if (!n_open) return false;
    const auto mark_rows = [&](u32 b, u8 value) {
      for (u32 i = parting.start[b]; i < parting.start[b + 1]; i++) marks[parting.entries[i] & kRowMask] = value;
    };
    for (u32 b = 0; b < n_branches; b++) {
      if (!open[b] || b == largest) continue;
      LoneNode y = empty_node(x, parting.child + b, size(b), set[b]);
      mark_rows(b, 1);
      part_lists(x, &y, x.n - size(b));
      mark_rows(b, 0);
      refine_child(y, parting.entries + parting.start[b]);
    }
    if (n_leaf) {
      for (u32 b = 0; b < n_branches; b++)
        if (!open[b]) mark_rows(b, 1);
      part_lists(x, nullptr, size(largest));
      for (u32 b = 0; b < n_branches; b++)
        if (!open[b]) mark_rows(b, 0);
    }
    x.node = parting.child + largest, x.set = set[largest];
    if (x.n_columns) return true;
    close(*x.node, parting.entries + parting.start[largest], x.n);
    return false;
  }
  LoneNode empty_node(const LoneNode& from, Node* node, u32 n, const RowSet& set) {
    const auto most = static_cast<std::size_t>(from.n_columns);
    return {node, n, 0, w.scratch.take<int>(most), w.scratch.take<u32*>(most), set};
  }
  // The marked rows leave x, which keeps n; they become those of y, if it is given.
  void part_lists(LoneNode& x, LoneNode* y, u32 n) {
    const u32 before = x.n;
    const int n_columns = x.n_columns;
    const std::size_t room = ((y ? y->n : before - n) + kListRoom + 31) & ~31u;
    u32* away = w.scratch.take<u32>(y ? room * static_cast<std::size_t>(n_columns) : room);
    x.n = n, x.n_columns = 0;
    for (int j = 0; j < n_columns; j++) {
      u32* list = x.lists[j];
      part_entries(list, before, marks, list, away);
      keep_column(x, x.columns[j], list, n);
      if (y) end_list(away + y->n), keep_column(*y, x.columns[j], away, y->n), away += room;
    }
  }
  void refine_child(LoneNode& y, const u32* entries) {
    if (y.n_columns) refine(y);
    else close(*y.node, entries, y.n);
  }
};

// A bundle of the table becomes a local table, in which its tasks are refined to the end.
inline void refine_as_local(Worker& w, const Bundle& bundle, u32 n, const u32* ids, const u16* masks) {
  const auto mark = w.scratch.mark();
  const LocalTable table = make_local_table(w, n, ids, masks);
  u8* marks = w.scratch.take<u8>(kRowMask + 4);
  std::fill_n(marks, n, u8{0});
  each_bit(bundle.lanes, [&](int k) { LoneTask(w, table, bundle, k, marks).start(k); });
  if (!w.run.remembers) w.memo.forget();
  w.scratch.release(mark);
}

}  // namespace crosscut::CROSSCUT_LEVEL
