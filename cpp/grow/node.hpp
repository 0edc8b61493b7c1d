// A node of one task's tree, as growing leaves it.
#pragma once
#include "problem.hpp"

namespace crosscut {

struct Node {
  struct Sides {
    float low, high;
  };
  union {
    Node* children;
    // leaves: the exact sums of the value, or the digits of one row if all rows have its target
    std::int64_t* exact;
  };
  double* stats;  // integer statistics
  union {
    std::int32_t* branches;  // nominal tests: [rank of the table]
    double threshold;        // tests of binned columns
    // other tests: the values below and above the threshold; NaN if the test is "present or
    // missing"
    Sides sides;
  };
  std::int64_t n_rows;
  int n_children, feature, missing, depth;
};
static_assert(sizeof(Node) == 48);

// Writes the trees of all tasks in preorder, one after the other. Compiled once.
struct PackedTrees;
void pack_trees(const Problem&, const Node* const* roots, PackedTrees&);

}  // namespace crosscut
