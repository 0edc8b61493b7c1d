#include "packed_trees.hpp"

#include <cmath>

namespace crosscut {
namespace {

double to_double(const Exact& e, const ExactGrid& grid) {
  __extension__ typedef __int128 i128;
  return std::ldexp(static_cast<double>((static_cast<i128>(e.hi) << grid.bits) + e.lo), grid.shift - grid.bits);
}

void add(Exact& to, const Exact& x) { to.hi += x.hi, to.lo += x.lo; }

double impurity_of(Criterion criterion, const double* value, int n_classes, double weight) {
  double impurity = criterion == Criterion::gini ? 1.0 : 0.0, squares = 0;
  for (int c = 0; c < n_classes; c++) {
    const double share = value[c] / weight;
    if (criterion == Criterion::gini) squares += share * share;
    else if (share > 0) impurity -= share * std::log2(share);
  }
  return impurity - squares;
}

// exact: sums over the node's rows, not needed where rows are counted.
void write_value(const Problem& p, const Node& x, const Exact* exact, PackedTrees& out) {
  const std::size_t at = out.value.size();
  if (!p.n_classes) {
    const double w = to_double(exact[0], p.exact_grid[0]), mean = to_double(exact[1], p.exact_grid[1]) / w;
    const double variance = x.pure ? 0 : to_double(exact[2], p.exact_grid[2]) / w - mean * mean;
    out.weight.push_back(w), out.value.push_back(mean), out.impurity.push_back(variance > 0 ? variance : 0);
    return;
  }
  double weight = 0;
  if (p.counted()) {
    for (int c = 0; c < p.n_classes; c++) out.value.push_back(x.stats[c]), weight += x.stats[c];
  } else {
    Exact sum{0, 0};
    const ExactGrid grid = p.n_exact ? p.exact_grid[0] : ExactGrid{0, 0};
    for (int c = 0; c < p.n_classes; c++) out.value.push_back(to_double(exact[c], grid)), add(sum, exact[c]);
    weight = to_double(sum, grid);
  }
  out.weight.push_back(weight), out.impurity.push_back(impurity_of(p.criterion, out.value.data() + at, p.n_classes, weight));
}

void pack_tree(const Problem& p, const Node& root, PackedTrees& out) {
  struct Step {
    const Node* node;
    std::size_t parent, place;  // its parent's number, and its own place in `children`
  };
  const std::size_t children = out.children.size(), branches = out.branches.size();
  const auto start_node = [&] {
    out.first_child.push_back(static_cast<std::int64_t>(out.children.size() - children));
    out.first_branch.push_back(static_cast<std::int64_t>(out.branches.size() - branches));
  };
  std::vector<Step> todo{{&root, 0, 0}}, nodes;
  while (!todo.empty()) {
    const Node& x = *todo.back().node;
    const std::size_t number = nodes.size();
    nodes.push_back(todo.back()), todo.pop_back();
    if (number) out.children[nodes.back().place] = static_cast<std::int32_t>(number);
    start_node();
    out.feature.push_back(x.feature), out.missing.push_back(x.missing), out.depth.push_back(x.depth), out.n_rows.push_back(x.n_rows);
    out.threshold.push_back(x.threshold), out.low.push_back(x.low), out.high.push_back(x.high);
    out.branches.insert(out.branches.end(), x.branches, x.branches + x.n_branches);
    for (int j = x.n_children; j-- > 0;) todo.push_back({x.children + j, number, out.children.size() + static_cast<std::size_t>(j)});
    out.children.resize(out.children.size() + static_cast<std::size_t>(x.n_children));
  }
  start_node();
  out.node_start.push_back(static_cast<std::int64_t>(out.feature.size())), out.branch_start.push_back(static_cast<std::int64_t>(out.branches.size()));

  const std::size_t Q = p.counted() ? 0 : p.n_classes ? static_cast<std::size_t>(p.n_classes) : 3;
  std::vector<Exact> sums(nodes.size() * Q);
  for (std::size_t i = nodes.size(); i-- > 0;)
    for (std::size_t q = 0; q < Q; q++) {
      if (!nodes[i].node->n_children) sums[i * Q + q] = nodes[i].node->exact[q];
      if (i) add(sums[nodes[i].parent * Q + q], sums[i * Q + q]);
    }
  for (std::size_t i = 0; i < nodes.size(); i++) write_value(p, *nodes[i].node, sums.data() + i * Q, out);
}

}  // namespace

void pack_trees(const Problem& p, const Node* const* roots, PackedTrees& out) {
  for (int t = 0; t < p.n_tasks; t++) pack_tree(p, *roots[t], out);
}

}  // namespace crosscut
