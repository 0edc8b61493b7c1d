#include "trees.hpp"

#include <stdexcept>
#include <string>
#include <vector>

namespace crosscut {

void Trees::check(std::int64_t n_nodes_in_all) const {
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

}  // namespace crosscut
