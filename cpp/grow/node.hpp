// A node of one task's tree, as growing leaves it behind.
#pragma once
#include "problem.hpp"

namespace crosscut {

struct Node {
  struct Sides {
    float low, high;
  };
  union {
    Node* children;
    // of leaves: the exact sums that values come from, or the digits of a row if all have the same
    std::int64_t* exact;
  };
  double* stats;  // integer statistics
  union {
    std::int32_t* branches;  // nominal tests: of each rank of the table
    double threshold;        // tests between bins
    // other tests: the values below and above the threshold; NaN if missing values are parted from
    // all others
    Sides sides;
  };
  std::int64_t n_rows;
  int n_children, feature, missing, depth;
};
static_assert(sizeof(Node) == 48);

// Compiled once, for all builds of the kernels: every task's tree in preorder, all trees end to
// end.
struct PackedTrees;
void pack_trees(const Problem&, const Node* const* roots, PackedTrees&);

}  // namespace crosscut
