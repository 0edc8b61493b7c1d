// Which leaf a row reaches.
#pragma once
#include <cstdint>
#include <vector>

#include "trees.hpp"

namespace crosscut {

// What prediction needs of a node beyond its children.
struct Tests {
  const std::int32_t* feature;
  const double* threshold;
  const std::int32_t* missing;
  const std::int64_t* first_branch;  // like Trees::first_child
  const std::int64_t* branch_start;  // n_trees + 1 offsets into branches
  const std::int32_t* branches;
};

// 16 bytes per node: what a row needs on its way down.
struct Step {
  float cut;             // go on to `left` if value <= cut; NaN marks a nominal test
  std::int32_t feature;  // -1 at a leaf
  std::int32_t right;    // numeric: node of the other branch; nominal: first entry in Walker::category
  std::int32_t missing;  // node for missing and unseen values
};

// One tree made ready for walking. The first branch of a numeric test is always the next node (preorder).
struct Walker {
  std::vector<Step> steps;
  std::vector<std::int32_t> category;  // per nominal node: the number of its categories, then the node of each
};

Walker make_walker(const Trees&, const Tests&, std::int64_t tree, std::int64_t n_features);

inline std::int32_t leaf_of(const Walker& walker, const float* row) {
  const Step* steps = walker.steps.data();
  std::int32_t node = 0;
  for (;;) {
    const Step step = steps[node];
    if (step.feature < 0) return node;
    const float value = row[step.feature];
    if (value <= step.cut) {
      node++;
    } else if (step.cut == step.cut) {
      node = value == value ? step.right : step.missing;
    } else {
      const std::int32_t* of = walker.category.data() + step.right;
      node = value >= 0 && value < static_cast<float>(of[0]) ? of[1 + static_cast<std::int32_t>(value)] : step.missing;
    }
  }
}

// Tree t is walked by the rows rows[row_start[t]] .. (all rows if rows is null: then leaf is n_trees x n_rows).
struct Request {
  const float* x;  // n_rows x n_features
  std::int64_t n_rows, n_features;
  const std::int64_t* rows;
  const std::int64_t* row_start;
  int n_threads;
};

void apply(const Trees&, const Tests&, const Request&, std::int32_t* leaf);

}  // namespace crosscut
