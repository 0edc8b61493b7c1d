// Grows all tasks of a problem. Each block of tasks starts with one root bundle (large/refine.hpp).
// With few blocks, threads share the bundles of a block; with many, each thread takes whole blocks.
// Many tasks that hold out few rows each are groups instead (many/refine_groups.hpp). The trees
// depend neither on that nor on the number of threads.
#include <optional>

#include "grow/many/refine_groups.hpp"

namespace crosscut::CROSSCUT_LEVEL {
namespace {

void grow_block(Team& team, Worker** workers, int n_threads, const Codes& table, int block,
                Node** roots) {
  Waiting waiting(n_threads);
  Block{workers, n_threads, 0, waiting}.grow(block, team,
                                             [&](Block& self) { self.start(table, roots); });
}

void grow_copies(Team& team, Worker** workers, int n_threads, const Codes& table, int task,
                 Node** roots) {
  Waiting waiting(n_threads);
  Block{workers, n_threads, 0, waiting}.grow(
      task / kBlockTasks, team, [&](Block& self) { self.start_copies(table, task, roots); });
}

// Grows tasks that hold out few rows each as one group.
template <class Bound>
void grow_group(Team& team, Worker** workers, int n_threads, const Codes& table, HeldOut& held_out,
                Node** roots) {
  Waiting waiting(n_threads);
  std::optional<Groups<Bound>> groups;
  const int task = held_out.tasks[0];
  Block{workers, n_threads, 0, waiting}.grow(task / kBlockTasks, team, [&](Block& self) {
    waiting.begin();
    groups.emplace(self, table, task);
    groups->start(held_out, roots);
    waiting.finished();
  });
  groups->finish();
}

// Grows the tasks that pay off as groups. Returns whether all tasks are grown.
bool grow_groups(Run& run, Team& team, Worker** workers, int n_threads, const Codes& table,
                 Node** roots) {
  return with_removal_bound(run.criterion(), [&]<class Bound>() {
    bool any = false;
    for (int t = run.p.n_tasks; t-- > 0;) {  // the final tree comes after its folds
      if (roots[t]) continue;
      HeldOut held_out = HeldOut::of(run, t, Bound::kTasksPerRow, any);
      if (held_out.tasks.empty()) return false;
      any = true;
      grow_group<Bound>(team, workers, n_threads, table, held_out, roots);
    }
    return true;
  });
}

void grow_blocks(Run& run, Team& team, Worker** workers, int n_threads, const Codes& table,
                 Node** roots) {
  const int n_blocks =
      run.p.copies ? run.p.n_tasks : (run.p.n_tasks + kBlockTasks - 1) / kBlockTasks;
  const auto grow = run.p.copies ? grow_copies : grow_block;
  if (n_blocks < 2 * n_threads || n_threads == 1) {
    for (int b = 0; b < n_blocks; b++) grow(team, workers, n_threads, table, b, roots);
    return;
  }
  std::atomic<int> next{0};
  Failure failure;
  team.run(n_threads, [&](int i) {
    failure.guard([&] {
      for (int b; (b = next.fetch_add(1)) < n_blocks && !failure.any();)
        grow(team, workers + i, 1, table, b, roots);
    });
  });
  failure.rethrow();
}

struct Threads {
  Worker** workers;
  int n;
};

}  // namespace

void grow(const Problem& given, Grown& out, PackedTrees& trees) {
  out = Grown{};
  Problem problem = given;
  if (!off(Acceleration::row_copies) && grows_with_copies(given))
    std::swap(problem.copies, problem.multiplicity);
  Team team(problem.n_threads);
  Run run(problem);
  const int n_threads = team.size();
  Worker** workers = nullptr;
  double* xlogs = nullptr;
  Node** roots = nullptr;
  try {
    workers =
        static_cast<Worker**>(std::calloc(static_cast<std::size_t>(n_threads), sizeof(Worker*)));
    roots =
        static_cast<Node**>(std::calloc(static_cast<std::size_t>(problem.n_tasks), sizeof(Node*)));
    if (!workers || !roots) throw std::bad_alloc();
    for (int i = 0; i < n_threads; i++) workers[i] = new Worker(run);
    workers[0]->caller = true;
    std::size_t most_rows = problem.n_rows;
    if (problem.copies) {
      const CopyCounts counts = count_copies(problem);
      most_rows = std::max(most_rows, counts.most);
      if (limits_rows(problem)) run.most_copies = counts.most_of_row;
      run.rows_per_copy = static_cast<double>(counts.rows) / static_cast<double>(counts.copies);
    }
    if (run.counted && !problem.class_weights && problem.criterion->logarithms &&
        !off(Acceleration::xlog_table)) {
      const u32 most = most_rows + 1 < kXlogs ? static_cast<u32>(most_rows) + 1 : kXlogs;
      xlogs = static_cast<double*>(std::malloc(kXlogs * sizeof(double)));
      if (!xlogs) throw std::bad_alloc();
      for (u32 v = 0; v < most; v++) xlogs[v] = xlog(v);
      run.quality.xlogs = xlogs;
      out.levels[0].xlogs = most;
    }
    Arena arena;
    const Codes table = codes_of_table(arena, problem);
    const bool groups = !problem.copies && grow_groups(run, team, workers, n_threads, table, roots);
    if (!groups) grow_blocks(run, team, workers, n_threads, table, roots);
    std::size_t n_nodes = 0;
    for (int i = 0; i < n_threads; i++) n_nodes += workers[i]->n_nodes;
    if (rows_of_block(problem) >= kFreedScratch) {
      for (int i = 0; i < n_threads; i++) {
        workers[i]->scratch.give_up();
        workers[i]->memo = {};
      }
      arena.give_up();
      run.parts.reset();
      run.blocks.clear();
      if (run.own_nodes) return_free_pages();
    }
    const auto free_nodes = [](void* of_threads, int task) {
      const auto& [first, n] = *static_cast<Threads*>(of_threads);
      for (int i = 0; i < n && first[i]->task_nodes; i++) first[i]->task_nodes[task].give_up();
    };
    Threads threads{workers, n_threads};
    if (groups) pack_shared_trees(problem, roots, n_nodes, trees);
    else pack_trees(problem, roots, trees, free_nodes, &threads);
    if (problem.copies) count_rows_once(problem, trees);
    for (int i = 0; i < n_threads; i++)
      for (int d = 0; d < kLevels; d++) out.levels[d].add(workers[i]->levels[d]);
    out.outcome = Outcome::done;
  } catch (const Stopped&) { out.outcome = Outcome::stopped; } catch (const std::bad_alloc&) {
    out.outcome = Outcome::no_memory;
  }
  if (workers)
    for (int i = 0; i < n_threads; i++) delete workers[i];
  std::free(workers);
  std::free(roots);
  std::free(xlogs);
}

}  // namespace crosscut::CROSSCUT_LEVEL
