// A node of one task's tree, as growing leaves it behind.
#pragma once
#include "problem.hpp"

namespace crosscut {

struct Node {
  union {
    Node* children;
    std::int64_t* exact;   // of leaves: the exact sums that values come from, or the digits of a row if all have the same
  };
  double* stats;           // integer statistics
  std::int32_t* branches;  // nominal tests: of each rank of the table
  std::int64_t n_rows;
  double threshold;
  float low, high;
  int n_children, feature, missing, depth;
};
static_assert(sizeof(Node) == 64);

// Compiled once, for all builds of the kernels: every task's tree in preorder, all trees end to end.
struct PackedTrees;
void pack_trees(const Problem&, const Node* const* roots, PackedTrees&);

}  // namespace crosscut
