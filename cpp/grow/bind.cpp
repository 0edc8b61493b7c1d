// Python's way to growing; all arguments are checked here, so that no array can lead the core astray.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <chrono>
#include <cmath>
#include <optional>
#include <vector>

#include "../dispatch.hpp"
#include "problem.hpp"

CROSSCUT_DECLARE(void grow(const ::crosscut::Problem&, ::crosscut::Grown&))

namespace nb = nanobind;
using namespace nb::literals;
using namespace crosscut;

namespace {

template <class T>
using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void need(bool holds, const std::string& what) {
  if (!holds) throw std::invalid_argument(what);
}

template <class T>
std::uint32_t largest(const T* v, std::size_t n) {
  T most = 0;
  for (std::size_t i = 0; i < n; i++) most = v[i] > most ? v[i] : most;
  return most;
}

// The columns of a table, and what keeps their arrays alive.
struct Columns {
  std::vector<Column> columns;
  std::vector<Array<float>> values;
  std::vector<Array<std::uint32_t>> first;
  std::vector<Array<double>> edges;

  Columns(const Matrix<std::uint32_t>& ranks, const Matrix<std::uint8_t>& coarse, const Array<std::int32_t>& n_values,
          const nb::list& value_list, const nb::list& first_list, const Array<bool>& nominal, const Array<bool>& has_missing,
          const Array<bool>& close, const std::optional<nb::list>& edge_list) {
    const std::size_t F = ranks.shape(0), N = ranks.shape(1);
    need(coarse.shape(0) == F && coarse.shape(1) == N, "coarse must have the shape of ranks");
    need(n_values.size() == F && nb::len(value_list) == F && nb::len(first_list) == F && nominal.size() == F &&
             has_missing.size() == F && close.size() == F && (!edge_list || nb::len(*edge_list) == F),
         "n_values, values, coarse_first, nominal, has_missing, close and edges must have one entry per column");
    for (std::size_t f = 0; f < F; f++) {
      const std::string where = " (column " + std::to_string(f) + ")";
      values.push_back(nb::cast<Array<float>>(value_list[f]));
      first.push_back(nb::cast<Array<std::uint32_t>>(first_list[f]));
      need(n_values.data()[f] >= 0 && n_values.data()[f] < (1 << 30), "n_values must be from 0 to 2^30" + where);
      Column c{};
      c.nominal = nominal.data()[f], c.has_missing = has_missing.data()[f], c.close = close.data()[f];
      c.n_values = static_cast<std::uint32_t>(n_values.data()[f]);
      c.ranks = ranks.data() + f * N;
      need(largest(c.ranks, N) <= c.n_values - (c.has_missing || !c.n_values ? 0u : 1u) || N == 0,
           "ranks must be below n_values, or equal to it where a value is missing" + where);
      if (!c.nominal) {
        const auto& starts = first.back();
        need(starts.size() >= 1 && starts.size() <= 256, "coarse_first must have 1 to 256 entries" + where);
        c.n_coarse = static_cast<std::uint32_t>(starts.size()) - 1;
        for (std::uint32_t b = 0; b < c.n_coarse; b++) need(starts.data()[b] < starts.data()[b + 1], "coarse_first must ascend" + where);
        need(starts.data()[c.n_coarse] == c.n_values && (!c.n_coarse || starts.data()[0] == 0),
             "coarse_first must run from 0 to n_values" + where);
        c.coarse = coarse.data() + f * N, c.coarse_first = starts.data();
        need(largest(c.coarse, N) <= c.n_coarse - (c.has_missing || !c.n_coarse ? 0u : 1u) || N == 0,
             "coarse must be below the number of intervals, or equal to it where a value is missing" + where);
        need(values.back().size() >= c.n_values || edge_list, "values must have n_values entries" + where);
        c.values = values.back().data();
        if (edge_list) {
          edges.push_back(nb::cast<Array<double>>((*edge_list)[f]));
          need(edges.back().size() + 1 >= c.n_values, "edges must have n_values - 1 entries" + where);
          c.edges = edges.back().data();
          static const double none = 0;
          if (!c.edges) c.edges = &none;
        }
      }
      if (c.nominal && c.n_values <= 255) {
        c.coarse = coarse.data() + f * N;
        need(std::equal(c.ranks, c.ranks + N, c.coarse), "coarse must be the ranks of a nominal column with at most 255 values" + where);
      }
      columns.push_back(c);
    }
  }
};

struct Watch {  // asks Python now and then whether to stop, and tells it how far growing is
  std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
  nb::object progress;
  static bool poll(void* self, double rows) {
    Watch& w = *static_cast<Watch*>(self);
    const auto now = std::chrono::steady_clock::now();
    if (now - w.last < std::chrono::milliseconds(100)) return false;
    w.last = now;
    nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) return true;
    if (w.progress.is_none()) return false;
    PyObject* answer = PyObject_CallFunction(w.progress.ptr(), "d", rows);
    if (!answer) return true;
    Py_DECREF(answer);
    return false;
  }
};

template <class T>
nb::object give(T*& data, std::initializer_list<std::size_t> shape) {
  nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
  nb::ndarray<nb::numpy, T> array(data, shape, owner);
  data = nullptr;  // the array frees it now
  return nb::cast(array);
}

nb::dict to_dict(Grown& g, int n_tasks, std::size_t n_levels) {
  GrownTrees& t = g.trees;
  const std::size_t n = static_cast<std::size_t>(t.n_nodes), T = static_cast<std::size_t>(n_tasks), width = static_cast<std::size_t>(t.width);
  nb::dict d;
  d["node_start"] = give(t.node_start, {T + 1});
  d["branch_start"] = give(t.branch_start, {T + 1});
  d["feature"] = give(t.feature, {n});
  d["threshold"] = give(t.threshold, {n});
  d["missing"] = give(t.missing, {n});
  d["first_child"] = give(t.first_child, {n + T});
  d["children"] = give(t.children, {n - T});
  d["first_branch"] = give(t.first_branch, {n + T});
  d["branches"] = give(t.branches, {static_cast<std::size_t>(t.n_branches)});
  d["low"] = give(t.low, {n});
  d["high"] = give(t.high, {n});
  d["depth"] = give(t.depth, {n});
  d["n_rows"] = give(t.n_rows, {n});
  d["weight"] = give(t.weight, {n});
  d["value"] = give(t.value, {n, width});
  d["impurity"] = give(t.impurity, {n});
  nb::list bundles, rows, tests, seconds;
  for (std::size_t i = 0; i < n_levels; i++) {
    bundles.append(g.levels[i].bundles), rows.append(g.levels[i].rows), tests.append(g.levels[i].tests);
    seconds.append(g.levels[i].seconds);
  }
  nb::dict levels;
  levels["bundles"] = bundles, levels["rows"] = rows, levels["tests"] = tests, levels["seconds"] = seconds;
  nb::dict all;
  all["trees"] = d, all["levels"] = levels, all["intervals"] = g.intervals, all["opened"] = g.opened;
  return all;
}

Criterion criterion_named(const std::string& name) {
  if (name == "gini") return Criterion::gini;
  if (name == "entropy") return Criterion::entropy;
  if (name == "gain_ratio") return Criterion::gain_ratio;
  if (name == "variance") return Criterion::variance;
  throw std::invalid_argument("criterion must be gini, entropy, gain_ratio or variance, but '" + name + "' was given");
}

// An exact quantity: (hi, lo) int64 rows, with its grid.
struct ExactColumn {
  Matrix<std::int64_t> parts;
  int shift, bits;
};

nb::dict grow(const Matrix<std::uint32_t>& ranks, const Matrix<std::uint8_t>& coarse, const Array<std::int32_t>& n_values,
              const nb::list& values, const nb::list& coarse_first, const Array<bool>& nominal, const Array<bool>& has_missing,
              const Array<bool>& close, const std::optional<nb::list>& edges, const std::optional<Array<std::int32_t>>& classes,
              int n_classes, const std::optional<Array<double>>& weight, const std::optional<Array<double>>& product,
              const std::optional<Array<double>>& target, const nb::list& exact, double decrease_scale, const Matrix<std::uint16_t>& masks,
              const std::optional<Matrix<std::uint8_t>>& multiplicity, const std::optional<Matrix<bool>>& features,
              const Matrix<std::int64_t>& limits, const Array<double>& min_decrease, const std::optional<Array<double>>& totals,
              const std::string& criterion, bool multiway,
              bool bundling, bool two_resolutions, int local_rows, int n_threads, nb::object progress) {
  const Columns columns(ranks, coarse, n_values, values, coarse_first, nominal, has_missing, close, edges);
  const std::size_t F = ranks.shape(0), N = ranks.shape(1), T = limits.shape(0);
  Problem p{};
  need(N < (std::size_t{1} << 31), "the core grows at most 2^31 rows");
  need(F < (std::size_t{1} << 31) && T > 0 && T < (std::size_t{1} << 30), "limits must have one row per task");
  need(limits.shape(1) == 3, "limits must have the columns max_depth, min_samples_split, min_samples_leaf");
  need(min_decrease.size() == T, "min_decrease must have one entry per task");
  need(!totals || totals->size() == T, "totals must have one entry per task");
  need(masks.shape(0) == (T + kBlockTasks - 1) / kBlockTasks && masks.shape(1) == N, "masks must have the shape (blocks of 15 tasks, rows)");
  p.n_rows = N, p.n_features = static_cast<int>(F), p.n_tasks = static_cast<int>(T), p.n_classes = n_classes;
  p.columns = columns.columns.data();
  p.criterion = criterion_named(criterion);
  need((p.criterion == Criterion::variance) == (n_classes == 0), "criterion variance goes with n_classes = 0 and only with that");
  need(n_classes >= 0 && n_classes <= 65535, "n_classes must be from 0 to 65535");
  if (n_classes) {
    need(classes && classes->size() == N, "classes must have one entry per row");
    for (std::size_t i = 0; i < N; i++)
      need(classes->data()[i] >= 0 && classes->data()[i] < n_classes, "classes must be from 0 to n_classes - 1");
    p.classes = classes->data();
  } else {
    need(product && product->size() == N && target && target->size() == N, "product and target must have one entry per row");
    p.product = product->data(), p.target = target->data();
  }
  if (weight) need(weight->size() == N, "weight must have one entry per row"), p.weight = weight->data();
  p.n_exact = static_cast<int>(nb::len(exact));
  need(p.n_exact == (n_classes ? (weight ? 1 : 0) : 3), "exact must have 3 quantities for regression, 1 for weighted classes, else none");
  std::vector<Matrix<std::int64_t>> parts;
  for (int q = 0; q < p.n_exact; q++) {
    const nb::tuple item = nb::cast<nb::tuple>(exact[static_cast<std::size_t>(q)]);
    need(nb::len(item) == 3, "an exact quantity is (parts, shift, bits)");
    parts.push_back(nb::cast<Matrix<std::int64_t>>(item[0]));
    need(parts.back().shape(0) == N && parts.back().shape(1) == 2, "an exact quantity has two integers per row");
    p.exact[q] = reinterpret_cast<const Exact*>(parts.back().data());
    p.exact_grid[q] = {nb::cast<int>(item[1]), nb::cast<int>(item[2])};
    need(p.exact_grid[q].bits >= 0 && p.exact_grid[q].bits <= 62, "an exact quantity has 0 to 62 bits");
  }
  p.decrease_scale = decrease_scale;
  p.masks = masks.data();
  if (multiplicity) {
    need(multiplicity->shape(0) == T && multiplicity->shape(1) == N, "multiplicity must have the shape (tasks, rows)");
    p.multiplicity = multiplicity->data();
  }
  if (features) {
    need(features->shape(0) == T && features->shape(1) == F, "features must have the shape (tasks, columns)");
    p.features = reinterpret_cast<const std::uint8_t*>(features->data());
  }
  std::vector<TaskLimits> task_limits(T);
  for (std::size_t t = 0; t < T; t++) {
    const std::int64_t* l = limits.data() + 3 * t;
    need(l[0] >= 0 && l[1] >= 2 && l[2] >= 1 && l[2] < (std::int64_t{1} << 60),
         "limits must have max_depth >= 0, min_samples_split >= 2 and min_samples_leaf >= 1");
    task_limits[t] = {l[0], l[1], l[2], min_decrease.data()[t]};
  }
  p.limits = task_limits.data();
  if (totals) p.totals = totals->data();
  p.multiway = multiway, p.bundling = bundling, p.two_resolutions = two_resolutions;
  need(local_rows >= 1 && local_rows <= 4096, "local_rows must be from 1 to 4096");
  need(n_threads >= 0 && n_threads <= 1024, "n_threads must be from 0 (as many as OpenMP offers) to 1024");
  p.local_rows = static_cast<std::size_t>(local_rows), p.n_threads = n_threads;
  Watch watch;
  watch.progress = std::move(progress);
  p.poll = &Watch::poll, p.poll_argument = &watch;
  Grown grown;
  {
    nb::gil_scoped_release release;
    CROSSCUT_DISPATCH(grow, p, grown);
  }
  if (grown.outcome == Outcome::no_memory) throw std::bad_alloc();
  if (grown.outcome == Outcome::stopped) throw nb::python_error();
  std::size_t levels = kLevels;
  while (levels > 1 && !grown.levels[levels - 1].bundles) levels--;
  return to_dict(grown, p.n_tasks, levels);
}

}  // namespace

void bind_grow(nb::module_& m) {
  m.def("grow", &grow, "ranks"_a, "coarse"_a, "n_values"_a, "values"_a, "coarse_first"_a, "nominal"_a, "has_missing"_a, "close"_a,
        "edges"_a.none(), "classes"_a.none(), "n_classes"_a, "weight"_a.none(), "product"_a.none(), "target"_a.none(), "exact"_a,
        "decrease_scale"_a, "masks"_a, "multiplicity"_a.none(), "features"_a.none(), "limits"_a, "min_decrease"_a, "totals"_a.none(), "criterion"_a,
        "multiway"_a, "bundling"_a, "two_resolutions"_a, "local_rows"_a, "n_threads"_a, "progress"_a.none());
}
