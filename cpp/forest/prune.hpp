// Minimal cost-complexity pruning of many trees.
#pragma once
#include <cstdint>

#include "trees.hpp"

namespace crosscut {

// node_alpha[i]: the lowest ccp_alpha at which node i of a tree is no longer an inner node
// (-infinity for the tree's own leaves).
void node_alphas(const Trees&, std::int64_t tree, const double* risk, double* node_alpha);

// parent[i] of every node of a tree, -1 for its root.
void parents(const Trees&, std::int64_t tree, std::int32_t* parent);

}  // namespace crosscut
