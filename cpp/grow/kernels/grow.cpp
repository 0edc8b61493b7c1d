// Grows all tasks of a problem: blocks of tasks, each a root bundle refined depth first. The largest bundles share their columns among
// the threads; the others wait in a queue and are then grown to the end by whichever thread is free. With many blocks a thread
// takes whole blocks instead. Nothing of this shows in the trees.
#include "../forest.hpp"
#include "../large.hpp"
#include "../local.hpp"

namespace crosscut::CROSSCUT_LEVEL {
namespace {

constexpr int kShare = 4;  // a bundle with this fraction of a thread's share of the rows, or less, is left to one thread

struct Block {
  Worker** helpers;
  int n_helpers;
  const Codes& table;
  Arena held;  // rows of pending bundles
  Pending *queue = nullptr, *small = nullptr;  // the small ones come last: no thread then has to wait long for another

  Block(Worker** workers, int n, const Codes& codes) : helpers(workers), n_helpers(n), table(codes) {}
  Worker& w() { return *helpers[0]; }

  i64 levels_left(const Team& team) {
    i64 levels = 0;
    each_bit(team.lanes, [&](int k) {
      const i64 left = limits_of(w(), team, k).max_depth - team.depth;
      levels = left > levels ? left : levels;
    });
    return levels;
  }

  // Sorting a local block pays if several levels use it: near the depth limit only small bundles become local.
  std::size_t local_limit(const Team& team) {
    const i64 levels = levels_left(team);
    const std::size_t most = w().run.p.local_rows;
    return levels >= 6 ? most : most >> (6 - levels);
  }

  // Threads meet three times per bundle, which smaller ones would not repay (least of all on a busy machine).
  bool worth_sharing(u32 n) { return static_cast<u64>(n) * static_cast<u64>(w().run.p.n_features) >= u64{1} << 16; }

  // Rows of the lanes' own nodes; over all leaves they add up to the training rows of all tasks, so they measure progress: a part of a
  // bundle's rows is done when it is split, the rest in its children.
  static double lane_rows(const Team& team) {
    double n = 0;
    each_bit(team.lanes, [&](int k) { n += static_cast<double>(team.node[k]->n_rows); });
    return n;
  }
  void done(double rows) { w().run.rows_done.fetch_add(static_cast<u64>(rows), std::memory_order_relaxed); }

  static Pending* keep(Arena& arena, const Team& team, u32 n, const u32* ids, const u16* masks, const Codes& codes) {
    Pending* p = new_pending(arena, team, n);
    for (u32 i = 0; i < n; i++) p->ids[i] = codes.row(ids[i]), p->masks[i] = masks[i];
    return p;
  }

  void refine(Team team, u32 n, u32* ids, u16* masks, const Codes& codes) {
    Worker& me = w();
    me.poll();
    const std::size_t local = local_limit(team);
    if (n_helpers > 1 && n <= std::max(local, me.run.p.n_rows / static_cast<std::size_t>(kShare * n_helpers))) {
      Pending* p = keep(held, team, n, ids, masks, codes);
      Pending*& first = n > local ? queue : small;
      p->next = first, first = p;
      return;
    }
    if (n <= local) {
      for (u32 i = 0; i < n && codes.rows; i++) ids[i] = codes.rows[ids[i]];
      grow_local(me, team, n, ids, masks);
      done(team.to_do * lane_rows(team));
      return;
    }
    const double all_lanes = lane_rows(team), started = seconds_now();
    const auto mark = me.scratch.mark();
    LevelCounts& level = me.levels[team.depth < kLevels ? team.depth : kLevels - 1];
    level.bundles++, level.rows += n;
    LargeRows rows{n, ids, masks, me.run.p.columns, &codes};
    if (n < codes.n / kSparse) rows = rows.apart(me.scratch, me.run.p.n_features);
    rows.bits = RowBits::of(me.scratch, rows.codes->n, rows.ids, n);
    if (!me.run.p.n_classes) {
      const u32 pure = pure_lanes(me, team, rows);
      close_lanes(me, team, rows, pure);
      team.lanes &= ~pure;
    }
    if (team.lanes) {
      Best best;
      best.start(me.run.K(), me.scratch.take<double>(static_cast<std::size_t>(kLanes * me.run.K())));
      search_large(helpers, worth_sharing(n) ? n_helpers : 1, team, rows, best);
      Settler<LargeRows> settler(me, team, rows, best);
      settler.take_tests();
      settler.open_children();
      level.tests += static_cast<u64>(settler.n_tests), level.nodes++;
      level.seconds += seconds_now() - started;
      refine_children(team, rows, all_lanes, settler, local);
    } else {
      done(team.to_do * all_lanes);
    }
    me.scratch.release(mark);
  }

  void refine_children(const Team& team, const LargeRows& rows, double all_lanes, const Settler<LargeRows>& settler, std::size_t local) {
    Worker& me = w();
    // Levels of work this and the bundles below will take, about; one of a local block, of some 2^11 rows, takes as long as three.
    i64 below = levels_left(team), levels = 0;
    for (std::size_t n = rows.n; n > local && below > 0; n /= 2) levels++, below--;
    levels += 3 * (below < 11 ? below : 11);
    const u16* left = lanes_left(me, rows, settler.tests, settler.n_tests);
    Cluster* clusters;
    const int n = make_clusters(me, rows, settler.tests, settler.n_tests, left, clusters);
    const Child* children = route(me, rows, settler.tests, settler.n_tests, left, clusters, n);
    double going_on = 0;  // rows that have not reached leaves
    for (int c = 0; c < n; c++)
      if (children[c].n) going_on += lane_rows(child_team(me, team, settler.tests, clusters[c]));
    const double to_do = team.to_do * (1 - 1 / static_cast<double>(levels));
    done(team.to_do * all_lanes - to_do * going_on);
    const bool deep = me.nesting >= kNesting;
    me.nesting++;
    for (int c = 0; c < n; c++) {
      const Child& child = children[c];
      if (!child.n) continue;
      for (u32 i = 0; i < child.n; i++) child.at[i] = rows.ids[child.at[i]];
      Team next = child_team(me, team, settler.tests, clusters[c]);
      next.to_do = to_do;
      if (deep) {
        Pending* later = keep(me.held, next, child.n, child.at, child.lanes, *rows.codes);
        later->next = me.deferred, me.deferred = later;
        continue;
      }
      refine(next, child.n, child.at, child.lanes, *rows.codes);
    }
    me.nesting--;
  }

  void refine_deferred() {
    while (Pending* later = w().deferred) {
      w().deferred = later->next;
      refine(later->team, later->n, later->ids, later->masks, table);
    }
  }

  void finish_queue() {
    Pending** end = &queue;
    while (*end) end = &(*end)->next;
    *end = small;
    std::atomic<int> failed{0};
    std::atomic<Pending*> next{queue};
#ifdef _OPENMP
#pragma omp parallel num_threads(n_helpers) if (n_helpers > 1)
#endif
    {
#ifdef _OPENMP
      Worker* me = helpers[omp_get_thread_num()];
#else
      Worker* me = helpers[0];
#endif
      std::copy_n(w().root_total, kLanes, me->root_total);
      try {
        Block alone(&me, 1, table);
        while (Pending* p = next.load()) {
          if (!next.compare_exchange_weak(p, p->next)) continue;
          if (failed.load()) break;
          alone.refine(p->team, p->n, p->ids, p->masks, table);
          alone.refine_deferred();
        }
      } catch (const Stopped&) {
        failed.store(1);
      } catch (...) {
        failed.store(2);
      }
    }
    if (failed.load() == 1) throw Stopped{};
    if (failed.load()) throw std::bad_alloc();
  }

  // The root bundle: every row that trains some task of the block.
  void grow(int block, Node** roots) {
    Worker& me = w();
    const Problem& p = me.run.p;
    for (int i = 0; i < n_helpers; i++) helpers[i]->block = block;
    const auto mark = me.scratch.mark();
    const int first = block * kBlockTasks, tasks = p.n_tasks - first < kBlockTasks ? p.n_tasks - first : kBlockTasks;
    const u16* masks_in = p.masks + static_cast<std::size_t>(block) * p.n_rows;
    const u32 used = (1u << tasks) - 1;
    u32* ids = me.scratch.take<u32>(p.n_rows + 1);
    u16* masks = me.scratch.take<u16>(p.n_rows + 1);
    u32 n = 0;
    for (std::size_t i = 0; i < p.n_rows; i++) {
      const u32 m = masks_in[i] & used;
      ids[n] = static_cast<u32>(i), masks[n] = static_cast<u16>(m), n += m != 0;
    }
    const LargeRows rows{n, ids, masks, p.columns, &table};
    Team team;
    team.n = p.multiplicity ? kLanes : tasks;
    const int K = me.run.K();
    for (int k = 0; k < tasks; k++) {
      Node* root = roots[first + k] = me.new_nodes(1);
      root->stats = me.nodes.take<double>(static_cast<std::size_t>(K));
      std::fill_n(root->stats, K, 0.0);
      team.task[k] = static_cast<u8>(k), team.node[k] = root, team.min_leaf[k] = p.limits[first + k].min_leaf;
    }
    count_roots(rows, team, used);
    u32 closed = 0;
    for (int k = 0; k < tasks; k++) {
      me.root_total[k] = p.totals ? p.totals[first + k] : me.run.judge.total(team.node[k]->stats);
      (wants_test(me.run, *team.node[k], p.limits[first + k]) ? team.lanes : closed) |= 1u << k;
    }
    each_bit(closed, [&](int k) { done(static_cast<double>(team.node[k]->n_rows)); });
    close_lanes(me, team, rows, closed);
    queue = small = nullptr;
    if (team.lanes && closed && !p.multiplicity) {  // only the lanes that go on
      Team rest;
      each_bit(team.lanes, [&](int k) {
        rest.task[rest.n] = team.task[k], rest.node[rest.n] = team.node[k], rest.min_leaf[rest.n] = team.min_leaf[k];
        rest.lanes |= 1u << rest.n, rest.n++;
      });
      u32 kept = 0;
      for (u32 i = 0; i < n; i++) {
        const u32 m = pack_bits(masks[i], team.lanes);
        ids[kept] = ids[i], masks[kept] = static_cast<u16>(m), kept += m != 0;
      }
      team = rest, n = kept;
    }
    if (team.lanes) refine(team, n, ids, masks, table);
    refine_deferred();
    me.scratch.release(mark);
    if (queue || small) finish_queue();
    held.release({nullptr, 0});
    for (int i = 0; i < n_helpers; i++) helpers[i]->held.release({nullptr, 0});
  }

  void count_roots(const LargeRows& rows, const Team& team, u32 used) {
    const Problem& p = w().run.p;
    for (u32 i = 0; i < rows.n; i++) {
      const std::size_t row = rows.ids[i];
      const double weight = p.weight ? p.weight[row] : 1;
      each_bit(rows.masks[i] & used, [&](int k) {
        const double m = p.multiplicity ? p.multiplicity[static_cast<std::size_t>(w().block * kBlockTasks + k) * p.n_rows + row] : 1;
        double* s = team.node[k]->stats;
        team.node[k]->n_rows++;
        if (p.n_classes) s[p.classes[row]] += m * weight;
        else s[0] += m * p.product[row], s[1] += m * weight;
      });
    }
  }
};

void grow_blocks(Run& run, Worker** workers, int n_threads, const Codes& table, Node** roots) {
  const int n_blocks = (run.p.n_tasks + kBlockTasks - 1) / kBlockTasks;
  if (n_blocks < 2 * n_threads || n_threads == 1) {
    Block block(workers, n_threads, table);
    for (int b = 0; b < n_blocks; b++) block.grow(b, roots);
    return;
  }
  std::atomic<int> next{0}, failed{0};
#ifdef _OPENMP
#pragma omp parallel num_threads(n_threads)
#endif
  {
#ifdef _OPENMP
    Worker* me = workers[omp_get_thread_num()];
#else
    Worker* me = workers[0];
#endif
    try {
      Block block(&me, 1, table);
      for (int b; (b = next.fetch_add(1)) < n_blocks && !failed.load();) block.grow(b, roots);
    } catch (const Stopped&) {
      failed.store(1);
    } catch (...) {
      failed.store(2);
    }
  }
  if (failed.load() == 1) throw Stopped{};
  if (failed.load()) throw std::bad_alloc();
}

}  // namespace

void grow(const Problem& problem, Grown& out) {
  out = Grown{};
  Run run(problem);
  int n_threads = problem.n_threads;
#ifdef _OPENMP
  if (n_threads == 0) n_threads = omp_get_max_threads();
#else
  n_threads = 1;
#endif
  Worker** workers = nullptr;
  double* table = nullptr;
  Node** roots = nullptr;
  try {
    workers = static_cast<Worker**>(std::calloc(static_cast<std::size_t>(n_threads), sizeof(Worker*)));
    roots = static_cast<Node**>(std::calloc(static_cast<std::size_t>(problem.n_tasks), sizeof(Node*)));
    if (!workers || !roots) throw std::bad_alloc();
    for (int i = 0; i < n_threads; i++) workers[i] = new Worker(run);
    workers[0]->caller = true;
    if (run.counted && problem.criterion != Criterion::gini) {
      const u32 most = problem.n_rows + 1 < kXlogs ? static_cast<u32>(problem.n_rows) + 1 : kXlogs;
      table = allocate<double>(kXlogs);
      for (u32 v = 0; v < most; v++) table[v] = xlog(v);
      run.judge.xlogs = table;
    }
    Arena arena;
    grow_blocks(run, workers, n_threads, codes_of_table(arena, problem), roots);
    write_trees(run, roots, *workers[0], out.trees);
    for (int i = 0; i < n_threads; i++) {
      for (int d = 0; d < kLevels; d++) {
        const LevelCounts& from = workers[i]->levels[d];
        LevelCounts& to = out.levels[d];
        to.bundles += from.bundles, to.rows += from.rows, to.nodes += from.nodes, to.tests += from.tests, to.seconds += from.seconds;
      }
      out.intervals += workers[i]->intervals, out.opened += workers[i]->opened;
    }
    out.outcome = Outcome::done;
  } catch (const Stopped&) {
    out.outcome = Outcome::stopped;
  } catch (const std::bad_alloc&) {
    free_trees(out.trees);
    out.outcome = Outcome::no_memory;
  }
  if (workers)
    for (int i = 0; i < n_threads; i++) delete workers[i];
  std::free(workers), std::free(roots), std::free(table);
}

}  // namespace crosscut::CROSSCUT_LEVEL
