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
  // Bit i of a set is the example order[i] of the facts: examples of one fold in neighbouring words are counted faster.
  Truth(Facts& facts, const Components& components, std::uint64_t step_limit, std::vector<std::int64_t> order)
      : facts_(facts), components_(components), words_((facts.n_examples() + 63) / 64), limit_(step_limit), order_(std::move(order)) {
    everything_.assign(words_, ~std::uint64_t{0});
    if (facts.n_examples() % 64) everything_.back() = (std::uint64_t{1} << facts.n_examples() % 64) - 1;
  }

  std::size_t words() const { return words_; }
  const std::vector<std::uint64_t>& everything() const { return everything_; }
  // Makes the rows of these queries valid on the examples of `mask` (words() words).
  void evaluate(std::span<const std::int32_t> queries, const std::uint64_t* mask);
  const std::uint64_t* row(std::int32_t query) const { return truth_.data() + static_cast<std::size_t>(query) * words_; }
  void forget();  // as if nothing had been evaluated

  std::uint64_t n_evaluations() const { return evaluations_; }  // (component, example) pairs searched for
  std::uint64_t n_steps() const { return steps_; }
  const std::vector<LimitHit>& limit_hits() const { return hits_; }

 private:
  // One literal of a pack: where its facts are found, what it binds, and the literals that follow it in some query.
  // Terms and outputs are in shared arrays, followers in a linked list: packs are built often and small.
  struct Step {
    const Term* code = nullptr;
    std::uint64_t hash = 0;
    std::int32_t predicate = -1;
    bool negated = false, comparison = false;
    Relation* relation = nullptr;
    const Index* index = nullptr;
    std::uint32_t key = 0, n_key = 0;            // in keys_: its bound terms
    std::uint32_t output = 0, n_outputs = 0;     // in outputs_: (column, variable) that a fact binds
    std::uint32_t repeated = 0, n_repeated = 0;  // in repeated_: columns that must agree with an earlier one
    std::int32_t first = -1, last = -1, next = -1;  // followers; the next one of the same step
    std::int32_t terminal = -1;                  // number of the query that ends here
    std::int32_t before = -1;                    // the step this one follows
  };
  struct Need {
    std::int32_t parent, query;
    std::size_t examples;  // where its words start
  };

  struct Active {
    std::int32_t query;    // number in the pack
    std::uint64_t wanted;  // examples of the word under evaluation
  };

  void evaluate_pack(std::span<const Need> needs, const std::vector<std::uint64_t>& examples);
  void build_pack(std::span<const Need> needs);
  std::int32_t add_step(std::int32_t before, const Term* literal, const std::vector<char>& bound);
  void grow_table();
  void bind(std::vector<char>& bound, const Term* literal) const;
  void open(std::size_t query);
  bool run_alone(std::size_t query);
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
  std::vector<std::int64_t> order_;
  std::vector<char> asked_;     // queries of the call under way
  std::vector<char> complete_;  // queries whose truth is known on every example
  std::vector<std::uint64_t> everything_, examples_;
  std::vector<Need> needs_, conjunctions_;

  // state of the pack and the example under evaluation
  std::vector<Step> pack_;
  std::vector<std::int32_t> table_;             // steps by the hash of their code and what they follow; -1: free
  std::vector<Term> keys_;
  std::vector<std::pair<int, std::int32_t>> outputs_;
  std::vector<std::pair<int, int>> repeated_;
  std::vector<std::int32_t> end_;               // per query of the pack: its last step
  std::vector<std::int32_t> left_, all_left_;   // per step: queries at or below it that are still open
  std::vector<char> open_, bound_, prefix_bound_;
  std::vector<std::int32_t> decided_, undecided_;  // queries found true on this example, or given up
  std::vector<Active> active_;
  std::vector<std::int32_t> values_;
  const std::int32_t* fixed_ = nullptr;
  std::uint64_t taken_ = 0;
  bool over_ = false;
};

}  // namespace crosscut::query
