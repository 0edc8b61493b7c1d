// Minimal cost-complexity pruning of many trees.
#pragma once
#include <cstdint>
#include <vector>

#include "trees.hpp"

namespace crosscut {

// The path of one tree: step 0 is the whole tree, every later step makes one inner node a leaf.
struct Path {
  std::vector<double> alpha, risk;  // effective alpha of the step, risk of the leaves after it
  std::vector<std::int32_t> n_leaves;
};

// node_alpha[i]: the lowest ccp_alpha at which node i is no longer an inner node (-infinity for the
// tree's own leaves).
Path pruning_path(const Trees&, std::int64_t tree, const double* risk, double* node_alpha);

// parent[i] of every node of a tree, -1 for its root.
void parents(const Trees&, std::int64_t tree, std::int32_t* parent);

}  // namespace crosscut
