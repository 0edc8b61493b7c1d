// Minimal cost-complexity pruning of many trees, and the losses of rows in pruned trees.
#pragma once
#include <cstdint>

#include "trees.hpp"

namespace crosscut {

// node_alpha[i]: the lowest ccp_alpha at which node i of a tree is no longer an inner node
// (-infinity for the tree's own leaves).
void node_alphas(const Trees&, std::int64_t tree, const double* risk, double* node_alpha);

// parent[i] of every node of a tree, -1 for its root.
void parents(const Trees&, std::int64_t tree, std::int32_t* parent);

// Levels of pruning 0 .. n_levels - 1, from large trees to small ones. Node i is an inner node at
// the levels below level[i]. The level of a node is at most its parent's, and 0 for a leaf.
struct Levels {
  const std::int32_t* level;  // one per node of all trees
  std::int64_t n_levels;
};

// The rows row_start[t] .. row_start[t + 1] - 1 ended in these leaves of tree t.
struct Ends {
  const std::int32_t* leaf;
  const std::int64_t* row_start;
};

struct Losses {
  const double* prediction;  // one per node of all trees
  const double* y;           // one per row of Ends
  const double* weight;      // one per row; null: 1
  const double* cost;        // [class y][class predicted]; null: (y - prediction)^2
  std::int64_t n_classes;
};

// Sums of the rows' losses and of their squares, at each level.
void cut_losses(const Trees&, const Levels&, const Ends&, const Losses&, double* sum,
                double* sum_of_squares);

}  // namespace crosscut
