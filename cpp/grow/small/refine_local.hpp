// Small bundles: copied into a local table, whose columns are sorted once, and then refined to the end task by task. Sharing goes on where
// rows are the same: a subtree that some task has grown already from the very same rows is taken from there (memo.hpp).
#pragma once
#include "few_rows.hpp"
#include "lone_search.hpp"
#include "lone_test.hpp"

namespace crosscut::CROSSCUT_LEVEL {

class LoneTask {
  Worker& w;
  const LocalTable& table;
  Bundle bundle;     // of one lane: the task, and the node that is being refined
  const TaskLimits& limits;
  const ScanRows rows;
  const SharedNodes shared;
  u8* marks;         // by tag; 0 between uses
  const bool few_rows = w.run.p.n_classes ? FewRows<true>::serves(w.run, limits) : FewRows<false>::serves(w.run, limits);

 public:
  LoneTask(Worker& worker, const LocalTable& t, const Bundle& of, int k, u8* room)
      : w(worker), table(t), bundle(of.packed(1u << k)), limits(limits_of(worker, of, k)),
        rows{t.info, t.weight, t.product, t.times ? t.times + k : nullptr},
        shared{w.run.remembers || w.memo.pays(w.run.p.n_rows) ? t.keys : nullptr, key_of(limits)}, marks(room) {}

  // The task's rows, in all lists and as bits.
  void start(int k, const BitRows* bits, const ValueColumns* values) {
    const auto mark = w.scratch.mark();
    LoneNode x = LoneNode::empty(w, bundle.node[0], 0, {}, bits, values, table.n_varying, bits ? bits->n_columns : values ? values->n : 0);
    if (bits) std::fill_n(x.rows, bits->words, u64{0});
    for (u32 i = 0; i < table.n; i++) {
      const u32 own = table.masks[i] >> k & 1;
      x.n += own;
      if (own && bits) bits->set(x.rows, 0, i);
      if (own && shared.keys) x.set.add(shared.keys[i]);
    }
    for (int j = 0; j < table.n_varying; j++) {
      const int f = table.varying[j];
      if ((bits && x.n_coded < bits->n_columns && bits->columns[x.n_coded].f == f) || (values && x.n_coded < values->n && values->f[x.n_coded] == f)) {
        x.coded[x.n_coded] = static_cast<u16>(x.n_coded), x.n_coded++;
        continue;
      }
      u32* list = w.scratch.take<u32>(x.n + kListRoom);
      keep_entries(table.columns[f].list, table.n, table.columns[f].masks, k, list);
      end_list(list + x.n), keep_column(x, f, list, x.n);
    }
    if (values) x.entries = rows_of(x.n, k, 1), x.sums = values->new_sums(w), start_values(x, k);
    const Branch all{x.n, x.any_list(), x.rows, bits};
    if (x.constant()) close(*x.node, rows_of(x.n, k, 1), x.n);
    else if (opens(*x.node, all, x.set)) refine(x);
    w.scratch.release(mark);
  }

 private:
  static u64 key_of(const TaskLimits& l) {
    u64 key = 0;
    for (const i64 limit : {l.max_depth, l.min_split, l.min_leaf}) key = scrambled(key + static_cast<u64>(limit));
    return key;
  }
  u32* rows_of(u32 n, int k, u32 own) {
    u32* entries = w.scratch.take<u32>(n);
    for (u32 i = 0, at = 0; i < table.n; i++)
      if ((table.masks[i] >> k & 1) == own) entries[at++] = i;
    return entries;
  }
  void start_values(LoneNode& x, int k) {
    const u32 others = table.n - x.n;
    if (others > x.n) return add_values(x);
    std::copy_n(x.values->all, x.values->first[x.values->n], x.sums);
    x.values->add(rows_of(others, k, 0), others, -1, x.coded, x.n_coded, x.sums);
  }
  static void end_list(u32* end) {  // what is read behind the end must be rows
    constexpr u32 none[kListRoom] = {};
    __builtin_memcpy(end, none, sizeof none);
  }
  static void keep_column(LoneNode& x, int f, u32* list, u32 n) {
    if (list[0] >> 16 == list[n - 1] >> 16) return;  // constant from here on
    x.columns[x.n_columns] = f, x.lists[x.n_columns++] = list;
  }

  // The node stays a leaf: sum what its value comes from. entries: its rows; pure: all have the same target.
  void close(Node& leaf, const u32* entries, u32 n, bool pure = false) {
    const Problem& p = w.run.p;
    if (w.run.counted) return;
    if (n == 1 ? !p.n_classes && !p.multiplicity : pure && !w.run.weighted) {
      leaf.exact = const_cast<i64*>(p.exact.row(table.ids[entries[0] & kRowMask]));
      return;
    }
    start_sums(w, leaf);
    for (u32 i = 0; i < n; i++) {
      if (i + 8 < n) __builtin_prefetch(p.exact.row(table.ids[entries[i + 8] & kRowMask]));
      add_exactly(w, bundle, 0, table.ids[entries[i] & kRowMask], leaf.exact);
    }
  }
  bool is_pure(const u32* entries, u32 n) const {  // regression
    const double first = table.target[entries[0] & kRowMask];
    for (u32 i = 1; i < n; i++)
      if (table.target[entries[i] & kRowMask] != first) return false;
    return true;
  }
  // Does the node want a search for its test? Otherwise it is done.
  bool opens(Node& node, const Branch& own, const RowSet& set) {
    const bool pure = table.target && is_pure(own.entries, own.n);
    if (pure || !wants_test(w.run, node, limits)) return close(node, own.entries, own.n, pure), false;
    if (!shared.keys) return true;
    const Node* known = w.memo.find(shared.key(node, set), own.n);
    w.level(node.depth).known_nodes += known != nullptr;
    if (known) node = *known;
    return !known;
  }
  LevelCounts& count_visit(const Node& node, u32 n) {
    LevelCounts& level = w.level(node.depth);
    level.bundles++, level.rows += n;
    return level;
  }

  bool is_few(u32 n) const { return n <= kFewRows && few_rows; }  // regression
  bool has_few_rows(const LoneNode& x) const {
    return few_rows && (w.run.p.n_classes ? FewRows<true>::pays(w.run, x) : FewRows<false>::pays(w.run, x));
  }
  void refine(LoneNode x) {
    const auto outer = w.scratch.mark();
    if (x.sparse() && !has_few_rows(x)) x = x.bits ? x.packed(w, table) : x.listed(w, table);
    const auto mark = w.scratch.mark();
    for (bool more = true; more; w.scratch.release(mark)) {
      if (has_few_rows(x)) {
        if (w.run.p.n_classes) FewRows<true>(w, table, bundle, limits, shared).finish(x);
        else FewRows<false>(w, table, bundle, limits, shared).finish(x);
        if (shared.keys) w.memo.remember(shared.key(*x.node, x.set), x.node);
        break;
      }
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
      if (shared.keys) w.memo.remember(shared.key(*node, set), node);
      if (more && x.sparse()) refine(x), more = false;
    }
    w.scratch.release(outer);
  }

  // False if the node stays a leaf.
  bool find_test(LoneNode& x, Parting& out) {
    const LoneRows own{x.n, x.any_list(), table};
    Best best(w, bundle);
    search_alone(w, table, bundle, x, rows, best);
    decide_contested(w, bundle, own, best);
    const int f = best.feature[0];
    if (f < 0) return close(*x.node, own.list, x.n), false;
    return LoneTest{w, table, bundle, x, best}.take(limits.min_decrease > 0, out);
  }

  // Refines all children but the largest, which becomes x: its lists are those of x, parted in place. False if no child wants a test.
  bool part(LoneNode& x, const Parting& parting) {
    u32 largest = 0, n_open = 0, n_leaf = 0;
    const u32 n = parting.n;
    const Branch* branch = parting.branch;
    bool* open = w.scratch.take<bool>(n);
    RowSet* set = w.scratch.take<RowSet>(n);
    const u32 last = n == 2 && branch[0].n > branch[1].n ? 0 : n - 1;  // its rows are what the others leave
    set[last] = x.set;
    for (u32 b = 0; b < n && shared.keys; b++) {
      if (b == last) continue;
      set[b] = {};
      branch[b].each([&](u32 row) { set[b].add(shared.keys[row]); });
      set[last].take(set[b]);
    }
    for (u32 b = 0; b < n && shared.keys; b++) w.memo.prepare(shared.key(parting.child[b], set[b]));
    for (u32 b = 0; b < n; b++) {
      open[b] = opens(parting.child[b], branch[b], set[b]);
      if (!open[b]) n_leaf++;
      else if (!n_open++ || branch[b].n > branch[largest].n) largest = b;
    }
    if (!n_open) return false;
    u32 singly = 0;  // rows that would be taken from the sums by value one by one
    for (u32 b = 0; b < n; b++) singly += b != largest && !(open[b] && !is_few(branch[b].n)) ? branch[b].n : 0;
    const bool by_value = x.values && !is_few(branch[largest].n), anew = singly > branch[largest].n;
    const auto mark_rows = [&, listed = x.n_columns > 0](u32 b, u8 value) {
      if (listed) branch[b].each([tag = table.tag, to = marks, value](u32 row) { to[tag[row]] = value; });
    };
    const u32* rest = n == 2 ? branch[largest].entries : nullptr;
    for (u32 b = 0; b < n; b++) {
      if (!open[b] || b == largest) continue;
      LoneNode y = LoneNode::empty(w, parting.child + b, branch[b].n, set[b], x.bits, x.values, x.n_columns, x.n_coded);
      mark_rows(b, 1);
      part_lists(x, &y, x.n - y.n, rest, branch[b].entries);
      mark_rows(b, 0);
      keep_coded(y, branch[b], x);
      if (y.sums && by_value && !anew) x.values->subtract(y.sums, x.coded, x.n_coded, x.sums);
      refine_child(y, branch[b].entries);
    }
    for (u32 b = 0; b < n && by_value && !anew; b++)
      if (b != largest && !(open[b] && !is_few(branch[b].n))) x.values->add(branch[b].entries, branch[b].n, -1, x.coded, x.n_coded, x.sums);
    if (n_leaf) {
      for (u32 b = 0; b < n; b++)
        if (!open[b]) mark_rows(b, 1);
      part_lists(x, nullptr, branch[largest].n, rest, nullptr);
      for (u32 b = 0; b < n; b++)
        if (!open[b]) mark_rows(b, 0);
    }
    x.node = parting.child + largest, x.set = set[largest];
    keep_coded(x, branch[largest], x);
    if (by_value && anew) add_values(x);
    if (!x.constant()) return true;
    close(*x.node, branch[largest].entries, x.n);
    return false;
  }
  void keep_coded(LoneNode& x, const Branch& own, const LoneNode& parent) {
    if (&x != &parent) x.n_coded = parent.n_coded, std::copy_n(parent.coded, parent.n_coded, x.coded);
    if (x.bits) std::copy_n(own.rows, x.bits->words, x.rows);
    if (!x.values) return;
    if (!x.entries) x.entries = w.scratch.take<u32>(own.n);
    std::copy_n(own.entries, own.n, x.entries);
    if (&x == &parent || is_few(x.n)) return;
    x.sums = x.values->new_sums(w), add_values(x);
  }
  static void add_values(LoneNode& x) {
    x.values->clear(x.coded, x.n_coded, x.sums), x.values->add(x.entries, x.n, 1, x.coded, x.n_coded, x.sums);
  }
  // The marked rows leave x, which keeps n; they become those of y, if it is given. The entries of a branch are in the order of the list that
  // was tested, which is therefore not parted; rest: what x keeps, if that is one branch; others: y's
  void part_lists(LoneNode& x, LoneNode* y, u32 n, const u32* rest, const u32* others) {
    const u32 before = x.n;
    const int n_columns = x.n_columns, tested = rest ? x.node->feature : -1;
    const std::size_t room = ((y ? y->n : before - n) + kListRoom + 31) & ~31u;
    u32* away = w.scratch.take<u32>(y ? room * static_cast<std::size_t>(n_columns) : room);
    LevelCounts& counts = w.level(x.node->depth);
    counts.lists += static_cast<u64>(n_columns);
    counts.moved += static_cast<u64>(n_columns) * before;
    x.n = n, x.n_columns = 0;
    for (int j = 0; j < n_columns; j++) {
      u32* list = x.lists[j];
      if (x.columns[j] != tested) {
        part_entries(list, before, marks, list, away);
      } else {
        std::copy_n(rest, n, list);
        if (y) std::copy_n(others, y->n, away);
      }
      keep_column(x, x.columns[j], list, n);
      if (y) end_list(away + y->n), keep_column(*y, x.columns[j], away, y->n), away += room;
    }
  }
  void refine_child(LoneNode& y, const u32* entries) {
    if (!y.constant()) refine(y);
    else close(*y.node, entries, y.n);
  }
};

// A bundle of the table becomes a local table, in which its tasks are refined to the end, one after the other. after(lanes to do) returns
// those that are still to be done here.
template <class After>
void refine_as_local(Worker& w, const Bundle& bundle, u32 n, const u32* ids, const u16* masks, After after) {
  const auto mark = w.scratch.mark();
  const LocalTable table = make_local_table(w, n, ids, masks);
  u8* marks = w.scratch.take<u8>(1 << 16);
  marks[0] = 0;  // of what is behind the end of a list
  for (u32 i = 0; i < n; i++) marks[table.tag[i]] = 0;
  const BitRows* bits = BitRows::of(w, table);
  const ValueColumns* values = ValueColumns::of(w, table);
  for (u32 lanes = bundle.lanes; lanes; lanes = after(lanes & (lanes - 1))) {
    const int k = __builtin_ctz(lanes);
    w.poll(), LoneTask(w, table, bundle, k, marks).start(k, bits, values);
  }
  if (!w.run.remembers) w.memo.forget();
  w.scratch.release(mark);
}

}  // namespace crosscut::CROSSCUT_LEVEL
