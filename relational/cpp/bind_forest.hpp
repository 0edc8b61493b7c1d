// QueryForest: grown trees for Python, as lists of nodes, and their pruned copies.
#pragma once
#include <memory>
#include <tuple>
#include <vector>

#include "bind_facts.hpp"
#include "growth.hpp"
#include "statistics.hpp"

namespace crosscut::query {

class QueryStore;

// Grown trees; the tests stay with the store that evaluated them.
struct QueryForest {
  QueryForest(Forest grown, const Statistics& statistics, const QueryStore* owner)
      : forest(std::make_shared<Forest>(std::move(grown))),
        width(statistics.width()),
        regression(statistics.is_regression()),
        store(owner) {}

  nb::tuple tree(std::size_t number) const {
    CROSSCUT_REQUIRE(number < forest->trees.size(), "number is not one of the trees");
    const Tree& tree = forest->trees[number];
    return nb::make_tuple(tree.test, tree.no, tree.prediction, give(tree.statistics, width));
  }

  QueryForest prune(bool pessimistic, double confidence) const {
    CROSSCUT_REQUIRE(confidence > 0 && confidence <= 1,
                     "confidence has to be above 0 and at most 1");
    CROSSCUT_REQUIRE(!regression, "regression trees are not pruned by error counts");
    QueryForest result = *this;
    result.forest = std::make_shared<Forest>();
    result.forest->tests = forest->tests;
    result.forest->levels = forest->levels;
    for (const Tree& tree : forest->trees)
      result.forest->trees.push_back(query::prune(tree, width, pessimistic, confidence));
    return result;
  }

  std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>> levels() const {
    std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>> result;
    for (const Level& level : forest->levels)
      result.emplace_back(level.bundles, level.nodes, level.tests, level.candidates);
    return result;
  }

  std::shared_ptr<Forest> forest;
  std::size_t width;
  bool regression;
  const QueryStore* store;
};

}  // namespace crosscut::query
