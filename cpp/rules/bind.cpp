// Python's RuleTable: checks all arguments, and keeps the buffers of its searches.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>

#include "base/arrays.hpp"
#include "search.hpp"

namespace crosscut::rules {
namespace {

Kind kind_of(const std::string& name) {
  if (name == "ratio") return Kind::ratio;
  if (name == "linear") return Kind::linear;
  if (name == "foil") return Kind::foil;
  if (name == "entropy") return Kind::entropy;
  throw std::invalid_argument("kind is " + name + "; it must be ratio, linear, foil or entropy");
}

const std::array<std::string, 4> operators{"<=", ">", "=", "!="};  // by Operator

// Raises Python's pending KeyboardInterrupt; asks Python at most every 0.1 seconds.
void raise_interrupt() {
  using Clock = std::chrono::steady_clock;
  static thread_local Clock::time_point last = Clock::now();
  const auto now = Clock::now();
  if (now - last < std::chrono::milliseconds(100)) return;
  last = now;
  nb::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

class RuleTable {
 public:
  RuleTable(Matrix<std::uint32_t> ranks, Array<std::int32_t> n_values, Array<std::uint8_t> nominal,
            const std::vector<Array<float>>& values, Array<std::int32_t> codes,
            std::int32_t n_classes, std::optional<Array<double>> weights) {
    table_.n_features = ranks.shape(0);
    table_.n_rows = ranks.shape(1);
    need(table_.n_rows > 0 && table_.n_rows < (std::size_t{1} << 31),
         "ranks needs at least one row, and fewer than 2^31");
    need(n_classes >= 1 && n_classes <= 256, "n_classes must be from 1 to 256");
    need(n_values.size() == table_.n_features && nominal.size() == table_.n_features,
         "n_values and nominal need one entry per column");
    need(codes.size() == table_.n_rows, "codes needs one entry per row");
    table_.n_classes = static_cast<std::size_t>(n_classes);
    table_.ranks.assign(ranks.data(), ranks.data() + ranks.size());
    for (std::size_t f = 0; f < table_.n_features; f++) {
      need(n_values.data()[f] >= 0 && n_values.data()[f] <= 1 << 24,
           "n_values must be from 0 to 2^24");
      table_.n_values.push_back(static_cast<std::uint32_t>(n_values.data()[f]));
      need(all_at_most(table_.column(f), table_.n_rows, table_.n_values[f]),
           "a rank is larger than n_values");
    }
    table_.nominal.assign(nominal.data(), nominal.data() + nominal.size());
    need(values.size() == table_.n_features, "values needs one array per column");
    for (std::size_t f = 0; f < table_.n_features; f++) {
      need(table_.nominal[f] || values[f].size() == table_.n_values[f],
           "values needs n_values numbers per numeric column");
      table_.values.emplace_back(values[f].data(), values[f].data() + values[f].size());
    }
    need_within(codes, 0, n_classes, "codes has a class beyond n_classes");
    table_.codes.assign(codes.data(), codes.data() + codes.size());
    if (weights) {
      need(weights->size() == table_.n_rows, "weights needs one entry per row");
      table_.weights.assign(weights->data(), weights->data() + weights->size());
      for (double w : table_.weights)
        need(std::isfinite(w) && w >= 0, "weights must be finite and not negative");
    }
    table_.prepare();
    memory_.emplace(table_);
    memory_->interrupted = &raise_interrupt;
  }

  // Returns the conditions of each rule: feature, operator, and threshold or category.
  std::vector<std::vector<std::tuple<std::int32_t, std::string, double>>> search(
      Matrix<std::uint64_t> rows, Array<std::int32_t> targets, Matrix<double> a, Array<double> b,
      Array<double> least_weight, Array<double> significance, const std::string& kind, bool greedy,
      std::int32_t width, std::int32_t max_length, bool unequal) {
    const std::size_t n = rows.shape(0);
    need(rows.shape(1) == table_.words, "rows needs a bit per row of the table");
    need(targets.size() == n && b.size() == n && least_weight.size() == n &&
             significance.size() == n && a.shape(0) == n && a.shape(1) == table_.n_classes,
         "targets, a, b, least_weight and significance need one entry per search, a also one per "
         "class");
    need(width >= 1 && max_length >= 0, "width must be positive and max_length not negative");
    std::vector<Search> searches;
    for (std::size_t s = 0; s < n; s++) {
      const std::int32_t target = targets.data()[s];
      need(target >= -1 && target < static_cast<std::int32_t>(table_.n_classes),
           "targets names an unknown class");
      need((target < 0) == (targets.data()[0] < 0),
           "targets must be -1 for all searches or for none");
      need((significance.data()[s] > 0) == (significance.data()[0] > 0),
           "significance must be positive for all searches or for none");
      searches.push_back({checked(rows.data() + s * table_.words), target,
                          a.data() + s * table_.n_classes, b.data()[s], least_weight.data()[s],
                          significance.data()[s]});
    }
    const Settings settings{kind_of(kind), greedy, width, max_length, unequal};
    if (n > 0)
      need(settings.kind == Kind::foil ? targets.data()[0] >= 0
                                       : settings.kind != Kind::entropy || targets.data()[0] < 0,
           "kind foil needs targets, entropy must not have them");
    std::vector<std::vector<Condition>> rules;
    {
      nb::gil_scoped_release release;
      const std::lock_guard lock(searching_);
      rules = rules::search(table_, searches, settings, *memory_);
    }
    std::vector<std::vector<std::tuple<std::int32_t, std::string, double>>> result;
    for (const auto& rule : rules) {
      auto& conditions = result.emplace_back();
      for (const Condition& each : rule)
        conditions.emplace_back(each.feature, operators[each.op], each.value);
    }
    return result;
  }

  std::int64_t n_conditions(Array<std::uint64_t> rows) const {
    need(rows.size() == table_.words, "rows needs a bit per row of the table");
    return table_.n_conditions(checked(rows.data()));
  }

  // Returns the rows that satisfy all conditions, as bits.
  nb::bytes truth(
      const std::vector<std::tuple<std::int32_t, std::string, double>>& conditions) const {
    Bits met(table_.words, ~std::uint64_t{0});
    if (table_.n_rows % 64) met.back() >>= 64 - table_.n_rows % 64;
    for (const auto& [feature, op, value] : conditions) {
      need(feature >= 0 && static_cast<std::size_t>(feature) < table_.n_features,
           "conditions names no column");
      const auto f = static_cast<std::size_t>(feature);
      const auto known = std::find(operators.begin(), operators.end(), op);
      need(known != operators.end(), "an operator of conditions must be <=, >, = or !=");
      const auto code = static_cast<std::int32_t>(known - operators.begin());
      need((code >= equal) == (table_.nominal[f] != 0),
           "<= and > are for numeric columns, = and != for nominal ones");
      need(!table_.nominal[f] || (value >= 0 && value < table_.n_values[f]),
           "conditions has an unknown category");
      table_.narrow(met, feature, code, table_.rank_of(f, value), met);
    }
    return nb::bytes(reinterpret_cast<const char*>(met.data()), met.size() * sizeof met[0]);
  }

  std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t> work() const {
    const Work& work = memory_->work;
    return {work.states, work.bundles, work.visits, work.alone};
  }

 private:
  const std::uint64_t* checked(const std::uint64_t* rows) const {
    const std::size_t used = table_.n_rows % 64;
    need(used == 0 || rows[table_.words - 1] >> used == 0, "rows has bits beyond the last row");
    return rows;
  }

  Table table_;
  std::optional<Memory> memory_;
  std::mutex searching_;  // the buffers are of one search at a time
};

}  // namespace
}  // namespace crosscut::rules

void bind_rules(nanobind::module_& m) {
  using namespace crosscut;
  using rules::RuleTable;
  nb::class_<RuleTable>(m, "RuleTable")
      .def(nb::init<Matrix<std::uint32_t>, Array<std::int32_t>, Array<std::uint8_t>,
                    const std::vector<Array<float>>&, Array<std::int32_t>, std::int32_t,
                    std::optional<Array<double>>>(),
           "ranks"_a, "n_values"_a, "nominal"_a, "values"_a, "codes"_a, "n_classes"_a,
           "weights"_a.none())
      .def("search", &RuleTable::search, "rows"_a, "targets"_a, "a"_a, "b"_a, "least_weight"_a,
           "significance"_a, "kind"_a, "greedy"_a, "width"_a, "max_length"_a, "unequal"_a)
      .def("truth", &RuleTable::truth, "conditions"_a)
      .def("n_conditions", &RuleTable::n_conditions, "rows"_a)
      .def_prop_ro("work", &RuleTable::work);
}
