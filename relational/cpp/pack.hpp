// A pack of queries: conjunctions as a trie of literals, so that bindings are extended once for all
// that share a prefix. A search on one example goes through the trie depth first and leaves each
// query at its first solution.
#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "components.hpp"
#include "number_table.hpp"
#include "relations.hpp"

namespace crosscut::query {

// The example under evaluation, and what has been spent on it.
struct Effort {
  std::size_t example = 0;
  const std::int32_t* fixed = nullptr;
  std::uint64_t limit = 0, taken = 0;  // steps
  std::uint64_t look = 1 << 16;        // when to see whether to stop
  bool over = false;                   // the limit was exceeded and the search stopped
};

class Pack {
 public:
  Pack(Facts& facts, const Components& components)
      : facts_(facts), components_(components), steps_(1), left_(1, 0) {}
  void reserve(std::size_t n_queries);
  // Adds a literal after step `before` (0: none), or finds it there. Sets `bound` for the variables
  // that it binds.
  std::int32_t add(std::int32_t before, const Term* literal, std::vector<char>& bound);
  // Queries are numbered from 0, in the order of these calls.
  void end(std::int32_t query, std::int32_t step);
  void reserve_variables(std::size_t n) {
    if (values_.size() < n) values_.resize(n, -1);
  }

  // Which queries the next search is for: none, one more, one fewer, or those of a saved choice.
  void close_all();
  void open(std::int32_t query);
  void close(std::int32_t query);
  bool is_open(std::int32_t query) const { return open_[static_cast<std::size_t>(query)]; }
  void save();
  void restore();

  void set(std::int32_t variable, std::int32_t value) {
    values_[static_cast<std::size_t>(variable)] = value;
  }
  // Closes the open queries that hold for the example and lists them. The limit is on the steps
  // that a query takes by itself, on its branch of the trie, up to its first solution: those that
  // take more are given up.
  const std::vector<std::int32_t>& search(Effort& effort);
  const std::vector<std::int32_t>& given_up() const { return given_up_; }  // by the last search
  // The values that a variable takes where a step is reached, with repetitions; as many as are
  // found within the limit. Closes all queries.
  const std::vector<std::int32_t>& values(Effort& effort, std::int32_t step, std::int32_t variable);
  // The open queries that hold, each with the values that a variable takes there, with repetitions.
  // The limit is on the steps that a query takes for all of them.
  const std::vector<std::pair<std::int32_t, std::int32_t>>& solutions(Effort& effort,
                                                                      std::int32_t variable);

 private:
  // One literal: where its facts are found, what it binds, and the literals that follow it in some
  // query. A switch precedes literals that differ only in their constants: if the relation has few
  // facts for the bound terms, examining them finds all of the literals that hold.
  struct Step {
    std::uint32_t code = 0;  // in codes_
    std::uint64_t hash = 0;
    std::int32_t predicate = -1, test = -1;  // `test`: see Predicate
    bool negated = false, is_switch = false;
    Relation* relation = nullptr;
    const Index* index = nullptr;
    std::uint32_t key = 0, n_key = 0;         // in keys_: its bound terms
    std::uint32_t output = 0, n_outputs = 0;  // in outputs_: (column, variable) that a fact binds
    std::uint32_t repeated = 0;
    std::uint32_t n_repeated = 0;  // in repeated_: columns that must agree with an earlier one
    int column = -1, second_column = -1;  // of a switch: where its literals have constants
    std::int32_t first = -1, last = -1, next = -1;  // followers; the next one of the same step
    std::int32_t n_cases = 0;                       // number of followers
    std::int32_t terminal = -1;                     // number of the last query that ends here
    std::int32_t before = -1;                       // the step this one follows
  };
  struct End {
    std::int32_t step;
    // another query that ends at the same step: variables may have other types
    std::int32_t same = -1;
  };

  std::int32_t find_or_add(std::int32_t before, std::span<const Term> code,
                           const std::vector<char>& bound, bool is_switch, std::uint64_t hash);
  // Of a literal and what it follows; of literals after a switch, of their constants instead.
  static std::uint64_t hash_of(std::int32_t before, std::span<const Term> code) {
    std::uint64_t h = static_cast<std::uint64_t>(before) * 0x9E3779B97F4A7C15ull;
    for (Term t : code) h = mix(h, t);
    return h;
  }
  static std::uint64_t mix(std::uint64_t h, std::int32_t value) {
    return (h ^ static_cast<std::uint32_t>(value)) * 0xBF58476D1CE4E5B9ull;
  }
  std::int32_t case_of(std::int32_t of, std::uint32_t row);
  bool take(std::int32_t step);
  void give_up(std::int32_t step);
  bool begin(std::int32_t step, std::int32_t* key);
  std::int32_t visit(std::int32_t step);
  std::int32_t visit_switch(std::int32_t step);
  std::int32_t proceed(std::int32_t step);
  bool matches(const Step& step, std::uint32_t row);
  std::int32_t value(Term t) const {
    switch (kind_of(t)) {
      case constant:
        return number_of(t);
      case fixed:
        return effort_->fixed[number_of(t)];
      default:
        return values_[static_cast<std::size_t>(number_of(t))];
    }
  }

  Facts& facts_;
  const Components& components_;
  std::vector<Step> steps_;  // the first is the empty query, before every first literal
  Code codes_, pattern_;
  NumberTable table_;  // steps by the hash of their code and what they follow
  std::vector<Term> keys_;
  std::vector<std::pair<int, std::int32_t>> outputs_;
  std::vector<std::pair<int, int>> repeated_;
  std::vector<End> ends_;                        // per query
  std::vector<std::int32_t> left_, saved_left_;  // per step: open queries at or below it
  std::vector<char> open_, saved_open_;
  std::vector<std::int32_t> decided_, given_up_, values_;
  bool by_branch_ = false;            // whether steps are counted branch by branch
  std::vector<std::uint64_t> spent_;  // per step, if so
  std::int32_t watched_ = -1;
  std::int32_t watched_variable_ = -1;  // the step and variable whose values are wanted
  std::vector<std::int32_t> seen_;
  std::int32_t reported_ = -1;  // the variable whose values are wanted wherever a query holds
  std::vector<std::pair<std::int32_t, std::int32_t>> reports_;
  Effort* effort_ = nullptr;
};

}  // namespace crosscut::query
