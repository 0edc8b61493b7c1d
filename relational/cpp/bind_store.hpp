// QueryStore: components, their truth, candidate tests and the growth of trees, behind one Python
// class.
#pragma once
#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "base/bind_exact.hpp"
#include "bind_facts.hpp"
#include "bind_forest.hpp"
#include "bind_language.hpp"
#include "generator.hpp"
#include "growth.hpp"
#include "refine.hpp"
#include "statistics.hpp"
#include "truth.hpp"

namespace crosscut::query {

inline constexpr std::int32_t most_lookahead = 1000;

class QueryStore {
 public:
  QueryStore(FactStore& store, std::int64_t step_limit, Array<std::int64_t> order)
      : store_(store),
        facts_(store.facts),
        components_(facts_),
        truth_(facts_, components_, static_cast<std::uint64_t>(step_limit),
               {order.data(), order.data() + order.size()}) {
    std::vector<char> seen(facts_.n_examples(), 0);
    CROSSCUT_REQUIRE(order.size() == seen.size(), "order needs one entry per example");
    for (std::size_t i = 0; i < order.size(); i++) {
      const auto example = static_cast<std::size_t>(order.data()[i]);
      CROSSCUT_REQUIRE(example < seen.size() && !seen[example],
                       "order has to name every example once");
      seen[example] = 1;
    }
    CROSSCUT_REQUIRE(step_limit > 0,
                     "step_limit is " + std::to_string(step_limit) + "; it has to be positive");
  }

  void set_language(const std::vector<std::int32_t>& fixed_types,
                    const std::vector<std::int32_t>& root_types, const Modes& modes,
                    const Lookaheads& lookaheads, const AutoLookaheads& auto_lookaheads,
                    std::int32_t max_lookahead, std::int32_t exhaustive_lookahead) {
    CROSSCUT_REQUIRE(refinement_ == nullptr,
                     "the store has its language; another one needs another store");
    CROSSCUT_REQUIRE(fixed_types.size() == facts_.n_fixed(),
                     "fixed_types needs one type per fixed variable");
    CROSSCUT_REQUIRE(std::max(max_lookahead, exhaustive_lookahead) <= most_lookahead,
                     "a lookahead of more than 1000 is too far");
    for (const auto* types : {&fixed_types, &root_types})
      for (std::int32_t type : *types) check_type(type);
    Language language{.fixed_types = fixed_types,
                      .root_types = root_types,
                      .modes = modes_of(store_, modes),
                      .max_lookahead = std::max(0, max_lookahead),
                      .exhaustive_lookahead = std::max(0, exhaustive_lookahead)};
    for (const Mode& mode : language.modes)
      n_sources_ = std::max(n_sources_, static_cast<std::size_t>(mode.source) + 1);
    for (const auto& [first, then] : lookaheads)
      language.lookaheads.push_back({pattern_of(store_, first), patterns_of(store_, then)});
    for (const auto& [first, slots] : auto_lookaheads)
      language.auto_lookaheads.push_back({pattern_of(store_, first), slots});
    refinement_ = std::make_unique<Refinement>(components_, std::move(language));
  }

  // Fixed variables with a number per example; their cuts are tests, too.
  void set_attributes(const std::vector<std::int32_t>& variables) {
    CROSSCUT_REQUIRE(attributes_.size() == 0,
                     "the store has its attributes; others need another store");
    for (std::int32_t each : variables)
      CROSSCUT_REQUIRE(each >= 0 && static_cast<std::size_t>(each) < facts_.n_fixed(),
                       "variables has to name fixed variables");
    attributes_ = Attributes(facts_, truth_.order(), variables);
  }

  void set_classes(Array<std::int32_t> codes, std::int32_t n_classes, Array<std::int32_t> folds) {
    CROSSCUT_REQUIRE(n_classes > 0 && n_classes <= 1 << 16, "n_classes has to be from 1 to 2**16");
    Target target;
    target.n_classes = static_cast<std::size_t>(n_classes);
    target.codes.assign(codes.data(), codes.data() + codes.size());
    for (std::int32_t code : target.codes)
      CROSSCUT_REQUIRE(code >= 0 && code < n_classes, "codes has to be in 0..n_classes-1");
    set_target(std::move(target), codes.size(), folds);
  }

  // digits: of exact sums (exact_digits), as doubles, on the grids (unit, bits, n) of each quantity
  void set_numbers(Matrix<double> digits, const nb::list& grids, Array<std::int32_t> folds) {
    Target target;
    target.moments.grids = grids_of(grids, 3);
    need_digits(digits, target.moments.grids);
    need(target.moments.grids.grid[1].n == 1 &&
             digits.shape(0) <= most_rows(target.moments.grids, 52),
         "the grids must leave room for sums of all rows");
    target.digits.assign(digits.data(), digits.data() + digits.size());
    set_target(std::move(target), digits.shape(0), folds);
  }

  std::tuple<std::int32_t, std::vector<std::int32_t>,
             std::vector<std::pair<std::int32_t, std::int32_t>>>
  extend(const std::vector<std::int32_t>& bases, const std::vector<Literal>& literals,
         const std::vector<std::int32_t>& new_types) {
    std::size_t n = new_types.size();
    for (std::int32_t base : bases) {
      check_query(base);
      CROSSCUT_REQUIRE(components_[base].parts.empty(),
                       "bases has to name components, not conjunctions of them");
      n += components_[base].types.size();
    }
    CROSSCUT_REQUIRE(!literals.empty(), "literals is empty; a query needs one literal at least");
    const Code code = encode(literals, n);
    return result_of(components_.extend(bases, code, new_types));
  }

  nb::ndarray<nb::numpy, std::uint64_t> truth(Array<std::int32_t> queries,
                                              Array<std::uint64_t> mask) {
    for (std::size_t i = 0; i < queries.size(); i++) check_query(queries.data()[i]);
    check_mask(mask);
    interruptibly([&] { truth_.evaluate({queries.data(), queries.size()}, mask.data()); });
    const std::size_t words = truth_.words();
    std::unique_ptr<std::uint64_t[]> rows(new std::uint64_t[queries.size() * words]);
    for (std::size_t i = 0; i < queries.size(); i++)
      for (std::size_t w = 0; w < words; w++)
        rows[i * words + w] = truth_.row(queries.data()[i])[w] & mask.data()[w];
    return give(std::move(rows), {queries.size(), words});
  }

  Candidates candidates(const std::vector<std::int32_t>& path) {
    CROSSCUT_REQUIRE(refinement_ != nullptr, "set_language has to be called first");
    for (std::int32_t component : path) {
      check_query(component);
      CROSSCUT_REQUIRE(components_[component].parts.empty(),
                       "path has to name components, not conjunctions of them");
      check_types(components_[component].types);
    }
    return interruptibly([&] { return refinement_->candidates(path); });
  }

  // The candidates in the order of generation, by number, without those that add nothing to the
  // path.
  std::vector<std::int32_t> order(const Candidates& candidates,
                                  const std::vector<std::int32_t>& ages) const {
    CROSSCUT_REQUIRE(refinement_ && candidates.source == refinement_.get(),
                     "candidates belong to another store");
    std::size_t n_variables = 0;
    for (std::int32_t component : candidates.path)
      n_variables += components_[component].types.size();
    CROSSCUT_REQUIRE(ages.size() == n_variables, "ages needs one number per variable of the path");
    std::vector<std::int32_t> numbers;
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(candidates.size); i++)
      if (!adds_nothing(components_, choose(candidates, i))) numbers.push_back(i);
    std::stable_sort(numbers.begin(), numbers.end(), [&](std::int32_t a, std::int32_t b) {
      return generated_before(components_, refinement_->language(), candidates,
                              choose(candidates, a), choose(candidates, b), ages);
    });
    return numbers;
  }

  // The source of the mode that each candidate was made from.
  std::vector<std::int32_t> sources(const Candidates& candidates) const {
    CROSSCUT_REQUIRE(refinement_ && candidates.source == refinement_.get(),
                     "candidates belong to another store");
    std::vector<std::int32_t> result;
    for (const Part& part : candidates.parts)
      for (const Shape::Entry& entry : part.block->shape->entries)
        result.push_back(
            refinement_->language().modes[static_cast<std::size_t>(entry.mode)].source);
    return result;
  }

  QueryForest grow(const std::vector<std::int32_t>& tasks, const std::vector<Literal>& root,
                   const std::vector<std::int32_t>& root_types, const std::string& criterion,
                   std::int32_t minimal_cases, double accuracy, bool last_of_ties,
                   std::int32_t max_depth, std::vector<std::int32_t> max_uses,
                   std::vector<double> critical_f, bool caching, std::int32_t n_threads,
                   nb::object progress, bool names_all) {
    check_tasks(tasks);
    CROSSCUT_REQUIRE(n_threads >= 1 && n_threads <= 1024, "n_threads has to be from 1 to 1024");
    CROSSCUT_REQUIRE(max_uses.size() >= n_sources_,
                     "max_uses needs one number per source of modes");
    CROSSCUT_REQUIRE(minimal_cases >= 0 && minimal_cases <= 1 << 30,
                     "minimal_cases has to be from 0 to 2**30");
    check_types(root_types);
    Settings settings{criterion_of(criterion),
                      minimal_cases,
                      accuracy,
                      last_of_ties,
                      max_depth,
                      std::move(max_uses),
                      std::move(critical_f),
                      caching,
                      memory,
                      alone,
                      n_threads,
                      names_all};
    CROSSCUT_REQUIRE((settings.criterion == Criterion::variance) == statistics_->is_regression(),
                     "criterion " + criterion + " does not fit the target");
    CROSSCUT_REQUIRE(
        !statistics_->is_regression() || settings.critical_f.size() > facts_.n_examples(),
        "critical_f needs one value per number of examples, from 0");
    Extension start;
    if (!root.empty()) start = components_.extend({}, encode(root, root_types.size()), root_types);
    CROSSCUT_REQUIRE(std::all_of(start.places.begin(), start.places.end(),
                                 [](const Place& place) { return place.part >= 0; }),
                     "root_types has a variable that root does not use");
    const Growing from{facts_, components_, truth_, *refinement_, *statistics_, attributes_};
    return interruptibly(
        [&] { return QueryForest{query::grow(from, settings, tasks, start), *statistics_, this}; },
        progress.ptr(), statistics_->n(statistics_->totals(tasks)));
  }

  // Out-of-fold predictions of trees that each leave one fold out, and the leaf each example falls
  // in.
  std::pair<nb::ndarray<nb::numpy, double>, nb::ndarray<nb::numpy, std::int32_t>> held_out(
      const QueryForest& forest, const std::vector<std::int32_t>& tasks) {
    check_tasks(tasks);
    CROSSCUT_REQUIRE(forest.store == this, "forest was grown by another store");
    CROSSCUT_REQUIRE(tasks.size() == forest.forest->trees.size(), "tasks needs one fold per tree");
    std::vector<double> predictions(facts_.n_examples(), std::numeric_limits<double>::quiet_NaN());
    std::vector<std::int32_t> leaves(facts_.n_examples(), -1);
    interruptibly([&] {
      for (std::size_t i = 0; i < tasks.size(); i++)
        if (tasks[i] >= 0) {
          if (truth_.bytes() > memory) truth_.forget();
          route(forest.forest->trees[i], forest.forest->tests, truth_, attributes_,
                statistics_->fold(tasks[i]), predictions.data(), leaves.data());
        }
    });
    return {give(std::move(predictions)), give(std::move(leaves))};
  }

  // The chosen test: number of its mode, literals over local variables, the positions of the path's
  // components these start with, types of new variables, and what extending those components gives.
  nb::tuple test(const Candidates& candidates, std::int32_t number) {
    CROSSCUT_REQUIRE(refinement_ && candidates.source == refinement_.get(),
                     "candidates belong to another store");
    CROSSCUT_REQUIRE(number >= 0 && static_cast<std::size_t>(number) < candidates.size,
                     "number is not one of the candidates");
    const Chosen chosen = choose(candidates, number);
    const auto [query, parts, places] =
        result_of(components_.extend(chosen.block->components, chosen.code(), chosen.new_types()));
    const std::int32_t source =
        refinement_->language().modes[static_cast<std::size_t>(chosen.mode())].source;
    return nb::make_tuple(
        source, decode(components_, chosen.code()),
        std::vector<std::int32_t>(chosen.positions.begin(), chosen.positions.end()),
        std::vector<std::int32_t>(chosen.new_types().begin(), chosen.new_types().end()), query,
        parts, places);
  }

  std::vector<Literal> literals(std::int32_t component) const {
    check_query(component);
    return decode(components_, components_[component].code);
  }

  const Components& components() const { return components_; }
  std::size_t memory = std::size_t{1} << 29, alone = 1 << 10;  // see Settings

  std::size_t n_components() const { return components_.size(); }
  std::uint64_t n_evaluations() const { return truth_.n_evaluations(); }
  std::uint64_t n_steps() const { return truth_.n_steps(); }
  std::vector<std::pair<std::int32_t, std::int64_t>> limit_hits() const {
    return {truth_.limit_hits().begin(), truth_.limit_hits().end()};
  }

 private:
  // Whether Python wants to stop; tells `progress`, unless it is null or None, how much is done.
  static bool ask(void* progress, double share) {
    nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) return true;
    if (progress == nullptr || progress == Py_None) return false;
    PyObject* answer = PyObject_CallFunction(static_cast<PyObject*>(progress), "d", share);
    Py_XDECREF(answer);
    return answer == nullptr;
  }

  // Without the interpreter's lock; after Ctrl-C, and where memory ends, what was being computed is
  // forgotten.
  template <class Act>
  std::invoke_result_t<Act> interruptibly(Act act, void* progress = nullptr, double total = 0) {
    facts_.watch.start(&ask, progress, total);
    try {
      nb::gil_scoped_release release;
      return act();
    } catch (const Stopped&) {
      forget();
      throw nb::python_error();
    } catch (...) {
      forget();
      throw;
    }
  }

  void forget() {
    truth_.abandon();
    if (refinement_) refinement_->forget();
  }

  Code encode(const std::vector<Literal>& literals, std::size_t n_variables) const {
    Code code;
    for (const auto& [predicate, negated, args] : literals) {
      store_.check_literal(predicate, args, n_variables, true);
      code.push_back(predicate * 2 + negated);
      code.insert(code.end(), args.begin(), args.end());
    }
    return code;
  }

  void set_target(Target target, std::size_t n, Array<std::int32_t> folds) {
    CROSSCUT_REQUIRE(refinement_ != nullptr, "set_language has to be called first");
    CROSSCUT_REQUIRE(n == facts_.n_examples() && folds.size() == n,
                     "the target and folds need one entry per example");
    n_folds_ = 0;
    for (std::size_t i = 0; i < n; i++) {
      CROSSCUT_REQUIRE(folds.data()[i] >= -1 && folds.data()[i] < static_cast<std::int64_t>(n),
                       "folds are numbered from 0, -1 for none");
      n_folds_ = std::max(n_folds_, folds.data()[i] + 1);
    }
    statistics_ = std::make_unique<Statistics>(
        std::move(target), std::vector<std::int32_t>(folds.data(), folds.data() + n));
  }

  void check_query(std::int32_t query) const {
    CROSSCUT_REQUIRE(query >= 0 && static_cast<std::size_t>(query) < components_.size(),
                     "query " + std::to_string(query) + " is unknown");
  }

  void check_types(std::span<const std::int32_t> types) const {
    for (std::int32_t type : types)
      CROSSCUT_REQUIRE(type > first_type_variable ||
                           variable_of(type) < refinement_->language().n_type_variables,
                       "type " + std::to_string(type) + " is no type of the language");
  }

  void check_mask(const Array<std::uint64_t>& mask) const {
    CROSSCUT_REQUIRE(mask.size() == truth_.words(),
                     "mask needs " + std::to_string(truth_.words()) + " words");
    const std::size_t used = facts_.n_examples() % 64;
    CROSSCUT_REQUIRE(used == 0 || mask.data()[mask.size() - 1] >> used == 0,
                     "mask has bits beyond the last example");
  }

  void check_tasks(const std::vector<std::int32_t>& tasks) const {
    CROSSCUT_REQUIRE(statistics_ != nullptr, "set_classes or set_numbers has to be called first");
    for (std::int32_t fold : tasks)
      CROSSCUT_REQUIRE(fold >= -1 && fold < n_folds_, "tasks names an unknown fold");
  }

  static Criterion criterion_of(const std::string& name) {
    if (name == "gain") return Criterion::gain;
    if (name == "gainratio") return Criterion::gain_ratio;
    if (name == "gini") return Criterion::gini;
    if (name == "variance") return Criterion::variance;
    throw std::invalid_argument("criterion is " + name +
                                "; it has to be gain, gainratio, gini or variance");
  }

  static std::tuple<std::int32_t, std::vector<std::int32_t>,
                    std::vector<std::pair<std::int32_t, std::int32_t>>>
  result_of(const Extension& extension) {
    std::vector<std::pair<std::int32_t, std::int32_t>> places;
    for (const Place& place : extension.places) places.emplace_back(place.part, place.variable);
    return {extension.query, extension.parts, places};
  }

  FactStore& store_;
  Facts& facts_;
  Components components_;
  Truth truth_;
  Attributes attributes_;
  std::unique_ptr<Refinement> refinement_;
  std::unique_ptr<Statistics> statistics_;
  std::size_t n_sources_ = 0;
  std::int32_t n_folds_ = 0;
};

}  // namespace crosscut::query
