// Python's way to prediction and pruning; all arguments are checked here.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <memory>
#include <optional>

#include "predict.hpp"
#include "prune.hpp"
#include "../threads.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

template <class T>
using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Ints = Array<std::int32_t>;
using Longs = Array<std::int64_t>;
using Reals = Array<double>;

template <class T>
nb::ndarray<nb::numpy, T> give(std::unique_ptr<T[]> data, std::initializer_list<std::size_t> shape) {
  T* raw = data.get();
  nb::capsule owner(data.release(), [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return nb::ndarray<nb::numpy, T>(raw, shape, owner);
}

template <class T>
nb::ndarray<nb::numpy, T> give(const std::vector<T>& from) {
  std::unique_ptr<T[]> data(new T[from.size()]);
  std::copy(from.begin(), from.end(), data.get());
  return give(std::move(data), {from.size()});
}

void need(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

crosscut::Trees view(const Longs& node_start, const Longs& first_child, const Ints& children, std::size_t n_nodes) {
  need(node_start.size() > 0, "node_start must have n_trees + 1 entries");
  crosscut::Trees trees;
  trees.n_trees = static_cast<std::int64_t>(node_start.size()) - 1;
  trees.node_start = node_start.data();
  trees.first_child = first_child.data();
  trees.children = children.data();
  trees.n_first_child = static_cast<std::int64_t>(first_child.size());
  trees.n_children = static_cast<std::int64_t>(children.size());
  trees.check(static_cast<std::int64_t>(n_nodes));
  return trees;
}

void check_row_start(const crosscut::Trees& trees, const Longs& row_start, std::size_t n_rows) {
  need(static_cast<std::int64_t>(row_start.size()) == trees.n_trees + 1, "row_start must have n_trees + 1 entries");
  const std::int64_t* start = row_start.data();
  need(start[0] == 0 && start[trees.n_trees] == static_cast<std::int64_t>(n_rows),
       "row_start must run from 0 to the number of rows");
  for (std::int64_t t = 0; t < trees.n_trees; t++) need(start[t] <= start[t + 1], "row_start must not decrease");
}

nb::object apply(Longs node_start, Longs first_child, Ints children, Ints feature, Reals threshold, Ints missing,
                 Longs first_branch, Longs branch_start, Ints branches, Matrix<float> x, std::optional<Longs> rows,
                 std::optional<Longs> row_start, int n_threads) {
  const std::size_t n_nodes = feature.size();
  const crosscut::Trees trees = view(node_start, first_child, children, n_nodes);
  need(threshold.size() == n_nodes && missing.size() == n_nodes, "threshold and missing must have one entry per node");
  need(first_branch.size() == first_child.size(), "first_branch must have as many entries as first_child");
  need(branch_start.size() == node_start.size(), "branch_start must have n_trees + 1 entries");
  for (std::int64_t t = 0; t < trees.n_trees; t++)
    need(branch_start.data()[t] >= 0 && branch_start.data()[t] <= branch_start.data()[t + 1],
         "branch_start must not decrease");
  need(branch_start.data()[trees.n_trees] <= static_cast<std::int64_t>(branches.size()),
       "branch_start must end at the number of branches");
  need(rows.has_value() == row_start.has_value(), "rows and row_start belong together");
  const crosscut::Tests tests{feature.data(),      threshold.data(),    missing.data(),
                              first_branch.data(), branch_start.data(), branches.data()};
  const std::size_t n_rows = x.shape(0), n_trees = static_cast<std::size_t>(trees.n_trees);
  if (rows) {
    check_row_start(trees, *row_start, rows->size());
    for (std::size_t k = 0; k < rows->size(); k++)
      need(rows->data()[k] >= 0 && rows->data()[k] < static_cast<std::int64_t>(n_rows), "rows must be rows of X");
  }
  const std::size_t n_out = rows ? rows->size() : n_trees * n_rows;
  std::unique_ptr<std::int32_t[]> leaf(new std::int32_t[n_out]);
  const crosscut::Request request{x.data(),
                                  static_cast<std::int64_t>(n_rows),
                                  static_cast<std::int64_t>(x.shape(1)),
                                  rows ? rows->data() : nullptr,
                                  rows ? row_start->data() : nullptr,
                                  n_threads};
  {
    nb::gil_scoped_release release;
    crosscut::apply(trees, tests, request, leaf.get());
  }
  if (rows) return nb::cast(give(std::move(leaf), {n_out}));
  return nb::cast(give(std::move(leaf), {n_trees, n_rows}));
}

nb::tuple pruning_paths(Longs node_start, Longs first_child, Ints children, Reals weight, Reals impurity, int n_threads) {
  const std::size_t n_nodes = weight.size();
  need(impurity.size() == n_nodes, "weight and impurity must have one entry per node");
  const crosscut::Trees trees = view(node_start, first_child, children, n_nodes);
  std::unique_ptr<double[]> node_alpha(new double[n_nodes]);
  std::vector<crosscut::Path> paths(static_cast<std::size_t>(trees.n_trees));
  {
    nb::gil_scoped_release release;
    crosscut::parallel_for(trees.n_trees, 1, n_nodes < 4096 ? 1 : n_threads, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t t = begin; t < end; t++) {
        const std::int64_t at = trees.node_start[t];
        paths[static_cast<std::size_t>(t)] =
            crosscut::pruning_path(trees, t, weight.data() + at, impurity.data() + at, node_alpha.get() + at);
      }
    });
  }
  std::vector<std::int64_t> step_start{0};
  crosscut::Path all;
  for (const crosscut::Path& path : paths) {
    all.alpha.insert(all.alpha.end(), path.alpha.begin(), path.alpha.end());
    all.impurity.insert(all.impurity.end(), path.impurity.begin(), path.impurity.end());
    all.n_leaves.insert(all.n_leaves.end(), path.n_leaves.begin(), path.n_leaves.end());
    step_start.push_back(static_cast<std::int64_t>(all.alpha.size()));
  }
  return nb::make_tuple(give(std::move(node_alpha), {n_nodes}), give(step_start), give(all.alpha), give(all.impurity),
                        give(all.n_leaves));
}

nb::object parents(Longs node_start, Longs first_child, Ints children) {
  need(node_start.size() > 0, "node_start must have n_trees + 1 entries");
  const std::size_t n_nodes = children.size() + node_start.size() - 1;
  const crosscut::Trees trees = view(node_start, first_child, children, n_nodes);
  std::unique_ptr<std::int32_t[]> parent(new std::int32_t[n_nodes]);
  for (std::int64_t t = 0; t < trees.n_trees; t++) crosscut::parents(trees, t, parent.get() + trees.node_start[t]);
  return nb::cast(give(std::move(parent), {n_nodes}));
}

struct Checked {
  crosscut::Trees trees;
  crosscut::Levels levels;
  crosscut::Ends ends;
};

Checked check_ends(const Longs& node_start, const Longs& first_child, const Ints& children, const Ints& level,
                   std::int64_t n_levels, const Ints& leaf, const Longs& row_start) {
  Checked checked{view(node_start, first_child, children, level.size()),
                  {level.data(), n_levels},
                  {leaf.data(), row_start.data()}};
  need(n_levels >= 0, "n_levels must not be negative");
  check_row_start(checked.trees, row_start, leaf.size());
  for (std::int64_t t = 0; t < checked.trees.n_trees; t++)
    for (std::int64_t r = row_start.data()[t]; r < row_start.data()[t + 1]; r++)
      need(leaf.data()[r] >= 0 && leaf.data()[r] < checked.trees.n_nodes(t), "leaf must be a node of the row's tree");
  for (std::size_t i = 0; i < level.size(); i++) need(level.data()[i] >= 0, "level must not be negative");
  return checked;
}

nb::object cut_leaves(Longs node_start, Longs first_child, Ints children, Ints level, std::int64_t n_levels, Ints leaf,
                      Longs row_start) {
  const Checked c = check_ends(node_start, first_child, children, level, n_levels, leaf, row_start);
  const std::size_t n = static_cast<std::size_t>(n_levels);
  std::unique_ptr<std::int32_t[]> end(new std::int32_t[n * leaf.size()]);
  {
    nb::gil_scoped_release release;
    crosscut::cut_leaves(c.trees, c.levels, c.ends, end.get());
  }
  return nb::cast(give(std::move(end), {n, leaf.size()}));
}

nb::tuple cut_losses(Longs node_start, Longs first_child, Ints children, Ints level, std::int64_t n_levels, Ints leaf,
                     Longs row_start, Reals prediction, Reals y, std::optional<Reals> weight, bool squared) {
  const Checked c = check_ends(node_start, first_child, children, level, n_levels, leaf, row_start);
  need(prediction.size() == level.size(), "prediction must have one entry per node");
  need(y.size() == leaf.size() && (!weight || weight->size() == leaf.size()),
       "y and weight must have one entry per leaf");
  const std::size_t n = static_cast<std::size_t>(n_levels);
  std::unique_ptr<double[]> sum(new double[n]), squares(new double[n]);
  {
    nb::gil_scoped_release release;
    const crosscut::Losses losses{prediction.data(), y.data(), weight ? weight->data() : nullptr, squared};
    crosscut::cut_losses(c.trees, c.levels, c.ends, losses, sum.get(), squares.get());
  }
  return nb::make_tuple(give(std::move(sum), {n}), give(std::move(squares), {n}));
}

}  // namespace

void bind_predict(nb::module_& m) {
  m.def("apply", &apply, "node_start"_a, "first_child"_a, "children"_a, "feature"_a, "threshold"_a, "missing"_a,
        "first_branch"_a, "branch_start"_a, "branches"_a, "x"_a, "rows"_a.none(), "row_start"_a.none(), "n_threads"_a);
  m.def("pruning_paths", &pruning_paths, "node_start"_a, "first_child"_a, "children"_a, "weight"_a, "impurity"_a,
        "n_threads"_a);
  m.def("parents", &parents, "node_start"_a, "first_child"_a, "children"_a);
  m.def("cut_leaves", &cut_leaves, "node_start"_a, "first_child"_a, "children"_a, "level"_a, "n_levels"_a, "leaf"_a,
        "row_start"_a);
  m.def("cut_losses", &cut_losses, "node_start"_a, "first_child"_a, "children"_a, "level"_a, "n_levels"_a, "leaf"_a,
        "row_start"_a, "prediction"_a, "y"_a, "weight"_a.none(), "squared"_a);
}
