#include "packed_trees.hpp"

#include <algorithm>
#include <cmath>

#include "../huge_pages.hpp"
#include "exact.hpp"

namespace crosscut {
namespace {

double impurity_of(Criterion criterion, const double* value, int n_classes, double weight) {
  double impurity = criterion == Criterion::gini ? 1.0 : 0.0, squares = 0;
  for (int c = 0; c < n_classes; c++) {
    if (value[c] == 0) continue;  // most of many classes
    const double share = value[c] / weight;
    if (criterion == Criterion::gini) squares += share * share;
    else if (share > 0) impurity -= share * std::log2(share);
  }
  return impurity - squares;
}

class Packer {
  struct Step {
    const Node* node;
    std::size_t parent, place;  // its parent's number, and its own place among all children of the tree
    const std::int64_t* exact;  // at leaves
  };
  static constexpr std::size_t kManyValues = 64;
  static constexpr std::size_t kAhead = 8;  // nodes lie scattered: those that come soon are fetched
  static void fetch(const Node* node) { __builtin_prefetch(node), __builtin_prefetch(&node->exact); }
  const Problem& p;
  PackedTrees& out;
  const std::size_t width = p.n_classes ? static_cast<std::size_t>(p.n_classes) : 1;
  const std::size_t Q = p.counted() ? 0 : static_cast<std::size_t>(p.n_sums());
  std::vector<Step> todo, nodes;
  std::vector<std::int64_t> sums;

 public:
  Packer(const Problem& problem, PackedTrees& trees) : p(problem), out(trees) {}

  // Values of many classes are by far the largest array: it gets the room that it needs, and no more.
  void reserve_values(const Node* const* roots) {
    if (width < kManyValues) return;
    std::size_t n = 0;
    todo.clear();
    for (int t = 0; t < p.n_tasks; t++) todo.push_back({roots[t], 0, 0, nullptr});
    for (; !todo.empty(); n++) {
      const Node& x = *todo.back().node;
      todo.pop_back();
      for (int j = 0; j < x.n_children; j++) todo.push_back({x.children + j, 0, 0, nullptr});
    }
    out.value.reserve(n * width);
    invite_huge_pages(out.value.data(), n * width * sizeof(double));
  }

  void add(const Node& root) {
    const std::size_t first = out.feature.size(), n_trees = out.node_start.size() - 1, first_child = first - n_trees;
    nodes.clear(), todo.assign(1, {&root, 0, 0, nullptr});
    std::size_t n_children = 0, n_branches = 0;
    while (!todo.empty()) {  // preorder
      const Step step = todo.back();
      todo.pop_back();
      for (int j = step.node->n_children; j-- > 0;) {
        fetch(step.node->children + j);
        todo.push_back({step.node->children + j, nodes.size(), n_children + static_cast<std::size_t>(j), nullptr});
      }
      n_children += static_cast<std::size_t>(step.node->n_children), n_branches += static_cast<std::size_t>(step.node->n_branches);
      nodes.push_back(step);
    }
    const std::size_t n = nodes.size(), end = first + n, first_branch = out.branches.size();
    for (auto* array : {&out.feature, &out.missing, &out.depth}) array->resize(end);
    for (auto* array : {&out.threshold, &out.weight, &out.impurity}) array->resize(end);
    for (auto* array : {&out.first_child, &out.first_branch}) array->resize(end + n_trees + 1);
    out.low.resize(end), out.high.resize(end), out.n_rows.resize(end), out.value.resize(end * width);
    out.children.resize(first_child + n - 1), out.branches.resize(first_branch + n_branches);
    out.node_start.push_back(static_cast<std::int64_t>(end)), out.branch_start.push_back(static_cast<std::int64_t>(first_branch + n_branches));
    std::int64_t child = 0, branch = 0;
    std::int64_t *children_at = out.first_child.data() + first + n_trees, *branches_at = out.first_branch.data() + first + n_trees;
    for (std::size_t i = 0, at = first; i < n; i++, at++) {
      const Node& x = *nodes[i].node;
      if (i + kAhead < n) fetch(nodes[i + kAhead].node);
      nodes[i].exact = x.exact;
      if (i) out.children[first_child + nodes[i].place] = static_cast<std::int32_t>(i);
      out.feature[at] = x.feature, out.missing[at] = x.missing, out.depth[at] = x.depth, out.n_rows[at] = x.n_rows;
      out.threshold[at] = x.threshold, out.low[at] = x.low, out.high[at] = x.high;
      children_at[i] = child, branches_at[i] = branch;
      std::copy_n(x.branches, x.n_branches, out.branches.data() + first_branch + static_cast<std::size_t>(branch));
      child += x.n_children, branch += x.n_branches;
    }
    children_at[n] = child, branches_at[n] = branch;
    add_up();
    for (std::size_t i = 0; i < n; i++) write_value(nodes[i], sums.data() + i * Q, first + i);
  }

  // Room for that many trees like the first, which is the largest of a cross-validation.
  void reserve(std::size_t n_trees) {
    const auto more = [&](auto&... array) { (array.reserve(array.size() * n_trees + array.size() / 8), ...); };
    more(out.feature, out.missing, out.depth, out.threshold, out.weight, out.impurity, out.first_child, out.first_branch, out.low, out.high,
         out.n_rows, out.children, out.branches);
    if (width < kManyValues) more(out.value);
  }

 private:
  // Exact sums of all nodes, from those at the leaves.
  void add_up() {
    sums.assign(nodes.size() * Q, 0);
    for (std::size_t i = nodes.size(); i-- > 0 && Q;) {
      if (i >= kAhead) __builtin_prefetch(nodes[i - kAhead].exact);
      for (std::size_t q = 0; q < Q; q++) {
        if (nodes[i].exact) sums[i * Q + q] = nodes[i].exact[q];
        if (i) sums[nodes[i].parent * Q + q] += sums[i * Q + q];
      }
    }
  }

  // The target of a leaf whose sums are the digits of a row; null for others.
  const double* target_of(const std::int64_t* exact) const {
    const auto address = [](const std::int64_t* digit) { return reinterpret_cast<std::uintptr_t>(digit); };
    const std::size_t bytes = static_cast<std::size_t>(p.exact.width) * sizeof *exact, place = address(exact) - address(p.exact.digits);
    if (place >= p.n_rows * bytes) return nullptr;
    return p.target + (place >> 32 ? place / bytes : static_cast<std::uint32_t>(place) / static_cast<std::uint32_t>(bytes));
  }

  void write_value(const Step& step, const std::int64_t* exact, std::size_t at) {
    const DigitGrid* grid = p.exact.grid;
    double *value = out.value.data() + at * width, &weight = out.weight[at], &impurity = out.impurity[at];
    if (!p.n_classes) {
      weight = exact_weight(p, exact), impurity = 0;
      if (const double* target = target_of(step.exact)) value[0] = *target + 0.0;  // never −0
      else value[0] = exact_mean(p, exact);
      if (out.n_rows[at] > 1) impurity = exact_variance(p.exact, exact);
      return;
    }
    if (Q) {
      weight = exact_weight(p, exact);
      for (std::size_t c = 0; c < width; c++) value[c] = exact_value(grid[0], exact + c * static_cast<std::size_t>(grid[0].n));
    } else {
      weight = 0;
      for (std::size_t c = 0; c < width; c++)
        if ((value[c] = step.node->stats[c]) != 0) weight += value[c];
    }
    impurity = impurity_of(p.criterion, value, p.n_classes, weight);
  }
};

}  // namespace

void pack_trees(const Problem& p, const Node* const* roots, PackedTrees& out) {
  Packer packer(p, out);
  packer.reserve_values(roots);
  for (int t = 0; t < p.n_tasks; t++) {
    packer.add(*roots[t]);
    if (!t) packer.reserve(static_cast<std::size_t>(p.n_tasks));
  }
}

}  // namespace crosscut
