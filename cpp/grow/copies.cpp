// Each tree is corrected by sending the rows of its task down from the root.
#include "copies.hpp"

#include <algorithm>
#include <cmath>

#include "base/threads.hpp"

namespace crosscut {
namespace {

bool trains(const Problem& p, int task, std::size_t row) {
  const auto block = static_cast<std::size_t>(task / kBlockTasks);
  return p.masks[block * p.n_rows + row] >> task % kBlockTasks & 1;
}

// Where a node sends the rows with a rank of its column.
class Routes {
  const Column& column_;
  const double threshold_;
  const std::int32_t missing_;
  const std::int32_t *categories_, *end_;  // nominal: pairs of a category and its branch

 public:
  Routes(const Problem& p, const PackedTrees& trees, std::size_t tree, std::size_t node)
      : column_(p.columns[trees.feature[node]]),
        threshold_(trees.threshold[node]),
        missing_(trees.missing[node]) {
    const std::int32_t* entries = trees.branches.data() + 2 * trees.branch_start[tree];
    categories_ = entries + 2 * trees.first_branch[node + tree];
    end_ = entries + 2 * trees.first_branch[node + tree + 1];
  }
  bool nominal() const { return column_.nominal; }
  bool is_missing(std::uint32_t rank) const { return rank == column_.n_values; }
  std::int32_t branch(std::uint32_t rank) const {
    if (is_missing(rank)) return missing_;
    if (column_.nominal) return of_category(static_cast<std::int32_t>(rank));
    if (std::isinf(threshold_)) return 0;  // "present or missing"
    if (!column_.edges) return static_cast<double>(column_.values[rank]) > threshold_;
    return rank + 1 == column_.n_values || column_.edges[rank] > threshold_;
  }

 private:
  std::int32_t of_category(std::int32_t category) const {
    const std::int32_t* at = categories_;
    for (auto n = static_cast<std::size_t>(end_ - at) / 2; n > 1; n -= n / 2)
      if (at[n / 2 * 2] <= category) at += n / 2 * 2;
    return at[1];
  }
};

class Counter {
  struct Part {
    std::size_t node, begin, end;  // of rows
  };
  const Problem& p;
  PackedTrees& trees;
  std::vector<std::uint32_t> rows, sorted;
  std::vector<std::int32_t> branch_of;  // [row of the part]
  std::vector<std::size_t> start;       // [branch] in `sorted`
  std::vector<Part> todo;

 public:
  Counter(const Problem& problem, PackedTrees& packed) : p(problem), trees(packed) {}

  void correct(int task) {
    const auto tree = static_cast<std::size_t>(task);
    const auto root = static_cast<std::size_t>(trees.node_start[tree]);
    rows.clear();
    for (std::size_t i = 0; i < p.n_rows; i++)
      if (trains(p, task, i)) rows.push_back(static_cast<std::uint32_t>(i));
    sorted.resize(rows.size());
    branch_of.resize(rows.size());
    add({root, 0, rows.size()});
    while (!todo.empty()) {
      const Part part = todo.back();
      todo.pop_back();
      split(tree, root, part);
    }
  }

 private:
  void add(const Part& part) {
    trees.n_rows[part.node] = static_cast<std::int64_t>(part.end - part.begin);
    if (trees.feature[part.node] >= 0) todo.push_back(part);
  }
  void split(std::size_t tree, std::size_t root, const Part& part) {
    const std::int64_t* first_child = trees.first_child.data() + part.node + tree;
    const auto n_children = static_cast<std::size_t>(first_child[1] - first_child[0]);
    const std::int32_t* children =
        trees.children.data() + root - tree + static_cast<std::size_t>(first_child[0]);
    const Routes routes(p, trees, tree, part.node);
    const Column& column = p.columns[trees.feature[part.node]];
    bool any_missing = false;
    if (part.end - part.begin == 2) {  // one row each, whatever the test
      for (std::size_t b = 0; b < 2; b++) {
        trees.n_rows[root + static_cast<std::size_t>(children[b])] = 1;
        any_missing |= routes.is_missing(column.rank(rows[part.begin + b]));
      }
      if (!any_missing) trees.missing[part.node] = !(p.multiway && routes.nominal());
      return;
    }
    start.assign(n_children + 1, 0);
    for (std::size_t i = part.begin; i < part.end; i++) {
      const std::uint32_t rank = column.rank(rows[i]);
      any_missing |= routes.is_missing(rank);
      branch_of[i] = routes.branch(rank);
      start[static_cast<std::size_t>(branch_of[i]) + 1]++;
    }
    // without missing values they take the branch with most rows; "present or missing" always has
    // some
    if (!any_missing) trees.missing[part.node] = largest(p.multiway && routes.nominal());
    for (std::size_t b = 0; b < n_children; b++) {
      start[b + 1] += start[b];
      const std::size_t child = root + static_cast<std::size_t>(children[b]);
      add({child, part.begin + start[b], part.begin + start[b + 1]});
    }
    for (std::size_t i = part.begin; i < part.end; i++)
      sorted[start[static_cast<std::size_t>(branch_of[i])]++] = rows[i];
    std::copy_n(sorted.begin(), part.end - part.begin,
                rows.begin() + static_cast<std::ptrdiff_t>(part.begin));
  }

  // The branch with most rows: of two equal ones the second, of several the first.
  std::int32_t largest(bool several) const {
    if (!several) return start[1] > start[2] ? 0 : 1;
    return static_cast<std::int32_t>(std::max_element(start.begin() + 1, start.end()) -
                                     start.begin() - 1);
  }
};

}  // namespace

bool limits_rows(const Problem& p) {
  return std::any_of(p.limits, p.limits + p.n_tasks,
                     [](const TaskLimits& l) { return l.min_split > 2 || l.min_leaf > 1; });
}

bool grows_with_copies(const Problem& p) {
  if (!p.multiplicity) return false;
  const bool any_nominal =
      std::any_of(p.columns, p.columns + p.n_features, [](const Column& c) { return c.nominal; });
  if (limits_rows(p) && (any_nominal || p.weight || p.criterion->running != Running::class_squares))
    return false;
  for (int t = 0; t < p.n_tasks; t++) {
    const std::uint8_t* times = p.multiplicity + static_cast<std::size_t>(t) * p.n_rows;
    for (std::size_t i = 0; i < p.n_rows; i++)
      if (!times[i] && trains(p, t, i)) return false;
  }
  return true;
}

std::size_t n_copies(const Problem& p, int task) {
  const std::uint8_t* copies = p.copies + static_cast<std::size_t>(task) * p.n_rows;
  std::size_t n = 0;
  for (std::size_t i = 0; i < p.n_rows; i++) n += trains(p, task, i) ? copies[i] : 0;
  return n;
}

CopyCounts count_copies(const Problem& p) {
  CopyCounts out;
  for (int t = 0; t < p.n_tasks; t++) {
    const std::size_t n = n_copies(p, t);
    out.most = std::max(out.most, n);
    out.copies += n;
    for (std::size_t i = 0; i < p.n_rows; i++) {
      if (!trains(p, t, i)) continue;
      out.rows++;
      out.most_of_row =
          std::max(out.most_of_row, int{p.copies[static_cast<std::size_t>(t) * p.n_rows + i]});
    }
  }
  return out;
}

void copy_rows(const Problem& p, int task, std::uint32_t* to) {
  const std::uint8_t* copies = p.copies + static_cast<std::size_t>(task) * p.n_rows;
  for (std::size_t i = 0; i < p.n_rows; i++)
    if (trains(p, task, i)) to = std::fill_n(to, copies[i], static_cast<std::uint32_t>(i));
}

void count_rows_once(const Problem& p, PackedTrees& trees) {
  parallel_for(p.n_tasks, 1, p.n_threads, [&](std::int64_t begin, std::int64_t end) {
    Counter counter(p, trees);
    for (std::int64_t t = begin; t < end; t++) counter.correct(static_cast<int>(t));
  });
}

}  // namespace crosscut
