#include "packed_trees.hpp"

#include <algorithm>
#include <cmath>

#include "../huge_pages.hpp"
#include "exact.hpp"

namespace crosscut {
namespace {

double impurity_of(Criterion criterion, const double* value, int n_classes, double weight) {
  double impurity = criterion == Criterion::gini ? 1.0 : 0.0, squares = 0;
  for (int c = 0; c < n_classes; c++) {
    if (value[c] == 0) continue;  // most of many classes
    const double share = value[c] / weight;
    if (criterion == Criterion::gini) squares += share * share;
    else if (share > 0) impurity -= share * std::log2(share);
  }
  return impurity - squares;
}

class Packer {
  struct Step {
    const Node* node;
    std::size_t parent, place;  // its parent's number, and its own place among all children of the tree
  };
  const Problem& p;
  PackedTrees& out;
  const std::size_t width = p.n_classes ? static_cast<std::size_t>(p.n_classes) : 1;
  const std::size_t Q = p.counted() ? 0 : static_cast<std::size_t>(p.n_sums());
  std::vector<Step> todo, nodes;
  std::vector<std::int64_t> sums;

 public:
  Packer(const Problem& problem, PackedTrees& trees, const Node* const* roots) : p(problem), out(trees) {
    std::size_t n = 0;
    for (int t = 0; t < p.n_tasks; t++) {
      todo.assign(1, {roots[t], 0, 0});
      for (; !todo.empty(); n++) {
        const Node& x = *todo.back().node;
        todo.pop_back();
        for (int j = 0; j < x.n_children; j++) todo.push_back({x.children + j, 0, 0});
      }
    }
    out.value.reset(new double[n * width]);  // with many classes by far the largest array
    invite_huge_pages(out.value.get(), n * width * sizeof(double));
  }

  void add(const Node& root) {
    const std::size_t first = out.feature.size(), n_trees = out.node_start.size() - 1, first_child = first - n_trees;
    nodes.clear(), todo.assign(1, {&root, 0, 0});
    std::size_t n_children = 0, n_branches = 0;
    while (!todo.empty()) {  // preorder
      const Step step = todo.back();
      todo.pop_back();
      for (int j = step.node->n_children; j-- > 0;) todo.push_back({step.node->children + j, nodes.size(), n_children + static_cast<std::size_t>(j)});
      n_children += static_cast<std::size_t>(step.node->n_children), n_branches += static_cast<std::size_t>(step.node->n_branches);
      nodes.push_back(step);
    }
    const std::size_t n = nodes.size(), end = first + n, first_branch = out.branches.size();
    for (auto* array : {&out.feature, &out.missing, &out.depth}) array->resize(end);
    for (auto* array : {&out.threshold, &out.weight, &out.impurity}) array->resize(end);
    for (auto* array : {&out.first_child, &out.first_branch}) array->resize(end + n_trees + 1);
    out.low.resize(end), out.high.resize(end), out.n_rows.resize(end);
    out.children.resize(first_child + n - 1), out.branches.resize(first_branch + n_branches);
    out.node_start.push_back(static_cast<std::int64_t>(end)), out.branch_start.push_back(static_cast<std::int64_t>(first_branch + n_branches));
    std::int64_t child = 0, branch = 0;
    std::int64_t *children_at = out.first_child.data() + first + n_trees, *branches_at = out.first_branch.data() + first + n_trees;
    for (std::size_t i = 0, at = first; i < n; i++, at++) {
      const Node& x = *nodes[i].node;
      if (i) out.children[first_child + nodes[i].place] = static_cast<std::int32_t>(i);
      out.feature[at] = x.feature, out.missing[at] = x.missing, out.depth[at] = x.depth, out.n_rows[at] = x.n_rows;
      out.threshold[at] = x.threshold, out.low[at] = x.low, out.high[at] = x.high;
      children_at[i] = child, branches_at[i] = branch;
      std::copy_n(x.branches, x.n_branches, out.branches.data() + first_branch + static_cast<std::size_t>(branch));
      child += x.n_children, branch += x.n_branches;
    }
    children_at[n] = child, branches_at[n] = branch;
    add_up();
    for (std::size_t i = 0; i < n; i++) write_value(*nodes[i].node, sums.data() + i * Q, first + i);
  }

 private:
  // Exact sums of all nodes, from those at the leaves.
  void add_up() {
    sums.assign(nodes.size() * Q, 0);
    for (std::size_t i = nodes.size(); i-- > 0 && Q;)
      for (std::size_t q = 0; q < Q; q++) {
        if (!nodes[i].node->n_children) sums[i * Q + q] = nodes[i].node->exact[q];
        if (i) sums[nodes[i].parent * Q + q] += sums[i * Q + q];
      }
  }

  void write_value(const Node& x, const std::int64_t* exact, std::size_t at) {
    const DigitGrid* grid = p.exact.grid;
    double *value = out.value.get() + at * width, &weight = out.weight[at], &impurity = out.impurity[at];
    if (!p.n_classes) {
      const std::int64_t* w = exact + grid[0].n;
      weight = exact_weight(p, exact), value[0] = exact_ratio(grid[0], exact, grid[1], w);
      impurity = x.n_rows > 1 ? exact_variance(p.exact, exact) : 0;
      return;
    }
    if (Q) {
      weight = exact_weight(p, exact);
      for (std::size_t c = 0; c < width; c++) value[c] = exact_value(grid[0], exact + c * static_cast<std::size_t>(grid[0].n));
    } else {
      weight = 0;
      for (std::size_t c = 0; c < width; c++)
        if ((value[c] = x.stats[c]) != 0) weight += value[c];
    }
    impurity = impurity_of(p.criterion, value, p.n_classes, weight);
  }
};

}  // namespace

void pack_trees(const Problem& p, const Node* const* roots, PackedTrees& out) {
  Packer packer(p, out, roots);
  for (int t = 0; t < p.n_tasks; t++) packer.add(*roots[t]);
}

}  // namespace crosscut
