// Minimal cost-complexity pruning (Breiman et al. 1984). The weakest link is the inner node i with
// the lowest
//   alpha(i) = (R(i) - R(leaves below i)) / (leaves below i - 1).
// It becomes a leaf, and so on until only the root is left. R(i), the risk of a node, is
// weight(i) / weight(root) * impurity(i), or the cost of the node's errors. Sums are formed in
// scikit-learn's order, so alphas and ties are the same.
//
// Unlike scikit-learn, a step does not search all nodes: every node stores the weakest link of its
// subtree, and a step updates only the ancestors, so a path takes O(nodes x depth). Because nodes
// are in preorder, comparing a node before its children gives scikit-learn's lowest index.
#include "prune.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace crosscut {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Link {
  double risk, below;        // R(i) and R(leaves below i)
  double weakest_alpha;      // alpha of the weakest link of the subtree
  std::int32_t weakest = 0;  // and its node
  std::int32_t n_leaves = 0;
  bool inner = false;
};

// Updates `weakest` of node i from its children.
void refresh(std::vector<Link>& links, std::int64_t i, const std::int64_t* first,
             const std::int32_t* child) {
  Link& link = links[static_cast<std::size_t>(i)];
  link.weakest = static_cast<std::int32_t>(i);
  link.weakest_alpha = kInfinity;
  if (!link.inner) return;
  link.weakest_alpha = (link.risk - link.below) / (link.n_leaves - 1);
  for (std::int64_t j = first[i]; j < first[i + 1]; j++) {
    const Link& below = links[static_cast<std::size_t>(child[j])];
    if (below.inner && below.weakest_alpha < link.weakest_alpha) {
      link.weakest_alpha = below.weakest_alpha;
      link.weakest = below.weakest;
    }
  }
}

}  // namespace

void parents(const Trees& trees, std::int64_t t, std::int32_t* parent) {
  const std::int64_t n = trees.n_nodes(t), *first = trees.child_offsets(t);
  const std::int32_t* child = trees.child_nodes(t);
  std::fill(parent, parent + n, -1);
  for (std::int64_t i = 0; i < n; i++)
    for (std::int64_t j = first[i]; j < first[i + 1]; j++)
      parent[child[j]] = static_cast<std::int32_t>(i);
}

void node_alphas(const Trees& trees, std::int64_t t, const double* risk, double* node_alpha) {
  const std::int64_t n = trees.n_nodes(t), *first = trees.child_offsets(t);
  const std::int32_t* child = trees.child_nodes(t);
  const std::size_t size = static_cast<std::size_t>(n);
  std::vector<std::int32_t> parent(size);
  parents(trees, t, parent.data());
  std::vector<Link> links(size);
  for (std::size_t i = 0; i < size; i++) {
    links[i].risk = risk[i];
    links[i].below = 0;
    links[i].inner = first[i + 1] > first[i];
    node_alpha[i] = -kInfinity;
  }
  // add leaves to all their ancestors, in ascending order like scikit-learn
  for (std::size_t leaf = 0; leaf < size; leaf++) {
    if (links[leaf].inner) continue;
    links[leaf].below = links[leaf].risk;
    for (std::int32_t a = parent[leaf]; a >= 0; a = parent[static_cast<std::size_t>(a)]) {
      links[static_cast<std::size_t>(a)].below += links[leaf].risk;
      links[static_cast<std::size_t>(a)].n_leaves++;
    }
  }
  for (std::int64_t i = n - 1; i >= 0; i--) refresh(links, i, first, child);

  // rounding may make alpha decrease: a node is pruned at the highest alpha up to its step
  double reached = -kInfinity;
  std::vector<std::int32_t> todo;
  while (links[0].inner) {
    const std::int32_t pruned = links[0].weakest;
    reached = std::max(reached, links[0].weakest_alpha);
    todo.assign(1, pruned);
    while (!todo.empty()) {
      const std::int32_t i = todo.back();
      todo.pop_back();
      if (!links[static_cast<std::size_t>(i)].inner) continue;
      links[static_cast<std::size_t>(i)].inner = false;
      node_alpha[i] = reached;
      todo.insert(todo.end(), child + first[i], child + first[i + 1]);
    }
    Link& cut = links[static_cast<std::size_t>(pruned)];
    const std::int32_t fewer = cut.n_leaves - 1;
    const double more = cut.risk - cut.below;
    cut.n_leaves = 0;
    cut.below = cut.risk;
    refresh(links, pruned, first, child);
    for (std::int32_t a = parent[static_cast<std::size_t>(pruned)]; a >= 0;
         a = parent[static_cast<std::size_t>(a)]) {
      links[static_cast<std::size_t>(a)].n_leaves -= fewer;
      links[static_cast<std::size_t>(a)].below += more;
      refresh(links, a, first, child);
    }
  }
}

}  // namespace crosscut
