// A node of one task's tree, as growing leaves it behind.
#pragma once
#include "problem.hpp"

namespace crosscut {

struct Node {
  Node* children;
  int n_children, feature, missing, depth;
  double threshold;
  float low, high;
  std::int32_t* branches;
  int n_branches;
  std::int64_t n_rows;
  double* stats;   // integer statistics
  std::int64_t* exact;  // at leaves: the exact sums that values come from
};

// Compiled once, for all builds of the kernels: every task's tree in preorder, all trees end to end.
struct PackedTrees;
void pack_trees(const Problem&, const Node* const* roots, PackedTrees&);

}  // namespace crosscut
