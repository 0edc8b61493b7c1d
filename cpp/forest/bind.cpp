// Bindings for grown trees: prediction, pruning and smaller trees inside them. They check all
// arguments.
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>

#include "base/additional_errors.hpp"
#include "base/arrays.hpp"
#include "base/huge_pages.hpp"
#include "base/threads.hpp"
#include "cut.hpp"
#include "predict.hpp"
#include "prune.hpp"
#include "shared.hpp"
#include "subtree.hpp"

using namespace crosscut;

namespace {

using Ints = Array<std::int32_t>;
using Longs = Array<std::int64_t>;
using Reals = Array<double>;
using Pairs = Matrix<std::int32_t>;  // with two columns

// The arrays of crosscut.forest.forest.Packed that the core reads. They are checked once, so that
// no walk can leave them.
struct Forest : Held<Trees> {
  Tests tests;
  Nodes nodes;  // without impurities, which stop_nodes takes as an argument
  std::size_t size;

  Forest(const Longs& node_start_, const Longs& branch_start, const Ints& feature,
         const Reals& threshold, const Ints& missing, const Longs& first_child_,
         const Ints& children_, const Longs& first_branch, const Pairs& branches, const Ints& depth,
         const Longs& n_rows, const Reals& weight)
      : size(feature.size()) {
    need(node_start_.size() > 0, "node_start must have n_trees + 1 entries");
    need(size < static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()),
         "there are too many nodes to count");
    need(threshold.size() == size && missing.size() == size && depth.size() == size &&
             n_rows.size() == size && weight.size() == size,
         "feature, threshold, missing, depth, n_rows and weight must have one entry per node");
    need(first_branch.size() == first_child_.size(),
         "first_branch must have as many entries as first_child");
    need(branches.shape(1) == 2, "branches must have two columns");
    need_offsets(branch_start, node_start_.size() - 1, branches.shape(0),
                 "branch_start must run from 0 to the number of branches");
    static_cast<Trees&>(*this) = {static_cast<std::int64_t>(node_start_.size()) - 1,
                                  hold(node_start_),
                                  hold(first_child_),
                                  hold(children_),
                                  static_cast<std::int64_t>(first_child_.size()),
                                  static_cast<std::int64_t>(children_.size())};
    check(static_cast<std::int64_t>(size));
    tests = {hold(feature),      hold(threshold),    hold(missing),
             hold(first_branch), hold(branch_start), hold(branches)};
    nodes = {hold(depth), hold(n_rows), hold(weight), nullptr};
  }

  std::size_t count() const { return static_cast<std::size_t>(n_trees); }

  // Returns the leaf of every row in every tree; with `rows`, the leaves of each tree's rows, tree
  // by tree.
  nb::object apply(const AnyMatrix& x, const std::optional<Longs>& rows,
                   const std::optional<Longs>& row_start, int n_threads) const {
    const std::size_t n = x.shape(0);
    need(rows.has_value() == row_start.has_value(), "rows and row_start belong together");
    if (rows) {
      check_row_start(*row_start, rows->size());
      need_within(*rows, 0, static_cast<std::int64_t>(n), "rows must be rows of X");
    }
    const std::size_t n_out = rows ? rows->size() : count() * n;
    std::unique_ptr<std::int32_t[]> leaf = new_array<std::int32_t>(n_out);
    const Request request{rows ? rows->data() : nullptr, rows ? row_start->data() : nullptr,
                          n_threads};
    with_numbers(x, [&](const auto& strided) {
      nb::gil_scoped_release release;
      crosscut::apply(*this, tests, strided, request, leaf.get());
    });
    return nb::cast(rows ? give(std::move(leaf), {n_out}) : give(std::move(leaf), {count(), n}));
  }

  nb::object parents() const {
    std::unique_ptr<std::int32_t[]> parent(new std::int32_t[size]);
    for (std::int64_t t = 0; t < n_trees; t++)
      crosscut::parents(*this, t, parent.get() + node_start[t]);
    return nb::cast(give(std::move(parent), {size}));
  }

  nb::object node_alphas(const Reals& risk, int n_threads) const {
    need(risk.size() == size, "risk must have one entry per node");
    std::unique_ptr<double[]> alpha(new double[size]);
    {
      nb::gil_scoped_release release;
      parallel_for(n_trees, 1, size < 4096 ? 1 : n_threads,
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t t = begin; t < end; t++) {
                       const std::int64_t at = node_start[t];
                       crosscut::node_alphas(*this, t, risk.data() + at, alpha.get() + at);
                     }
                   });
    }
    return nb::cast(give(std::move(alpha), {size}));
  }

  nb::object shrink(const Matrix<double>& own, double lambda) const {
    const NodeValues values = values_of(own);
    need(lambda >= 0, "strength must be at least 0");
    std::unique_ptr<double[]> shrunk(new double[own.size()]);
    {
      nb::gil_scoped_release release;
      crosscut::shrink(*this, values, lambda, shrunk.get());
    }
    return nb::cast(give(std::move(shrunk), {size, own.shape(1)}));
  }

  // (sum, sum of squares) of the losses of rows, for each level and strength of shrinkage
  nb::tuple cut_losses(const Ints& level, std::int64_t n_levels, const Ints& leaf,
                       const Longs& row_start, const Matrix<double>& own,
                       const std::string& measure, const Reals& y,
                       const std::optional<Reals>& row_weight,
                       const std::optional<Matrix<double>>& cost, const Reals& lambdas) const {
    check_ends(level, n_levels, leaf, row_start);
    const NodeValues values = values_of(own);
    const Losses losses = losses_of(values, measure, y, leaf.size(), cost, lambdas);
    need(!row_weight || row_weight->size() == leaf.size(), "weight must have one entry per leaf");
    const std::size_t n = static_cast<std::size_t>(n_levels);
    std::unique_ptr<double[]> sum(new double[n * kLanes]), squares(new double[n * kLanes]);
    {
      nb::gil_scoped_release release;
      Losses weighted = losses;
      weighted.weight = row_weight ? row_weight->data() : nullptr;
      crosscut::cut_losses(*this, {level.data(), n_levels}, {leaf.data(), row_start.data()}, values,
                           weighted, sum.get(), squares.get());
    }
    return nb::make_tuple(give(std::move(sum), {n, std::size_t{kLanes}}),
                          give(std::move(squares), {n, std::size_t{kLanes}}));
  }

  // The losses of each row at some ascending levels, each with the strength of a lane.
  nb::object row_losses(const Ints& level, std::int64_t n_levels, const Ints& leaf,
                        const Longs& row_start, const Matrix<double>& own,
                        const std::string& measure, const Reals& y,
                        const std::optional<Matrix<double>>& cost, const Reals& lambdas,
                        const Ints& chosen_level, const Ints& chosen_lane) const {
    check_ends(level, n_levels, leaf, row_start);
    const NodeValues values = values_of(own);
    const Losses losses = losses_of(values, measure, y, leaf.size(), cost, lambdas);
    need(chosen_lane.size() == chosen_level.size(), "chosen levels and lanes belong together");
    need_within(chosen_level, 0, n_levels, "chosen_level must be levels");
    need_within(chosen_lane, 0, kLanes, "chosen_lane must be from 0 to 7");
    need(std::is_sorted(chosen_level.data(), chosen_level.data() + chosen_level.size()),
         "chosen_level must ascend");
    const std::size_t n = leaf.size(), m = chosen_level.size();
    std::unique_ptr<double[]> loss(new double[n * m]);
    {
      nb::gil_scoped_release release;
      crosscut::row_losses(*this, {level.data(), n_levels}, {leaf.data(), row_start.data()}, values,
                           losses, chosen_level.data(), chosen_lane.data(),
                           static_cast<std::int64_t>(m), loss.get());
    }
    return nb::cast(give(std::move(loss), {n, m}));
  }

  nb::object stop_nodes(const Reals& node_impurity, std::int32_t max_depth, std::int64_t max_leaves,
                        std::int64_t min_samples_split, double min_decrease, double min_impurity,
                        double alpha, bool exact_ties) const {
    need(node_impurity.size() == size, "impurity must have one entry per node");
    std::unique_ptr<std::int32_t[]> stop(new std::int32_t[size]);
    {
      nb::gil_scoped_release release;
      crosscut::stop_nodes(
          *this, {nodes.depth, nodes.n_rows, nodes.weight, node_impurity.data()},
          {max_depth, max_leaves, min_samples_split, min_decrease, min_impurity, alpha, exact_ties},
          stop.get());
    }
    return nb::cast(give(std::move(stop), {size}));
  }

 private:
  NodeValues values_of(const Matrix<double>& own) const {
    need(own.shape(0) == size && own.shape(1) > 0, "own must have a row per node");
    return {own.data(), nodes.weight, static_cast<std::int64_t>(own.shape(1))};
  }

  static Losses losses_of(const NodeValues& values, const std::string& name, const Reals& y,
                          std::size_t n_rows, const std::optional<Matrix<double>>& cost,
                          const Reals& lambdas) {
    const std::array<const char*, 5> names{"squared", "absolute", "brier", "log",
                                           "cost"};  // by Measure
    const auto known = std::find(names.begin(), names.end(), name);
    need(known != names.end(), "measure must be squared, absolute, brier, log or cost");
    Losses losses{static_cast<Measure>(known - names.begin()),
                  y.data(),
                  nullptr,
                  cost ? cost->data() : nullptr,
                  {}};
    need(y.size() == n_rows, "y must have one entry per leaf");
    if (losses.measure == Measure::squared || losses.measure == Measure::absolute) {
      need(values.n_values == 1, "errors of numbers need one value per node");
    } else {
      const double k = static_cast<double>(values.n_values);
      need(std::all_of(y.data(), y.data() + n_rows, [&](double c) { return c >= 0 && c < k; }),
           "y must be classes");
    }
    const std::size_t k = static_cast<std::size_t>(values.n_values);
    need(!cost || (cost->shape(0) == k && cost->shape(1) == k),
         "cost must have a row and a column per class");
    need(lambdas.size() == kLanes, "lambdas must have 8 entries");
    std::copy_n(lambdas.data(), kLanes, losses.lambda);
    return losses;
  }

  void check_row_start(const Longs& row_start, std::size_t n) const {
    need_offsets(row_start, count(), n,
                 "row_start must run from 0 to the number of rows, once per tree");
  }

  void check_ends(const Ints& level, std::int64_t n_levels, const Ints& leaf,
                  const Longs& row_start) const {
    need(level.size() == size, "level must have one entry per node");
    need(n_levels >= 0 &&
             n_levels <= std::max<std::int64_t>(static_cast<std::int64_t>(size), 1 << 24),
         "n_levels must be from 0 to the number of nodes, or to 2**24");
    check_row_start(row_start, leaf.size());
    for (std::int64_t t = 0; t < n_trees; t++) {
      const std::int64_t first = row_start.data()[t], end = row_start.data()[t + 1];
      need(all_within(leaf.data() + first, static_cast<std::size_t>(end - first), 0, n_nodes(t)),
           "leaf must be a node of the row's tree");
    }
    need_within(level, 0, std::numeric_limits<std::int64_t>::max(), "level must not be negative");
  }
};

// The same for trees that share nodes; the arrays are those of one tree with several roots.
struct HeldSharedTrees : Held<SharedTrees> {
  std::int64_t branch_start[2] = {};

  HeldSharedTrees(const Ints& size_, const Ints& feature, const Reals& threshold,
                  const Ints& missing, const Longs& first_child, const Ints& children,
                  const Longs& first_branch, const Pairs& branches, const Ints& depth_) {
    const std::size_t n = feature.size();
    need(n > 0 && n < static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()),
         "there must be nodes, and not too many to count");
    need(size_.size() == n && threshold.size() == n && missing.size() == n && depth_.size() == n,
         "size, feature, threshold, missing and depth must have one entry per node");
    need(first_child.size() == n + 1 && first_branch.size() == n + 1,
         "first_child and first_branch must have one more entry than there are nodes");
    need(branches.shape(1) == 2, "branches must have two columns");
    n_nodes = static_cast<std::int64_t>(n);
    size = hold(size_);
    depth = hold(depth_);
    nodes = {};
    nodes.first_child = hold(first_child);
    nodes.children = hold(children);
    nodes.n_children = static_cast<std::int64_t>(children.size());
    branch_start[1] = static_cast<std::int64_t>(branches.shape(0));
    tests = {hold(feature),      hold(threshold), hold(missing),
             hold(first_branch), branch_start,    hold(branches)};
    check();
  }
  HeldSharedTrees(const HeldSharedTrees&) = delete;

  void check_roots(const Ints& root) const { need_within(root, 0, n_nodes, "root must be a node"); }

  nb::object apply(const Ints& root, const AnyMatrix& x, const Longs& rows,
                   const Longs& row_start) const {
    check_roots(root);
    need_offsets(row_start, root.size(), rows.size(),
                 "row_start must run from 0 to the number of rows, once per tree");
    need_within(rows, 0, static_cast<std::int64_t>(x.shape(0)), "rows must be rows of X");
    need(static_cast<std::int64_t>(x.shape(1)) > largest_feature(),
         "X has too few columns for the trees");
    std::unique_ptr<std::int32_t[]> leaf = new_array<std::int32_t>(rows.size());
    with_numbers(x, [&](const auto& strided) {
      nb::gil_scoped_release release;
      SharedTrees::apply(root.data(), static_cast<std::int64_t>(root.size()), strided,
                         {rows.data(), row_start.data(), 1}, leaf.get());
    });
    return nb::cast(give(std::move(leaf), {rows.size()}));
  }

  // The node of each number, counted in preorder over all trees.
  nb::object nodes_of(const Ints& root, const Longs& node_start, const Longs& numbers) const {
    check_roots(root);
    const std::int64_t* start = node_start.data();
    const std::size_t n = root.size();
    need(node_start.size() == n + 1 && start[0] == 0, "node_start must have n_trees + 1 entries");
    for (std::size_t t = 0; t < n; t++)
      need(start[t + 1] == start[t] + size[root.data()[t]],
           "node_start must count the nodes of each tree");
    need_within(numbers, 0, start[n], "numbers must be nodes of the trees");
    std::unique_ptr<std::int32_t[]> node(new std::int32_t[numbers.size()]);
    std::int64_t t = 0;
    for (std::size_t i = 0; i < numbers.size(); i++) {
      const std::int64_t number = numbers.data()[i];
      if (number < start[t] || number >= start[t + 1])
        t = std::upper_bound(start, start + n, number) - start - 1;
      node[i] = node_of(root.data()[t], number - start[t]);
    }
    return nb::cast(give(std::move(node), {numbers.size()}));
  }

  // The nodes of all trees in preorder, and the numbers of their children.
  nb::tuple unfold(const Ints& root) const {
    check_roots(root);
    std::size_t n = 0;
    for (std::size_t t = 0; t < root.size(); t++)
      n += static_cast<std::size_t>(size[root.data()[t]]);
    const std::size_t n_children = n - root.size();
    std::unique_ptr<std::int32_t[]> node(new std::int32_t[n]), child(new std::int32_t[n_children]);
    {
      nb::gil_scoped_release release;
      SharedTrees::unfold(root.data(), static_cast<std::int64_t>(root.size()), node.get(),
                          child.get());
    }
    return nb::make_tuple(give(std::move(node), {n}), give(std::move(child), {n_children}));
  }
};

// Returns the leaves of a few rows of each tree, tree by tree. The arrays are those of Forest, but
// only nodes on the rows' paths are checked.
nb::object leaves_of_few(const Longs& node_start, const Longs& branch_start, const Ints& feature,
                         const Reals& threshold, const Ints& missing, const Longs& first_child,
                         const Ints& children, const Longs& first_branch, const Pairs& branches,
                         const AnyMatrix& x, const Longs& rows, const Longs& row_start) {
  const std::size_t n_nodes = feature.size(), n_trees = node_start.size() - 1;
  need(node_start.size() > 0, "node_start must have n_trees + 1 entries");
  need(n_nodes < static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()),
       "there are too many nodes to count");
  need_offsets(node_start, n_trees, n_nodes, "node_start must run from 0 to the number of nodes");
  for (std::size_t t = 0; t < n_trees; t++)
    need(node_start.data()[t] < node_start.data()[t + 1], "every tree needs at least one node");
  need(branches.shape(1) == 2, "branches must have two columns");
  need_offsets(branch_start, n_trees, branches.shape(0),
               "branch_start must run from 0 to the number of branches");
  need_offsets(row_start, n_trees, rows.size(),
               "row_start must run from 0 to the number of rows, once per tree");
  need(threshold.size() == n_nodes && missing.size() == n_nodes,
       "feature, threshold and missing must have one entry per node");
  need(first_child.size() == n_nodes + n_trees && first_branch.size() == n_nodes + n_trees &&
           children.size() == n_nodes - n_trees,
       "first_child and first_branch must have n_nodes + n_trees entries, children n_nodes - "
       "n_trees");
  need_within(rows, 0, static_cast<std::int64_t>(x.shape(0)), "rows must be rows of X");
  const Trees trees{static_cast<std::int64_t>(n_trees),
                    node_start.data(),
                    first_child.data(),
                    children.data(),
                    static_cast<std::int64_t>(first_child.size()),
                    static_cast<std::int64_t>(children.size())};
  const Tests tests{feature.data(),      threshold.data(),    missing.data(),
                    first_branch.data(), branch_start.data(), branches.data()};
  std::unique_ptr<std::int32_t[]> leaf = new_array<std::int32_t>(rows.size());
  with_numbers(x, [&](const auto& strided) {
    nb::gil_scoped_release release;
    apply_to_few(trees, tests, strided, {rows.data(), row_start.data(), 1}, leaf.get());
  });
  return nb::cast(give(std::move(leaf), {rows.size()}));
}

}  // namespace

void bind_forest(nb::module_& m) {
  nb::class_<Forest>(m, "Forest")
      .def(nb::init<const Longs&, const Longs&, const Ints&, const Reals&, const Ints&,
                    const Longs&, const Ints&, const Longs&, const Pairs&, const Ints&,
                    const Longs&, const Reals&>(),
           "node_start"_a, "branch_start"_a, "feature"_a, "threshold"_a, "missing"_a,
           "first_child"_a, "children"_a, "first_branch"_a, "branches"_a, "depth"_a, "n_rows"_a,
           "weight"_a)
      .def("apply", &Forest::apply, "x"_a, "rows"_a.none(), "row_start"_a.none(), "n_threads"_a)
      .def("parents", &Forest::parents)
      .def("node_alphas", &Forest::node_alphas, "risk"_a, "n_threads"_a)
      .def("shrink", &Forest::shrink, "own"_a, "strength"_a)
      .def("cut_losses", &Forest::cut_losses, "level"_a, "n_levels"_a, "leaf"_a, "row_start"_a,
           "own"_a, "measure"_a, "y"_a, "weight"_a.none(), "cost"_a.none(), "lambdas"_a)
      .def("row_losses", &Forest::row_losses, "level"_a, "n_levels"_a, "leaf"_a, "row_start"_a,
           "own"_a, "measure"_a, "y"_a, "cost"_a.none(), "lambdas"_a, "chosen_level"_a,
           "chosen_lane"_a)
      .def("stop_nodes", &Forest::stop_nodes, "impurity"_a, "max_depth"_a, "max_leaves"_a,
           "min_samples_split"_a, "min_decrease"_a, "min_impurity"_a, "alpha"_a, "exact_ties"_a);
  nb::class_<HeldSharedTrees>(m, "SharedTrees")
      .def(nb::init<const Ints&, const Ints&, const Reals&, const Ints&, const Longs&, const Ints&,
                    const Longs&, const Pairs&, const Ints&>(),
           "size"_a, "feature"_a, "threshold"_a, "missing"_a, "first_child"_a, "children"_a,
           "first_branch"_a, "branches"_a, "depth"_a)
      .def("apply", &HeldSharedTrees::apply, "root"_a, "x"_a, "rows"_a, "row_start"_a)
      .def("nodes_of", &HeldSharedTrees::nodes_of, "root"_a, "node_start"_a, "numbers"_a)
      .def("unfold", &HeldSharedTrees::unfold, "root"_a);
  m.def("additional_errors", &additional_errors, "n"_a, "errors"_a, "confidence"_a);
  m.def("leaves_of_few", &leaves_of_few, "node_start"_a, "branch_start"_a, "feature"_a,
        "threshold"_a, "missing"_a, "first_child"_a, "children"_a, "first_branch"_a, "branches"_a,
        "x"_a, "rows"_a, "row_start"_a);
}
