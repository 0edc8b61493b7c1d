// Which leaf a row reaches.
#pragma once
#include <bit>
#include <cstdint>
#include <vector>

#include "base/strided.hpp"
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
  // go on to the next node if value <= cut; NaN marks a leaf or a nominal test
  float cut;
  std::int32_t feature;  // -1 at a leaf
  // node of the other branch (a leaf: itself); nominal: first entry in Walker::category
  std::int32_t right;
  std::int32_t missing;  // node for missing and unseen values (a leaf: itself)
};

// One tree made ready for walking. The first branch of a numeric test is always the next node
// (preorder).
struct Walker {
  std::vector<Step> steps;
  // per nominal node: the number of its categories, the node of each, the node for missing values
  std::vector<std::int32_t> category;
};

Walker make_walker(const Trees&, const Tests&, std::int64_t tree, std::int64_t n_features);

// The value of a column in a row whose first value is at `row`.
template <class T>
float value_of(const T* row, std::ptrdiff_t stride, std::int32_t feature) {
  return static_cast<float>(row[feature * stride]);
}

// The leaves of the rows begin .. end - 1. A walk waits for memory at every step, so K rows walk
// together; when one has arrived, the next row takes its place. Nominal: the tree has nominal
// tests. row_of(i): the values of row i.
template <int K, bool Nominal, class Row>
void leaves_of(const Walker& walker, Row&& row_of, std::ptrdiff_t stride, std::int64_t begin,
               std::int64_t end, std::int32_t* leaf) {
  const Step* steps = walker.steps.data();
  const std::int32_t* category = walker.category.data();
  decltype(row_of(begin)) row[K];
  std::int64_t number[K], next = begin;
  std::int32_t at[K] = {};
  for (int k = 0; k < K; k++) {
    row[k] = row_of(next);
    number[k] = next++;
  }
  // bits of places whose rows were the last
  for (std::uint32_t arrived = 0; arrived + 1 < 1u << K;) {
    for (int k = 0; k < K; k++) {
      const Step step = steps[at[k]];
      if (step.feature < 0) {
        leaf[number[k]] = at[k];
        if (next == end) arrived |= 1u << k;
        else {
          row[k] = row_of(next);
          number[k] = next++;
          at[k] = 0;
        }
        continue;
      }
      const float value = value_of(row[k], stride, step.feature);
      // selected by masks, because the direction is unpredictable
      const std::int32_t known = -static_cast<std::int32_t>(value == value),
                         low = -static_cast<std::int32_t>(value <= step.cut);
      std::int32_t other = (step.right & known) | (step.missing & ~known);
      if constexpr (Nominal) {  // looked up for every test: which are nominal is unpredictable, too
        const std::int32_t nominal = -static_cast<std::int32_t>(step.cut != step.cut);
        const std::int32_t* of = category + (step.right & nominal);
        const std::int32_t seen =
            -static_cast<std::int32_t>((value >= 0) & (value < static_cast<float>(of[0])));
        // 0 for NaN
        const auto code = static_cast<std::int32_t>(
            std::bit_cast<float>(std::bit_cast<std::int32_t>(value) & seen));
        const std::int32_t to = of[1 + ((code & seen) | (of[0] & ~seen))];
        other = (to & nominal) | (other & ~nominal);
      }
      at[k] = ((at[k] + 1) & low) | (other & ~low);
    }
  }
}

// Tree t is walked by the rows rows[row_start[t]] .. (all rows if rows is null: then leaf is
// n_trees x n_rows).
struct Request {
  const std::int64_t* rows;
  const std::int64_t* row_start;
  int n_threads;
};

template <class T>
void apply(const Trees&, const Tests&, const Strided<T>& x, const Request&, std::int32_t* leaf);

// The same for trees that have not been checked, and rows too few to repay checking them: every
// step is checked when it is made.
template <class T>
void apply_to_few(const Trees&, const Tests&, const Strided<T>& x, const Request&,
                  std::int32_t* leaf);

}  // namespace crosscut
