// Trees that share nodes (Python: crosscut.forest.shared.SharedTrees). Many tasks that hold out few
// rows each have almost the same trees. The arrays contain each different node once, so they are
// hundreds of times smaller than the trees one after the other.
#pragma once
#include <cstdint>

#include "predict.hpp"

namespace crosscut {

// `nodes` and `tests` are one tree with several roots, in which a node may have several parents.
// The roots are arguments of all functions.
struct SharedTrees {
  std::int64_t n_nodes;
  const std::int32_t* size;  // [node] number of nodes below and including it
  const std::int32_t* depth;
  Trees nodes;
  Tests tests;

  // Throws unless no walk can leave the arrays or run in a circle.
  void check() const;
  std::int32_t largest_feature() const;

  // Finds the leaves of each tree's rows; X must have a column for each feature. Leaves are
  // numbered within their tree, in preorder.
  template <class T>
  void apply(const std::int32_t* root, std::int64_t n_trees, const Strided<T>& x,
             const Request& request, std::int32_t* leaf) const;

  // The node of the arrays with this number in preorder, from 0 to size[root] - 1.
  std::int32_t node_of(std::int32_t root, std::int64_t number) const;

  // Writes the nodes of the trees in preorder, one after the other, and the numbers of their
  // children within each tree, as in Trees.
  void unfold(const std::int32_t* root, std::int64_t n_trees, std::int32_t* node,
              std::int32_t* children) const;
};

}  // namespace crosscut
