// The Python binding of growing: Table, Target, Tasks and Growth in, trees out. Each object is
// checked when it is made, so no array can make the core read out of bounds. grow() checks that
// they fit together.
#include <nanobind/stl/optional.h>

#include <chrono>
#include <limits>
#include <optional>

#include "base/arrays.hpp"
#include "base/bind_exact.hpp"
#include "base/dispatch.hpp"
#include "base/threads.hpp"
#include "grow/exact/exact.hpp"
#include "packed_trees.hpp"

CROSSCUT_DECLARE(void grow(const ::crosscut::Problem&, ::crosscut::Grown&,
                           ::crosscut::PackedTrees&))

#ifdef CROSSCUT_ABLATION
bool crosscut::accelerations_off[crosscut::kAccelerationCount] = {};
#endif

using namespace crosscut;

namespace {

template <class T> using Maybe = const std::optional<T>&;

template <class Part> struct HeldPart : Held<Part> {
  template <class A> auto* hold_if(const std::optional<A>& array) {
    return array ? this->hold(*array) : nullptr;
  }
};

struct HeldTable : Held<Table> {
  std::vector<Column> column_list;

  // ranks: none if the coarse codes of all columns are their ranks
  HeldTable(Maybe<Matrix<std::uint32_t>> ranks, const Matrix<std::uint8_t>& coarse,
            const Array<std::int32_t>& n_values, const nb::list& values,
            const nb::list& coarse_first, const Array<bool>& nominal,
            const Array<bool>& has_missing, const Array<std::uint32_t>& close,
            Maybe<nb::list> edges, int n_threads) {
    const std::size_t F = coarse.shape(0), N = coarse.shape(1);
    need(N < (std::size_t{1} << 31) && F < (std::size_t{1} << 31),
         "the core grows at most 2^31 rows and columns");
    need(!ranks || (ranks->shape(0) == F && ranks->shape(1) == N),
         "ranks must have the shape of coarse");
    need(n_values.size() == F && nb::len(values) == F && nb::len(coarse_first) == F &&
             nominal.size() == F && has_missing.size() == F && close.size() == F &&
             (!edges || nb::len(*edges) == F),
         "n_values, values, coarse_first, nominal, has_missing, close and edges must have one "
         "entry per column");
    arrays.reserve(2 + 3 * F);
    column_list.reserve(F);
    if (ranks) hold(*ranks);
    hold(coarse);
    for (std::size_t f = 0; f < F; f++) {
      const auto fits = [f](bool holds, const char* what) {
        if (!holds) throw std::invalid_argument(what + (" (column " + std::to_string(f) + ")"));
      };
      fits(n_values.data()[f] >= 0 && n_values.data()[f] < (1 << 30),
           "n_values must be from 0 to 2^30");
      Column c{};
      c.nominal = nominal.data()[f];
      c.has_missing = has_missing.data()[f];
      c.close = edges ? 0 : close.data()[f];
      c.n_values = static_cast<std::uint32_t>(n_values.data()[f]);
      c.ranks = ranks ? ranks->data() + f * N : nullptr;
      if (!c.nominal) {
        const auto starts = nb::cast<Array<std::uint32_t>>(coarse_first[f]);
        fits(starts.size() >= 1 && starts.size() <= 256, "coarse_first must have 1 to 256 entries");
        c.n_coarse = static_cast<std::uint32_t>(starts.size()) - 1;
        c.coarse = coarse.data() + f * N;
        c.coarse_first = hold(starts);
        for (std::uint32_t b = 0; b < c.n_coarse; b++)
          fits(c.coarse_first[b] < c.coarse_first[b + 1], "coarse_first must ascend");
        fits(c.coarse_first[c.n_coarse] == c.n_values && (!c.n_coarse || c.coarse_first[0] == 0),
             "coarse_first must run from 0 to n_values");
        const auto sorted = nb::cast<Array<float>>(values[f]);
        fits(sorted.size() >= c.n_values || edges, "values must have n_values entries");
        c.values = hold(sorted);
        if (edges) {
          const auto own_edges = nb::cast<Array<double>>((*edges)[f]);
          fits(own_edges.size() + 1 >= c.n_values, "edges must have n_values - 1 entries");
          static const double none = 0;
          c.edges = own_edges.size() ? hold(own_edges) : &none;
        }
      } else if (c.n_values <= 255) {
        c.coarse = coarse.data() + f * N;
      }
      fits(ranks || (c.coarse && !has_intervals(c)), "coarse codes cannot be the ranks");
      column_list.push_back(c);
    }
    n_rows = N;
    n_features = static_cast<int>(F);
    columns = column_list.data();
    nb::gil_scoped_release release;
    parallel_for(n_features, 1, F * N < (std::size_t{1} << 20) ? 1 : n_threads,
                 [this](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t f = begin; f < end; f++)
                     check_codes(column_list[static_cast<std::size_t>(f)]);
                 });
  }

  void check_codes(const Column& c) const {
    if (!n_rows) return;
    need(!c.ranks ||
             all_at_most(c.ranks, n_rows, c.n_values - (c.has_missing || !c.n_values ? 0u : 1u)),
         "ranks must be below n_values, or equal to it where a value is missing");
    if (c.nominal && c.ranks)
      need(!c.coarse || std::equal(c.ranks, c.ranks + n_rows, c.coarse),
           "coarse must be the ranks of a nominal column with at most 255 values");
    const std::uint32_t n_codes = c.nominal ? c.n_values : c.n_coarse;
    if (!c.nominal || !c.ranks)
      need(largest(c.coarse, n_rows) <= n_codes - (c.has_missing || !n_codes ? 0u : 1u),
           "coarse must be below the number of intervals, or equal to it where a value is missing");
  }
};

auto digits_of(Maybe<Array<double>> y, Maybe<Array<double>> w, std::size_t n,
               const nb::list& grids) {
  need((y || w) && (!y || y->size() == n) && (!w || w->size() == n),
       "target and weight must have one entry per row");
  const ExactRows rows = grids_of(grids, y ? 3 : 1);
  std::vector<std::int64_t> digits(n * static_cast<std::size_t>(rows.width));
  {
    nb::gil_scoped_release release;
    exact_digits(rows, n, y ? y->data() : nullptr, w ? w->data() : nullptr, digits.data());
  }
  return give(std::move(digits), static_cast<std::size_t>(rows.width));
}

struct HeldTarget : HeldPart<Target> {
  std::size_t n_rows;

  // digits: of the exact sums (exact_digits), on the grid (unit, bits, n) of each quantity
  HeldTarget(int n_classes_, Maybe<Array<std::int32_t>> classes_, Maybe<Array<double>> weight_,
             Maybe<Array<double>> product_, Maybe<Array<double>> target_,
             Maybe<Matrix<std::int64_t>> digits, const nb::list& grids, bool weight_rounded_,
             bool product_rounded_) {
    need(n_classes_ >= 0 && n_classes_ <= 65535, "n_classes must be from 0 to 65535");
    need(n_classes_ ? classes_.has_value() : product_ && target_,
         "classes are needed for classification, product and target for regression");
    n_classes = n_classes_;
    weight_rounded = weight_rounded_;
    product_rounded = product_rounded_;
    n_rows = n_classes ? classes_->size() : target_->size();
    if (n_classes) {
      classes = hold_if(classes_);
      need_within(*classes_, 0, n_classes, "classes must be from 0 to n_classes - 1");
    } else {
      need(product_->size() == n_rows, "product and target must have one entry per row");
      product = hold_if(product_);
      target = hold_if(target_);
    }
    need(!weight_ || weight_->size() == n_rows, "weight must have one entry per row");
    weight = hold_if(weight_);
    mean_step = n_classes || weight ? std::numeric_limits<double>::infinity() : step_of_means();
    least_weight = weight ? std::numeric_limits<double>::infinity() : 1;
    for (std::size_t i = 0; weight && i < n_rows; i++)
      if (weight[i] > 0) least_weight = std::min(least_weight, weight[i]);
    need(digits.has_value() == (!n_classes || weight), "digits are needed unless rows are counted");
    exact = grids_of(grids, n_classes ? 1 : 3);
    if (!digits) return;
    need(digits->shape(0) == n_rows, "digits must have one line per row");
    need_digits(*digits, exact);
    exact.digits = hold(*digits);
  }
  // Twice the distance of neighbouring doubles near the largest target, in units of the product's
  // grid. Each product is within 1 of the exact one.
  double step_of_means() const {
    constexpr double unknown = std::numeric_limits<double>::infinity();
    std::size_t low = 0, high = 0;
    for (std::size_t i = 1; i < n_rows; i++) {
      low = target[i] < target[low] ? i : low;
      high = target[i] > target[high] ? i : high;
    }
    if (!n_rows || !(product[high] - product[low] > 8)) return unknown;
    const double unit = (product[high] - product[low]) / (target[high] - target[low]);
    const double step = 0x1p-51 * unit * std::max(std::fabs(target[low]), std::fabs(target[high]));
    return step < unknown ? step : unknown;
  }
};

struct HeldTasks : HeldPart<Tasks> {
  std::size_t n_rows, n_columns = 0;  // n_columns: of the feature mask, if there is one
  std::vector<TaskLimits> limit_list;
  std::vector<ClassWeights> class_weight_list;
  std::size_t n_weighted = 0, n_digits = 0;  // classes with weights, if any, and digits of each

  HeldTasks(const Matrix<std::uint16_t>& masks_, const Matrix<std::int64_t>& limits_,
            const Array<double>& min_decrease, Maybe<Matrix<std::uint8_t>> multiplicity_,
            Maybe<Matrix<bool>> features_, Maybe<Array<double>> totals_,
            Maybe<Matrix<double>> class_weights_, Maybe<Matrix<std::int64_t>> class_digits_,
            Maybe<Array<bool>> rounded_) {
    const std::size_t T = limits_.shape(0);
    n_rows = masks_.shape(1);
    need(T > 0 && T < (std::size_t{1} << 30), "limits must have one row per task");
    need(limits_.shape(1) == 3,
         "limits must have the columns max_depth, min_samples_split, min_samples_leaf");
    need(min_decrease.size() == T, "min_decrease must have one entry per task");
    need(!totals_ || totals_->size() == T, "totals must have one entry per task");
    need(masks_.shape(0) == (T + kBlockTasks - 1) / kBlockTasks,
         "masks must have the shape (blocks of 15 tasks, rows)");
    need(!multiplicity_ || (multiplicity_->shape(0) == T && multiplicity_->shape(1) == n_rows),
         "multiplicity must have the shape (tasks, rows)");
    need(!features_ || features_->shape(0) == T, "features must have the shape (tasks, columns)");
    for (std::size_t t = 0; t < T; t++) {
      const std::int64_t* l = limits_.data() + 3 * t;
      need(l[0] >= 0 && l[1] >= 2 && l[2] >= 1 && l[2] < (std::int64_t{1} << 60),
           "limits must have max_depth >= 0, min_samples_split >= 2 and min_samples_leaf >= 1");
      limit_list.push_back({l[0], l[1], l[2], min_decrease.data()[t]});
    }
    n_tasks = static_cast<int>(T);
    masks = hold(masks_);
    multiplicity = hold_if(multiplicity_);
    totals = hold_if(totals_);
    limits = limit_list.data();
    features = reinterpret_cast<const std::uint8_t*>(hold_if(features_));
    if (features_) n_columns = features_->shape(1);
    if (class_weights_) hold_weights(*class_weights_, class_digits_, rounded_);
  }
  void hold_weights(const Matrix<double>& by_class, Maybe<Matrix<std::int64_t>> digits,
                    Maybe<Array<bool>> rounded) {
    const auto T = static_cast<std::size_t>(n_tasks);
    n_weighted = by_class.shape(1);
    need(n_weighted && by_class.shape(0) == T && digits && digits->shape(0) == T && rounded &&
             rounded->size() == T && digits->shape(1) % n_weighted == 0 && digits->shape(1),
         "class_weights, class_digits and rounded must have one row per task");
    need(!multiplicity, "class_weights serve tasks without multiplicities");
    n_digits = digits->shape(1) / n_weighted;
    const double* weight = hold(by_class);
    const std::int64_t* digit = hold(*digits);
    for (std::size_t t = 0; t < T; t++, weight += n_weighted, digit += n_weighted * n_digits) {
      ClassWeights own{weight, digit, weight[0], weight[0], rounded->data()[t]};
      for (std::size_t c = 0; c < n_weighted; c++) {
        need(weight[c] >= 1 && weight[c] <= 0x1p52 && weight[c] == std::rint(weight[c]),
             "class_weights must be integers from 1 to 2^52");
        own.least = std::min(own.least, weight[c]);
        own.most = std::max(own.most, weight[c]);
      }
      need(own.most <= 0x1p24 * own.least, "class_weights of a task must be within 2^24");
      class_weight_list.push_back(own);
    }
    class_weights = class_weight_list.data();
  }
};

Growth make_growth(const std::string& criterion, bool multiway, int local_rows, bool bundling,
                   bool two_resolutions) {
  need(local_rows >= 1 && local_rows <= 4096, "local_rows must be from 1 to 4096");
  return {&criterion_named(criterion.c_str()), multiway, bundling, two_resolutions,
          static_cast<std::size_t>(local_rows)};
}

struct Watch {  // polls Python for signals and reports progress
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

nb::dict to_dict(PackedTrees& t) {
  nb::dict d;
  const std::size_t width = t.value.size() / t.feature.size();
  d["node_start"] = give(std::move(t.node_start));
  d["branch_start"] = give(std::move(t.branch_start));
  d["feature"] = give(std::move(t.feature));
  d["threshold"] = give(std::move(t.threshold));
  d["missing"] = give(std::move(t.missing));
  d["first_child"] = give(std::move(t.first_child));
  d["children"] = give(std::move(t.children));
  d["first_branch"] = give(std::move(t.first_branch));
  d["branches"] = give(std::move(t.branches), 2);
  d["low"] = give(std::move(t.low));
  d["high"] = give(std::move(t.high));
  d["depth"] = give(std::move(t.depth));
  d["n_rows"] = give(std::move(t.n_rows));
  d["weight"] = give(std::move(t.weight));
  d["value"] = give(std::move(t.value), width);
  d["impurity"] = give(std::move(t.impurity));
  if (t.root.empty()) return d;
  d["root"] = give(std::move(t.root));
  d["size"] = give(std::move(t.size));
  return d;
}

// The counts of work per level, up to the last level that has bundles.
nb::dict work(const Grown& g) {
  std::size_t n = kLevels;
  while (n > 1 && !g.levels[n - 1].bundles) n--;
  const auto of_levels = [&](auto LevelCounts::* count) {
    nb::list out;
    for (std::size_t i = 0; i < n; i++) out.append(g.levels[i].*count);
    return out;
  };
  nb::dict d;
#define CROSSCUT_COUNT(name) d[#name] = of_levels(&LevelCounts::name);
  CROSSCUT_COUNTS(CROSSCUT_COUNT)
#undef CROSSCUT_COUNT
  d["seconds"] = of_levels(&LevelCounts::seconds);
  return d;
}

void check_class_weights(const HeldTable& table, const HeldTarget& target, const HeldTasks& tasks,
                         const Growth& growth) {
  const auto K = static_cast<std::size_t>(target.n_classes);
  need(tasks.n_weighted == K && !target.weight && growth.criterion->squares,
       "class_weights need a criterion of squares and classes without other weights");
  need(tasks.n_digits == static_cast<std::size_t>(target.exact.width),
       "class_digits must be on the grid of the target");
  const std::uint64_t most = (std::uint64_t{1} << 61) / std::max<std::size_t>(table.n_rows, 1);
  std::vector<double> rows(K);
  for (std::size_t i = 0; i < target.n_rows; i++)
    rows[static_cast<std::size_t>(target.classes[i])]++;
  for (const ClassWeights& own : tasks.class_weight_list) {
    double sum = 0;
    for (std::size_t c = 0; c < K; c++) sum += rows[c] * own.weight[c];
    need(sum <= 0x1p53, "the class weights of all rows must add up to at most 2^53");
    for (std::size_t d = 0; d < K * tasks.n_digits; d++)
      need(own.digits[d] >= 0 && static_cast<std::uint64_t>(own.digits[d]) <= most,
           "class_digits have too many bits to sum this many rows");
  }
}

nb::tuple grow(const HeldTable& table, const HeldTarget& target, const HeldTasks& tasks,
               const Growth& growth, int n_threads, nb::object progress) {
  need(target.n_rows == table.n_rows, "classes and target must have one entry per row");
  need(tasks.n_rows == table.n_rows, "masks must have the shape (blocks of 15 tasks, rows)");
  need(!tasks.features || tasks.n_columns == static_cast<std::size_t>(table.n_features),
       "features must have the shape (tasks, columns)");
  need_criterion_for(*growth.criterion, target.n_classes);
  const std::size_t times =
      tasks.multiplicity
          ? largest(tasks.multiplicity, table.n_rows * static_cast<std::size_t>(tasks.n_tasks))
          : 1;
  need(!target.exact.digits || table.n_rows * times <= most_rows(target.exact, 61),
       "the grids' digits have too many bits to sum this many rows");
  need(n_threads >= 1 && n_threads <= 1024, "n_threads must be from 1 to 1024");
  if (tasks.class_weights) check_class_weights(table, target, tasks, growth);
  Watch watch;
  watch.progress = std::move(progress);
  const Problem problem{table, target, tasks, growth, n_threads, &Watch::poll, &watch};
  Grown grown;
  PackedTrees trees;
  {
    nb::gil_scoped_release release;
    CROSSCUT_DISPATCH(grow, problem, grown, trees);
  }
  if (grown.outcome == Outcome::no_memory) throw std::bad_alloc();
  if (grown.outcome == Outcome::stopped) throw nb::python_error();
  return nb::make_tuple(to_dict(trees), work(grown));
}

nb::list accelerations() {
  nb::list out;
#ifdef CROSSCUT_ABLATION
  for (const char* name : kAccelerations) out.append(name);
#endif
  return out;
}

void switch_acceleration([[maybe_unused]] const std::string& name, [[maybe_unused]] bool on) {
#ifdef CROSSCUT_ABLATION
  for (int i = 0; i < kAccelerationCount; i++) {
    if (name != kAccelerations[i]) continue;
    accelerations_off[i] = !on;
    return;
  }
  throw std::invalid_argument("there is no acceleration '" + name + "'");
#else
  throw std::invalid_argument(
      "accelerations can be switched off only in a build with CROSSCUT_ABLATION=ON");
#endif
}

nb::dict criteria() {
  nb::dict out;
  for (const Criterion& c : kCriteria)
    out[c.name] = nb::make_tuple(c.targets.least_classes, c.targets.most_classes, c.squares);
  return out;
}

// Returns the impurity of nodes with these class weights.
auto impurity(const std::string& name, const Matrix<double>& value, const Array<double>& weight) {
  const Criterion& criterion = criterion_named(name.c_str());
  const std::size_t n = value.shape(0), width = value.shape(1);
  need_criterion_for(criterion, static_cast<int>(std::min<std::size_t>(width, 1 << 20)));
  need(weight.size() == n, "weight must have one entry per node");
  std::vector<double> out(n);
  for (std::size_t i = 0; i < n; i++)
    out[i] =
        criterion.impurity(value.data() + i * width, static_cast<int>(width), weight.data()[i]);
  return give(std::move(out));
}

}  // namespace

void bind_grow(nb::module_& m) {
  m.def("accelerations", &accelerations);
  m.def("switch_acceleration", &switch_acceleration, "name"_a, "on"_a);
  m.def("criteria", &criteria);
  m.def("impurity", &impurity, "criterion"_a, "value"_a, "weight"_a);
  nb::class_<HeldTable>(m, "Table")
      .def(
          nb::init<Maybe<Matrix<std::uint32_t>>, const Matrix<std::uint8_t>&,
                   const Array<std::int32_t>&, const nb::list&, const nb::list&, const Array<bool>&,
                   const Array<bool>&, const Array<std::uint32_t>&, Maybe<nb::list>, int>(),
          "ranks"_a.none(), "coarse"_a, "n_values"_a, "values"_a, "coarse_first"_a, "nominal"_a,
          "has_missing"_a, "close"_a, "edges"_a.none(), "n_threads"_a = 1);
  nb::class_<HeldTarget>(m, "Target")
      .def(nb::init<int, Maybe<Array<std::int32_t>>, Maybe<Array<double>>, Maybe<Array<double>>,
                    Maybe<Array<double>>, Maybe<Matrix<std::int64_t>>, const nb::list&, bool,
                    bool>(),
           "n_classes"_a, "classes"_a.none(), "weight"_a.none(), "product"_a.none(),
           "target"_a.none(), "digits"_a.none(), "grids"_a, "weight_rounded"_a,
           "product_rounded"_a);
  m.def("exact_digits", &digits_of, "target"_a.none(), "weight"_a.none(), "n_rows"_a, "grids"_a);
  nb::class_<HeldTasks>(m, "Tasks")
      .def(nb::init<const Matrix<std::uint16_t>&, const Matrix<std::int64_t>&, const Array<double>&,
                    Maybe<Matrix<std::uint8_t>>, Maybe<Matrix<bool>>, Maybe<Array<double>>,
                    Maybe<Matrix<double>>, Maybe<Matrix<std::int64_t>>, Maybe<Array<bool>>>(),
           "masks"_a, "limits"_a, "min_decrease"_a, "multiplicity"_a.none() = nb::none(),
           "features"_a.none() = nb::none(), "totals"_a.none() = nb::none(),
           "class_weights"_a.none() = nb::none(), "class_digits"_a.none() = nb::none(),
           "rounded"_a.none() = nb::none());
  nb::class_<Growth>(m, "Growth")
      .def(nb::new_(&make_growth), "criterion"_a, "multiway"_a, "local_rows"_a, "bundling"_a = true,
           "two_resolutions"_a = true);
  m.def("grow", &grow, "table"_a, "target"_a, "tasks"_a, "growth"_a, "n_threads"_a,
        "progress"_a.none() = nb::none());
}
