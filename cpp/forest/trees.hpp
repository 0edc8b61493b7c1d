// A read-only view of many trees whose arrays lie end to end (Python: crosscut.forest.forest.Packed).
//
// Tree t owns the nodes node_start[t] .. node_start[t + 1]; node numbers in `children` and offsets in `first_child` and
// `first_branch` are the tree's own, so a slice of every array is exactly one crosscut.forest.tree.Tree.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace crosscut {

struct Trees {
  std::int64_t n_trees = 0;
  const std::int64_t* node_start = nullptr;    // n_trees + 1
  const std::int64_t* first_child = nullptr;   // one entry more per tree than it has nodes
  const std::int32_t* children = nullptr;      // one entry less per tree than it has nodes
  std::int64_t n_first_child = 0;
  std::int64_t n_children = 0;

  std::int64_t n_nodes(std::int64_t t) const { return node_start[t + 1] - node_start[t]; }
  const std::int64_t* child_offsets(std::int64_t t) const { return first_child + node_start[t] + t; }
  const std::int32_t* child_nodes(std::int64_t t) const { return children + node_start[t] - t; }

  // Throws unless every offset and node number is in range, children come after their parents (preorder) and no node is
  // the child of two: nothing that walks the trees afterwards can leave the arrays or run in a circle.
  void check(std::int64_t n_nodes_in_all) const {
    const auto fail = [](const std::string& what) { throw std::invalid_argument("forest: " + what); };
    if (node_start[0] != 0 || node_start[n_trees] != n_nodes_in_all)
      fail("node_start must run from 0 to the number of nodes");
    for (std::int64_t t = 0; t < n_trees; t++)
      if (node_start[t + 1] <= node_start[t]) fail("every tree needs at least one node");
    if (n_first_child != n_nodes_in_all + n_trees) fail("first_child must have n_nodes + n_trees entries");
    if (n_children != n_nodes_in_all - n_trees) fail("children must have n_nodes - n_trees entries");
    std::vector<bool> is_child;
    for (std::int64_t t = 0; t < n_trees; t++) {
      is_child.assign(static_cast<std::size_t>(n_nodes(t)), false);
      const std::int64_t n = n_nodes(t), *first = child_offsets(t);
      const std::int32_t* child = child_nodes(t);
      if (first[0] != 0 || first[n] != n - 1) fail("first_child of a tree must run from 0 to n_nodes - 1");
      for (std::int64_t i = 0; i < n; i++) {
        if (first[i + 1] < first[i]) fail("first_child must not decrease");
        for (std::int64_t j = first[i]; j < first[i + 1] && j < n - 1; j++) {
          if (child[j] <= i || child[j] >= n) fail("a child must be numbered after its parent, below n_nodes");
          if (is_child[static_cast<std::size_t>(child[j])]) fail("a node must not be the child of two");
          is_child[static_cast<std::size_t>(child[j])] = true;
        }
      }
    }
  }
};

}  // namespace crosscut
