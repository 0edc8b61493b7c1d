// The paper's algorithm (Figure 2) on a block of tasks: a root bundle is refined, and its children wait for their turn (waiting.hpp). All
// threads refine the largest bundles together; then each goes on with bundles of its own.
#pragma once
#include "child_bundles.hpp"
#include "refine_local.hpp"
#include "search_large.hpp"
#include "waiting.hpp"

namespace crosscut::CROSSCUT_LEVEL {

constexpr std::size_t kDivisible = 1 << 14;  // rows times columns of a local table whose tasks several threads may take

struct Block {
  Worker** helpers;  // one per thread; helpers[me] is this one's
  int n_helpers, me = 0;
  Waiting& waiting;
  int n_sharing = 1;  // threads that refine a bundle together

  Worker& w() { return *helpers[me]; }

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
  std::size_t local_limit(const WaitingBundle& bundle) {
    const i64 levels = levels_left(bundle);
    const int lanes = __builtin_popcount(bundle.lanes);
    std::size_t most = w().run.p.local_rows;
    // Measured: a lone task's scan takes a step per class, which lanes of tasks share as long as there are many; but a column with more
    // than a few dozen values costs them more.
    const Run& run = w().run;
    const bool alike = lanes > 1 && bundle.lane_rows() >= 0.98 * (lanes - 1) * bundle.n_rows;  // hardly a row that several lanes lack
    if (run.all_bits && !alike && most > kRowMask) most = 1 << 16;
    if (run.family == Run::Family::many_gini && run.p.n_classes >= 8 && run.few_valued && lanes >= 8) most = (most + 15) / 16;
    return levels >= 6 ? most : most >> (6 - levels);
  }

  // Threads refine a bundle together as long as there are about half as many bundles of its size as threads, or fewer. Threads meet a few
  // times per bundle, which smaller ones would not repay (least of all on a busy machine).
  bool worth_sharing(u32 n) {
    const Problem& p = w().run.p;
    return n > 2 * p.n_rows / static_cast<u32>(n_helpers + 2) && static_cast<u64>(n) * static_cast<u64>(p.n_features) >= u64{1} << 16;
  }

  // Rows of the lanes' nodes: over all leaves they add up to the training rows of all tasks, so they measure progress. A part of a
  // bundle's rows is done when it is split, the rest in its children.
  void done(double rows) { w().run.rows_done.fetch_add(static_cast<u64>(rows), std::memory_order_relaxed); }

  // Leaves a bundle for this thread or the first that has nothing to do. While threads share bundles, the last one's list is for those
  // that are not shared.
  void wait(const Bundle& bundle, const HeldCodes& codes, u32 n, const u32* ids, const u16* masks) {
    WaitingBundle::Pointer later = WaitingBundle::make(bundle, codes, n);
    w().run.share_rows(n_sharing, n, [&](u32 begin, u32 end, int) {
      std::copy(ids + begin, ids + end, later->ids + begin), std::copy(masks + begin, masks + end, later->masks + begin);
    });
    waiting.add(n_sharing > 1 && !worth_sharing(n) ? n_helpers - 1 : me, std::move(later));
  }

  void refine(const WaitingBundle& bundle) {
    Worker& mine = w();
    mine.poll();
    const std::size_t local = local_limit(bundle);
    if (bundle.n_rows > local) return refine_large(bundle, local);
    if (n_sharing > 1) return give(bundle, bundle.lanes, n_helpers - 1);
    const auto mark = mine.scratch.mark();
    const Codes& codes = *bundle.codes;
    u32* rows = mine.scratch.take<u32>(bundle.n_rows);
    for (u32 i = 0; i < bundle.n_rows; i++) rows[i] = codes.row(bundle.ids[i]);
    const Problem& p = mine.run.p;
    const bool divisible = !p.multiplicity && static_cast<std::size_t>(bundle.n_rows) * static_cast<std::size_t>(p.n_features) >= kDivisible;
    u32 before = bundle.lanes;
    refine_as_local(mine, bundle, bundle.n_rows, rows, bundle.masks, [&](u32 lanes) {
      each_bit(before & ~lanes, [&](int k) { done(bundle.to_do * static_cast<double>(bundle.node[k]->n_rows)); });
      u32 kept = lanes;  // half of what is left goes to a thread that has nothing to do
      if (divisible && waiting.any_idle())
        for (int n = __builtin_popcount(lanes) / 2; n > 0; n--) kept &= kept - 1;
      if (kept != lanes) give(bundle, lanes & ~kept, me);
      return before = kept;
    });
    mine.scratch.release(mark);
  }

  // Some lanes of a bundle become a waiting bundle of their own.
  void give(const WaitingBundle& bundle, u32 lanes, int thread) {
    const bool all = lanes == bundle.lanes;
    WaitingBundle::Pointer part = WaitingBundle::make(all ? Bundle(bundle) : bundle.packed(lanes), bundle.codes, bundle.n_rows);
    u32 n = 0;
    for (u32 i = 0; i < bundle.n_rows; i++) {
      const u32 mask = all ? u32{bundle.masks[i]} : pack_bits(u32{bundle.masks[i]}, lanes);
      part->ids[n] = bundle.ids[i], part->masks[n] = static_cast<u16>(mask), n += mask != 0;
    }
    part->n_rows = n;
    waiting.add(thread, std::move(part));
  }

  void refine_large(const WaitingBundle& given, std::size_t local) {
    Worker& mine = w();
    Bundle bundle = given;
    const u32 n = given.n_rows;
    const double all_lanes = bundle.lane_rows(), started = seconds_now();
    const auto mark = mine.scratch.mark();
    LevelCounts& level = mine.level(bundle.depth);
    level.bundles++, level.rows += n;
    LargeRows rows{n, given.ids, given.masks, mine.run.p.columns, &*given.codes};
    const bool sparse = n < rows.codes->n / kSparse;
    const HeldCodes codes = sparse ? rows.take_apart(mine) : given.codes;
    rows.bits = RowBits::of(mine, n_sharing, rows.codes->n, rows.ids, n);
    close_pure_lanes(mine, bundle, rows);
    if (bundle.lanes) {
      Best best = search_large(helpers + me, n_sharing, bundle, rows);
      const Fork forked = fork(mine, bundle, rows, best);
      level.seconds += seconds_now() - started;
      leave_children(bundle, rows, codes, all_lanes, forked, local);
    } else {
      done(bundle.to_do * all_lanes);
    }
    mine.scratch.release(mark);
  }

  void leave_children(const Bundle& bundle, const LargeRows& rows, const HeldCodes& codes, double all_lanes, const Fork& forked,
                      std::size_t local) {
    Worker& mine = w();
    // Levels of work this and the bundles below will take, about; one of a local table, of some 2^11 rows, takes as long as three.
    i64 below = levels_left(bundle), levels = 0;
    for (std::size_t n = rows.n; n > local && below > 0; n /= 2) levels++, below--;
    levels += 3 * (below < 11 ? below : 11);
    const ChildBundles children = child_bundles(mine, n_sharing, rows, forked);
    double going_on = 0;  // rows that have not reached leaves
    const double to_do = bundle.to_do * (1 - 1 / static_cast<double>(levels));
    for (int c = 0; c < children.n; c++) {
      const ChildBundle& child = children.bundle[c];
      if (!child.n) continue;
      Bundle next = bundle_of(mine, bundle, forked, child);
      next.to_do = to_do;
      going_on += next.lane_rows();
      wait(next, codes, child.n, child.ids, child.masks);
    }
    done(bundle.to_do * all_lanes - to_do * going_on);
  }

  // The largest bundles, by all threads together; then every thread on its own.
  void refine_all() {
    if (n_helpers == 1) return refine_waiting();
    while (const WaitingBundle::Pointer next = waiting.newest(me)) refine(*next), waiting.finished();
    Failure failure;
    for (int i = 1; i < n_helpers; i++) std::copy_n(w().root_total, kLanes, helpers[i]->root_total);
    w().run.team->run(n_helpers, [&](int i) {
      failure.guard([&] { Block{helpers, n_helpers, i, waiting}.refine_waiting(); });
      if (failure.any()) waiting.stop();
    });
    failure.rethrow();
  }

  void refine_waiting() {
    while (const WaitingBundle::Pointer next = waiting.next(me)) refine(*next), waiting.finished();
  }

  // A block's root bundle has every row that trains some of its tasks.
  void grow(int block, const Codes& table, Node** roots) {
    Worker& mine = w();
    const Problem& p = mine.run.p;
    for (int i = 0; i < n_helpers; i++) helpers[i]->block = block;
    const auto mark = mine.scratch.mark();
    const int first = block * kBlockTasks, tasks = p.n_tasks - first < kBlockTasks ? p.n_tasks - first : kBlockTasks;
    const u16* masks_in = p.masks + static_cast<std::size_t>(block) * p.n_rows;
    u32* ids = mine.scratch.take<u32>(p.n_rows + 1);
    u16* masks = mine.scratch.take<u16>(p.n_rows + 1);
    u32 n = 0;
    for (std::size_t i = 0; i < p.n_rows; i++) {
      const u32 m = masks_in[i] & ((1u << tasks) - 1);
      ids[n] = static_cast<u32>(i), masks[n] = static_cast<u16>(m), n += m != 0;
    }
    const LargeRows rows{n, ids, masks, p.columns, &table};
    Bundle bundle = root_bundle(tasks, rows, roots + first);
    const u32 closed = ((1u << tasks) - 1) & ~bundle.lanes;
    each_bit(closed, [&](int k) { done(static_cast<double>(bundle.node[k]->n_rows)); });
    close_lanes(mine, bundle, rows, closed);
    if (bundle.lanes && closed && !p.multiplicity) {  // only the lanes that go on
      u32 kept = 0;
      for (u32 i = 0; i < n; i++) {
        const u32 m = pack_bits(masks[i], bundle.lanes);
        ids[kept] = ids[i], masks[kept] = static_cast<u16>(m), kept += m != 0;
      }
      bundle = bundle.packed(bundle.lanes), n = kept;
    }
    n_sharing = n_helpers;  // the largest bundles, of which this is the first
    if (bundle.lanes) wait(bundle, HeldCodes(table), n, ids, masks);
    mine.scratch.release(mark);
    if (bundle.lanes) refine_all();
  }

  Bundle root_bundle(int tasks, const LargeRows& rows, Node** roots) {
    Worker& mine = w();
    const Problem& p = mine.run.p;
    const int K = mine.run.K();
    Bundle bundle;
    bundle.n = p.multiplicity ? kLanes : tasks;
    for (int k = 0; k < tasks; k++) {
      Node* root = roots[k] = mine.new_nodes(1, 0);
      root->stats = mine.keep<double>(static_cast<std::size_t>(K) + 16);  // no two roots in one cache line
      std::fill_n(root->stats, K, 0.0);
      bundle.task[k] = static_cast<u8>(k), bundle.node[k] = root, bundle.min_leaf[k] = limits_of(mine, bundle, k).min_leaf;
    }
    const auto add_rows = [&](u32 lanes) {  // every thread has lanes of its own
      i64 n[kLanes] = {};
      for (u32 i = 0; i < rows.n; i++) {
        const std::size_t row = rows.ids[i];
        const double weight = p.weight ? p.weight[row] : 1;
        each_bit(rows.masks[i] & lanes, [&](int k) {
          const double m = times_of(mine, bundle, k, row);
          double* s = bundle.node[k]->stats;
          n[k]++;
          if (p.n_classes) s[p.classes[row]] += m * weight;
          else s[0] += m * p.product[row], s[1] += m * weight;
        });
      }
      each_bit(lanes, [&](int k) { bundle.node[k]->n_rows = n[k]; });
    };
    const int sharing = worth_sharing(rows.n) ? std::min(n_helpers, tasks) : 1;
    mine.run.share_rows(sharing, rows.n, [&](u32, u32, int i) {
      u32 lanes = 0;
      for (int k = i; k < tasks; k += sharing) lanes |= 1u << k;
      add_rows(lanes);
    });
    for (int k = 0; k < tasks; k++) {
      mine.root_total[k] = p.totals ? p.totals[task_of(mine, bundle, k)] : mine.run.judge.total(bundle.node[k]->stats);
      if (mine.run.on_grid && !p.totals && limits_of(mine, bundle, k).min_decrease > 0)
        mine.root_total[k] = exact_weight(p, ExactSearch<LargeRows>::sums_of(mine, bundle, rows, k));
      bundle.lanes |= static_cast<u32>(wants_test(mine.run, *bundle.node[k], limits_of(mine, bundle, k))) << k;
    }
    return bundle;
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL
