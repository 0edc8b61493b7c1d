// The paper's algorithm (Figure 2) on a block of tasks: a root bundle is refined depth first. The largest bundles share their columns
// among the threads; the others wait in a queue and are then refined to the end by whichever thread is free.
#pragma once
#include "child_bundles.hpp"
#include "refine_local.hpp"
#include "search_large.hpp"

namespace crosscut::CROSSCUT_LEVEL {

constexpr int kShare = 4;  // a bundle with this fraction of a thread's share of the rows, or less, is left to one thread

struct Block {
  Worker** helpers;  // one per thread; helpers[0] is this one's
  int n_helpers;
  const Codes& table;
  Arena held = {};  // rows of waiting bundles
  WaitingBundle *queue = nullptr, *small = nullptr;  // the small ones come last: no thread then has to wait long for another

  Block(Worker** workers, int n, const Codes& codes) : helpers(workers), n_helpers(n), table(codes) {}
  Worker& w() { return *helpers[0]; }

  i64 levels_left(const Bundle& bundle) {
    i64 levels = 0;
    each_bit(bundle.lanes, [&](int k) {
      const i64 left = limits_of(w(), bundle, k).max_depth - bundle.depth;
      levels = left > levels ? left : levels;
    });
    return levels;
  }

  // Up to how many rows a bundle becomes a local table, and its tasks go on alone. Sorting pays if several levels use it: near the depth
  // limit only small bundles do.
  std::size_t local_limit(const Bundle& bundle) {
    const i64 levels = levels_left(bundle);
    std::size_t most = w().run.p.local_rows;
    // Measured with AVX2: a lone task's scan takes a step per class, which lanes of tasks share as long as there are many.
    if (w().run.family == Run::Family::many_gini && w().run.p.n_classes >= 8 && __builtin_popcount(bundle.lanes) >= 8) most = (most + 3) / 4;
    return levels >= 6 ? most : most >> (6 - levels);
  }

  // Threads meet three times per bundle, which smaller ones would not repay (least of all on a busy machine).
  bool worth_sharing(u32 n) { return static_cast<u64>(n) * static_cast<u64>(w().run.p.n_features) >= u64{1} << 16; }

  // Rows of the lanes' nodes: over all leaves they add up to the training rows of all tasks, so they measure progress. A part of a
  // bundle's rows is done when it is split, the rest in its children.
  void done(double rows) { w().run.rows_done.fetch_add(static_cast<u64>(rows), std::memory_order_relaxed); }

  static void wait(Arena& arena, const Bundle& bundle, u32 n, const u32* ids, const u16* masks, const Codes& codes, WaitingBundle*& first) {
    const WaitingBundle& later = WaitingBundle::add(arena, bundle, n, first);
    for (u32 i = 0; i < n; i++) later.ids[i] = codes.row(ids[i]), later.masks[i] = masks[i];
  }

  // ids: rows of the codes; they and the masks may be overwritten.
  void refine(const Bundle& bundle, u32 n, u32* ids, u16* masks, const Codes& codes) {
    Worker& me = w();
    me.poll();
    const std::size_t local = local_limit(bundle);
    if (n_helpers > 1 && n <= std::max(local, me.run.p.n_rows / static_cast<std::size_t>(kShare * n_helpers)))
      return wait(held, bundle, n, ids, masks, codes, n > local ? queue : small);
    if (n > local) return refine_large(bundle, n, ids, masks, codes, local);
    for (u32 i = 0; i < n && codes.rows; i++) ids[i] = codes.rows[ids[i]];
    refine_as_local(me, bundle, n, ids, masks);
    done(bundle.to_do * bundle.lane_rows());
  }

  void refine_large(Bundle bundle, u32 n, const u32* ids, const u16* masks, const Codes& codes, std::size_t local) {
    Worker& me = w();
    const double all_lanes = bundle.lane_rows(), started = seconds_now();
    const auto mark = me.scratch.mark();
    LevelCounts& level = me.level(bundle.depth);
    level.bundles++, level.rows += n;
    LargeRows rows{n, ids, masks, me.run.p.columns, &codes};
    if (n < codes.n / kSparse) rows = rows.apart(me.scratch, me.run.p.n_features);
    rows.bits = RowBits::of(me.scratch, rows.codes->n, rows.ids, n);
    close_pure_lanes(me, bundle, rows);
    if (bundle.lanes) {
      Best best = search_large(helpers, worth_sharing(n) ? n_helpers : 1, bundle, rows);
      const Fork forked = fork(me, bundle, rows, best);
      level.seconds += seconds_now() - started;
      refine_children(bundle, rows, all_lanes, forked, local);
    } else {
      done(bundle.to_do * all_lanes);
    }
    me.scratch.release(mark);
  }

  void refine_children(const Bundle& bundle, const LargeRows& rows, double all_lanes, const Fork& forked, std::size_t local) {
    Worker& me = w();
    // Levels of work this and the bundles below will take, about; one of a local table, of some 2^11 rows, takes as long as three.
    i64 below = levels_left(bundle), levels = 0;
    for (std::size_t n = rows.n; n > local && below > 0; n /= 2) levels++, below--;
    levels += 3 * (below < 11 ? below : 11);
    const ChildBundles children = child_bundles(me, rows, forked);
    double going_on = 0;  // rows that have not reached leaves
    for (int c = 0; c < children.n; c++)
      if (children.bundle[c].n) going_on += bundle_of(me, bundle, forked, children.bundle[c]).lane_rows();
    const double to_do = bundle.to_do * (1 - 1 / static_cast<double>(levels));
    done(bundle.to_do * all_lanes - to_do * going_on);
    const bool deep = me.nesting >= kNesting;
    me.nesting++;
    for (int c = 0; c < children.n; c++) {
      const ChildBundle& child = children.bundle[c];
      if (!child.n) continue;
      for (u32 i = 0; i < child.n; i++) child.at[i] = rows.ids[child.at[i]];
      Bundle next = bundle_of(me, bundle, forked, child);
      next.to_do = to_do;
      if (deep) wait(me.held, next, child.n, child.at, child.masks, *rows.codes, me.deferred);
      else refine(next, child.n, child.at, child.masks, *rows.codes);
    }
    me.nesting--;
  }

  void refine_deferred() {
    while (WaitingBundle* later = w().deferred) {
      w().deferred = later->next;
      refine(*later, later->n_rows, later->ids, later->masks, table);
    }
  }

  void refine_queue() {
    WaitingBundle** end = &queue;
    while (*end) end = &(*end)->next;
    *end = small;
    Failure failure;
    std::atomic<WaitingBundle*> next{queue};
    w().run.team->run(n_helpers, [&](int i) {
      Worker* me = helpers[i];
      std::copy_n(w().root_total, kLanes, me->root_total);
      failure.guard([&] {
        Block alone(&me, 1, table);
        while (WaitingBundle* first = next.load()) {
          if (!next.compare_exchange_weak(first, first->next)) continue;
          if (failure.any()) break;
          alone.refine(*first, first->n_rows, first->ids, first->masks, table);
          alone.refine_deferred();
        }
      });
    });
    failure.rethrow();
  }

  // A block's root bundle has every row that trains some of its tasks.
  void grow(int block, Node** roots) {
    Worker& me = w();
    const Problem& p = me.run.p;
    for (int i = 0; i < n_helpers; i++) helpers[i]->block = block;
    const auto mark = me.scratch.mark();
    const int first = block * kBlockTasks, tasks = p.n_tasks - first < kBlockTasks ? p.n_tasks - first : kBlockTasks;
    const u16* masks_in = p.masks + static_cast<std::size_t>(block) * p.n_rows;
    u32* ids = me.scratch.take<u32>(p.n_rows + 1);
    u16* masks = me.scratch.take<u16>(p.n_rows + 1);
    u32 n = 0;
    for (std::size_t i = 0; i < p.n_rows; i++) {
      const u32 m = masks_in[i] & ((1u << tasks) - 1);
      ids[n] = static_cast<u32>(i), masks[n] = static_cast<u16>(m), n += m != 0;
    }
    const LargeRows rows{n, ids, masks, p.columns, &table};
    Bundle bundle = root_bundle(tasks, rows, roots + first);
    const u32 closed = ((1u << tasks) - 1) & ~bundle.lanes;
    each_bit(closed, [&](int k) { done(static_cast<double>(bundle.node[k]->n_rows)); });
    close_lanes(me, bundle, rows, closed);
    queue = small = nullptr;
    if (bundle.lanes && closed && !p.multiplicity) {  // only the lanes that go on
      u32 kept = 0;
      for (u32 i = 0; i < n; i++) {
        const u32 m = pack_bits(masks[i], bundle.lanes);
        ids[kept] = ids[i], masks[kept] = static_cast<u16>(m), kept += m != 0;
      }
      bundle = bundle.packed(bundle.lanes), n = kept;
    }
    if (bundle.lanes) refine(bundle, n, ids, masks, table);
    refine_deferred();
    me.scratch.release(mark);
    if (queue || small) refine_queue();
    held.release({nullptr, 0});
    for (int i = 0; i < n_helpers; i++) helpers[i]->held.release({nullptr, 0});
  }

  Bundle root_bundle(int tasks, const LargeRows& rows, Node** roots) {
    Worker& me = w();
    const Problem& p = me.run.p;
    const int K = me.run.K();
    Bundle bundle;
    bundle.n = p.multiplicity ? kLanes : tasks;
    for (int k = 0; k < tasks; k++) {
      Node* root = roots[k] = me.new_nodes(1);
      root->stats = me.keep<double>(static_cast<std::size_t>(K));
      std::fill_n(root->stats, K, 0.0);
      bundle.task[k] = static_cast<u8>(k), bundle.node[k] = root, bundle.min_leaf[k] = limits_of(me, bundle, k).min_leaf;
    }
    for (u32 i = 0; i < rows.n; i++) {
      const std::size_t row = rows.ids[i];
      const double weight = p.weight ? p.weight[row] : 1;
      each_bit(rows.masks[i], [&](int k) {
        const double m = times_of(me, bundle, k, row);
        double* s = bundle.node[k]->stats;
        bundle.node[k]->n_rows++;
        if (p.n_classes) s[p.classes[row]] += m * weight;
        else s[0] += m * p.product[row], s[1] += m * weight;
      });
    }
    for (int k = 0; k < tasks; k++) {
      me.root_total[k] = p.totals ? p.totals[task_of(me, bundle, k)] : me.run.judge.total(bundle.node[k]->stats);
      if (me.run.on_grid && !p.totals && limits_of(me, bundle, k).min_decrease > 0)
        me.root_total[k] = exact_weight(p, ExactSearch<LargeRows>::sums_of(me, bundle, rows, k));
      bundle.lanes |= static_cast<u32>(wants_test(me.run, *bundle.node[k], limits_of(me, bundle, k))) << k;
    }
    return bundle;
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL
