// Truth of components as bit sets over the examples, computed when it is first needed and for those examples only.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "query_components.hpp"
#include "query_relations.hpp"

namespace crosscut::query {

struct LimitHit {
  std::int32_t query;
  std::int64_t example;
};

class Truth {
 public:
  Truth(Facts& facts, const Components& components, std::uint64_t step_limit)
      : facts_(facts), components_(components), words_((facts.n_examples() + 63) / 64), limit_(step_limit) {}

  std::size_t words() const { return words_; }
  // Makes the rows of these queries valid on the examples of `mask` (words() words).
  void evaluate(std::span<const std::int32_t> queries, const std::uint64_t* mask);
  const std::uint64_t* row(std::int32_t query) const { return truth_.data() + static_cast<std::size_t>(query) * words_; }
  void forget();  // as if nothing had been evaluated

  std::uint64_t n_evaluations() const { return evaluations_; }  // (component, example) pairs searched for
  std::uint64_t n_steps() const { return steps_; }
  const std::vector<LimitHit>& limit_hits() const { return hits_; }

 private:
  // One literal of a pack: where its facts are found, what it binds, and the literals that follow it in some query.
  struct Step {
    std::int32_t predicate = -1;
    bool negated = false, comparison = false, rule = false;
    Relation* relation = nullptr;
    const Index* index = nullptr;
    std::vector<Term> code, key;                       // the whole literal; its bound terms
    std::vector<std::pair<int, std::int32_t>> outputs;  // (column, variable) that a fact binds
    std::vector<std::pair<int, int>> repeated;          // columns that must agree with an earlier one
    std::vector<std::int32_t> next;
    std::int32_t terminal = -1;                         // number of the query that ends here
    std::int32_t before = -1;                           // the step this one follows
  };
  struct Need {
    std::int32_t query;
    std::vector<std::uint64_t> examples;
  };

  void evaluate_pack(std::int32_t parent, std::span<const Need> needs);
  std::int32_t add_step(std::int32_t before, const Term* literal, std::vector<bool>& bound);
  std::int32_t visit(std::int32_t step);
  std::int32_t proceed(std::int32_t step);
  std::int32_t value(Term t) const {
    switch (kind_of(t)) {
      case constant: return number_of(t);
      case fixed: return fixed_[number_of(t)];
      default: return values_[static_cast<std::size_t>(number_of(t))];
    }
  }

  Facts& facts_;
  const Components& components_;
  std::size_t words_;
  std::uint64_t limit_, steps_ = 0, evaluations_ = 0;
  std::vector<std::uint64_t> truth_, known_;
  std::vector<LimitHit> hits_;
  std::vector<bool> asked_;  // queries of the call under way

  // state of the pack and the example under evaluation
  std::vector<Step> pack_;
  std::vector<std::int32_t> left_;  // per step: queries at or below it that are still open
  std::vector<char> open_;          // per query of the pack
  std::vector<std::int32_t> values_;
  const std::int32_t* fixed_ = nullptr;
  std::uint64_t taken_ = 0;
  bool over_ = false;
};

}  // namespace crosscut::query
