// A node of one task's tree, as growing leaves it.
#pragma once
#include "problem.hpp"

namespace crosscut {

// The branches of the categories that occur at a node with a nominal test, by rank of the table. A
// missing value has the rank after the last category. In a multiway test every entry is a branch of
// its own.
struct CategoryBranches {
  struct Entry {
    std::uint32_t category : 31;
    std::uint32_t second : 1;  // not multiway: is it in the second branch?
  };
  std::size_t n;

  Entry* begin() { return reinterpret_cast<Entry*>(this + 1); }  // memory follows this object
  Entry* end() { return begin() + n; }
  const Entry* begin() const { return reinterpret_cast<const Entry*>(this + 1); }
  const Entry* end() const { return begin() + n; }
};

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
    CategoryBranches* branches;  // nominal tests
    double threshold;            // tests of binned columns
    // other tests: the values below and above the threshold; NaN if the test is "present or
    // missing"
    Sides sides;
  };
  std::int64_t n_rows;
  int n_children, feature, missing, depth;
};
static_assert(sizeof(Node) == 48);

// Writes the trees of all tasks in preorder, one after the other, from the last to the first. After
// each it calls packed(argument, task); then the memory of its nodes is not needed any more.
// Compiled once.
struct PackedTrees;
void pack_trees(const Problem&, Node* const* roots, PackedTrees&, void (*packed)(void*, int task),
                void* argument);
// The same for trees of which those with the same `children` share them, given the number of
// different nodes. This changes the nodes.
void pack_shared_trees(const Problem&, Node* const* roots, std::size_t n_nodes, PackedTrees&);

}  // namespace crosscut
