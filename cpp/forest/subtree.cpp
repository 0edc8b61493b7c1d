// Closes nodes of grown trees instead of growing smaller trees. Nodes are in preorder, and each
// tree takes up to four passes:
//
// 1. Limits. Growth is greedy and top-down, so a tree under a limit on depth, node size or impurity
//    decrease is the full tree, closed at the nodes that fail the limit.
// 2. Best-first growth. The test of a node does not depend on when it is split, so a tree of at
//    most n leaves is part of the full tree, too.
// 3. Cost complexity, bottom-up. With R(t), the impurity of t times its fraction of the weight, the
//    smallest subtree that minimises R(T) + alpha |leaves| closes t exactly when
//      R(t) - R(T_t) <= alpha (|leaves of T_t| - 1),
//    where T_t is already closed below (Breiman et al. 1984, theorem 3.10). Weakest-link pruning
//    stops at the same tree; its path is needed only if both sides are equal up to rounding.
// 4. Top-down: rows below a closed node stop there.
#include "subtree.hpp"

#include <cmath>
#include <queue>
#include <utility>
#include <vector>

#include "prune.hpp"

namespace crosscut {

namespace {

struct Scratch {
  std::vector<double> risk;  // of the leaves below a node
  std::vector<std::int32_t> leaves;
  std::vector<std::uint8_t> closed;
};

// scikit-learn's tolerance in the comparison of decreases
constexpr double kEpsilon = 2.220446049250313e-16;
// An alpha from a pruning path equals the alpha of some node; sums in another order must not break
// this tie.
constexpr double kTie = 1e-13;

struct View {  // one tree
  std::int64_t n;
  const std::int64_t* first;
  const std::int32_t* child;
  Nodes nodes;

  bool leaf(std::int64_t i) const { return first[i] == first[i + 1]; }
  double risk(std::int64_t i) const {
    return nodes.weight[i] * nodes.impurity[i] / nodes.weight[0];
  }

  // in the order of scikit-learn's sums: the last branch first
  double decrease(std::int64_t i) const {
    double left = nodes.impurity[i];
    for (std::int64_t j = first[i + 1]; j-- > first[i];)
      left -= nodes.weight[child[j]] / nodes.weight[i] * nodes.impurity[child[j]];
    return nodes.weight[i] / nodes.weight[0] * left;
  }

  bool fails(std::int64_t i, const Cut& cut) const {
    return leaf(i) || (cut.max_depth >= 0 && nodes.depth[i] >= cut.max_depth) ||
           nodes.n_rows[i] < cut.min_samples_split || nodes.impurity[i] <= cut.min_impurity ||
           (cut.min_decrease > 0.0 && decrease(i) + kEpsilon < cut.min_decrease);
  }
};

// Repeatedly splits the node with the largest impurity decrease, the first in preorder if equal,
// and closes the remaining nodes when the next split would give too many leaves.
void close_by_number(const View& tree, std::int64_t max_leaves, std::uint8_t* closed) {
  std::priority_queue<std::pair<double, std::int64_t>> next;  // decrease, -node
  const auto reach = [&](std::int64_t i) {
    if (!closed[i]) next.emplace(tree.decrease(i), -i);
    closed[i] = 1;
  };
  reach(0);
  std::int64_t leaves = 1;
  while (!next.empty()) {
    const std::int64_t i = -next.top().second;
    leaves += tree.first[i + 1] - tree.first[i] - 1;
    if (leaves > max_leaves) return;
    next.pop();
    closed[i] = 0;
    for (std::int64_t j = tree.first[i]; j < tree.first[i + 1]; j++) reach(tree.child[j]);
  }
}

// Closes the nodes that weakest-link pruning closes with scikit-learn's rounding, on the tree under
// the limits.
void close_by_path(const View& tree, double alpha, std::uint8_t* closed) {
  std::vector<std::int32_t> number(static_cast<std::size_t>(tree.n), -1), child;
  std::vector<std::int64_t> from, first{0};
  number[0] = 0;
  // in preorder; 0 marks children that are kept until they are visited
  for (std::int64_t i = 0; i < tree.n; i++) {
    if (number[static_cast<std::size_t>(i)] < 0) continue;
    number[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(from.size());
    from.push_back(i);
    for (std::int64_t j = tree.first[i]; j < tree.first[i + 1] && !closed[i]; j++)
      number[static_cast<std::size_t>(tree.child[j])] = 0;
  }
  std::vector<double> risk;
  for (const std::int64_t i : from) {
    risk.push_back(tree.nodes.weight[i] * tree.nodes.impurity[i] / tree.nodes.weight[0]);
    if (!closed[i])
      for (std::int64_t j = tree.first[i]; j < tree.first[i + 1]; j++)
        child.push_back(number[static_cast<std::size_t>(tree.child[j])]);
    first.push_back(static_cast<std::int64_t>(child.size()));
  }
  const std::int64_t node_start[] = {0, static_cast<std::int64_t>(from.size())};
  Trees one;
  one.n_trees = 1;
  one.node_start = node_start;
  one.first_child = first.data();
  one.children = child.data();
  std::vector<double> node_alpha(from.size());
  node_alphas(one, 0, risk.data(), node_alpha.data());
  for (std::size_t k = 0; k < from.size(); k++)
    if (node_alpha[k] <= alpha) closed[from[k]] = 1;
}

void close(const View& tree, const Cut& cut, Scratch& scratch) {
  const std::size_t n = static_cast<std::size_t>(tree.n);
  scratch.risk.resize(n);
  scratch.leaves.resize(n);
  scratch.closed.resize(n);
  std::uint8_t* closed = scratch.closed.data();
  for (std::int64_t i = 0; i < tree.n; i++) closed[i] = tree.fails(i, cut);
  if (cut.max_leaves >= 0) close_by_number(tree, cut.max_leaves, closed);
  if (cut.alpha <= 0.0) return;
  bool tie = false;
  const std::vector<std::uint8_t> by_limits = scratch.closed;
  for (std::int64_t i = tree.n; i-- > 0;) {
    const double risk = tree.risk(i);
    double below = 0.0;
    std::int32_t leaves = 0;
    for (std::int64_t j = tree.first[i]; j < tree.first[i + 1]; j++) {
      below += scratch.risk[static_cast<std::size_t>(tree.child[j])];
      leaves += scratch.leaves[static_cast<std::size_t>(tree.child[j])];
    }
    if (!closed[i]) {
      const double surplus = risk - below - cut.alpha * (leaves - 1);
      tie |= std::fabs(surplus) <= kTie * risk;
      closed[i] = surplus <= kTie * risk;
    }
    scratch.risk[static_cast<std::size_t>(i)] = closed[i] ? risk : below;
    scratch.leaves[static_cast<std::size_t>(i)] = closed[i] ? 1 : leaves;
  }
  if (!tie || !cut.exact_ties) return;
  scratch.closed = by_limits;
  close_by_path(tree, cut.alpha, scratch.closed.data());
}

}  // namespace

void stop_nodes(const Trees& trees, const Nodes& nodes, const Cut& cut, std::int32_t* stop) {
  Scratch scratch;
  for (std::int64_t t = 0; t < trees.n_trees; t++) {
    const std::int64_t at = trees.node_start[t];
    const View tree{trees.n_nodes(t),
                    trees.child_offsets(t),
                    trees.child_nodes(t),
                    {nodes.depth + at, nodes.n_rows + at, nodes.weight + at, nodes.impurity + at}};
    close(tree, cut, scratch);
    stop[at] = static_cast<std::int32_t>(at);
    for (std::int64_t i = 0; i < tree.n; i++) {
      const bool open = stop[at + i] == at + i && !scratch.closed[static_cast<std::size_t>(i)];
      for (std::int64_t j = tree.first[i]; j < tree.first[i + 1]; j++)
        stop[at + tree.child[j]] =
            open ? static_cast<std::int32_t>(at) + tree.child[j] : stop[at + i];
    }
  }
}

}  // namespace crosscut
