// Prediction. Each tree is packed into 16-byte steps and checked; then threads take chunks of rows
// through the trees. For few rows, packing would take longer than walking, so they walk the
// unchecked arrays and check each step.
#include "predict.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "base/threads.hpp"

namespace crosscut {
namespace {

// The largest float <= threshold: for every float v, v <= threshold exactly when v <= cut.
float float_below(double threshold) {
  const float cut = static_cast<float>(threshold);
  return static_cast<double>(cut) > threshold
             ? std::nextafter(cut, -std::numeric_limits<float>::infinity())
             : cut;
}

// Finds the leaves of the rows number(begin) .. number(end - 1).
template <class T, class Number>
void walk_rows(const Walker& walker, const Strided<T>& x, Number&& number, std::int64_t begin,
               std::int64_t end, std::int32_t* leaf) {
  const auto row_of = [&](std::int64_t r) { return x.data + number(r) * x.row_stride; };
  const auto walk = [&]<int K, bool Nominal>() {
    if (end - begin >= K) leaves_of<K, Nominal>(walker, row_of, x.column_stride, begin, end, leaf);
    else if (begin < end) leaves_of<1, Nominal>(walker, row_of, x.column_stride, begin, end, leaf);
  };
  // measured: walking more rows together is slower
  if (walker.category.empty()) walk.template operator()<6, false>();
  else walk.template operator()<4, true>();
}

[[noreturn]] void fail(const char* what) { throw std::invalid_argument(what); }

// Whether 0 <= a < b, for b >= 0, by one comparison. begin < 0 or end < begin is below(end, begin).
bool below(std::int64_t a, std::int64_t b) {
  return static_cast<std::uint64_t>(a) < static_cast<std::uint64_t>(b);
}

// A tree whose arrays have the right lengths but unchecked contents.
template <class T> class UncheckedTree {
  const std::int64_t *first_, *first_branch_;
  const std::int32_t *child_, *feature_, *missing_;
  std::int64_t n_, n_branches_, n_features_;
  const std::int32_t* branches_;
  const double* threshold_;
  std::ptrdiff_t stride_;

 public:
  UncheckedTree(const Trees& trees, const Tests& tests, std::int64_t t, const Strided<T>& x)
      : first_(trees.child_offsets(t)),
        first_branch_(tests.first_branch + trees.node_start[t] + t),
        child_(trees.child_nodes(t)),
        feature_(tests.feature + trees.node_start[t]),
        missing_(tests.missing + trees.node_start[t]),
        n_(trees.n_nodes(t)),
        n_branches_(tests.branch_start[t + 1] - tests.branch_start[t]),
        n_features_(static_cast<std::int64_t>(x.n_columns)),
        branches_(tests.branches + 2 * tests.branch_start[t]),
        threshold_(tests.threshold + trees.node_start[t]),
        stride_(x.column_stride) {}

  // The node after node i on a row's path; i itself if it is a leaf.
  template <bool Nominal> std::int64_t next(std::int64_t i, const T* row) const {
    const std::int64_t begin = first_[i], end = first_[i + 1];
    if (begin == end) return i;
    if (below(end, begin) || !below(end, n_))
      fail("forest: first_child must not decrease, and end at n_nodes - 1");
    const std::int64_t n_children = end - begin;
    const std::int32_t feature = feature_[i];
    if (!below(feature, n_features_)) fail("X has too few columns for the trees");
    const float value = value_of(row, stride_, feature);
    const double threshold = threshold_[i];
    std::int64_t branch = !(static_cast<double>(value) <= threshold);
    if (Nominal && threshold != threshold) {
      const std::int64_t at = first_branch_[i], stop = first_branch_[i + 1];
      if (!below(at, n_branches_ + 1) || stop < at || stop > n_branches_)
        fail("forest: first_branch is out of range");
      const std::int64_t entry = at + find_code(branches_ + 2 * at, stop - at, 2, code_of(value));
      branch = entry < stop ? branches_[2 * entry + 1] : -1;
    }
    if (value != value || branch < 0) branch = missing_[i];
    if (!below(branch, n_children))
      fail("forest: missing and branches must name a branch of their node");
    const std::int64_t to = child_[begin + branch];
    if (!below(to - i - 1, n_ - i - 1))
      fail("forest: a child must be numbered after its parent, below n_nodes");
    return to;
  }
};

// Adds the categories of a nominal node to Walker::category. `of` is the node of each branch.
void add_categories(const std::int32_t* entries, std::int64_t n, const std::int32_t* of,
                    std::int32_t missing, std::vector<std::int32_t>& out) {
  const auto size = static_cast<std::size_t>(n);
  const std::int32_t last = entries[2 * (n - 1)];
  if (last < 4 * n + 64) {
    out.push_back(last + 1);
    const std::size_t first = out.size();
    out.resize(first + static_cast<std::size_t>(last) + 2, missing);
    for (std::size_t k = 0; k < size; k++)
      out[first + static_cast<std::size_t>(entries[2 * k])] = of[entries[2 * k + 1]];
    return;
  }
  out.insert(out.end(), {-1, static_cast<std::int32_t>(n)});
  for (std::size_t k = 0; k < size; k++) out.push_back(entries[2 * k]);
  for (std::size_t k = 0; k < size; k++) out.push_back(of[entries[2 * k + 1]]);
  out.push_back(missing);
}

}  // namespace

void check_entries(const std::int32_t* entries, std::int64_t n, std::int64_t n_children) {
  for (std::int64_t k = 0; k < n; k++) {
    if (entries[2 * k] <= (k ? entries[2 * k - 2] : -1))
      fail("forest: the categories of a node must ascend");
    if (!below(entries[2 * k + 1], n_children))
      fail("forest: branches names a branch its node does not have");
  }
}

Walker make_walker(const Trees& trees, const Tests& tests, std::int64_t t,
                   std::int64_t n_features) {
  const std::int64_t n = trees.n_nodes(t), at = trees.node_start[t];
  const std::int64_t* first = trees.child_offsets(t);
  const std::int64_t* first_branch = tests.first_branch + at + t;
  const std::int32_t* child = trees.child_nodes(t);
  const std::int64_t n_branches = tests.branch_start[t + 1] - tests.branch_start[t];
  Walker walker;
  walker.steps.reserve(static_cast<std::size_t>(n));
  for (std::int32_t i = 0; i < n; i++)
    walker.steps.push_back({std::numeric_limits<float>::quiet_NaN(), -1, i, i});
  std::vector<std::int64_t> inner;
  trees.list_inner(t, inner);
  if (n_branches) walker.category = {0, 0};  // read, but not used, at numeric tests
  for (const std::int64_t i : inner) {
    const std::int64_t n_children = first[i + 1] - first[i];
    const std::int32_t feature = tests.feature[at + i];
    Step& step = walker.steps[static_cast<std::size_t>(i)];
    if (feature < 0 || feature >= n_features) fail("X has too few columns for the trees");
    const std::int32_t missing = tests.missing[at + i];
    if (missing < 0 || missing >= n_children)
      fail("forest: missing must name a branch of its node");
    const std::int32_t* of = child + first[i];
    const double threshold = tests.threshold[at + i];
    step = {static_cast<float>(threshold), feature, 0, of[missing]};
    if (threshold == threshold) {
      if (n_children != 2 || of[0] != i + 1)
        fail("forest: a numeric test needs two branches, in preorder");
      step.cut = float_below(threshold);
      step.right = of[1];
      continue;
    }
    const std::int64_t begin = first_branch[i], end = first_branch[i + 1];
    if (begin < 0 || end <= begin || end > n_branches) fail("forest: first_branch is out of range");
    step.right = static_cast<std::int32_t>(walker.category.size());
    const std::int32_t* entries = tests.branches + 2 * (tests.branch_start[t] + begin);
    check_entries(entries, end - begin, n_children);
    add_categories(entries, end - begin, of, of[missing], walker.category);
  }
  return walker;
}

template <class T>
void apply(const Trees& trees, const Tests& tests, const Strided<T>& x, const Request& request,
           std::int32_t* leaf) {
  // Trees are prepared and walked together up to this many nodes and branches, which bounds memory.
  constexpr std::int64_t most_entries = 1 << 18;
  constexpr std::int64_t chunk = 4096;
  const std::int64_t n_trees = trees.n_trees, n_rows = static_cast<std::int64_t>(x.n_rows);
  // The first position of a tree's rows in `leaf`, and the tree of a position.
  const auto first = [&](std::int64_t t) {
    return request.rows ? request.row_start[t] : t * n_rows;
  };
  const auto tree_at = [&](std::int64_t position) {
    const std::int64_t* starts = request.row_start;
    return request.rows ? std::upper_bound(starts, starts + n_trees, position) - starts - 1
                        : position / n_rows;
  };
  Team team(static_cast<int>(
      std::min<std::int64_t>(request.n_threads, (first(n_trees) + chunk - 1) / chunk)));
  std::vector<Walker> walkers;
  for (std::int64_t begin_tree = 0, end_tree = 0; begin_tree < n_trees; begin_tree = end_tree) {
    walkers.clear();
    const auto size = [&](std::int64_t t) {
      return trees.node_start[t] + tests.branch_start[t] - trees.node_start[begin_tree] -
             tests.branch_start[begin_tree];
    };
    while (end_tree < n_trees && (end_tree == begin_tree || size(end_tree + 1) <= most_entries)) {
      const std::int64_t t = end_tree++;
      walkers.push_back(first(t) < first(t + 1)
                            ? make_walker(trees, tests, t, static_cast<std::int64_t>(x.n_columns))
                            : Walker{});
    }
    const std::int64_t offset = first(begin_tree);
    const auto walk = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t t = tree_at(begin); begin < end; t++) {
        const std::int64_t at = first(t), stop = std::min(end, first(t + 1));
        const Walker& walker = walkers[static_cast<std::size_t>(t - begin_tree)];
        if (request.rows)
          walk_rows(walker, x, [&](std::int64_t k) { return request.rows[k]; }, begin, stop, leaf);
        else walk_rows(walker, x, [&](std::int64_t k) { return k - at; }, begin, stop, leaf);
        begin = stop;
      }
    };
    parallel_for(first(end_tree) - offset, chunk, team,
                 [&](std::int64_t begin, std::int64_t end) { walk(offset + begin, offset + end); });
  }
}

template <class T>
void apply_to_few(const Trees& trees, const Tests& tests, const Strided<T>& x,
                  const Request& request, std::int32_t* leaf) {
  constexpr int side_by_side = 8;  // because a row waits for memory at every step
  for (std::int64_t t = 0; t < trees.n_trees; t++) {
    const UncheckedTree<T> tree(trees, tests, t, x);
    const auto walk = [&]<bool Nominal>() {
      const T* row[side_by_side];
      std::int64_t at[side_by_side], number[side_by_side], next = request.row_start[t];
      const std::int64_t end = request.row_start[t + 1];
      int walking = 0;
      const auto take = [&](int k) {
        row[k] = x.data + request.rows[next] * x.row_stride;
        number[k] = next++;
        at[k] = 0;
      };
      while (walking < side_by_side && next < end) take(walking++);
      while (walking)
        for (int k = 0; k < walking; k++) {
          const std::int64_t to = tree.template next<Nominal>(at[k], row[k]);
          if (to != at[k]) {
            at[k] = to;
            continue;
          }
          leaf[number[k]] = static_cast<std::int32_t>(to);
          if (next < end) take(k);
          else {
            walking--;
            row[k] = row[walking];
            at[k] = at[walking];
            number[k] = number[walking];
            k--;
          }
        }
    };
    if (tests.branch_start[t + 1] > tests.branch_start[t]) walk.template operator()<true>();
    else walk.template operator()<false>();
  }
}

template void apply(const Trees&, const Tests&, const Strided<float>&, const Request&,
                    std::int32_t*);
template void apply(const Trees&, const Tests&, const Strided<double>&, const Request&,
                    std::int32_t*);
template void apply(const Trees&, const Tests&, const Strided<std::int64_t>&, const Request&,
                    std::int32_t*);
template void apply(const Trees&, const Tests&, const Strided<std::uint8_t>&, const Request&,
                    std::int32_t*);
template void apply_to_few(const Trees&, const Tests&, const Strided<float>&, const Request&,
                           std::int32_t*);
template void apply_to_few(const Trees&, const Tests&, const Strided<double>&, const Request&,
                           std::int32_t*);
template void apply_to_few(const Trees&, const Tests&, const Strided<std::int64_t>&, const Request&,
                           std::int32_t*);
template void apply_to_few(const Trees&, const Tests&, const Strided<std::uint8_t>&, const Request&,
                           std::int32_t*);

}  // namespace crosscut
