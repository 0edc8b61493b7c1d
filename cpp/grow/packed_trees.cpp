// Packs the finished trees of all tasks into arrays, in preorder, and computes what the nodes show:
// values, weights, impurities and thresholds. Where statistics are on a grid, values come from the
// exact sums of the leaves.
#include "packed_trees.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/huge_pages.hpp"
#include "grow/exact/exact.hpp"

namespace crosscut {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

double midpoint(float a, float b) {
  const double mid = static_cast<double>(a) / 2.0 + static_cast<double>(b) / 2.0;
  return mid == static_cast<double>(b) || mid == kInfinity || mid == -kInfinity
             ? static_cast<double>(a)
             : mid;
}

class Packer {
  struct Child {
    Node* node;
    std::size_t place;  // among all children of its tree
  };
  static constexpr std::size_t kManyValues = 64;
  static constexpr std::size_t kAhead = 8;  // sums are scattered in memory, so they are prefetched
  const Problem& p;
  PackedTrees& out;
  const std::size_t width = p.n_classes ? static_cast<std::size_t>(p.n_classes) : 1;
  const std::size_t Q = p.counted() ? 0 : static_cast<std::size_t>(p.n_sums());
  std::size_t size = 0;      // nodes so far
  std::size_t branches = 0;  // so far
  std::vector<Child> todo;
  Numbers<const std::int64_t*> sums;  // [node] exact sums of the leaves of a tree
  std::vector<std::int64_t> pending;  // sums of subtrees whose parents are still to come
  const bool share;
  std::size_t n_children = 0;             // so far, if trees share nodes
  Numbers<std::int64_t> shared_sums;      // [node][Q], if trees share nodes
  std::vector<Child> shared_children;     // of the current tree, with the place of the first
  const ClassWeights* weights = nullptr;  // of the current tree, or null
  Numbers<double> class_weight;           // ... as given
  std::vector<std::int64_t> weighted;     // digits of a node's class weights

 public:
  Packer(const Problem& problem, std::size_t n_shared, PackedTrees& trees)
      : p(problem), out(trees), share(n_shared > 0) {
    if (p.class_weights) class_weight.resize(width);
    if (share) make_room(n_shared);
  }

  // Counts the nodes of all trees, which share none, and makes exactly the room that they need.
  void count(Node* const* roots) {
    std::vector<const Node*> next;
    for (int t = 0; t < p.n_tasks; t++) {
      next.push_back(roots[t]);
      for (; !next.empty(); size++) {
        const Node& x = *next.back();
        next.pop_back();
        for (int j = 0; j < x.n_children; j++) next.push_back(x.children + j);
        if (x.n_children && p.columns[x.feature].nominal) branches += x.branches->n;
      }
      out.node_start.push_back(static_cast<std::int64_t>(size));
      out.branch_start.push_back(static_cast<std::int64_t>(branches));
    }
    make_room(size);
    out.children.resize(size - static_cast<std::size_t>(p.n_tasks));
    out.branches.resize(2 * branches);
    if (width >= kManyValues)
      invite_huge_pages(out.value.data(), out.value.size() * sizeof(double));
  }
  // Writes tree t, which shares no nodes, at the place that `count` found for it.
  void put(int t, Node& root) {
    weights = p.weights_of(static_cast<std::size_t>(t));
    for (std::size_t c = 0; c < width && weights; c++)
      class_weight[c] = exact_value(p.exact.grid[0],
                                    weights->digits + c * static_cast<std::size_t>(p.exact.width));
    size = static_cast<std::size_t>(out.node_start[static_cast<std::size_t>(t)]);
    branches = static_cast<std::size_t>(out.branch_start[static_cast<std::size_t>(t)]);
    if (Q)
      sums.resize(static_cast<std::size_t>(out.node_start[static_cast<std::size_t>(t) + 1]) - size);
    add(root, static_cast<std::size_t>(t));
  }

  // Writes the nodes of a tree in preorder. `todo` is a stack of the children that are still to be
  // written. If trees share nodes, children that an earlier tree contains are not written again.
  void add(Node& root, std::size_t n_trees = 0) {
    const std::size_t begin = size, first = share ? 0 : size;
    const std::size_t first_child = first - n_trees, first_branch = share ? 0 : branches;
    std::size_t children = n_children;
    const auto start = [&](std::size_t at) {
      out.first_child[at + n_trees] = static_cast<std::int64_t>(children);
      if (branches > first_branch)
        out.first_branch[at + n_trees] = static_cast<std::int64_t>(branches - first_branch);
    };
    const auto place = [&](std::size_t child) {
      out.children[first_child + child] = static_cast<std::int32_t>(size - first);
    };
    const auto next = [&]() -> Node* {
      if (todo.empty()) return nullptr;
      const Child child = todo.back();
      todo.pop_back();
      place(child.place);
      return child.node;
    };
    for (Node* x = &root; x;) {
      const std::size_t at = size++;
      out.feature[at] = x->feature;
      out.missing[at] = x->missing;
      out.depth[at] = x->depth;
      out.n_rows[at] = x->n_rows;
      start(at);
      if (!Q) write_counts(*x, at);
      if (const auto n = static_cast<std::size_t>(x->n_children)) {
        write_test(*x, at);
        if (share && children + n > out.children.size()) out.children.resize(2 * (children + n));
        const std::int64_t known = -x->children->n_rows;  // see share_children
        if (known > 0) {
          std::copy_n(out.children.data() + known - 1, n, out.children.data() + children);
          children += n;
          x = next();
          continue;
        }
        if (share) shared_children.push_back({x->children, children});
        for (std::size_t j = n; j-- > 1;) {
          __builtin_prefetch(x->children + j);
          todo.push_back({x->children + j, children + j});
        }
        place(children);
        children += n;
        x = x->children;
      } else {
        write_sides(at, {kNone, kNone}, kNone);
        if (Q) sums[at - first] = x->exact;
        x = next();
      }
    }
    start(size);
    if (share) {
      out.root.push_back(static_cast<std::int32_t>(begin));
      n_children = children;
      return share_children(begin);
    }
    if (Q) write_sums(first, out.first_child.data() + first + n_trees);
  }

  // Completes the arrays of trees that share nodes.
  void finish() {
    make_room(size);
    out.children.resize(n_children);
    out.first_child.resize(size + 1);
    out.first_branch.resize(size + 1);
    out.node_start.push_back(static_cast<std::int64_t>(size));
    out.branch_start.push_back(static_cast<std::int64_t>(branches));
  }

 private:
  void make_room(std::size_t nodes) {
    for (auto* array : {&out.feature, &out.missing, &out.depth}) array->resize(nodes);
    for (auto* array : {&out.threshold, &out.weight, &out.impurity}) array->resize(nodes);
    out.first_child.resize(nodes + static_cast<std::size_t>(p.n_tasks));
    out.first_branch.resize(nodes + static_cast<std::size_t>(p.n_tasks));
    out.low.resize(nodes);
    out.high.resize(nodes);
    out.n_rows.resize(nodes);
    out.value.resize(nodes * width);
    if (Q && share) sums.resize(nodes);
    if (share) out.size.resize(nodes);
    if (share) shared_sums.resize(nodes * Q);
  }

  // Completes the nodes from `begin` on, the current tree's own. Their children belong to this tree
  // or to earlier ones. Marks these children as known: the first one's n_rows becomes -1 less the
  // place of the children.
  void share_children(std::size_t begin) {
    for (std::size_t i = size; i-- > begin;) {
      const std::int32_t* child = out.children.data() + out.first_child[i];
      const auto n = static_cast<std::size_t>(out.first_child[i + 1] - out.first_child[i]);
      out.size[i] = 1;
      for (std::size_t j = 0; j < n; j++) out.size[i] += out.size[child[j]];
      if (!Q) continue;
      std::int64_t* to = shared_sums.data() + i * Q;
      const double* target = n ? nullptr : target_of(sums[i]);
      const std::int64_t times = target ? out.n_rows[i] : 1;
      for (std::size_t q = 0; q < Q; q++) to[q] = n ? 0 : times * sums[i][q];
      for (std::size_t j = 0; j < n; j++)
        for (std::size_t q = 0; q < Q; q++)
          to[q] += shared_sums[static_cast<std::size_t>(child[j]) * Q + q];
      write_value(target, to, i, n == 2 ? child : nullptr);
    }
    for (const Child& known : shared_children)
      known.node->n_rows = -1 - static_cast<std::int64_t>(known.place);
    shared_children.clear();
  }

  void write_test(const Node& x, std::size_t at) {
    const Column& column = p.columns[x.feature];
    if (column.nominal) {
      if (share) out.branches.resize(2 * (branches + x.branches->n));
      std::int32_t* to = out.branches.data() + 2 * branches;
      for (std::int32_t j = 0; const CategoryBranches::Entry& e : *x.branches) {
        *to++ = static_cast<std::int32_t>(e.category);
        *to++ = p.multiway ? j++ : e.second;
      }
      branches += x.branches->n;
      write_sides(at, {kNone, kNone}, kNone);
    } else if (column.edges) {
      write_sides(at, {kNone, kNone}, x.threshold);
    } else {
      write_sides(at, x.sides,
                  std::isnan(x.sides.low) ? kInfinity : midpoint(x.sides.low, x.sides.high));
    }
  }
  void write_sides(std::size_t at, const Node::Sides& sides, double threshold) {
    out.threshold[at] = threshold;
    out.low[at] = sides.low;
    out.high[at] = sides.high;
  }

  void write_counts(const Node& x, std::size_t at) {
    if (weights) return write_weights(x, at);
    double *value = out.value.data() + at * width, weight = 0;
    for (std::size_t c = 0; c < width; c++)
      if ((value[c] = x.stats[c]) != 0) weight += value[c];
    out.weight[at] = weight;
    out.impurity[at] = p.criterion->impurity(value, p.n_classes, weight);
  }

  // The same with class weights: the sum of a class is its count times its weight.
  void write_weights(const Node& x, std::size_t at) {
    double* value = out.value.data() + at * width;
    double& weight = out.weight[at];
    int present = 0;
    weight = 0;
    for (std::size_t c = 0; c < width; c++) {
      value[c] = x.stats[c] * class_weight[c];  // rounded once
      present += value[c] > 0;
      weight += value[c];
    }
    if (present > 1) {
      const auto digits = static_cast<std::size_t>(p.exact.width);
      weighted.resize(width * digits);
      for (std::size_t d = 0; d < weighted.size(); d++)
        weighted[d] = static_cast<std::int64_t>(x.stats[d / digits]) * weights->digits[d];
      weight = exact_weight(p, weighted.data());
    }
    out.impurity[at] = p.criterion->impurity(value, p.n_classes, weight);
  }

  // Adds up the exact sums of all nodes from the leaves and writes their values. Backwards, because
  // children come after their parents.
  void write_sums(std::size_t first, const std::int64_t* children_at) {
    std::size_t waiting = 0;
    for (std::size_t i = size - first; i-- > 0;) {
      if (i >= kAhead) __builtin_prefetch(sums[i - kAhead]);
      const auto n = static_cast<std::size_t>(children_at[i + 1] - children_at[i]);
      const double* target = nullptr;
      if (n) {
        waiting -= n - 1;
      } else {
        if (pending.size() <= waiting * Q) pending.resize(2 * (waiting + 1) * Q);
        target = target_of(sums[i]);
        waiting++;
      }
      std::int64_t* to = pending.data() + (waiting - 1) * Q;
      const std::int64_t times = target ? out.n_rows[first + i] : 1;
      for (std::size_t q = 0; q < Q && !n; q++) to[q] = times * sums[i][q];
      for (std::size_t child = 1; child < n; child++)
        for (std::size_t q = 0; q < Q; q++) to[q] += to[child * Q + q];
      const std::int32_t two[] = {static_cast<std::int32_t>(first + i + 1),
                                  static_cast<std::int32_t>(first + i + 2)};
      write_value(target, to, first + i, n == 2 ? two : nullptr);
    }
  }

  // The target of a leaf whose sums are the digits of one row; null for other leaves.
  const double* target_of(const std::int64_t* exact) const {
    const auto address = [](const std::int64_t* digit) {
      return reinterpret_cast<std::uintptr_t>(digit);
    };
    const std::size_t bytes = static_cast<std::size_t>(p.exact.width) * sizeof *exact;
    const std::size_t place = address(exact) - address(p.exact.digits);
    if (place >= p.n_rows * bytes) return nullptr;
    return p.target + (place >> 32
                           ? place / bytes
                           : static_cast<std::uint32_t>(place) / static_cast<std::uint32_t>(bytes));
  }

  // target: of all rows of the node, or null; two: the children if they are two, and those of two
  // rows are the nodes
  void write_value(const double* target, const std::int64_t* exact, std::size_t at,
                   const std::int32_t* two) {
    double* value = out.value.data() + at * width;
    double& weight = out.weight[at];
    double& impurity = out.impurity[at];
    weight =
        p.weight || p.multiplicity ? exact_weight(p, exact) : static_cast<double>(out.n_rows[at]);
    if (!p.n_classes) {
      if (two && weight == 2 && !p.weight && !p.multiplicity &&
          moments_of_two(out.value[two[0]], out.value[two[1]], value[0], impurity))
        return;
      impurity = target ? 0 : exact_variance(p.exact, exact);
      value[0] = target ? *target + 0.0 : exact_mean(p, exact);  // + 0.0: never −0
      return;
    }
    const DigitGrid& grid = p.exact.grid[0];
    for (std::size_t c = 0; c < width; c++)
      value[c] = exact_value(grid, exact + c * static_cast<std::size_t>(grid.n));
    impurity = p.criterion->impurity(value, p.n_classes, weight);
  }
};

}  // namespace

void pack_shared_trees(const Problem& p, Node* const* roots, std::size_t n_nodes,
                       PackedTrees& out) {
  Packer packer(p, n_nodes, out);
  for (int t = 0; t < p.n_tasks; t++) packer.add(*roots[t]);
  packer.finish();
}

void pack_trees(const Problem& p, Node* const* roots, PackedTrees& out,
                void (*packed)(void*, int task), void* argument) {
  Packer packer(p, 0, out);
  packer.count(roots);
  for (int t = p.n_tasks; t-- > 0;) {
    packer.put(t, *roots[t]);
    packed(argument, t);
  }
}

}  // namespace crosscut
