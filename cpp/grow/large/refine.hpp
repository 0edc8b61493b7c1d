// The paper's Figure 2 for a block of up to 15 tasks: refine a bundle, split it into child bundles,
// repeat. Children wait in a list (waiting_bundle.hpp); a thread without work takes one, or else
// shares the columns and rows of a large bundle. Small bundles are finished in a local table
// (small/refine_local.hpp).
#pragma once
#include <optional>
#include <vector>

#include "child_bundles.hpp"
#include "grow/copies.hpp"
#include "grow/small/refine_local.hpp"
#include "search_large.hpp"
#include "siblings.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// local tables with at least this many cells may be divided between threads
constexpr std::size_t kDivisible = 1 << 14;
// a child with fewer than one in this many rows copies its codes row by row
constexpr u32 kSparse = 32;

struct Block {
  Worker** workers;  // one per thread; workers[me] is this thread's
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

  // The most rows of a bundle that is finished in a local table, task by task. Sorting its columns
  // pays off if several levels use them, so the limit falls near the depth limit.
  std::size_t local_limit(const Bundle& bundle, u32 n_rows) {
    if (off(Acceleration::local_tables)) return 1;
    const i64 levels = levels_left(bundle);
    const int lanes = __builtin_popcount(bundle.lanes);
    std::size_t most = w().run.p.local_rows;
    // Measured: the scan of a single task takes a step per class, which many lanes share. But a
    // column with more than a few dozen values costs lanes more.
    const Run& run = w().run;
    // nearly every row trains all lanes except at most one
    const bool alike = lanes > 1 && bundle.lane_rows() >= 0.98 * (lanes - 1) * n_rows;
    if (run.all_bits && !alike && most > kRowMask) most = 1 << 16;
    if (run.family == Family::many_gini && run.p.n_classes >= 8 && run.few_valued && lanes >= 8)
      most = (most + 15) / 16;
    // The intervals of a single task are scanned fast (BorderSearch::together), so sorting must
    // serve more levels if none of them is opened. With many classes, the statistics take longer
    // than sorting the rows.
    const bool fast = lanes == 1 && !run.weighted && run.family != Family::any_classes;
    const i64 enough = fast && run.by_value ? 8 : 6;
    return levels >= enough || run.p.n_classes >= kManyClasses ? most : most >> (enough - levels);
  }

  // Progress. Over all leaves the rows of the nodes add up to the training rows of all tasks. A
  // fraction of a bundle's rows counts as done when it is split, the rest in its children.
  void done(double rows) {
    w().run.rows_done.fetch_add(static_cast<u64>(rows), std::memory_order_relaxed);
  }

  void refine(WaitingBundle& bundle) {
    Worker& worker = w();
    worker.poll();
    const std::size_t local = local_limit(bundle, bundle.n_rows);
    if (bundle.n_rows > local) return refine_large(bundle, local);
    const Problem& p = worker.run.p;
    const bool divisible = !p.multiplicity && static_cast<std::size_t>(bundle.n_rows) *
                                                      static_cast<std::size_t>(p.n_features) >=
                                                  kDivisible;
    u32 before = bundle.lanes;
    refine_as_local(worker, bundle, bundle.n_rows, bundle.rows, bundle.masks, [&](u32 lanes) {
      each_bit(before & ~lanes,
               [&](int k) { done(bundle.to_do * static_cast<double>(bundle.node[k]->n_rows)); });
      u32 kept = lanes;  // half of the remaining lanes go to an idle thread
      if (divisible && waiting.n_idle())
        for (int n = __builtin_popcount(lanes) / 2; n > 0; n--) kept &= kept - 1;
      if (kept != lanes) hand_over(bundle, lanes & ~kept);
      return before = kept;
    });
  }

  // Moves some lanes of a bundle to a waiting bundle.
  void hand_over(const WaitingBundle& bundle, u32 lanes) {
    WaitingBundle::Pointer part =
        WaitingBundle::make(w().run, bundle.packed(lanes), bundle.codes, bundle.n_rows);
    part->products = bundle.products;
    u32 n = 0;
    for (u32 i = 0; i < bundle.n_rows; i++) {
      const u32 mask = pack_bits(u32{bundle.masks[i]}, lanes);
      part->rows[n] = bundle.rows[i];
      part->masks[n] = static_cast<u16>(mask);
      n += mask != 0;
    }
    part->n_rows = n;
    waiting.add(me, std::move(part));
  }

  void refine_large(WaitingBundle& source, std::size_t local) {
    Worker& worker = w();
    Bundle bundle = source;
    const u32 n = source.n_rows;
    double all_lanes = bundle.lane_rows();
    const double started = seconds_now();
    const auto mark = worker.scratch.mark();
    LevelCounts& level = worker.count_visit(bundle.depth, n);
    const bool arrived = source.statistics != nullptr;
    const HeldCodes codes = own_codes(source, arrived);
    const bool copies = &*codes != &*source.codes;
    if (copies) source.copy_codes(worker.run.p.n_features, *codes);  // the classes
    LargeRows rows{n, source.rows, source.masks, worker.run.p.columns, &*codes};
    rows.products = source.products ? source.products.get() : worker.run.p.product;
    close_pure_lanes(worker, bundle, rows);
    if (bundle.lanes) {
      level.derived_rows += arrived ? n : 0;
      if (!arrived)
        source.statistics = hold_statistics(worker.run, lanes_width(worker.run, bundle));
      const LargeStatistics statistics{source.statistics.get(), arrived, source.lanes,
                                       source.sibling.get(), source.gone.get()};
      const ColumnStatistics held{worker.run, source.statistics.get(),
                                  lanes_width(worker.run, bundle)};
      if (held.memory) rows.statistics = &held;
      std::optional<Best> best =
          search_large(worker, bundle, rows, statistics, copies ? &source : nullptr, [&] {
            if (waiting.n_idle()) add_siblings(source);
          });
      source.codes = codes;  // nobody needs the parent's if this is its last child
      const double searched = bundle.lane_rows();
      if (take_new_grid(source, bundle, rows, *best)) {
        const LargeStatistics again{source.statistics.get(), false, source.lanes, nullptr, nullptr};
        best.emplace(search_large(worker, bundle, rows, again, nullptr, [] {}));
      }
      all_lanes -= searched - bundle.lane_rows();
      const Fork forked = fork(worker, bundle, rows, *best);
      level.seconds += seconds_now() - started;
      leave_children(source, bundle, rows, codes, all_lanes, forked, local);
      add_siblings(source);  // to be refined before the children, so that few codes are held
    } else {
      for (WaitingBundle* s = source.sibling.get(); s; s = s->sibling.get())
        s->statistics.reset();  // they must be counted
      add_siblings(source);
      done(bundle.to_do * all_lanes);
    }
    worker.scratch.release(mark);
  }

  // The codes of a bundle: its parent's if it has all of the parent's rows. Those of a bundle whose
  // children are leaves are not needed if its statistics have arrived.
  HeldCodes own_codes(const WaitingBundle& bundle, bool arrived) {
    const bool of_copies = w().run.p.copies && !(*bundle.codes).table;  // not the table's rows
    if (bundle.n_rows == (*bundle.codes).n && !of_copies) return bundle.codes;
    const bool needed = !arrived || levels_left(bundle) > 1 || !w().run.by_value;
    return HeldCodes(*Codes::make(w().run, bundle.n_rows, *bundle.codes, needed));
  }

  // The lanes of a regression with tests left open by a grid that hardly distinguishes their
  // targets.
  u32 narrow_lanes(const Bundle& bundle, const LargeRows& rows, const Best& best) {
    if (!w().run.own_grids || !rows.codes->column[0]) return 0;
    u32 narrow = 0;
    each_bit(bundle.lanes, [&](int k) {
      if (best.rivals[k].contested && is_narrow(rows, 1u << k)) narrow |= 1u << k;
    });
    return narrow;
  }
  static bool is_narrow(const LargeRows& rows, u32 lanes) {
    Range range;
    for (u32 i = 0; i < rows.n; i++)
      if (rows.mask(i) & lanes) range.add(rows.product(i));
    return range.narrow();
  }
  // Lanes that need another grid go on in bundles of their own, unless all lanes do. Without this,
  // bundles of targets of 18 decades took 20 times as long: a task that holds out the largest
  // target left all its tests to exact sums. Returns true if this bundle has a new grid.
  bool take_new_grid(WaitingBundle& source, Bundle& bundle, LargeRows& rows, const Best& best) {
    const u32 narrow = narrow_lanes(bundle, rows, best);
    if (!narrow) return false;
    const bool together = is_narrow(rows, narrow);
    if (together && narrow == bundle.lanes) return put_on_own_grid(source, bundle, rows);
    if (together) hand_over(source, narrow);
    else each_bit(narrow, [&](int k) { hand_over(source, 1u << k); });
    bundle.lanes &= ~narrow;
    return false;
  }
  // Puts the targets of a bundle on a grid of their own. Returns false if their range is infinite.
  bool put_on_own_grid(WaitingBundle& source, const Bundle& bundle, LargeRows& rows) {
    Worker& worker = w();
    const Problem& p = worker.run.p;
    const auto row = [&](u32 i) { return rows.row(i); };
    const double* own = on_own_grid(worker, worker.gathered(p.target, rows.n, row), rows.n);
    if (!own) return false;
    void* memory = worker.run.blocks.take(p.n_rows * sizeof(double));
    source.products = HeldProducts(static_cast<double*>(memory), Blocks::give_back);
    rows.products = source.products.get();
    each_bit(bundle.lanes, [&](int k) {
      bundle.node[k]->stats = worker.keep<double>(2);
      std::fill_n(bundle.node[k]->stats, 2, 0.0);
    });
    for (u32 i = 0; i < rows.n; i++) {
      source.products.get()[rows.row(i)] = own[i];
      each_bit(rows.mask(i) & bundle.lanes, [&](int k) {
        bundle.node[k]->stats[0] += own[i];
        bundle.node[k]->stats[1] += 1;
      });
    }
    worker.level(bundle.depth).new_grids++;
    return true;
  }

  void leave_children(WaitingBundle& source, const Bundle& bundle, const LargeRows& rows,
                      const HeldCodes& codes, double all_lanes, const Fork& forked,
                      std::size_t local) {
    Worker& worker = w();
    HeldStatistics& statistics = source.statistics;
    // The approximate number of levels of work left in this bundle and its descendants. A local
    // table (about 2^11 rows) counts as three.
    i64 below = levels_left(bundle), levels = 0;
    for (std::size_t n = rows.n; n > local && below > 0; n /= 2) {
      levels++;
      below--;
    }
    levels += 3 * (below < 11 ? below : 11);
    const ChildBundles children = child_bundles(worker, rows, forked);
    if (!children.n) return done(bundle.to_do * all_lanes);
    double going_on = 0;  // rows that have not reached a leaf
    const double to_do = bundle.to_do * (1 - 1 / static_cast<double>(levels));
    std::vector<WaitingBundle::Pointer> next(static_cast<std::size_t>(children.n));
    for (std::size_t c = 0; c < next.size(); c++) {
      ChildBundle& child = children.bundle[c];
      if (!child.n) continue;
      Bundle of_child = bundle_of(worker, bundle, forked, child);
      of_child.to_do = to_do;
      going_on += of_child.lane_rows();
      const bool dense =
          children.left && child.n >= rows.n / kSparse && child.n > local_limit(of_child, child.n);
      WaitingBundle::Pointer later =
          WaitingBundle::make(worker.run, of_child, codes, child.n, dense);
      if (dense) std::copy_n(child.words, (rows.n + 63) / 64, later->words);
      later->products = source.products;
      child.rows = later->rows;
      child.masks = later->masks;
      next[c] = std::move(later);
    }
    route(worker, rows, forked, children);
    if (children.left && statistics)
      join_siblings(worker, bundle, rows, children, next, statistics,
                    [&](const WaitingBundle& child) {
                      return child.n_rows > local_limit(child, child.n_rows);
                    });
    statistics.reset();
    // The largest is refined last: then it is the only one that needs the codes of this bundle,
    // which are freed as soon as it has copied its own.
    const auto rows_of = [](const WaitingBundle::Pointer& child) {
      u64 sum = 0;
      for (const WaitingBundle* b = child.get(); b; b = b->sibling.get()) sum += b->n_rows;
      return sum;
    };
    std::stable_sort(next.begin(), next.end(),
                     [&](const auto& a, const auto& b) { return rows_of(a) > rows_of(b); });
    for (WaitingBundle::Pointer& later : next)
      if (later) waiting.add(me, std::move(later));
    done(bundle.to_do * all_lanes - to_do * going_on);
  }

  void add_siblings(WaitingBundle& counted) {
    while (WaitingBundle::Pointer sibling = std::move(counted.sibling)) {
      counted.sibling = std::move(sibling->sibling);
      waiting.add(me, std::move(sibling));
    }
  }

  void refine_waiting() {
    while (const WaitingBundle::Pointer next = waiting.next(me)) {
      refine(*next);
      waiting.finished();
    }
  }

  // Grows the tasks of a block, or of a group, with all threads. The first thread calls
  // start(block), which adds the first bundles.
  template <class Start> void grow(int block, Team& threads, Start start) {
    for (int i = 0; i < n_workers; i++) {
      Worker& worker = *workers[i];
      worker.block = block;
      worker.threads = &waiting;
      worker.team = workers;
      worker.me = i;
    }
    Failure failure;
    const auto work = [&](int i) {
      Block self{workers, n_workers, i, waiting};
      failure.guard([&] {
        if (!i) start(self);
        self.refine_waiting();
      });
      if (failure.any()) waiting.stop();
    };
    if (n_workers > 1) threads.run(n_workers, work);
    else work(0);
    failure.rethrow();
  }

  // Makes the root bundle of a block: all rows that train at least one of its tasks.
  void start(const Codes& table, Node** roots) {
    Worker& worker = w();
    const Problem& p = worker.run.p;
    const auto mark = worker.scratch.mark();
    const int first = worker.block * kBlockTasks;
    const int tasks = p.n_tasks - first < kBlockTasks ? p.n_tasks - first : kBlockTasks;
    const u16* masks_in = p.masks + static_cast<std::size_t>(worker.block) * p.n_rows;
    u32* table_rows = worker.scratch.take<u32>(p.n_rows + 1);
    u16* masks = worker.scratch.take<u16>(p.n_rows + 1);
    u32 n = pack_rows(
        static_cast<u32>(p.n_rows), [&](u32 i) { return masks_in[i] & ((1u << tasks) - 1); },
        [](u32 i) { return i; }, table_rows, masks);
    start(HeldCodes(table), n, table_rows, masks, first, tasks, roots);
    worker.scratch.release(mark);
  }
  // The same for one task, whose rows are copied.
  void start_copies(const Codes& table, int task, Node** roots) {
    Worker& worker = w();
    const Problem& p = worker.run.p;
    const auto mark = worker.scratch.mark();
    const auto n = static_cast<u32>(n_copies(p, task));
    u32* table_rows = worker.scratch.take<u32>(n + 1);
    u16* masks = worker.scratch.take<u16>(n + 1);
    copy_rows(p, task, table_rows);
    std::fill_n(masks, n, u16{1});
    const HeldCodes codes(*Codes::make(worker.run, n, table, true));
    worker.share(p.n_features + 1, [&](Worker&, Parts& parts) {
      for (int f; (f = parts.take()) >= 0;) {
        u8* to = const_cast<u8*>((*codes).column[f]);
        for (u32 i = 0; i < n && to; i++) to[i] = table.column[f][table_rows[i]];
      }
    });
    start(codes, n, table_rows, masks, task, 1, roots);
    worker.scratch.release(mark);
  }
  void start(const HeldCodes& codes, u32 n, u32* table_rows, u16* masks, int first, int tasks,
             Node** roots) {
    Worker& worker = w();
    const Problem& p = worker.run.p;
    const LargeRows rows{n, table_rows, masks, p.columns, &*codes};
    Bundle bundle = root_bundle(first, tasks, rows, roots + first);
    const u32 closed = ((1u << tasks) - 1) & ~bundle.lanes;
    each_bit(closed, [&](int k) { done(static_cast<double>(bundle.node[k]->n_rows)); });
    close_lanes(worker, bundle, rows, closed);
    for (int i = 0; i < n_workers; i++)
      std::copy_n(worker.root_total, kLanes, workers[i]->root_total);
    if (bundle.lanes) {
      const u32 kept =
          closed && !p.multiplicity ? bundle.lanes : 0;  // drop the lanes that are done
      const auto mask = [&](u32 i) {
        return kept ? pack_bits(u32{masks[i]}, kept) : u32{masks[i]};
      };
      WaitingBundle::Pointer root =
          WaitingBundle::make(worker.run, kept ? bundle.packed(kept) : bundle, codes, n);
      root->codes = codes;
      root->n_rows =
          pack_rows(n, mask, [&](u32 i) { return table_rows[i]; }, root->rows, root->masks);
      waiting.add(me, std::move(root));
    } else {
      waiting.stop();
    }
  }
  // Copies the rows whose mask is not 0 and returns how many there are.
  template <class Mask, class Row> u32 pack_rows(u32 n, Mask mask, Row row, u32* rows, u16* masks) {
    const auto count = [&](u32 begin, u32 end) {
      u32 kept = 0;
      for (u32 i = begin; i < end; i++) kept += mask(i) != 0;
      return kept;
    };
    return w().pack_rows(n, count, [&](u32 begin, u32 end, u32 at) {
      u32 next = at;
      for (u32 i = begin; i < end; i++)
        if (const u32 m = mask(i)) {
          rows[next] = row(i);
          masks[next++] = static_cast<u16>(m);
        }
      return next - at;
    });
  }

  Bundle root_bundle(int first, int tasks, const LargeRows& rows, Node** roots) {
    Worker& worker = w();
    const Problem& p = worker.run.p;
    const auto K = static_cast<std::size_t>(worker.run.K());
    Bundle bundle;
    bundle.n = p.multiplicity ? kLanes : tasks;
    for (int k = 0; k < tasks; k++) {
      Node* root = roots[k] = worker.new_nodes(1, 0);
      root->stats = worker.keep<double>(K);
      std::fill_n(root->stats, K, 0.0);
      bundle.task[k] = static_cast<u8>(first % kBlockTasks + k);
      bundle.node[k] = root;
      bundle.min_leaf[k] = limits_of(worker, bundle, k).min_leaf;
    }
    std::mutex mutex;  // protects the roots
    worker.share_rows(rows.n, worker.parts_of(rows.n),
                      [&](Worker& helper, u32 begin, u32 end, int) {
                        const auto mark = helper.scratch.mark();
                        double* sums = helper.scratch.take<double>(K * kLanes);
                        std::fill_n(sums, K * kLanes, 0.0);
                        i64 n[kLanes] = {};
                        for (u32 i = begin; i < end; i++) {
                          const std::size_t row = rows.row(i);
                          const double weight = p.weight ? p.weight[row] : 1;
                          each_bit(rows.masks[i], [&](int k) {
                            const double m = times_of(worker, bundle, k, row);
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
                        helper.scratch.release(mark);
                      });
    const auto once = [&] {  // copies are grown one task after the other
      i64 n = 0;
      for (u32 i = 0; i < rows.n; i++) n += !rows.is_copy(i);
      return n;
    };
    for (int k = 0; k < tasks; k++) {
      const TaskLimits& limits = limits_of(worker, bundle, k);
      double& total = worker.root_total[bundle.task[k]];
      total = p.totals ? p.totals[task_of(worker, bundle, k)]
                       : worker.run.total_of(bundle.node[k]->stats, weights_of(worker, bundle, k));
      if (worker.run.on_grid && !p.totals && limits.min_decrease > 0)
        total = exact_weight(p, ExactSearch<LargeRows>::sums_of(worker, bundle, rows, k));
      bundle.lanes |=
          static_cast<u32>(wants_test(worker.run, *bundle.node[k], limits) &&
                           enough_rows(worker.run, bundle.node[k]->n_rows, limits, once))
          << k;
    }
    return bundle;
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL
