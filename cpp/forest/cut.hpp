// Losses of held-out rows in all pruned and shrunk trees at once, from which cross-validation
// chooses the size of the final tree and the strength of its shrinkage.
//
// Hierarchical shrinkage (Agarwal et al. 2022) moves the value of a node towards its parent's:
//   S(root) = own(root),   S(node) = S(parent) + (own(node) - own(parent)) / (1 + λ /
//   weight(parent)),
// where own() is the node's mean or its class probabilities. Strength λ = 0 changes nothing, in any
// bit.
#pragma once
#include <cstdint>

#include "trees.hpp"

namespace crosscut {

// Strengths of shrinkage that one walk compares.
constexpr int kLanes = 8;

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

struct NodeValues {
  const double* own;     // [node][n_values], of all trees
  const double* weight;  // one per node
  std::int64_t n_values;
};

// What a prediction of a row loses.
enum class Measure {
  squared,   // (y - mean)²
  absolute,  // |y - mean|
  brier,     // the sum over classes of (probability - (class == y))²
  log,       // -log(probability of y), with probabilities of at least 2^-52
  cost,      // cost[y][predicted class], for the class of least expected cost
};

struct Losses {
  Measure measure;
  const double* y;       // one per row of Ends
  const double* weight;  // one per row; null: 1
  const double* cost;    // [n_values][n_values]; null: 1 for every wrong class
  double lambda[kLanes];
};

// Writes the shrunk values of every node.
void shrink(const Trees&, const NodeValues&, double lambda, double* shrunk);

// Sums of the rows' losses and of their squares, for each level and strength: [level][lane].
void cut_losses(const Trees&, const Levels&, const Ends&, const NodeValues&, const Losses&,
                double* sum, double* sum_of_squares);

// The losses of each row at some levels, each with the strength of a lane: [row][chosen].
void row_losses(const Trees&, const Levels&, const Ends&, const NodeValues&, const Losses&,
                const std::int32_t* chosen_level, const std::int32_t* chosen_lane,
                std::int64_t n_chosen, double* loss);

}  // namespace crosscut
