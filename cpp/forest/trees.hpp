// A read-only view of the concatenated arrays of many trees (Python:
// crosscut.forest.forest.Packed).
//
// Tree t has the nodes node_start[t] .. node_start[t + 1] - 1. Node numbers in `children` and
// offsets in `first_child` and `first_branch` count from the start of the tree, so a slice of every
// array is exactly one crosscut.forest.tree.Tree.
#pragma once
#include <cstdint>
#include <vector>

namespace crosscut {

struct Trees {
  std::int64_t n_trees = 0;
  const std::int64_t* node_start = nullptr;   // n_trees + 1
  const std::int64_t* first_child = nullptr;  // one more entry per tree than it has nodes
  const std::int32_t* children = nullptr;     // one entry fewer per tree than it has nodes
  std::int64_t n_first_child = 0;
  std::int64_t n_children = 0;

  std::int64_t n_nodes(std::int64_t t) const { return node_start[t + 1] - node_start[t]; }
  const std::int64_t* child_offsets(std::int64_t t) const {
    return first_child + node_start[t] + t;
  }
  const std::int32_t* child_nodes(std::int64_t t) const { return children + node_start[t] - t; }

  // Lists the inner nodes of a tree without branches in the loop. Returns false if offsets
  // decrease.
  bool list_inner(std::int64_t t, std::vector<std::int64_t>& inner) const;

  // Throws unless all offsets and node numbers are in range, children come after their parents and
  // no node has two parents. Then no walk can leave the arrays or run in a circle.
  void check(std::int64_t n_nodes_in_all) const;
};

}  // namespace crosscut
