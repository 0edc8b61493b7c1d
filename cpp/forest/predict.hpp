// Which leaf a row reaches.
#pragma once
#include <cstdint>
#include <vector>

#include "../strided.hpp"
#include "trees.hpp"

namespace crosscut {

// What prediction needs to know of a node besides its children.
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
  float cut;             // go on to the next node if value <= cut; NaN marks a leaf or a nominal test
  std::int32_t feature;  // -1 at a leaf
  std::int32_t right;    // node of the other branch (a leaf: itself); nominal: first entry in Walker::category
  std::int32_t missing;  // node for missing and unseen values (a leaf: itself)
};

// One tree made ready for walking. The first branch of a numeric test is always the next node (preorder).
struct Walker {
  std::vector<Step> steps;
  std::vector<std::int32_t> category;  // per nominal node: the number of its categories, then the node of each
};

constexpr int kTogether = 8;  // rows that walk a tree side by side

Walker make_walker(const Trees&, const Tests&, std::int64_t tree, std::int64_t n_features);

// The value of a column in a row whose first value is at `row`.
template <class T>
float value_of(const T* row, std::ptrdiff_t stride, std::int32_t feature) {
  return static_cast<float>(row[feature * stride]);
}

template <class T>
std::int32_t leaf_of(const Walker& walker, const T* row, std::ptrdiff_t stride) {
  const Step* steps = walker.steps.data();
  std::int32_t node = 0;
  for (;;) {
    const Step step = steps[node];
    if (step.feature < 0) return node;
    const float value = value_of(row, stride, step.feature);
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

// The leaves of kTogether rows, for a tree without nominal tests. A walk waits for memory at every step, so several
// rows walk together; a row that has arrived stays at its leaf until all have.
template <class T>
void leaves_of(const Walker& walker, const T* const* row, std::ptrdiff_t stride, std::int32_t* leaf) {
  const Step* steps = walker.steps.data();
  for (int k = 0; k < kTogether; k++) leaf[k] = 0;
  for (bool moved = true; moved;) {
    moved = false;
    for (int k = 0; k < kTogether; k++) {
      const Step step = steps[leaf[k]];
      const float value = value_of(row[k], stride, step.feature < 0 ? 0 : step.feature);
      // selected by masks, because the direction is unpredictable
      const std::int32_t known = -static_cast<std::int32_t>(value == value), low = -static_cast<std::int32_t>(value <= step.cut);
      const std::int32_t other = (step.right & known) | (step.missing & ~known);
      const std::int32_t next = ((leaf[k] + 1) & low) | (other & ~low);
      moved |= next != leaf[k];
      leaf[k] = next;
    }
  }
}

// Tree t is walked by the rows rows[row_start[t]] .. (all rows if rows is null: then leaf is n_trees x n_rows).
struct Request {
  const std::int64_t* rows;
  const std::int64_t* row_start;
  int n_threads;
};

template <class T>
void apply(const Trees&, const Tests&, const Strided<T>& x, const Request&, std::int32_t* leaf);

}  // namespace crosscut
