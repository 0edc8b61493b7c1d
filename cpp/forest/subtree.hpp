// Every smaller tree is inside the larger one: where rows stop when grown trees are cut short.
#pragma once
#include <cstdint>

#include "trees.hpp"

namespace crosscut {

struct Nodes {
  const std::int32_t* depth;
  const std::int64_t* n_rows;
  const double* weight;
  const double* impurity;
};

struct Cut {
  std::int32_t max_depth;          // negative: no limit
  std::int64_t max_leaves;         // max_leaf_nodes; negative: no limit
  std::int64_t min_samples_split;  // nodes with fewer rows are not split
  double min_decrease;             // min_impurity_decrease
  double min_impurity;             // nodes that are no more impure than this are not split
  double alpha;                    // ccp_alpha
  // impurities are scikit-learn's to the last bit: let its arithmetic decide ties of alpha
  bool exact_ties;
};

// stop[i]: where a row that reaches node i of the full tree stops in the cut tree. Nodes are
// counted over all trees.
void stop_nodes(const Trees&, const Nodes&, const Cut&, std::int32_t* stop);

}  // namespace crosscut
