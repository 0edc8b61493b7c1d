// Python's way to the smaller trees inside grown ones; all arguments are checked here.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <limits>
#include <memory>

#include "subtree.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

template <class T>
using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void need(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

nb::object stop_nodes(Array<std::int64_t> node_start, Array<std::int64_t> first_child, Array<std::int32_t> children,
                      Array<std::int32_t> depth, Array<std::int64_t> n_rows, Array<double> weight,
                      Array<double> impurity, std::int32_t max_depth, std::int64_t min_samples_split,
                      double min_decrease, double min_impurity, double alpha, bool exact_ties) {
  const std::size_t n = impurity.size();
  need(node_start.size() > 0, "node_start must have n_trees + 1 entries");
  need(n < static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()), "there are too many nodes to count");
  need(depth.size() == n && n_rows.size() == n && weight.size() == n,
       "depth, n_rows, weight and impurity must have one entry per node");
  crosscut::Trees trees;
  trees.n_trees = static_cast<std::int64_t>(node_start.size()) - 1;
  trees.node_start = node_start.data();
  trees.first_child = first_child.data();
  trees.children = children.data();
  trees.n_first_child = static_cast<std::int64_t>(first_child.size());
  trees.n_children = static_cast<std::int64_t>(children.size());
  std::unique_ptr<std::int32_t[]> stop(new std::int32_t[n]);
  {
    nb::gil_scoped_release release;
    trees.check(static_cast<std::int64_t>(n));
    crosscut::stop_nodes(trees, {depth.data(), n_rows.data(), weight.data(), impurity.data()},
                         {max_depth, min_samples_split, min_decrease, min_impurity, alpha, exact_ties}, stop.get());
  }
  std::int32_t* raw = stop.get();
  nb::capsule owner(stop.release(), [](void* p) noexcept { delete[] static_cast<std::int32_t*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, std::int32_t, nb::ndim<1>>(raw, {n}, owner));
}

}  // namespace

void bind_subtree(nb::module_& m) {
  m.def("stop_nodes", &stop_nodes, "node_start"_a, "first_child"_a, "children"_a, "depth"_a, "n_rows"_a, "weight"_a,
        "impurity"_a, "max_depth"_a, "min_samples_split"_a, "min_decrease"_a, "min_impurity"_a, "alpha"_a,
        "exact_ties"_a);
}
