// From nodes to arrays: every task's tree in preorder, all trees end to end (crosscut.forest.forest.Packed).
#pragma once
#include <cmath>

#include "run.hpp"

namespace crosscut::CROSSCUT_LEVEL {

inline double to_double(const Exact& e, const ExactGrid& grid) {
  __extension__ typedef __int128 i128;
  return std::ldexp(static_cast<double>((static_cast<i128>(e.hi) << grid.bits) + e.lo), grid.shift - grid.bits);
}

template <class T>
T* allocate(i64 n) {
  void* p = std::malloc(static_cast<std::size_t>(n > 0 ? n : 1) * sizeof(T));
  if (!p) throw std::bad_alloc();
  return static_cast<T*>(p);
}

// Visits the nodes of a tree in preorder, each with the place its parent gave it (a child's place among all children of the tree,
// −1 for the root).
class Preorder {
  struct Step {
    Node* node;
    i64 place;
  };
  Step* stack_ = nullptr;
  std::size_t capacity_ = 0, depth_ = 0;

  void push(Node* node, i64 place) {
    if (depth_ == capacity_) {
      const std::size_t more = capacity_ ? 2 * capacity_ : 256;
      Step* grown = static_cast<Step*>(std::realloc(stack_, more * sizeof(Step)));
      if (!grown) throw std::bad_alloc();
      stack_ = grown, capacity_ = more;
    }
    stack_[depth_++] = {node, place};
  }

 public:
  Preorder() = default;
  Preorder(const Preorder&) = delete;
  Preorder& operator=(const Preorder&) = delete;
  ~Preorder() { std::free(stack_); }

  template <class Visit>
  void walk(Node* root, Visit visit) {
    i64 children = 0;
    push(root, -1);
    while (depth_) {
      const Step step = stack_[--depth_];
      visit(*step.node, step.place);
      for (int j = step.node->n_children; j-- > 0;) push(step.node->children + j, children + j);
      children += step.node->n_children;
    }
  }
};

// Adds exact sums up towards the root. Tasks may share subtrees, which are added up once.
inline void add_up(const Run& run, Node* root, Preorder& preorder, Arena& arena) {
  const int Q = run.p.n_classes ? run.p.n_classes : 3;
  Node* inner = nullptr;  // nodes without sums, children before their parents
  preorder.walk(root, [&](Node& x, i64) {
    if (x.n_children && !x.exact) x.exact = arena.take<Exact>(static_cast<std::size_t>(Q)), x.below = inner, inner = &x;
  });
  for (; inner; inner = inner->below)
    for (int q = 0; q < Q; q++) {
      inner->exact[q] = {0, 0};
      for (int j = 0; j < inner->n_children; j++)
        inner->exact[q].hi += inner->children[j].exact[q].hi, inner->exact[q].lo += inner->children[j].exact[q].lo;
    }
}

inline void write_value(const Run& run, const Node& x, double* value, double& weight, double& impurity) {
  const Problem& p = run.p;
  if (!p.n_classes) {
    const double w = to_double(x.exact[0], p.exact_grid[0]), wy = to_double(x.exact[1], p.exact_grid[1]);
    weight = w, value[0] = wy / w;
    impurity = x.pure ? 0 : to_double(x.exact[2], p.exact_grid[2]) / w - value[0] * value[0];
    if (!(impurity > 0)) impurity = 0;
    return;
  }
  if (run.counted) {
    weight = 0;
    for (int c = 0; c < p.n_classes; c++) value[c] = x.stats[c], weight += value[c];
  } else {
    Exact sum{0, 0};
    const ExactGrid grid = p.n_exact ? p.exact_grid[0] : ExactGrid{0, 0};
    for (int c = 0; c < p.n_classes; c++) {
      value[c] = to_double(x.exact[c], grid);
      sum.hi += x.exact[c].hi, sum.lo += x.exact[c].lo;
    }
    weight = to_double(sum, grid);
  }
  impurity = p.criterion == Criterion::gini ? 1.0 : 0.0;
  double squares = 0;
  for (int c = 0; c < p.n_classes; c++) {
    const double share = value[c] / weight;
    if (p.criterion == Criterion::gini) squares += share * share;
    else if (share > 0) impurity -= share * std::log2(share);
  }
  impurity -= squares;
}

inline void write_trees(Run& run, Node** roots, Worker& w, GrownTrees& t) {
  const i64 n_tasks = run.p.n_tasks;
  t.node_start = allocate<i64>(n_tasks + 1), t.branch_start = allocate<i64>(n_tasks + 1);
  t.node_start[0] = t.branch_start[0] = 0;
  Preorder preorder;
  for (i64 i = 0; i < n_tasks; i++) {
    if (!run.counted) add_up(run, roots[i], preorder, w.nodes);
    i64 n = 0, n_branches = 0;
    preorder.walk(roots[i], [&](const Node& x, i64) { n++, n_branches += x.n_branches; });
    t.node_start[i + 1] = t.node_start[i] + n, t.branch_start[i + 1] = t.branch_start[i] + n_branches;
  }
  t.n_nodes = t.node_start[n_tasks], t.n_branches = t.branch_start[n_tasks], t.width = run.p.n_classes ? run.p.n_classes : 1;
  t.first_child = allocate<i64>(t.n_nodes + n_tasks), t.first_branch = allocate<i64>(t.n_nodes + n_tasks);
  t.n_rows = allocate<i64>(t.n_nodes);
  t.feature = allocate<std::int32_t>(t.n_nodes), t.missing = allocate<std::int32_t>(t.n_nodes);
  t.children = allocate<std::int32_t>(t.n_nodes - n_tasks), t.branches = allocate<std::int32_t>(t.n_branches);
  t.depth = allocate<std::int32_t>(t.n_nodes);
  t.threshold = allocate<double>(t.n_nodes), t.weight = allocate<double>(t.n_nodes);
  t.value = allocate<double>(t.n_nodes * t.width), t.impurity = allocate<double>(t.n_nodes);
  t.low = allocate<float>(t.n_nodes), t.high = allocate<float>(t.n_nodes);
  for (i64 i = 0; i < n_tasks; i++) {
    i64 at = t.node_start[i], child = 0, branch = 0;
    const i64 first = at;
    preorder.walk(roots[i], [&](const Node& x, i64 place) {
      if (place >= 0) t.children[first - i + place] = static_cast<std::int32_t>(at - first);
      t.feature[at] = x.feature, t.missing[at] = x.missing, t.depth[at] = x.depth, t.n_rows[at] = x.n_rows;
      t.threshold[at] = x.threshold, t.low[at] = x.low, t.high[at] = x.high;
      write_value(run, x, t.value + at * t.width, t.weight[at], t.impurity[at]);
      t.first_child[at + i] = child, t.first_branch[at + i] = branch;
      child += x.n_children;
      for (int b = 0; b < x.n_branches; b++) t.branches[t.branch_start[i] + branch++] = x.branches[b];
      at++;
    });
    t.first_child[at + i] = child, t.first_branch[at + i] = branch;
  }
}

}  // namespace crosscut::CROSSCUT_LEVEL
