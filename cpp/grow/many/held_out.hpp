// The rows that each task holds out, and whether there are so few that groups (refine_groups.hpp)
// are faster than bundles.
#pragma once
#include <vector>

#include "grow/run.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// Measured: n tasks that hold out h rows each are faster as groups if n is at least
// kLeastTasks + Bound::kTasksPerRow · h. For Gini and variance these are leave-one-out from 55 rows
// on, 100 folds of up to 10 rows and 1,000 folds of up to 190 rows.
constexpr int kLeastTasks = 50;

// Tasks with the same limits and, if these contain a least decrease of impurity, the same weight
// that the decrease is divided by. Then tasks without held-out rows in a node still agree there.
struct HeldOut {
  std::vector<int> tasks;
  std::vector<u32> rows;           // in ascending order
  std::vector<u32> out;            // held-out rows, task by task
  std::vector<std::size_t> first;  // [task + 1] in `out`
  double root_total = 0;           // divides decreases of impurity

  // The tasks with the limits of task `like`; no tasks if groups would not be faster. `rest`: other
  // tasks are groups already, so these are, too. Rows whose weight is 0 on the grid have no bound
  // (group_cut.hpp).
  static HeldOut of(const Run& run, int like, double tasks_per_row, bool rest) {
    const Problem& p = run.p;
    HeldOut h;
    const TaskLimits& l = p.limits[like];
    if (p.n_tasks < kLeastTasks || p.multiplicity || p.features || p.class_weights ||
        (l.min_decrease > 0 && p.weight) || off(Acceleration::many_folds))
      return h;
    std::vector<u16> used(static_cast<std::size_t>((p.n_tasks + kBlockTasks - 1) / kBlockTasks));
    for (int t = 0; t < p.n_tasks; t++) {
      const TaskLimits& o = p.limits[t];
      if (o.max_depth != l.max_depth || o.min_split != l.min_split || o.min_leaf != l.min_leaf ||
          o.min_decrease != l.min_decrease)
        continue;
      h.tasks.push_back(t);
      used[static_cast<std::size_t>(t / kBlockTasks)] |= static_cast<u16>(1u << t % kBlockTasks);
    }
    std::vector<u16> trains(p.n_rows);
    for (std::size_t b = 0; b < used.size(); b++)
      for (std::size_t i = 0; i < p.n_rows; i++)
        trains[i] |= static_cast<u16>(p.masks[b * p.n_rows + i] & used[b]);
    for (std::size_t i = 0; i < p.n_rows; i++)
      if (trains[i]) h.rows.push_back(static_cast<u32>(i));
    if (has_zero(p, h.rows)) h.tasks.clear();
    const double n_tasks = static_cast<double>(h.tasks.size());
    const double most = rest ? std::numeric_limits<double>::infinity()
                             : n_tasks * (n_tasks - kLeastTasks) / tasks_per_row;
    if ((n_tasks < kLeastTasks && !rest) || !h.find_rows(p, used, most)) h.tasks.clear();
    if (l.min_decrease > 0 && !h.tasks.empty()) h.keep_alike(p, like);
    if (10 * h.tasks.size() < 9 * static_cast<std::size_t>(n_tasks) && !rest) h.tasks.clear();
    return h;
  }

 private:
  // Keeps the tasks with the weight of task `like`.
  void keep_alike(const Problem& p, int like) {
    const auto total = [&](std::size_t i) {
      return p.totals ? p.totals[tasks[i]]
                      : static_cast<double>(rows.size() - (first[i + 1] - first[i]));
    };
    const auto number = std::find(tasks.begin(), tasks.end(), like) - tasks.begin();
    root_total = total(static_cast<std::size_t>(number));
    HeldOut kept{.rows = rows, .first = {0}, .root_total = root_total};
    for (std::size_t i = 0; i < tasks.size(); i++) {
      if (total(i) != root_total) continue;
      const auto begin = out.begin();
      kept.tasks.push_back(tasks[i]);
      kept.out.insert(kept.out.end(), begin + static_cast<std::ptrdiff_t>(first[i]),
                      begin + static_cast<std::ptrdiff_t>(first[i + 1]));
      kept.first.push_back(kept.out.size());
    }
    *this = std::move(kept);
  }
  static bool has_zero(const Problem& p, const std::vector<u32>& rows) {
    return p.weight &&
           std::any_of(rows.begin(), rows.end(), [&](u32 row) { return p.weight[row] == 0; });
  }
  // Returns false if there are more than `most` held-out rows.
  bool find_rows(const Problem& p, const std::vector<u16>& used, double most) {
    constexpr std::size_t kStep = 32;
    std::vector<u32> of_task[kBlockTasks];
    first.push_back(0);
    for (std::size_t b = 0; b < used.size(); b++) {
      const u16* masks = p.masks + b * p.n_rows;
      for (std::size_t begin = 0; begin < rows.size(); begin += kStep) {
        const std::size_t end = std::min(begin + kStep, rows.size());
        u32 any = 0;
        for (std::size_t i = begin; i < end; i++) any |= u32{used[b]} & ~u32{masks[rows[i]]};
        for (std::size_t i = begin; i < end && any; i++)
          each_bit(u32{used[b]} & ~u32{masks[rows[i]]},
                   [&](int k) { of_task[k].push_back(rows[i]); });
      }
      each_bit(used[b], [&](int k) {
        out.insert(out.end(), of_task[k].begin(), of_task[k].end());
        of_task[k].clear();
        first.push_back(out.size());
      });
      if (static_cast<double>(out.size()) > most) return false;
    }
    return true;
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL
