// From nodes to arrays: every task's tree in preorder, all trees end to end (crosscut.forest.Packed).
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

// The nodes of a tree in preorder.
struct Preorder {
  Node** nodes;
  i64 n = 0, n_branches = 0;

  static Preorder of(Node* root, Arena& arena) {
    Preorder out;
    i64 room = 1;  // an upper limit: count first
    const auto mark = arena.mark();
    i64 capacity = 64, depth = 0;
    Node** stack = arena.take<Node*>(static_cast<std::size_t>(capacity));
    const auto push = [&](Node* x) {
      if (depth == capacity) {
        Node** more = arena.take<Node*>(static_cast<std::size_t>(2 * capacity));
        for (i64 i = 0; i < depth; i++) more[i] = stack[i];
        stack = more, capacity *= 2;
      }
      stack[depth++] = x;
    };
    push(root);
    room = 0;
    while (depth) {
      Node* x = stack[--depth];
      room++;
      for (int j = x->n_children; j-- > 0;) push(x->children + j);
    }
    arena.release(mark);
    out.nodes = arena.take<Node*>(static_cast<std::size_t>(room));
    const auto inner = arena.mark();
    capacity = 64, depth = 0, stack = arena.take<Node*>(64);
    push(root);
    while (depth) {
      Node* x = stack[--depth];
      out.nodes[out.n++] = x, out.n_branches += x->n_branches;
      for (int j = x->n_children; j-- > 0;) push(x->children + j);
    }
    arena.release(inner);
    return out;
  }
};

// Adds exact sums up towards the root: in preorder children follow their parent.
inline void add_up(const Run& run, const Preorder& order, Arena& arena) {
  if (run.counted) return;
  const int Q = run.p.n_classes ? run.p.n_classes : 3;
  for (i64 i = order.n; i-- > 0;) {
    Node& x = *order.nodes[i];
    if (!x.n_children || x.exact) continue;  // tasks may share subtrees
    x.exact = arena.take<Exact>(static_cast<std::size_t>(Q));
    for (int q = 0; q < Q; q++) {
      x.exact[q] = {0, 0};
      for (int j = 0; j < x.n_children; j++) x.exact[q].hi += x.children[j].exact[q].hi, x.exact[q].lo += x.children[j].exact[q].lo;
    }
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
  const Problem& p = run.p;
  const i64 n_tasks = p.n_tasks;
  Preorder* orders = w.scratch.take<Preorder>(static_cast<std::size_t>(n_tasks));
  t.node_start = allocate<i64>(n_tasks + 1), t.branch_start = allocate<i64>(n_tasks + 1);
  t.node_start[0] = t.branch_start[0] = 0;
  for (i64 i = 0; i < n_tasks; i++) {
    orders[i] = Preorder::of(roots[i], w.scratch);
    add_up(run, orders[i], w.nodes);
    t.node_start[i + 1] = t.node_start[i] + orders[i].n;
    t.branch_start[i + 1] = t.branch_start[i] + orders[i].n_branches;
  }
  t.n_nodes = t.node_start[n_tasks], t.n_branches = t.branch_start[n_tasks], t.width = p.n_classes ? p.n_classes : 1;
  t.first_child = allocate<i64>(t.n_nodes + n_tasks), t.first_branch = allocate<i64>(t.n_nodes + n_tasks);
  t.n_rows = allocate<i64>(t.n_nodes);
  t.feature = allocate<std::int32_t>(t.n_nodes), t.missing = allocate<std::int32_t>(t.n_nodes);
  t.children = allocate<std::int32_t>(t.n_nodes - n_tasks), t.branches = allocate<std::int32_t>(t.n_branches);
  t.depth = allocate<std::int32_t>(t.n_nodes);
  t.threshold = allocate<double>(t.n_nodes), t.weight = allocate<double>(t.n_nodes);
  t.value = allocate<double>(t.n_nodes * t.width), t.impurity = allocate<double>(t.n_nodes);
  t.low = allocate<float>(t.n_nodes), t.high = allocate<float>(t.n_nodes);
  for (i64 i = 0; i < n_tasks; i++) {
    const i64 at = t.node_start[i], offsets = at + i;
    i64 child = 0, branch = 0;
    // A subtree's nodes are consecutive, so a child's number is known once its elder siblings' subtrees are: walk backwards.
    i64* size = w.scratch.take<i64>(static_cast<std::size_t>(orders[i].n));
    for (i64 v = orders[i].n; v-- > 0;) {
      size[v] = 1;
      const Node& x = *orders[i].nodes[v];
      for (int j = 0; j < x.n_children; j++) size[v] += size[v + size[v]];
    }
    for (i64 v = 0; v < orders[i].n; v++) {
      const Node& x = *orders[i].nodes[v];
      t.feature[at + v] = x.feature, t.missing[at + v] = x.missing, t.depth[at + v] = x.depth, t.n_rows[at + v] = x.n_rows;
      t.threshold[at + v] = x.threshold, t.low[at + v] = x.low, t.high[at + v] = x.high;
      write_value(run, x, t.value + (at + v) * t.width, t.weight[at + v], t.impurity[at + v]);
      t.first_child[offsets + v] = child, t.first_branch[offsets + v] = branch;
      i64 number = v + 1;
      for (int j = 0; j < x.n_children; j++) {
        t.children[at - i + child++] = static_cast<std::int32_t>(number);
        number += size[number];
      }
      for (int b = 0; b < x.n_branches; b++) t.branches[t.branch_start[i] + branch++] = x.branches[b];
    }
    t.first_child[offsets + orders[i].n] = child, t.first_branch[offsets + orders[i].n] = branch;
  }
}

}  // namespace crosscut::CROSSCUT_LEVEL
