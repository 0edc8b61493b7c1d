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
  struct Child {
    const Node* node;
    std::size_t place;  // among all children
  };
  static constexpr std::size_t kManyValues = 64;
  static constexpr std::size_t kAhead = 8;  // nodes lie scattered: those that come soon are fetched
  static void fetch(const Node* node) { __builtin_prefetch(node), __builtin_prefetch(&node->exact); }
  const Problem& p;
  PackedTrees& out;
  const std::size_t width = p.n_classes ? static_cast<std::size_t>(p.n_classes) : 1;
  const std::size_t Q = p.counted() ? 0 : static_cast<std::size_t>(p.n_sums());
  std::vector<Child> todo;
  std::vector<const Node*> nodes;  // of a tree
  std::vector<std::int64_t> sums;

 public:
  Packer(const Problem& problem, PackedTrees& trees) : p(problem), out(trees) {}

  // Values of many classes are by far the largest array: it gets the room that it needs, and no more.
  void reserve_values(const Node* const* roots) {
    if (width < kManyValues) return;
    std::size_t n = 0;
    for (int t = 0; t < p.n_tasks; t++, out.children.clear()) n += list(*roots[t]);
    out.value.reserve(n * width);
    invite_huge_pages(out.value.data(), n * width * sizeof(double));
  }

  void add(const Node& root) {
    const std::size_t first = out.feature.size(), n_trees = out.node_start.size() - 1, first_child = out.children.size();
    const std::size_t n = list(root), end = first + n;
    for (auto* array : {&out.feature, &out.missing, &out.depth}) array->resize(end);
    for (auto* array : {&out.threshold, &out.weight, &out.impurity}) array->resize(end);
    for (auto* array : {&out.first_child, &out.first_branch}) array->resize(end + n_trees + 1);
    out.low.resize(end), out.high.resize(end), out.n_rows.resize(end), out.value.resize(end * width);
    std::int64_t *children_at = out.first_child.data() + first + n_trees, *branches_at = out.first_branch.data() + first + n_trees;
    std::int64_t child = 0;
    const auto n_branches = [&, before = out.branches.size()] { return static_cast<std::int64_t>(out.branches.size() - before); };
    for (std::size_t i = 0, at = first; i < n; i++, at++) {
      const Node& x = *nodes[i];
      if (i + kAhead < n) fetch(nodes[i + kAhead]);
      out.feature[at] = x.feature, out.missing[at] = x.missing, out.depth[at] = x.depth, out.n_rows[at] = x.n_rows;
      out.threshold[at] = x.threshold, out.low[at] = x.low, out.high[at] = x.high;
      children_at[i] = child, branches_at[i] = n_branches();
      out.branches.insert(out.branches.end(), x.branches, x.branches + x.n_branches);
      child += x.n_children;
      if (!Q) write_counts(x, at);
    }
    children_at[n] = child, branches_at[n] = n_branches();
    out.node_start.push_back(static_cast<std::int64_t>(end)), out.branch_start.push_back(static_cast<std::int64_t>(out.branches.size()));
    if (Q) write_sums(first, children_at, out.children.data() + first_child);
  }

  // Room for that many trees like the first, which is the largest of a cross-validation.
  void reserve(std::size_t n_trees) {
    const auto more = [&](auto&... array) { (array.reserve(array.size() * n_trees + array.size() / 8), ...); };
    more(out.feature, out.missing, out.depth, out.threshold, out.weight, out.impurity, out.first_child, out.first_branch, out.low, out.high,
         out.n_rows, out.children, out.branches);
    if (width < kManyValues) more(out.value);
  }

 private:
  // Lists the nodes of a tree in preorder, and adds their children; returns the number of nodes.
  std::size_t list(const Node& root) {
    nodes.clear();
    for (const Node* x = &root;;) {
      nodes.push_back(x);
      if (x->n_children) {
        const std::size_t first = out.children.size(), n = static_cast<std::size_t>(x->n_children);
        out.children.push_back(static_cast<std::int32_t>(nodes.size()));
        for (std::size_t j = 1; j < n; j++) out.children.push_back(0);
        for (std::size_t j = n; --j > 0;) fetch(x->children + j), todo.push_back({x->children + j, first + j});
        x = x->children;
      } else if (todo.empty()) {
        return nodes.size();
      } else {
        x = todo.back().node, out.children[todo.back().place] = static_cast<std::int32_t>(nodes.size());
        todo.pop_back();
      }
    }
  }

  void write_counts(const Node& x, std::size_t at) {
    double *value = out.value.data() + at * width, weight = 0;
    for (std::size_t c = 0; c < width; c++)
      if ((value[c] = x.stats[c]) != 0) weight += value[c];
    out.weight[at] = weight, out.impurity[at] = impurity_of(p.criterion, value, p.n_classes, weight);
  }

  // Exact sums of all nodes, from those at the leaves, and what follows from them.
  void write_sums(std::size_t first, const std::int64_t* children_at, const std::int32_t* children) {
    sums.assign(nodes.size() * Q, 0);
    for (std::size_t i = nodes.size(); i-- > 0;) {
      if (i >= kAhead) __builtin_prefetch(nodes[i - kAhead]->exact);
      std::int64_t* own = sums.data() + i * Q;
      if (nodes[i]->exact) std::copy_n(nodes[i]->exact, Q, own);
      for (std::int64_t c = children_at[i]; c < children_at[i + 1]; c++)
        for (std::size_t q = 0; q < Q; q++) own[q] += sums[static_cast<std::size_t>(children[c]) * Q + q];
      write_value(nodes[i]->exact, own, first + i);
    }
  }

  // The target of a leaf whose sums are the digits of a row; null for others.
  const double* target_of(const std::int64_t* exact) const {
    const auto address = [](const std::int64_t* digit) { return reinterpret_cast<std::uintptr_t>(digit); };
    const std::size_t bytes = static_cast<std::size_t>(p.exact.width) * sizeof *exact, place = address(exact) - address(p.exact.digits);
    if (place >= p.n_rows * bytes) return nullptr;
    return p.target + (place >> 32 ? place / bytes : static_cast<std::uint32_t>(place) / static_cast<std::uint32_t>(bytes));
  }

  // leaf: the sums of a leaf, where they are kept
  void write_value(const std::int64_t* leaf, const std::int64_t* exact, std::size_t at) {
    double *value = out.value.data() + at * width, &weight = out.weight[at], &impurity = out.impurity[at];
    weight = exact_weight(p, exact);
    if (!p.n_classes) {
      impurity = out.n_rows[at] > 1 ? exact_variance(p.exact, exact) : 0;
      if (const double* target = target_of(leaf)) value[0] = *target + 0.0;  // never −0
      else value[0] = exact_mean(p, exact);
      return;
    }
    const DigitGrid& grid = p.exact.grid[0];
    for (std::size_t c = 0; c < width; c++) value[c] = exact_value(grid, exact + c * static_cast<std::size_t>(grid.n));
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
