// The compiled module crosscut_relational._core: FactStore, Candidates, QueryForest and QueryStore.
// Bindings check all arguments; the code behind them does not.
#include "base/bind_module.hpp"
#include "bind_facts.hpp"
#include "bind_forest.hpp"
#include "bind_store.hpp"

NB_MODULE(_core, m) {
  using namespace crosscut;
  using namespace crosscut::query;
  m.doc() =
      "The compiled core of crosscut-relational. Private: use the names in crosscut_relational.";
  bind_module(m);
  nb::class_<FactStore>(m, "FactStore")
      .def(nb::init<Matrix<std::int32_t>, Array<double>>(), "fixed"_a, "numbers"_a)
      .def("add_relation", &FactStore::add_relation, "columns"_a,
           "missing"_a = std::vector<std::uint64_t>(), "row_key"_a = 0)
      .def("add_rule", &FactStore::add_rule, "arity"_a, "bodies"_a)
      .def("number", &FactStore::number, "constant"_a);
  nb::class_<Candidates>(m, "Candidates")
      .def("__len__", [](const Candidates& c) { return c.size; })
      .def_prop_ro(
          "queries",
          [](const Candidates& c) {
            std::vector<std::int32_t> queries;
            for (const Part& part : c.parts)
              queries.insert(queries.end(), part.block->queries.begin(), part.block->queries.end());
            return give(std::move(queries));
          },
          nb::rv_policy::move);
  nb::class_<QueryForest>(m, "QueryForest")
      .def("__len__", [](const QueryForest& f) { return f.forest->trees.size(); })
      .def("tree", &QueryForest::tree, "number"_a)
      .def(
          "test",
          [](const QueryForest& f, std::size_t number) {
            CROSSCUT_REQUIRE(number < f.forest->tests.size(), "number is not one of the tests");
            const Test& test = f.forest->tests[number];
            return nb::make_tuple(decode(f.store->components(), test.literals), test.n_variables);
          },
          "number"_a)
      .def("prune", &QueryForest::prune, "pessimistic"_a, "confidence"_a, nb::keep_alive<0, 1>())
      .def_prop_ro("levels", &QueryForest::levels);
  nb::class_<QueryStore>(m, "QueryStore")
      .def(nb::init<FactStore&, std::int64_t, Array<std::int64_t>>(), "facts"_a, "step_limit"_a,
           "order"_a, nb::keep_alive<1, 2>())
      .def("set_language", &QueryStore::set_language, "fixed_types"_a, "root_types"_a, "modes"_a,
           "lookaheads"_a, "auto_lookaheads"_a, "max_lookahead"_a, "exhaustive_lookahead"_a)
      .def("set_attributes", &QueryStore::set_attributes, "variables"_a)
      .def("set_classes", &QueryStore::set_classes, "codes"_a, "n_classes"_a, "folds"_a)
      .def("set_numbers", &QueryStore::set_numbers, "digits"_a, "grids"_a, "folds"_a)
      .def("extend", &QueryStore::extend, "bases"_a, "literals"_a, "new_types"_a)
      .def("truth", &QueryStore::truth, "queries"_a, "mask"_a)
      .def("candidates", &QueryStore::candidates, "path"_a, nb::keep_alive<0, 1>())
      .def("sources", &QueryStore::sources, "candidates"_a)
      .def("order", &QueryStore::order, "candidates"_a, "ages"_a)
      .def("grow", &QueryStore::grow, "tasks"_a, "root"_a, "root_types"_a, "criterion"_a,
           "minimal_cases"_a, "accuracy"_a, "last_of_ties"_a, "max_depth"_a, "max_uses"_a,
           "critical_f"_a, "caching"_a, "n_threads"_a = 1, "progress"_a = nb::none(),
           "names_all"_a = false, nb::keep_alive<0, 1>())
      .def("held_out", &QueryStore::held_out, "forest"_a, "tasks"_a)
      .def("test", &QueryStore::test, "candidates"_a, "number"_a)
      .def("literals", &QueryStore::literals, "component"_a)
      .def_rw("memory", &QueryStore::memory)
      .def_rw("alone", &QueryStore::alone)
      .def_prop_ro("n_components", &QueryStore::n_components)
      .def_prop_ro("n_evaluations", &QueryStore::n_evaluations)
      .def_prop_ro("n_steps", &QueryStore::n_steps)
      .def_prop_ro("limit_hits", &QueryStore::limit_hits);
}
