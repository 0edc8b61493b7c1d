// The arrays of crosscut.forest.forest.Packed.
#pragma once
#include <vector>

#include "node.hpp"

namespace crosscut {

struct PackedTrees {
  std::vector<std::int64_t> node_start{0}, branch_start{0}, first_child, first_branch, n_rows;
  std::vector<std::int32_t> feature, missing, children, branches, depth;
  std::vector<double> threshold, weight, value, impurity;
  std::vector<float> low, high;
};

}  // namespace crosscut
