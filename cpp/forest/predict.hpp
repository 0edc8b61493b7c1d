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
  std::vector<std::int32_t> category;  // per nominal node: the number of its categories, the node of each, the node for missing values
};

Walker make_walker(const Trees&, const Tests&, std::int64_t tree, std::int64_t n_features);

// The value of a column in a row whose first value is at `row`.
template <class T>
float value_of(const T* row, std::ptrdiff_t stride, std::int32_t feature) {
  return static_cast<float>(row[feature * stride]);
}

// The leaves of K rows. A walk waits for memory at every step, so several rows walk together; a row that has arrived stays at its leaf
// until all have. Nominal: the tree has nominal tests.
template <int K, bool Nominal, class T>
void leaves_of(const Walker& walker, const T* const* row, std::ptrdiff_t stride, std::int32_t* leaf) {
  const Step* steps = walker.steps.data();
  const std::int32_t* category = walker.category.data();
  std::int32_t at[K] = {};  // not leaf, which the compiler would have to write at every step
  for (std::int32_t moved = 1; moved;) {
    moved = 0;
    for (int k = 0; k < K; k++) {
      const Step step = steps[at[k]];
      const float value = value_of(row[k], stride, step.feature < 0 ? 0 : step.feature);
      // selected by masks, because the direction is unpredictable
      const std::int32_t known = -static_cast<std::int32_t>(value == value), low = -static_cast<std::int32_t>(value <= step.cut);
      std::int32_t other = (step.right & known) | (step.missing & ~known);
      if constexpr (Nominal) {  // looked up for every test: which are nominal is unpredictable, too
        const std::int32_t nominal = -static_cast<std::int32_t>((step.feature >= 0) & (step.cut != step.cut));
        const std::int32_t* of = category + (step.right & nominal);
        const auto n = static_cast<float>(of[0]);
        const float below = value < n ? value : n, code = below > 0 ? below : 0;  // n for NaN
        const std::int32_t negative = -static_cast<std::int32_t>(value < 0);
        const std::int32_t next = of[1 + ((static_cast<std::int32_t>(code) & ~negative) | (of[0] & negative))];
        other = (next & nominal) | (other & ~nominal);
      }
      const std::int32_t next = ((at[k] + 1) & low) | (other & ~low);
      moved |= next ^ at[k];
      at[k] = next;
    }
  }
  for (int k = 0; k < K; k++) leaf[k] = at[k];
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
