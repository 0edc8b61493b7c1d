// Small bundles: copied into a local table (local_table.hpp) and grown to the end, task by task.
// Tasks share the sorting of the columns and the subtrees of nodes with the same rows (memo.hpp).
// All tables of up to about 4,096 rows are grown this way.
#pragma once
#include "few_rows.hpp"

namespace crosscut::CROSSCUT_LEVEL {

template <class Code> class SingleTask {
  Worker& w;
  const LocalTable& table;
  Bundle bundle;  // one lane: the task and its current node
  const TaskLimits& limits;
  const ScanRows rows;
  const SharedNodes shared;
  u8* marks;  // [tag]; all 0 between uses
  const bool few_rows = w.run.p.n_classes ? FewRows<true>::serves(w.run, limits)
                                          : FewRows<false>::serves(w.run, limits);

 public:
  SingleTask(Worker& worker, const LocalTable& t, const Bundle& of, int k, u8* room)
      : w(worker),
        table(t),
        bundle(of.packed(1u << k)),
        limits(limits_of(worker, of, k)),
        rows{t.info, t.weight, t.product, t.times ? t.times + k : nullptr},
        shared{w.run.shares_across_blocks || w.memo.pays(w.run.p.n_rows) ? t.keys : nullptr,
               key_of(limits)},
        marks(room) {}

  // Starts with the rows of the task in all lists and in the code. like: the code of the table.
  void start(int k, const Code& like) {
    const auto mark = w.scratch.mark();
    SingleNode<Code> x =
        SingleNode<Code>::empty(w, bundle.node[0], 0, {}, like, table.n_varying, like.most());
    if constexpr (Code::kEachRow) std::fill_n(x.code.rows, like.all->words, u64{0});
    for (u32 i = 0; i < table.n; i++) {
      const u32 trains = table.masks[i] >> k & 1;
      x.n += trains;
      if constexpr (Code::kEachRow)
        if (trains) like.all->set(x.code.rows, 0, i);
      if (trains && shared.keys) x.set.add(shared.keys[i]);
    }
    for (int j = 0; j < table.n_varying; j++) {
      const int f = table.varying[j];
      if (x.code.n < like.most() && like.feature(static_cast<u32>(x.code.n)) == f) {
        x.code.places[x.code.n] = static_cast<u16>(x.code.n);
        x.code.n++;
        continue;
      }
      u32* list = w.scratch.take<u32>(x.n + kListRoom);
      keep_entries(table.columns[f].list, table.n, table.columns[f].masks, k, list);
      end_list(list + x.n);
      keep_column(x, f, list, x.n);
    }
    if (w.run.own_grids) use_own_grid(k);
    Branch<Code> all{x.n, nullptr, {}};
    if constexpr (Code::kEachRow) all.rows = {x.code.rows, like.all};
    if constexpr (Code::kSums) start_sums_by_value(x, k);
    all.entries = x.any_list();
    if (x.constant()) close(*x.node, rows_of(x.n, k, 1), x.n);
    else if (opens(*x.node, all, x.set)) refine(x);
    w.scratch.release(mark);
  }

 private:
  static u64 key_of(const TaskLimits& l) {
    u64 key = 0;
    for (const i64 limit : {l.max_depth, l.min_split, l.min_leaf})
      key = scrambled(key + static_cast<u64>(limit));
    return key;
  }
  u32* rows_of(u32 n, int k, u32 trains) {
    u32* entries = w.scratch.take<u32>(n);
    for (u32 i = 0, at = 0; i < table.n; i++)
      if ((table.masks[i] >> k & 1) == trains) entries[at++] = i;
    return entries;
  }
  // The statistics of the root on the grid of the local table.
  void use_own_grid(int k) {
    double* stats = bundle.node[0]->stats = w.keep<double>(2);
    stats[0] = stats[1] = 0;
    for (u32 i = 0; i < table.n; i++)
      if (table.masks[i] >> k & 1) {
        stats[0] += table.product[i];
        stats[1] += 1;
      }
  }
  // Refines a node with its targets on a grid of their own.
  void refine_on_new_grid(SingleNode<Code> x) {
    const auto mark = w.scratch.mark();
    const LocalTable own = on_new_grid(w, table, *x.node, x.n,
                                       [list = x.any_list()](u32 i) { return list[i] & kRowMask; });
    if constexpr (Code::kSums) {
      ValueColumns* columns = w.scratch.take<ValueColumns>(1);
      *columns = *x.code.columns;
      columns->product = own.product;
      x.code.columns = columns;
      if (x.code.sums) {
        x.code.sums = columns->new_sums(w);
        x.code.add_rows(x.n);
      }
    }
    SingleTask(w, own, bundle, 0, marks).refine(x);
    w.scratch.release(mark);
  }
  void start_sums_by_value(SingleNode<Code>& x, int k) {
    const u32 others = table.n - x.n;
    x.code.entries = rows_of(x.n, k, 1);
    x.code.sums = x.code.columns->new_sums(w);
    if (others > x.n) return x.code.add_rows(x.n);
    std::copy_n(x.code.columns->all, x.code.columns->first[x.code.columns->n], x.code.sums);
    x.code.columns->add(rows_of(others, k, 0), others, -1, x.code.places, x.code.n, x.code.sums);
  }
  static void end_list(u32* end) {  // entries read behind the end must name valid rows
    constexpr u32 none[kListRoom] = {};
    __builtin_memcpy(end, none, sizeof none);
  }
  static void keep_column(SingleNode<Code>& x, int f, u32* list, u32 n) {
    if (list[0] >> 16 == list[n - 1] >> 16) return;  // constant in all descendants
    x.columns[x.n_columns] = f;
    x.lists[x.n_columns++] = list;
  }

  // Makes the node a leaf and sums its value. entries: its rows; pure: all have the same target.
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
  // Does the node need a test? Otherwise it is finished here: as a leaf or with the subtree of
  // another task.
  bool opens(Node& node, const Branch<Code>& branch, const RowSet& set) {
    const bool pure = table.target && is_pure(branch.entries, branch.n);
    if (pure || !wants_test(w.run, node, limits) ||
        !enough_rows(w.run, node.n_rows, limits, [&] { return n_once(branch); })) {
      close(node, branch.entries, branch.n, pure);
      return false;
    }
    if (!shared.keys) return true;
    const Node* known = w.memo.find(shared.key(node, set), branch.n);
    w.level(node.depth).known_nodes += known != nullptr;
    if (known) node = *known;
    return !known;
  }

  // The rows of a branch, each counted once.
  i64 n_once(const Branch<Code>& branch) const {
    i64 n = 0;
    branch.each([&](u32 row) { n += !table.is_copy(row); });
    return n;
  }
  bool is_few(u32 n) const { return n <= kFewRows && few_rows; }  // regression
  bool has_few_rows(const SingleNode<Code>& x) const {
    return few_rows &&
           (w.run.p.n_classes ? FewRows<true>::pays(w.run, x) : FewRows<false>::pays(w.run, x));
  }
  void refine(SingleNode<Code> x) {
    const auto outer = w.scratch.mark();
    if constexpr (!std::is_same_v<Code, NoCode>)
      if (x.code.sparse(x.n) && !has_few_rows(x)) x = recoded(w, table, x);
    const auto mark = w.scratch.mark();
    for (bool more = true; more; w.scratch.release(mark)) {
      if (has_few_rows(x)) {
        if (w.run.p.class_weights) FewRows<true, true>(w, table, bundle, limits, shared).finish(x);
        else if (w.run.p.n_classes) FewRows<true>(w, table, bundle, limits, shared).finish(x);
        else FewRows<false>(w, table, bundle, limits, shared).finish(x);
        if (shared.keys) w.memo.remember(shared.key(*x.node, x.set), x.node);
        break;
      }
      const bool timed = x.n >= 256;  // below that the clock costs too much
      const double started = timed ? seconds_now() : 0;
      LevelCounts& level = w.count_visit(x.node->depth, x.n);
      bundle.node[0] = x.node;
      bundle.depth = x.node->depth;
      Node* node = x.node;
      const RowSet set = x.set;
      NodeSplit<Code> split;
      more = find_test(x, split);
      if (timed) level.seconds += seconds_now() - started;
      if (more) more = refine_children(x, split);
      if (shared.keys) w.memo.remember(shared.key(*node, set), node);
      if (more && x.code.sparse(x.n)) {
        refine(x);
        more = false;
      }
    }
    w.scratch.release(outer);
  }

  // Returns false if the node stays a leaf.
  bool find_test(SingleNode<Code>& x, NodeSplit<Code>& out) {
    const SingleRows node_rows{x.n, x.any_list(), table};
    Best best(w, bundle);
    search_single(w, table, bundle, x, rows, best);
    if (best.rivals && best.rivals[0].contested && is_narrow(table, x)) {
      refine_on_new_grid(x);
      return false;
    }
    if (best.rivals && best.rivals[0].contested)
      decide_contested(w, bundle, SingleRows{x.n, x.listed_rows(w), table}, best);
    const int f = best.feature[0];
    if (f < 0) {
      close(*x.node, node_rows.list, x.n);
      return false;
    }
    return typename Code::Split(w, table, bundle, x, best).take(limits.min_decrease > 0, out);
  }

  // Refines all children except the largest, which becomes x; its lists are split in place. Returns
  // false if no child needs a test.
  bool refine_children(SingleNode<Code>& x, const NodeSplit<Code>& split) {
    u32 largest = 0;
    u32 n_open = 0;
    u32 n_leaf = 0;
    const u32 n = split.n;
    const Branch<Code>* branch = split.branch;
    bool* open = w.scratch.take<bool>(n);
    RowSet* set = w.scratch.take<RowSet>(n);
    // its key is the key of x less the keys of the others
    const u32 last = n == 2 && branch[0].n > branch[1].n ? 0 : n - 1;
    set[last] = x.set;
    for (u32 b = 0; b < n && shared.keys; b++) {
      if (b == last) continue;
      set[b] = {};
      branch[b].each([&](u32 row) { set[b].add(shared.keys[row]); });
      set[last].take(set[b]);
    }
    for (u32 b = 0; b < n && shared.keys; b++) w.memo.prepare(shared.key(split.child[b], set[b]));
    for (u32 b = 0; b < n; b++) {
      open[b] = opens(split.child[b], branch[b], set[b]);
      if (!open[b]) n_leaf++;
      else if (!n_open++ || branch[b].n > branch[largest].n) largest = b;
    }
    if (!n_open) return false;
    // The sums by value of the largest child are those of x less the others, unless subtracting
    // single rows would take longer than adding its rows.
    const auto is_single = [&](u32 b) {
      return b != largest && !(open[b] && !is_few(branch[b].n));
    };
    u32 n_single_rows = 0;
    for (u32 b = 0; b < n; b++) n_single_rows += is_single(b) ? branch[b].n : 0;
    const bool by_value = Code::kSums && !is_few(branch[largest].n);
    const bool from_scratch = n_single_rows > branch[largest].n;
    const auto mark_rows = [&, listed = x.n_columns > 0](u32 b, u8 value) {
      if (listed)
        branch[b].each([tag = table.tag, to = marks, value](u32 row) { to[tag[row]] = value; });
    };
    const u32* rest = n == 2 ? branch[largest].entries : nullptr;
    for (u32 b = 0; b < n; b++) {
      if (!open[b] || b == largest) continue;
      SingleNode<Code> y = SingleNode<Code>::empty(w, split.child + b, branch[b].n, set[b], x.code,
                                                   x.n_columns, x.code.n);
      mark_rows(b, 1);
      split_lists(x, &y, x.n - y.n, rest, branch[b].entries);
      mark_rows(b, 0);
      keep_coded(y, branch[b], x);
      if constexpr (Code::kSums)
        if (y.code.sums && by_value && !from_scratch)
          x.code.columns->subtract(y.code.sums, x.code.places, x.code.n, x.code.sums);
      if (y.constant()) close(*y.node, branch[b].entries, y.n);
      else refine(y);
    }
    if constexpr (Code::kSums)
      for (u32 b = 0; b < n && by_value && !from_scratch; b++)
        if (is_single(b))
          x.code.columns->add(branch[b].entries, branch[b].n, -1, x.code.places, x.code.n,
                              x.code.sums);
    if (n_leaf) {
      for (u32 b = 0; b < n; b++)
        if (!open[b]) mark_rows(b, 1);
      split_lists(x, nullptr, branch[largest].n, rest, nullptr);
      for (u32 b = 0; b < n; b++)
        if (!open[b]) mark_rows(b, 0);
    }
    x.node = split.child + largest;
    x.set = set[largest];
    keep_coded(x, branch[largest], x);
    if constexpr (Code::kSums)
      if (by_value && from_scratch) x.code.add_rows(x.n);
    if (!x.constant()) return true;
    close(*x.node, branch[largest].entries, x.n);
    return false;
  }
  void keep_coded(SingleNode<Code>& x, const Branch<Code>& branch, const SingleNode<Code>& parent) {
    if (&x != &parent) {
      x.code.n = parent.code.n;
      std::copy_n(parent.code.places, parent.code.n, x.code.places);
    }
    if constexpr (Code::kEachRow) std::copy_n(branch.rows.bits, x.code.all->words, x.code.rows);
    if constexpr (Code::kSums) {
      if (!x.code.entries) x.code.entries = w.scratch.take<u32>(branch.n);
      std::copy_n(branch.entries, branch.n, x.code.entries);
      if (&x == &parent || is_few(x.n)) return;
      x.code.sums = x.code.columns->new_sums(w);
      x.code.add_rows(x.n);
    }
  }
  // Moves the marked rows out of x, which keeps n rows, and into y if it is not null. The list of
  // the tested column is copied instead, because the branches have its order. rest: what x keeps of
  // it, if that is one branch; others: the entries of y.
  void split_lists(SingleNode<Code>& x, SingleNode<Code>* y, u32 n, const u32* rest,
                   const u32* others) {
    const u32 before = x.n;
    const int n_columns = x.n_columns, tested = rest ? x.node->feature : -1;
    const std::size_t room = ((y ? y->n : before - n) + kListRoom + 31) & ~31u;
    u32* away = w.scratch.take<u32>(y ? room * static_cast<std::size_t>(n_columns) : room);
    LevelCounts& counts = w.level(x.node->depth);
    counts.lists += static_cast<u64>(n_columns);
    counts.moved += static_cast<u64>(n_columns) * before;
    x.n = n;
    x.n_columns = 0;
    for (int j = 0; j < n_columns; j++) {
      u32* list = x.lists[j];
      prefetch_list(x.lists, j + 1, n_columns, before);
      if (x.columns[j] != tested) {
        split_entries(list, before, marks, list, away);
      } else {
        std::copy_n(rest, n, list);
        if (y) std::copy_n(others, y->n, away);
      }
      keep_column(x, x.columns[j], list, n);
      if (y) {
        end_list(away + y->n);
        keep_column(*y, x.columns[j], away, y->n);
        away += room;
      }
    }
  }
};

// Copies a bundle into a local table and grows its tasks one after the other. after(remaining
// lanes) returns the lanes that are still to be done here.
template <class After>
void refine_as_local(Worker& w, const Bundle& bundle, u32 n, const u32* ids, const u16* masks,
                     After after) {
  const auto mark = w.scratch.mark();
  const LocalTable table = make_local_table(w, n, ids, masks, !(bundle.lanes & (bundle.lanes - 1)));
  u8* marks = w.scratch.take<u8>(1 << 16);
  marks[0] = 0;  // entries behind the end of a list
  for (u32 i = 0; i < n; i++) marks[table.tag[i]] = 0;
  const auto refine_tasks = [&]<class Code>(const Code& code) {
    for (u32 lanes = bundle.lanes; lanes; lanes = after(lanes & (lanes - 1))) {
      const int k = __builtin_ctz(lanes);
      w.poll();
      w.with_nodes_of(task_of(w, bundle, k),
                      [&] { SingleTask<Code>(w, table, bundle, k, marks).start(k, code); });
    }
  };
  if (const BitRows* bits = BitRows::of(w, table)) refine_tasks(BitCode{bits});
  else if (const ValueColumns* columns = ValueColumns::of(w, table)) refine_tasks(SumCode{columns});
  else refine_tasks(NoCode{});
  if (!w.run.shares_across_blocks) w.memo.forget();
  w.scratch.release(mark);
}

}  // namespace crosscut::CROSSCUT_LEVEL
