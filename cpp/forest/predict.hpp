// Prediction: the leaf that each row reaches.
#pragma once
#include <bit>
#include <cstdint>
#include <vector>

#include "base/strided.hpp"
#include "trees.hpp"

namespace crosscut {

// The tests of all nodes.
struct Tests {
  const std::int32_t* feature;
  const double* threshold;
  const std::int32_t* missing;
  const std::int64_t* first_branch;  // like Trees::first_child
  const std::int64_t* branch_start;  // n_trees + 1 offsets into branches
  const std::int32_t* branches;      // pairs of a category and its branch
};

// A node in 16 bytes, so that a row reads one cache line per level at most.
struct Step {
  // a row with value <= cut goes to the next node; NaN marks a leaf or a nominal test
  float cut;
  std::int32_t feature;  // -1 at a leaf
  // node of the other branch (a leaf: itself); nominal: first entry in Walker::category
  std::int32_t right;
  std::int32_t missing;  // node for missing and unseen values (a leaf: itself)
};

// A tree prepared for walking. Nodes are in preorder, so the first branch of a numeric test is the
// next node.
struct Walker {
  std::vector<Step> steps;
  // per nominal node, if most codes up to the last are present: the number of codes, the node of
  // each, the node for missing values; otherwise −1 and the number of categories, their codes, the
  // node of each, the node for missing values
  std::vector<std::int32_t> category;
};

Walker make_walker(const Trees&, const Tests&, std::int64_t tree, std::int64_t n_features);

// The place of `code` in n ascending codes that are `step` apart; n if it is not there.
inline std::int64_t find_code(const std::int32_t* codes, std::int64_t n, std::int64_t step,
                              std::int32_t code) {
  std::int64_t first = 0;
  for (std::int64_t left = n; left > 1; left -= left / 2)
    if (codes[(first + left / 2) * step] <= code) first += left / 2;
  return n && codes[first * step] == code ? first : n;
}

// A value as a code; −1 if it is none.
inline std::int32_t code_of(float value) {
  return value >= 0 && value < 0x1p31f ? static_cast<std::int32_t>(value) : -1;
}

// The value of a column in a row whose first value is at `row`.
template <class T> float value_of(const T* row, std::ptrdiff_t stride, std::int32_t feature) {
  return static_cast<float>(row[feature * stride]);
}

// The branch of a row at a checked node of the first tree.
template <class T>
std::int64_t branch_of(const Tests& tests, std::int64_t i, const T* row, std::ptrdiff_t stride) {
  const float value = value_of(row, stride, tests.feature[i]);
  if (value != value) return tests.missing[i];
  const double threshold = tests.threshold[i];
  if (threshold == threshold) return !(static_cast<double>(value) <= threshold);
  const std::int64_t begin = tests.first_branch[i], n = tests.first_branch[i + 1] - begin;
  const std::int32_t* entries = tests.branches + 2 * begin;
  const std::int64_t entry = find_code(entries, n, 2, code_of(value));
  return entry < n ? entries[2 * entry + 1] : tests.missing[i];
}

// Throws unless the n pairs of a category and its branch are valid at a node.
void check_entries(const std::int32_t* entries, std::int64_t n, std::int64_t n_children);

// Finds the leaves of the rows begin .. end - 1. A walk waits for memory at every step, so K rows
// walk together; when one reaches its leaf, the next row takes its place. `Nominal` tells whether
// the tree has nominal tests. row_of(i) returns the values of row i.
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
  // bit k is set when place k has no further row
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
      if constexpr (Nominal) {  // for every test, because the kind of test is unpredictable, too
        const std::int32_t nominal = -static_cast<std::int32_t>(step.cut != step.cut);
        const std::int32_t* of = category + (step.right & nominal);
        const std::int32_t seen =
            -static_cast<std::int32_t>((value >= 0) & (value < static_cast<float>(of[0])));
        // 0 for NaN
        const auto code = static_cast<std::int32_t>(
            std::bit_cast<float>(std::bit_cast<std::int32_t>(value) & seen));
        const std::int32_t to = of[0] < 0
                                    ? of[2 + of[1] + find_code(of + 2, of[1], 1, code_of(value))]
                                    : of[1 + ((code & seen) | (of[0] & ~seen))];
        other = (to & nominal) | (other & ~nominal);
      }
      at[k] = ((at[k] + 1) & low) | (other & ~low);
    }
  }
}

// The rows of tree t are rows[row_start[t]] .. rows[row_start[t + 1] - 1]. If `rows` is null, all
// rows walk all trees, and the result is n_trees x n_rows.
struct Request {
  const std::int64_t* rows;
  const std::int64_t* row_start;
  int n_threads;
};

template <class T>
void apply(const Trees&, const Tests&, const Strided<T>& x, const Request&, std::int32_t* leaf);

// The same for unchecked trees and few rows: each step is checked when a row takes it.
template <class T>
void apply_to_few(const Trees&, const Tests&, const Strided<T>& x, const Request&,
                  std::int32_t* leaf);

}  // namespace crosscut
