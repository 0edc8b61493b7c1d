// Where rows stop in smaller trees, which are parts of grown trees.
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
  double min_impurity;             // nodes of at most this impurity are not split
  double alpha;                    // ccp_alpha
  // impurities equal scikit-learn's to the last bit: its arithmetic decides ties of alpha
  bool exact_ties;
};

// stop[i]: where a row that reaches node i of the full tree stops in the cut tree. Nodes are
// numbered over all trees.
void stop_nodes(const Trees&, const Nodes&, const Cut&, std::int32_t* stop);

}  // namespace crosscut
