// Checks of trees, so that later walks need none.
#include "trees.hpp"

#include <stdexcept>
#include <string>
#include <utility>

namespace crosscut {

bool Trees::list_inner(std::int64_t t, std::vector<std::int64_t>& inner) const {
  const std::int64_t n = n_nodes(t), *first = child_offsets(t);
  inner.resize(static_cast<std::size_t>(n));
  std::size_t count = 0;
  bool ascending = true;
  for (std::int64_t i = 0; i < n; i++) {
    inner[count] = i;
    count += first[i + 1] > first[i];
    ascending &= first[i + 1] >= first[i];
  }
  inner.resize(count);
  return ascending;
}

void Trees::check(std::int64_t n_nodes_in_all) const {
  const auto fail = [](const std::string& what) { throw std::invalid_argument("forest: " + what); };
  if (node_start[0] != 0 || node_start[n_trees] != n_nodes_in_all)
    fail("node_start must run from 0 to the number of nodes");
  for (std::int64_t t = 0; t < n_trees; t++)
    if (node_start[t + 1] <= node_start[t]) fail("every tree needs at least one node");
  if (n_first_child != n_nodes_in_all + n_trees)
    fail("first_child must have n_nodes + n_trees entries");
  if (n_children != n_nodes_in_all - n_trees) fail("children must have n_nodes - n_trees entries");
  std::vector<std::uint8_t> is_child;  // bytes, because bits take longer to set
  std::vector<std::int64_t> inner;
  for (std::int64_t t = 0; t < n_trees; t++) {
    is_child.assign(static_cast<std::size_t>(n_nodes(t)), 0);
    const std::int64_t n = n_nodes(t), *first = child_offsets(t);
    const std::int32_t* child = child_nodes(t);
    if (first[0] != 0 || first[n] != n - 1)
      fail("first_child of a tree must run from 0 to n_nodes - 1");
    if (!list_inner(t, inner)) fail("first_child must not decrease");
    for (const std::int64_t i : inner)
      for (std::int64_t j = first[i]; j < first[i + 1]; j++) {
        if (child[j] <= i || child[j] >= n)
          fail("a child must be numbered after its parent, below n_nodes");
        if (std::exchange(is_child[static_cast<std::size_t>(child[j])], 1))
          fail("a node must not be the child of two");
      }
  }
}

}  // namespace crosscut
