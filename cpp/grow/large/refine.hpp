// The paper's algorithm (Figure 2) on a block of tasks: a root bundle is refined, and its children
// wait for their turn (waiting.hpp). A thread that finds none waiting helps another one with a
// large bundle.
#pragma once
#include "child_bundles.hpp"
#include "grow/small/refine_local.hpp"
#include "search_large.hpp"
#include "waiting_bundle.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// rows times columns of a local table whose tasks several threads may take
constexpr std::size_t kDivisible = 1 << 14;

struct Block {
  Worker** workers;  // one per thread; workers[me] is this one's
  int n_workers, me = 0;
  Waiting& waiting;

  Worker& w() { return *workers[me]; }

  i64 levels_left(const Bundle& bundle) {
    i64 levels = 0;
    each_bit(bundle.lanes, [&](int k) {
      const i64 left = limits_of(w(), bundle, k).max_depth - bundle.depth;
      levels = left > levels ? left : levels;
    });
    return levels;
  }

  // Up to how many rows a bundle becomes a local table, and its tasks go on alone. Sorting pays if
  // several levels use it: near the depth limit only small bundles do.
  std::size_t local_limit(const WaitingBundle& bundle) {
    if (off(Acceleration::local_tables)) return 1;
    const i64 levels = levels_left(bundle);
    const int lanes = __builtin_popcount(bundle.lanes);
    std::size_t most = w().run.p.local_rows;
    // Measured: a lone task's scan takes a step per class, which lanes of tasks share as long as
    // there are many; but a column with more than a few dozen values costs them more.
    const Run& run = w().run;
    // hardly a row that several lanes lack
    const bool alike = lanes > 1 && bundle.lane_rows() >= 0.98 * (lanes - 1) * bundle.n_rows;
    if (run.all_bits && !alike && most > kRowMask) most = 1 << 16;
    if (run.family == Family::many_gini && run.p.n_classes >= 8 && run.few_valued && lanes >= 8)
      most = (most + 15) / 16;
    return levels >= 6 ? most : most >> (6 - levels);
  }

  // Rows of the lanes' nodes: over all leaves they add up to the training rows of all tasks, so
  // they measure progress. A part of a bundle's rows is done when it is split, the rest in its
  // children.
  void done(double rows) {
    w().run.rows_done.fetch_add(static_cast<u64>(rows), std::memory_order_relaxed);
  }

  void refine(const WaitingBundle& bundle) {
    Worker& mine = w();
    mine.poll();
    const std::size_t local = local_limit(bundle);
    if (bundle.n_rows > local) return refine_large(bundle, local);
    const auto mark = mine.scratch.mark();
    const Codes& codes = *bundle.codes;
    u32* rows = mine.scratch.take<u32>(bundle.n_rows);
    for (u32 i = 0; i < bundle.n_rows; i++) rows[i] = codes.row(bundle.ids[i]);
    const Problem& p = mine.run.p;
    const bool divisible = !p.multiplicity && static_cast<std::size_t>(bundle.n_rows) *
                                                      static_cast<std::size_t>(p.n_features) >=
                                                  kDivisible;
    u32 before = bundle.lanes;
    refine_as_local(mine, bundle, bundle.n_rows, rows, bundle.masks, [&](u32 lanes) {
      each_bit(before & ~lanes,
               [&](int k) { done(bundle.to_do * static_cast<double>(bundle.node[k]->n_rows)); });
      u32 kept = lanes;  // half of what is left goes to a thread that has nothing to do
      if (divisible && waiting.n_idle())
        for (int n = __builtin_popcount(lanes) / 2; n > 0; n--) kept &= kept - 1;
      if (kept != lanes) give(bundle, lanes & ~kept);
      return before = kept;
    });
    mine.scratch.release(mark);
  }

  // Some lanes of a bundle become a waiting bundle of their own.
  void give(const WaitingBundle& bundle, u32 lanes) {
    WaitingBundle::Pointer part =
        WaitingBundle::make(bundle.packed(lanes), bundle.codes, bundle.n_rows);
    u32 n = 0;
    for (u32 i = 0; i < bundle.n_rows; i++) {
      const u32 mask = pack_bits(u32{bundle.masks[i]}, lanes);
      part->ids[n] = bundle.ids[i];
      part->masks[n] = static_cast<u16>(mask);
      n += mask != 0;
    }
    part->n_rows = n;
    waiting.add(me, std::move(part));
  }

  void refine_large(const WaitingBundle& given, std::size_t local) {
    Worker& mine = w();
    Bundle bundle = given;
    const u32 n = given.n_rows;
    const double all_lanes = bundle.lane_rows(), started = seconds_now();
    const auto mark = mine.scratch.mark();
    LevelCounts& level = mine.level(bundle.depth);
    level.bundles++;
    level.rows += n;
    LargeRows rows{n, given.ids, given.masks, mine.run.p.columns, &*given.codes};
    const bool sparse = n < rows.codes->n / kSparse && !off(Acceleration::own_codes);
    level.own_codes += sparse ? n : 0;
    const HeldCodes codes = sparse ? rows.take_apart(mine) : given.codes;
    rows.bits = RowBits::of(mine, rows.codes->n, rows.ids, n);
    close_pure_lanes(mine, bundle, rows);
    if (bundle.lanes) {
      Best best = search_large(mine, bundle, rows);
      const Fork forked = fork(mine, bundle, rows, best);
      level.seconds += seconds_now() - started;
      leave_children(bundle, rows, codes, all_lanes, forked, local);
    } else {
      done(bundle.to_do * all_lanes);
    }
    mine.scratch.release(mark);
  }

  void leave_children(const Bundle& bundle, const LargeRows& rows, const HeldCodes& codes,
                      double all_lanes, const Fork& forked, std::size_t local) {
    Worker& mine = w();
    // Levels of work this and the bundles below will take, about; one of a local table, of some
    // 2^11 rows, takes as long as three.
    i64 below = levels_left(bundle), levels = 0;
    for (std::size_t n = rows.n; n > local && below > 0; n /= 2) {
      levels++;
      below--;
    }
    levels += 3 * (below < 11 ? below : 11);
    const ChildBundles children = child_bundles(mine, rows, forked);
    double going_on = 0;  // rows that have not reached leaves
    const double to_do = bundle.to_do * (1 - 1 / static_cast<double>(levels));
    WaitingList<WaitingBundle> next;
    for (int c = 0; c < children.n; c++) {
      ChildBundle& child = children.bundle[c];
      if (!child.n) continue;
      Bundle of_child = bundle_of(mine, bundle, forked, child);
      of_child.to_do = to_do;
      going_on += of_child.lane_rows();
      WaitingBundle::Pointer later = WaitingBundle::make(of_child, codes, child.n);
      child.ids = later->ids;
      child.masks = later->masks;
      next.add(std::move(later));
    }
    route(mine, rows, forked, children);
    while (WaitingBundle::Pointer later = next.oldest()) waiting.add(me, std::move(later));
    done(bundle.to_do * all_lanes - to_do * going_on);
  }

  void refine_waiting() {
    while (const WaitingBundle::Pointer next = waiting.next(me)) {
      refine(*next);
      waiting.finished();
    }
  }

  // All tasks of a block, by all threads; the first makes the root bundle.
  void grow(int block, Team& threads, const Codes& table, Node** roots) {
    for (int i = 0; i < n_workers; i++) {
      Worker& worker = *workers[i];
      worker.block = block;
      worker.threads = &waiting;
      worker.team = workers;
      worker.me = i;
    }
    Failure failure;
    const auto work = [&](int i) {
      Block own{workers, n_workers, i, waiting};
      failure.guard([&] {
        if (!i) own.start(table, roots);
        own.refine_waiting();
      });
      if (failure.any()) waiting.stop();
    };
    if (n_workers > 1) threads.run(n_workers, work);
    else work(0);
    failure.rethrow();
  }

  // A block's root bundle has every row that trains some of its tasks.
  void start(const Codes& table, Node** roots) {
    Worker& mine = w();
    const Problem& p = mine.run.p;
    const auto mark = mine.scratch.mark();
    const int first = mine.block * kBlockTasks,
              tasks = p.n_tasks - first < kBlockTasks ? p.n_tasks - first : kBlockTasks;
    const u16* masks_in = p.masks + static_cast<std::size_t>(mine.block) * p.n_rows;
    u32* ids = mine.scratch.take<u32>(p.n_rows + 1);
    u16* masks = mine.scratch.take<u16>(p.n_rows + 1);
    u32 n = pack_rows(
        static_cast<u32>(p.n_rows), [&](u32 i) { return masks_in[i] & ((1u << tasks) - 1); },
        [](u32 i) { return i; }, ids, masks);
    const LargeRows rows{n, ids, masks, p.columns, &table};
    Bundle bundle = root_bundle(tasks, rows, roots + first);
    const u32 closed = ((1u << tasks) - 1) & ~bundle.lanes;
    each_bit(closed, [&](int k) { done(static_cast<double>(bundle.node[k]->n_rows)); });
    close_lanes(mine, bundle, rows, closed);
    for (int i = 0; i < n_workers; i++)
      std::copy_n(mine.root_total, kLanes, workers[i]->root_total);
    if (bundle.lanes) {
      const u32 kept = closed && !p.multiplicity ? bundle.lanes : 0;  // only the lanes that go on
      const auto mask = [&](u32 i) {
        return kept ? pack_bits(u32{masks[i]}, kept) : u32{masks[i]};
      };
      WaitingBundle::Pointer root =
          WaitingBundle::make(kept ? bundle.packed(kept) : bundle, HeldCodes(table), n);
      root->n_rows = pack_rows(n, mask, [&](u32 i) { return ids[i]; }, root->ids, root->masks);
      waiting.add(me, std::move(root));
    } else {
      waiting.stop();
    }
    mine.scratch.release(mark);
  }
  // Copies the rows whose mask is not 0.
  template <class Mask, class Id>
  u32 pack_rows(u32 n, Mask mask, Id id, u32* ids, u16* masks) {
    const auto count = [&](u32 begin, u32 end) {
      u32 kept = 0;
      for (u32 i = begin; i < end; i++) kept += mask(i) != 0;
      return kept;
    };
    return w().pack_rows(n, count, [&](u32 begin, u32 end, u32 at) {
      u32 next = at;
      for (u32 i = begin; i < end; i++)
        if (const u32 m = mask(i)) {
          ids[next] = id(i);
          masks[next++] = static_cast<u16>(m);
        }
      return next - at;
    });
  }

  Bundle root_bundle(int tasks, const LargeRows& rows, Node** roots) {
    Worker& mine = w();
    const Problem& p = mine.run.p;
    const auto K = static_cast<std::size_t>(mine.run.K());
    Bundle bundle;
    bundle.n = p.multiplicity ? kLanes : tasks;
    for (int k = 0; k < tasks; k++) {
      Node* root = roots[k] = mine.new_nodes(1, 0);
      root->stats = mine.keep<double>(K);
      std::fill_n(root->stats, K, 0.0);
      bundle.task[k] = static_cast<u8>(k);
      bundle.node[k] = root;
      bundle.min_leaf[k] = limits_of(mine, bundle, k).min_leaf;
    }
    std::mutex mutex;  // of the roots
    mine.share_rows(rows.n, mine.parts_of(rows.n), [&](Worker& own, u32 begin, u32 end, int) {
      const auto mark = own.scratch.mark();
      double* sums = own.scratch.take<double>(K * kLanes);
      std::fill_n(sums, K * kLanes, 0.0);
      i64 n[kLanes] = {};
      for (u32 i = begin; i < end; i++) {
        const std::size_t row = rows.ids[i];
        const double weight = p.weight ? p.weight[row] : 1;
        each_bit(rows.masks[i], [&](int k) {
          const double m = times_of(mine, bundle, k, row);
          double* s = sums + K * static_cast<std::size_t>(k);
          n[k]++;
          if (p.n_classes) s[p.classes[row]] += m * weight;
          else {
            s[0] += m * p.product[row];
            s[1] += m * weight;
          }
        });
      }
      const std::scoped_lock lock(mutex);
      for (int k = 0; k < tasks; k++) {
        bundle.node[k]->n_rows += n[k];
        for (std::size_t c = 0; c < K; c++)
          bundle.node[k]->stats[c] += sums[K * static_cast<std::size_t>(k) + c];
      }
      own.scratch.release(mark);
    });
    for (int k = 0; k < tasks; k++) {
      mine.root_total[k] = p.totals ? p.totals[task_of(mine, bundle, k)]
                                    : mine.run.quality.total(bundle.node[k]->stats);
      if (mine.run.on_grid && !p.totals && limits_of(mine, bundle, k).min_decrease > 0)
        mine.root_total[k] =
            exact_weight(p, ExactSearch<LargeRows>::sums_of(mine, bundle, rows, k));
      bundle.lanes |=
          static_cast<u32>(wants_test(mine.run, *bundle.node[k], limits_of(mine, bundle, k))) << k;
    }
    return bundle;
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL
